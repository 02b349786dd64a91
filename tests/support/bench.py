"""The bench: a folder with models and data in it, and what the program makes of them."""
import json
import os
import pathlib

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from program import check_error, find_program, run_program

F32, U8, S8, S16, S32, S64 = (TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32,
                              TensorProto.INT64)


def f32(numbers, *shape):
    return np.array(numbers, np.float32).reshape(shape or np.shape(numbers))


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name or outputs.split()[0], **attributes)


def model(nodes, inputs, outputs, constants=None, opset=13, ir_version=8):
    """`inputs`: name -> shape, or (shape, type); `outputs`: names."""
    feeds = [helper.make_tensor_value_info(name, *((shape[1], shape[0]) if isinstance(shape, tuple) else (F32, shape)))
             for name, shape in inputs.items()]
    constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", feeds, [onnx.ValueInfoProto(name=name) for name in outputs.split()], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def quantized(name, scale, zero_point, dtype=np.uint8):
    """Constants and nodes of a Q and DQ pair: `name` -> `name`_d."""
    constants = {f"{name}_s": np.float32(scale), f"{name}_z": np.array(zero_point, dtype)}
    return [node("QuantizeLinear", f"{name} {name}_s {name}_z", f"{name}_q"),
            node("DequantizeLinear", f"{name}_q {name}_s {name}_z", f"{name}_d")], constants


class Parameters:
    def __init__(self, scale, zero_point):
        self.scale, self.zero_point, self.dtype = scale, zero_point, zero_point.dtype

    def __eq__(self, other):
        return (self.scale == other.scale).all() and (self.zero_point == other.zero_point).all()

    def __repr__(self):
        return f"{self.scale} {self.zero_point} {self.dtype}"


class Quantized:
    """A written QDQ model: the parameters of each value under its own name, and what was said on the way."""

    def __init__(self, path, log):
        self.path, self.log, self.model = path, log, onnx.load(path)
        onnx.checker.check_model(self.model, full_check=True)
        self.constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in self.model.graph.initializer}
        self.nodes = list(self.model.graph.node)
        self.parameters = {}
        for each in self.nodes:
            if each.op_type in ("QuantizeLinear", "DequantizeLinear"):
                own = Parameters(*[self.constants[name] if name in self.constants else None for name in each.input[1:3]]) \
                    if len(each.input) > 2 else None
                name = each.output[0] if each.op_type == "DequantizeLinear" else each.input[0]
                self.parameters[name.removesuffix("_dequantized").removesuffix("_raw")] = own
        self.ops = [each.op_type for each in self.nodes]

    def codes(self, name):
        return self.constants[f"{name}_quantized"]

    def codes_of_weights(self):
        return {name: array for name, array in self.constants.items() if array.dtype == np.int8 and array.ndim > 1}

    def biases(self):
        """(codes, scales) of each constant in s32."""
        return [(self.constants[each.input[0]], self.constants[each.input[1]]) for each in self.nodes
                if each.op_type == "DequantizeLinear" and each.input[0] in self.constants
                and self.constants[each.input[0]].dtype == np.int32]

    def run(self, feeds):
        session = onnxruntime.InferenceSession(str(self.path), providers=["CPUExecutionProvider"])
        return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))


def ort(model_, feeds):
    session = onnxruntime.InferenceSession(model_.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))


class Bench:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0

    def new(self, ending):
        self.count += 1
        return self.folder / f"{self.count}{ending}"

    def save(self, model_):
        if isinstance(model_, (str, pathlib.Path)):
            return model_
        if isinstance(model_, Quantized):
            return model_.path
        path = self.new(".onnx")
        onnx.save(model_, path)
        return path

    def data(self, feeds):
        """One sample: name -> array."""
        path = self.new(".npz")
        np.savez(path, **feeds)
        return path

    def samples(self, feeds):
        """Several: name -> array whose first axis counts them."""
        folder = self.new("")
        folder.mkdir()
        for i in range(len(next(iter(feeds.values())))):
            np.savez(folder / f"{i:04}.npz", **{name: array[i] for name, array in feeds.items()})
        return folder

    def call(self, verb, *arguments, **options):
        return run_program(verb, *arguments, **options)

    def tell(self, verb, model_, *arguments):
        """What a verb says as JSON, and in the log."""
        ran = run_program(verb, self.save(model_), *arguments, "--json")
        assert ran.status == 0, ran.log
        return json.loads(ran.out)

    def run(self, model_, feeds, *options):
        """Outputs (and taps) by name."""
        out = self.new(".npz")
        ran = run_program("run", self.save(model_), "--data", self.data(feeds), "--whole", "-o", out, *options)
        assert ran.status == 0, ran.log
        with np.load(out) as found:
            return {name: found[name] for name in found}

    def quantize(self, model_, data, *options):
        """`data`: what to pass, or feeds of one sample."""
        out = self.new(".onnx")
        data = self.data(data) if isinstance(data, dict) else data
        ran = run_program("quantize", self.save(model_), "--data", data, "--whole", "-v", "-o", out, *options)
        assert ran.status == 0, ran.log
        return Quantized(out, ran.log)

    def optimize(self, model_, *options):
        out = self.new(".onnx")
        ran = run_program("optimize", self.save(model_), "-o", out, *options)
        assert ran.status == 0, ran.log
        return onnx.load(out)

    def refuse(self, status, verb, *arguments, words=()):
        check_error(run_program(verb, *arguments), status, *words)


@pytest.fixture
def bench(tmp_path):
    if not os.access(find_program(), os.X_OK):
        pytest.skip(f"{find_program()} is not there: run by ctest, or build first")
    return Bench(tmp_path)
