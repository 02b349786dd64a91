"""The same bytes wherever tare runs: what quantize and calibrate write and print for any number of threads, instruction set
and compiler, and ranges of shards merged in any order. On the bundled example, and on five of the shared models."""
import itertools
import os
import pathlib
import subprocess
import sys

import pytest
from program import TESTS, find_program, run_program

sys.path.insert(0, str(TESTS / "run"))
import reference

ROOT = TESTS.parent
SHARED = ["ic_resnet8", "vww_mobilenet025", "silero_vad_lstm", "kws_dscnn", "qat_torch_mnist"]
SAMPLES = 12  # more than hold some out
OUTPUT = {"quantize": "out.onnx", "calibrate": "out.json"}
SOURCES = ("src", "include", "CMakeLists.txt")


@pytest.fixture(params=["digits", *SHARED])
def source(request):
    """A model and its samples, as arguments."""
    if request.param == "digits":
        return [ROOT / "examples" / "digits" / "digits.onnx", "--data", ROOT / "examples" / "digits" / "images"]
    model = reference.SHARED / "models" / request.param / "model.onnx"
    if not model.exists():
        pytest.skip(f"{model} is not there: {request.param} is not tried (TARE_SHARED)")
    reference.feeds_of(request.param, "calib")
    return [model, "--data", reference.CACHE / "feeds" / request.param / "calib", "--samples", SAMPLES]


def own_build():
    return pathlib.Path(find_program()).resolve().parent


def newest(paths):
    return max(path.stat().st_mtime for path in paths)


def other_build():
    """That of the other compiler, made of the sources that are there."""
    build = own_build().parent / ("dev" if own_build().name == "clang" else "clang")
    if not os.access(build / "tare", os.X_OK):
        pytest.skip(f"{build}/tare is not there: the compilers are not compared")
    sources = [path for name in SOURCES for path in [ROOT / name, *(ROOT / name).rglob("*.[chd]*")]]
    if newest(sources) > (build / "tare").stat().st_mtime:
        pytest.skip(f"{build}/tare is older than the sources: the compilers are not compared")
    return build


def check_matrix(verb, source, builds, *options):
    command = [ROOT / "tools" / "hash-matrix", *options]
    for build in builds:
        command += ["--build", build]
    command += ["--", verb, *source, "-o", f"{{out}}/{OUTPUT[verb]}"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("verb", OUTPUT)
def test_threads_and_instruction_sets(verb, source):
    check_matrix(verb, source, [own_build()], "--threads", "1,2,7")


@pytest.mark.parametrize("verb", OUTPUT)
def test_compilers(verb, source):
    check_matrix(verb, source, [own_build(), other_build()], "--threads", "2")


def tare(*arguments):
    ran = run_program(*arguments)
    assert ran.status == 0, ran.log


def test_shards(source, tmp_path):
    """Each shard by another number of threads; what is quantized by the merged ranges is what is quantized by the samples."""
    whole, merged = tmp_path / "whole.json", tmp_path / "merged.json"
    shards = [tmp_path / f"{i}.json" for i in range(3)]
    tare("calibrate", *source, "-o", whole)
    for i, shard in enumerate(shards):
        tare("calibrate", *source, "--shard", f"{i}/3", "--threads", i + 1, "-o", shard)
    for order in itertools.permutations(shards):
        tare("merge", *order, "-o", merged)
        assert merged.read_bytes() == whole.read_bytes(), order
    tare("quantize", source[0], "--ranges", merged, "-o", tmp_path / "merged.onnx")
    tare("quantize", *source, "-o", tmp_path / "whole.onnx")
    assert (tmp_path / "merged.onnx").read_bytes() == (tmp_path / "whole.onnx").read_bytes()
