"""Float inference of whole networks beside ONNX Runtime, one thread, CPU time, in interleaved rounds.
Usage: float.py [MODEL...]   (default: the two of make_models.py and yolox_nano of TARE_SHARED)
Reads TARE_BENCH, the directory of bench_infer (default build/release)."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = pathlib.Path(os.environ.get("TARE_BENCH", HERE.parent / "build" / "release")) / "bench_infer"
SHARED = pathlib.Path(os.environ.get("TARE_SHARED", HERE.parent.parent / "shared"))
ROUNDS, SECONDS = 11, 0.4  # rounds, CPU time of each side in a round


class Tare:
    def __init__(self, model):
        self.process = subprocess.Popen([PROGRAM, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{model}: tare cannot run it")

    def run(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0]) / count


class Ort:
    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        random = np.random.default_rng(0)
        self.feeds = {given.name: random.uniform(-1, 1, [d if isinstance(d, int) else 1 for d in given.shape])
                      .astype(np.float32) for given in self.session.get_inputs()}
        self.session.run(None, self.feeds)

    def run(self, count):
        start = time.process_time()
        for _ in range(count):
            self.session.run(None, self.feeds)
        return (time.process_time() - start) / count


def measure(model):
    sides = Tare(model), Ort(str(model))
    counts = [max(1, round(SECONDS / side.run(3))) for side in sides]
    times = [[side.run(count) for side, count in zip(sides, counts)] for _ in range(ROUNDS)]
    sides[0].process.stdin.close()
    ratios = sorted(ort / tare for tare, ort in times)
    ours, theirs = (statistics.median(t[i] for t in times) * 1e3 for i in range(2))
    name = model.parent.name if model.stem == "model" else model.stem
    print(f"{name:16} tare {ours:7.2f} ms  onnxruntime {theirs:7.2f} ms  speed {statistics.median(ratios):.2f} of it "
          f"({ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f})", flush=True)


def main():
    models = [pathlib.Path(name) for name in sys.argv[1:]]
    if not models:
        made = HERE.parent / "build" / "bench" / "models"
        if not (made / "resnet18.onnx").exists():
            subprocess.run([sys.executable, HERE / "make_models.py", made], check=True)
        models = [made / "mobilenet_v2.onnx", made / "resnet18.onnx"]
        yolox = SHARED / "models" / "yolox_nano_416" / "model.onnx"
        if yolox.exists():
            models.append(yolox)
        else:
            print(f"no {yolox}: left out")
    for model in models:
        measure(model)


if __name__ == "__main__":
    main()
