"""What the whole `tare quantize` costs, against its bars: beside 128 of tare's own float inferences, beside ONNX Runtime's
quantize_static, and in memory. CPU time (user and system) of one thread, all sides in interleaved rounds; medians, with the
quartiles in parentheses. Usage: quantize.py [--rounds N] [MODEL...]"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import sides

METHODS = "mse minmax average percentile entropy auto".split()
SAMPLES, FEW, MANY = 128, 16, 512
FLOAT_SECONDS = 1.0               # CPU time of each side's float inference in a round
SHARE_OF_FLOAT, START = 1.6, 1.0  # a quantize may take this share of SAMPLES float inferences, and this many seconds
SPEED = 0.7                    # of ONNX Runtime's float inference
OF_ORT = {"MinMax": 1 / 3, "Percentile": 1 / 10}
GROWTH, MEMORY_OF_ORT = 1.02, 1 / 3
PERCENTILE_BYTES = 18 << 30       # quantize_static keeps every activation of every sample

kept = []


def tell(line, figure, bar, is_kept):
    kept.append(is_kept)
    print(f"  {line:40} {figure:50} {bar:10} {'holds' if is_kept else 'DOES NOT HOLD'}", flush=True)


def seconds(numbers):
    return "{:.2f} s ({:.2f} to {:.2f})".format(*sides.spread(numbers))


def samples_of(model, count):
    """One array, and a directory of an array each; made once."""
    directory = sides.MADE / "samples" / f"{sides.name_of(model)}-{count}"
    if not (directory / "done").exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        mean, std = (114, 60) if "yolox" in sides.name_of(model) else (0, 1)
        subprocess.run([sys.executable, sides.HERE / "make_samples.py", model, str(count), str(mean), str(std),
                        directory / "all.npy", directory / "each"], check=True)
        (directory / "done").touch()
    return directory / "all.npy", directory / "each"


def quantize(model, data, count, out, *options):
    return sides.run_once([sides.BUILD / "tare", "quantize", model, "--data", data, "--samples", count, "-q", "-o", out,
                           *options])


class Rounds:
    """What each round saw of one network."""

    def __init__(self, model, out):
        self.model, self.out = model, out
        self.is_beside_ort = model.stem == "mobilenet_v2"
        self.samples, self.each = samples_of(model, MANY if self.is_beside_ort else SAMPLES)
        self.floats, self.ort_floats, self.ort, self.ort_bytes = [], [], [], []
        self.methods = {method: [] for method in METHODS}

    def run(self, rounds):
        servers = sides.tare_server(self.model), sides.ort_server(self.model)
        counts = [max(1, round(FLOAT_SECONDS / server.run(3))) for server in servers]
        for _ in range(rounds):
            for server, count, seen in zip(servers, counts, (self.floats, self.ort_floats)):
                seen.append(server.run(count))
            for method, seen in self.methods.items():
                seen.append(quantize(self.model, self.samples, SAMPLES, self.out, "--threads", 1, "--method", method)[0])
            if self.is_beside_ort:
                cpu, peak = self.run_ort("MinMax", SAMPLES)
                self.ort.append(cpu)
                self.ort_bytes.append(peak)
        for server in servers:
            server.close()

    def run_ort(self, method, count):
        return sides.run_once(sides.ort_command("quantize", method, self.model, self.samples, count, self.out))


def tell_float(seen):
    ratio, low, high = sides.spread(ort / tare for tare, ort in zip(seen.floats, seen.ort_floats))
    tell("float inference", f"{sides.spread(seen.floats)[0] * 1e3:.2f} ms, {ratio:.2f} ({low:.2f} to {high:.2f}) of "
         "ORT's speed", f">= {SPEED}", ratio >= SPEED)


def tell_methods(seen):
    for method, times in seen.methods.items():
        bars = [SHARE_OF_FLOAT * SAMPLES * one + START for one in seen.floats]
        share = sides.spread(time / bar for time, bar in zip(times, bars))[0]
        tell(f"quantize, {method}", f"{seconds(times)}, {share:.2f} of the bar",
             f"<= {sides.spread(bars)[0]:.2f} s", share <= 1)


def memory_left():
    words = pathlib.Path("/proc/meminfo").read_text().split()
    return int(words[words.index("MemAvailable:") + 1]) * 1024


def tell_ort(seen):
    slowest = max(METHODS, key=lambda method: sides.spread(seen.methods[method])[0])
    for method, times in ((slowest, seen.methods[slowest]), ("minmax", seen.methods["minmax"])):
        share = sides.spread(own / ort for own, ort in zip(times, seen.ort))[0]
        tell(f"{method} beside ORT's MinMax", f"1/{1 / share:.1f} of {seconds(seen.ort)}", "<= 1/3",
             share <= OF_ORT["MinMax"])
    count = SAMPLES
    while count > FEW and memory_left() < PERCENTILE_BYTES * count // SAMPLES:
        count //= 2
    cpu = seen.run_ort("Percentile", count)[0]
    own = sides.spread(seen.methods[slowest])[0] if count == SAMPLES else quantize(
        seen.model, seen.samples, count, seen.out, "--threads", 1, "--method", slowest)[0]
    tell(f"{slowest} beside ORT's Percentile", f"1/{cpu / own:.1f} of {cpu:.2f} s (once, {count} samples)", "<= 1/10",
         own / cpu <= OF_ORT["Percentile"])


def peak_of(seen, data, count, threads):
    return max(quantize(seen.model, data, count, seen.out, "--threads", threads)[1] for _ in range(3))


def tell_memory(seen):
    many = {}
    for threads, who in ((1, "one thread"), (0, "all threads")):
        for data, form in ((seen.samples, "one array"), (seen.each, "an array each")):
            few, many[who, form] = (peak_of(seen, data, count, threads) for count in (FEW, MANY))
            tell(f"peak memory, {form}, {who}", f"{many[who, form] / 1e6:.1f} MB at {MANY} samples, {few / 1e6:.1f} at "
                 f"{FEW}: {many[who, form] / few - 1:+.1%}", f"<= {GROWTH - 1:+.1%}", many[who, form] <= GROWTH * few)
    own, ort = max(many.values()), sides.spread(seen.ort_bytes)[0]
    tell("peak memory beside ORT's MinMax", f"1/{ort / own:.1f} of {ort / 1e6:.1f} MB", "<= 1/3", own <= MEMORY_OF_ORT * ort)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        for model in options.models or sides.networks():
            print(f"{sides.name_of(model)}, {SAMPLES} samples, {options.rounds} rounds", flush=True)
            seen = Rounds(model, pathlib.Path(directory) / "out.onnx")
            seen.run(options.rounds)
            tell_float(seen)
            tell_methods(seen)
            if seen.is_beside_ort:
                tell_ort(seen)
                tell_memory(seen)
    print(f"{sum(kept)} of {len(kept)} bars hold")


if __name__ == "__main__":
    main()
