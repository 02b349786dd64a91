"""Random single-op models on codes, and what tare's int backend makes of them."""
import os
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or ROOT.parent / "shared")
DRIVER = pathlib.Path(os.environ.get("TARE_DRIVERS") or ROOT / "build" / "dev" / "tests") / "driver_run"
ONNX_TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def nice_scale(rng):
    """Ratios of such scales are short in binary, so that sums fall on ties."""
    return np.float32(2.0 ** -rng.integers(2, 8) * rng.choice([1, 1.25, 1.5, 0.75]))


def random_scale(rng, nice):
    return nice_scale(rng) if nice else np.float32(np.exp(rng.uniform(-6, -1)))


def near_scale(rng, nice, real):
    """A scale of that size."""
    real = real * np.exp(rng.uniform(-0.5, 0.5))
    if not nice:
        return np.float32(real)
    power = np.floor(np.log2(real))
    return np.float32(2.0 ** power * rng.choice([1, 1.25, 1.5, 0.75]))


def random_codes(rng, dtype, shape):
    """All codes, and each end and the middle more often."""
    info = np.iinfo(dtype)
    codes = rng.integers(info.min, info.max + 1, shape)
    ends = rng.choice([info.min, info.max, (info.min + info.max + 1) // 2], shape)
    return np.where(rng.random(shape) < 0.1, ends, codes).astype(dtype)


class Builder:
    """A model whose inputs and output are codes, with DQ before its op and Q behind."""

    def __init__(self, rng, dtype, nice):
        self.rng, self.dtype, self.nice = rng, dtype, nice
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}
        self.scales = []  # of the inputs so far

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def parameters(self, name, scale, zero):
        return [self.constant(name + "_scale", scale), self.constant(name + "_zero", zero)]

    def scale(self):
        return random_scale(self.rng, self.nice)

    def zero(self):
        info = np.iinfo(self.dtype)
        middle = (info.min + info.max + 1) // 2
        return self.dtype(self.rng.choice([info.min, info.max, middle, *self.rng.integers(middle - 40, middle + 41, 5)]))

    def dequantize(self, name, parameters, **attributes):
        self.nodes.append(helper.make_node("DequantizeLinear", [name, *parameters], [name + "_real"], **attributes))
        return name + "_real"

    def input(self, name, shape, scale=None, zero=None):
        """The real value of a new input; its codes are drawn."""
        scale = self.scale() if scale is None else scale
        zero = self.zero() if zero is None else zero
        self.scales.append(scale)
        self.feeds[name] = random_codes(self.rng, self.dtype, shape)
        self.inputs.append(helper.make_tensor_value_info(name, ONNX_TYPES[self.dtype], shape))
        return self.dequantize(name, self.parameters(name, scale, zero))

    def condition(self, name, shape):
        self.feeds[name] = self.rng.random(shape) < 0.5
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.BOOL, shape))
        return name

    def operand(self, name, shape, **quant):
        """An input, or now and then a constant."""
        if self.rng.random() < 0.85:
            return self.input(name, shape, **quant)
        self.constant(name, random_codes(self.rng, self.dtype, shape))
        self.scales.append(self.scale())
        return self.dequantize(name, self.parameters(name, self.scales[-1], self.zero()))

    def op(self, name, inputs, **attributes):
        self.nodes.append(helper.make_node(name, inputs, ["real"], name="the_op", **attributes))

    def activation(self, name, inputs):
        self.nodes[-1].output[0] = "before"
        self.nodes.append(helper.make_node(name, ["before", *inputs], ["real"]))

    def finish(self, scale, zero, opset=17, infers=True):
        self.nodes.append(helper.make_node("QuantizeLinear", ["real", *self.parameters("y", scale, zero)], ["y"]))
        output = helper.make_tensor_value_info("y", ONNX_TYPES[self.dtype], None)
        graph = helper.make_graph(self.nodes, "g", self.inputs, [output], self.constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        if infers:
            self.model = onnx.shape_inference.infer_shapes(self.model)
        return self.model


def run_driver(model, feeds, directory, *options):
    """(codes of output y, lines about nodes) of tare's int backend."""
    path, source, target = directory / "model.onnx", directory / "in.npz", directory / "out.npz"
    onnx.save(model, path)
    np.savez(source, **feeds)
    done = subprocess.run([DRIVER, path, source, target, "--backend", "int", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(target) as values:
        return {name: values[name] for name in values.files}, done.stderr.splitlines()


def assert_on_codes(lines, nodes=1):
    assert f"on codes {nodes} left 0" in lines, "\n".join(lines)
