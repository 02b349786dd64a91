"""Float inference of whole networks beside ONNX Runtime, one thread, CPU time, in interleaved rounds.
Usage: float.py [MODEL...]   (default: the two of make_models.py and yolox_nano of TARE_SHARED)"""

import pathlib
import sys

import sides

ROUNDS, SECONDS = 11, 0.4  # rounds, CPU time of each side in a round


def measure(model):
    servers = sides.tare_server(model), sides.ort_server(model)
    counts = [max(1, round(SECONDS / server.run(3))) for server in servers]
    times = [[server.run(count) for server, count in zip(servers, counts)] for _ in range(ROUNDS)]
    for server in servers:
        server.close()
    ratio, low, high = sides.spread(ort / tare for tare, ort in times)
    ours, theirs = (sides.spread(t[i] for t in times)[0] * 1e3 for i in range(2))
    print(f"{sides.name_of(model):16} tare {ours:7.2f} ms  onnxruntime {theirs:7.2f} ms  speed {ratio:.2f} of it "
          f"({low:.2f} to {high:.2f})", flush=True)


if __name__ == "__main__":
    for each in [pathlib.Path(name) for name in sys.argv[1:]] or sides.networks():
        measure(each)
