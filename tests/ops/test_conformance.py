"""Every node test that the onnx package brings, run by tare: conformance.txt lists those that pass, skips.txt those that
do not, each with its reason. Either list failing to tell the truth is a failure.

`python test_conformance.py` writes both lists anew from what passes now (reasons are the errors seen; edit them)."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import ml_dtypes
import numpy as np
import onnx
import pytest

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path(os.environ.get("TARE_DRIVERS", HERE.parent.parent / "build" / "tests")) / "driver_conformance"
TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64, "bool": np.bool_,
    "s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32, "u32": np.uint32,
    "s64": np.int64, "u64": np.uint64, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}
NIBBLES = {"s4": np.int8, "u4": np.uint8}  # a byte each in tare
NEWEST_OPSET = 25  # that tare reads; newer forms of ops only take more types, or have attributes that are refused


def read_list(name):
    """Lines `case` or `case: reason`."""
    lines = (HERE / name).read_text().splitlines() if (HERE / name).exists() else []
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return {case: reason for case, _, reason in pairs}


def collect():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None) if case.model is not None}


def write_tensors(path, tensors):
    with open(path, "wb") as file:
        for tensor in tensors:
            if isinstance(tensor, onnx.TensorProto):
                tensor = onnx.numpy_helper.to_array(tensor)
            if not isinstance(tensor, (np.ndarray, np.generic)):
                return "an input is no tensor but a sequence, an optional or a map"
            tensor = np.asarray(tensor)
            if tensor.dtype not in NAMES:
                return f"an input has element type {tensor.dtype}, which tare does not have"
            name = NAMES[tensor.dtype]
            header = [name, str(tensor.ndim), *map(str, tensor.shape)]
            tensor = tensor.astype(NIBBLES.get(name, tensor.dtype))
            file.write(" ".join(header).encode() + b"\n" + np.ascontiguousarray(tensor).tobytes())
    return None


def read_tensors(path):
    data, tensors, at = path.read_bytes(), [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, _, *dims = data[at:end].decode().split()
        shape, dtype = tuple(map(int, dims)), np.dtype(NIBBLES.get(name, TYPES[name]))
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        tensors.append(np.frombuffer(data[end + 1 : end + 1 + size], dtype).reshape(shape).astype(TYPES[name]))
        at = end + 1 + size
    return tensors


def compare(case, got, want):
    """None when they agree by the case's own tolerances (as onnx.backend.test.runner compares), else what differs."""
    if len(got) != len(want):
        return f"{len(got)} outputs, want {len(want)}"
    for index, (ours, theirs) in enumerate(zip(got, want)):
        if isinstance(theirs, onnx.TensorProto):
            theirs = onnx.numpy_helper.to_array(theirs)
        if not isinstance(theirs, (np.ndarray, np.generic)):
            return f"output {index} is no tensor"
        theirs = np.asarray(theirs)
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return f"output {index} is {ours.dtype}{ours.shape}, want {theirs.dtype}{theirs.shape}"
        if ours.dtype.kind not in "biu":
            ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        if not np.allclose(ours, theirs, rtol=case.rtol, atol=case.atol, equal_nan=True):
            with np.errstate(invalid="ignore"):
                return f"output {index} differs by up to {np.nanmax(np.abs(ours.astype(float) - theirs.astype(float)))}"
    return None


def run_case(case, directory):
    """None when the case passes, else why not."""
    for inputs, outputs in case.data_sets:
        model, fed, made = (directory / name for name in ("model.onnx", "inputs", "outputs"))
        proto = onnx.ModelProto()
        proto.CopyFrom(case.model)
        for opset in proto.opset_import:
            if not opset.domain:
                opset.version = min(opset.version, NEWEST_OPSET)
        model.write_bytes(proto.SerializeToString())
        problem = write_tensors(fed, inputs)
        if problem:
            return problem
        done = subprocess.run([DRIVER, model, fed, made], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode not in range(9):
            return f"died with {done.returncode}: {done.stderr}"
        if done.returncode:
            return done.stderr.strip().partition("model.onnx: ")[2] or done.stderr.strip()
        problem = compare(case, read_tensors(made), outputs)
        if problem:
            return problem
    return None


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("conformance")
    return {name: run_case(case, directory) for name, case in collect().items()}


@pytest.mark.parametrize("name", read_list("conformance.txt"))
def test_case_passes(results, name):
    assert name in results, "the onnx package does not have this case any more"
    assert results[name] is None, results[name]


def test_every_case_is_listed(results):
    assert set(results) == set(read_list("conformance.txt")) | set(read_list("skips.txt"))


def test_no_skipped_case_passes(results):
    assert [name for name in read_list("skips.txt") if results.get(name, "gone") is None] == []


def test_no_case_dies(results):
    assert {name: why for name, why in results.items() if why and why.startswith("died")} == {}


def shorten(why):
    """Without the names of nodes, which say nothing here."""
    return re.sub(r"^node '[^']*' \((\w+)\): ", r"\1: ", why.splitlines()[0])


def main():
    with tempfile.TemporaryDirectory() as directory:
        found = {name: run_case(case, pathlib.Path(directory)) for name, case in collect().items()}
    known = read_list("skips.txt")
    passes = sorted(name for name, why in found.items() if why is None)
    skips = sorted(f"{name}: {known.get(name, shorten(why))}" for name, why in found.items() if why is not None)
    (HERE / "conformance.txt").write_text("".join(f"{line}\n" for line in passes))
    (HERE / "skips.txt").write_text("".join(f"{line}\n" for line in skips))
    sys.stdout.write(f"{len(passes)} pass, {len(skips)} do not\n")


if __name__ == "__main__":
    main()
