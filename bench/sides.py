"""The sides of a comparison, each a process of its own, measured by the CPU time that the kernel counted for it. Nothing
large is imported here: a child's peak memory begins with what its parent had."""

import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("TARE_BENCH", HERE.parent / "build" / "release"))
SHARED = pathlib.Path(os.environ.get("TARE_SHARED", HERE.parent.parent / "shared"))
MADE = HERE.parent / "build" / "bench" / "models"
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Server:
    """A program that answers a count of inferences with the CPU seconds that they took."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ONE_THREAD)
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"bench: {' '.join(map(str, command))} does not start")

    def run(self, count):
        """CPU seconds of one inference."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0]) / count

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def tare_server(model):
    return Server(BUILD / "bench_infer", model)


def ort_command(*arguments):
    return [sys.executable, HERE / "ort_side.py", *map(str, arguments)]


def ort_server(model):
    return Server(*ort_command("infer", model))


def run_once(command):
    """(CPU seconds, peak bytes) of a process that must end well."""
    child = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env=ONE_THREAD)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))}: exit {child.returncode}\n{said.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def spread(numbers):
    """(median, lower and upper quartile)."""
    ordered = sorted(numbers)
    return statistics.median(ordered), ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]


def networks():
    """Those of make_models.py, made when they are not there, and yolox_nano where the shared models are."""
    if not (MADE / "resnet18.onnx").exists():
        subprocess.run([sys.executable, HERE / "make_models.py", MADE], check=True)
    models = [MADE / "mobilenet_v2.onnx", MADE / "resnet18.onnx"]
    yolox = SHARED / "models" / "yolox_nano_416" / "model.onnx"
    if yolox.exists():
        models.append(yolox)
    else:
        print(f"SKIPPED yolox_nano: no {yolox} (TARE_SHARED)")
    return models


def name_of(model):
    return model.parent.name if model.stem == "model" else model.stem
