"""One node through tare and through ONNX Runtime: for tests that draw shapes and attributes at random."""

import os
import pathlib
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import helper

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path(os.environ.get("TARE_DRIVERS", HERE.parent.parent / "build" / "tests")) / "driver_conformance"
TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "s8": np.int8, "u8": np.uint8, "s16": np.int16,
         "u16": np.uint16, "s32": np.int32, "u32": np.uint32, "s64": np.int64, "u64": np.uint64, "bool": np.bool_}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}


def make_model(op, inputs, constants=(), outputs=1, opset=17, **attributes):
    """inputs: arrays or None; those whose index is in `constants` become initializers."""
    names = [f"in{i}" if x is not None else "" for i, x in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    outs = [f"out{i}" for i in range(outputs)]
    node = helper.make_node(op, names, outs, **attributes)
    given = [helper.make_tensor_value_info(f"in{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
             for i, x in enumerate(inputs) if x is not None and i not in constants]
    fixed = [onnx.numpy_helper.from_array(inputs[i], f"in{i}") for i in constants if inputs[i] is not None]
    made = [onnx.ValueInfoProto(name=name) for name in outs]
    graph = helper.make_graph([node], "g", given, made, fixed)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run_tare(model, feeds, directory, threads=1, cpu=None):
    """The outputs, or the text of the error."""
    model_path, fed, made = (pathlib.Path(directory) / name for name in ("model.onnx", "inputs", "outputs"))
    model_path.write_bytes(model.SerializeToString())
    with open(fed, "wb") as file:
        for value in model.graph.input:
            x = feeds[value.name]
            file.write(" ".join([NAMES[x.dtype], str(x.ndim), *map(str, x.shape)]).encode() + b"\n" + x.tobytes())
    command = [DRIVER, model_path, fed, made, str(threads)] + ([cpu] if cpu else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in range(9), f"died with {done.returncode}: {done.stderr}"
    if done.returncode:
        return done.stderr.strip()
    data, tensors, at = made.read_bytes(), [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, _, *dims = data[at:end].decode().split()
        dtype = np.dtype(TYPES[name])
        size = int(np.prod([int(d) for d in dims], dtype=np.int64)) * dtype.itemsize
        tensors.append(np.frombuffer(data[end + 1 : end + 1 + size], dtype).reshape([int(d) for d in dims]))
        at = end + 1 + size
    return tensors


def run_ort(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def feeds_of(model, inputs):
    return {value.name: inputs[int(value.name[2:])] for value in model.graph.input}


def check(op, inputs, directory, constants=(), outputs=1, opset=17, threads=1, cpu=None, **attributes):
    """Runs both and compares: floats to 1e-5 of the tensor's largest magnitude, whole numbers exactly."""
    model = make_model(op, inputs, constants, outputs, opset, **attributes)
    feeds = feeds_of(model, inputs)
    want, got = run_ort(model, feeds), run_tare(model, feeds, directory, threads, cpu)
    what = f"{op} {[None if x is None else x.shape for x in inputs]} {attributes}"
    assert not isinstance(got, str), f"{what}: {got}"
    for ours, theirs in zip(got, want, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, f"{what}: {ours.shape}, want {theirs.shape}"
        if theirs.dtype.kind == "f":
            largest = np.max(np.abs(theirs), initial=0)
            limit = 1e-5 if theirs.dtype == np.float32 else 1e-3 if theirs.dtype == np.float16 else 1e-6
            worst = np.max(np.abs(ours.astype(np.float64) - theirs), initial=0)
            assert worst <= limit * largest, f"{what}: differs by {worst} of {largest}"
        else:
            assert np.array_equal(ours, theirs), f"{what}: {np.argwhere(ours != theirs)[:3]}"
    return got
