"""What the Python tests of ops share: tensors to and from driver_conformance."""

import os
import pathlib
import subprocess

import ml_dtypes
import numpy as np
import onnx

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path(os.environ.get("TARE_DRIVERS", HERE.parent.parent / "build" / "tests")) / "driver_conformance"
TYPES = {
    "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64, "bool": np.bool_,
    "s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32, "u32": np.uint32,
    "s64": np.int64, "u64": np.uint64, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}
NIBBLES = {"s4": np.int8, "u4": np.uint8}  # a byte each in tare


def write_tensors(path, tensors):
    """None, or why they cannot be said."""
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


def run_model(directory, model, inputs):
    """(outputs, None), or (None, why not)."""
    path, fed, made = (directory / name for name in ("model.onnx", "inputs", "outputs"))
    path.write_bytes(model.SerializeToString())
    problem = write_tensors(fed, inputs)
    if problem:
        return None, problem
    done = subprocess.run([DRIVER, path, fed, made], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode not in range(9):
        return None, f"died with {done.returncode}: {done.stderr}"
    if done.returncode:
        return None, done.stderr.strip().partition("model.onnx: ")[2] or done.stderr.strip()
    return read_tensors(made), None


def run_node(directory, op, inputs, constants=(), outputs=1, opset=23, declared=None, **attributes):
    """Runs one node. Inputs whose places are in `constants` become initializers; None leaves one out. `declared` is
    what the file says of the outputs: (dtype, shape) of each."""
    names = ["" if tensor is None else f"i{place}" for place, tensor in enumerate(inputs)]
    node = onnx.helper.make_node(op, names, [f"o{place}" for place in range(outputs)], **attributes)
    ports, fixed, fed = [], [], []
    for place, tensor in enumerate(inputs):
        if tensor is None:
            continue
        proto_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype))
        if place in constants:
            fixed.append(onnx.numpy_helper.from_array(tensor, names[place]))
        else:
            ports.append(onnx.helper.make_tensor_value_info(names[place], proto_type, [None] * tensor.ndim))
            fed.append(tensor)
    ends = [onnx.ValueInfoProto(name=name) for name in node.output]
    for place, (dtype, shape) in enumerate(declared or ()):
        number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        ends[place] = onnx.helper.make_tensor_value_info(node.output[place], number, shape)
    graph = onnx.helper.make_graph([node], "g", ports, ends, fixed)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
    return run_model(directory, model, fed)
