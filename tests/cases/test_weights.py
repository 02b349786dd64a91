"""Case book, 5 and Q13: weights, folding and biases."""
import numpy as np
import pytest
from bench import F32, f32, model, node
from onnx import TensorProto, numpy_helper


def uniform(seed, *shape, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


@pytest.mark.parametrize("group", [1, 2])
def test_W1(bench, group):
    """ConvTranspose has its output channels in axis 1; groups share scales, and the bias scale says so."""
    w = uniform(1, 4, 64, 3, 3) * np.linspace(.01, 1, 64, dtype=np.float32).reshape(1, 64, 1, 1)
    b, x = uniform(2, 64 * group), uniform(3, 1, 4, 6, 6)
    one = model([node("ConvTranspose", "x w b", "y", group=group)], {"x": [1, 4, 6, 6]}, "y", {"w": w, "b": b})
    made = bench.quantize(one, {"x": x}, "--method", "minmax")
    own = made.parameters["w"]
    assert own.scale.shape == (64,) and np.allclose(own.scale, np.abs(w).max((0, 2, 3)) / 127, rtol=1e-6)
    dq = next(n for n in made.nodes if n.op_type == "DequantizeLinear" and "w_quantized" in n.input)
    assert {a.name: a.i for a in dq.attribute}.get("axis", 1) == 1
    (_, scale), = made.biases()
    assert np.array_equal(scale, made.parameters["x"].scale * np.tile(own.scale, group)), "s_x * s_w[c mod Cout/g]"
    want = bench.run(one, {"x": x})["y"]
    assert np.abs(made.run({"x": x})["y"] - want).max() < .02 * np.abs(want).max()


def test_W2(bench):
    """A depthwise channel that is 300 times smaller lives on per channel, and dies per tensor, which is told."""
    one = model([node("Conv", "x w", "y", group=2)], {"x": [1, 2, 1, 8]}, "y", {"w": f32([20, 0, .05, -.07], 2, 1, 1, 2)})
    x = uniform(4, 1, 2, 1, 8)
    assert bench.quantize(one, {"x": x}).codes("w").ravel().tolist() == [127, 0, 91, -127]
    assert bench.quantize(one, {"x": x}, "--per-tensor").codes("w").ravel().tolist() == [127, 0, 0, 0]
    findings = bench.tell("check", one)["findings"]
    assert any(f["check"] == "weight-spread" for f in findings), findings


def test_W3(bench):
    """BatchNormalization with next to no variance: epsilon counts, and folding is exact."""
    bn = node("BatchNormalization", "a g c m v", "y", epsilon=1e-5)
    constants = {"w": f32([1], 1, 1, 1, 1), "g": f32([1]), "c": f32([.25]), "m": f32([.1]), "v": f32([1e-12])}
    one = model([node("Conv", "x w", "a"), bn], {"x": [1, 1, 1, 1]}, "y", constants)
    x = {"x": f32([.1003], 1, 1, 1, 1)}
    best = bench.optimize(one)
    assert [n.op_type for n in best.graph.node] == ["Conv"]
    gain = numpy_helper.to_array(best.graph.initializer[0]).item()
    assert abs(gain - 316.22775) < 1e-3
    for each in (one, best):
        assert abs(bench.run(each, x)["y"].item() - .34487) < 1e-4


def test_W3_is_told(bench):
    """A channel that a tiny variance makes far larger than the others."""
    v = np.ones(8, np.float32)
    v[5] = 1e-12
    constants = {"w": uniform(5, 8, 4, 1, 1), "g": np.ones(8, np.float32), "c": np.zeros(8, np.float32),
                 "m": np.zeros(8, np.float32), "v": v}
    one = model([node("Conv", "x w", "a"), node("BatchNormalization", "a g c m v", "y")], {"x": [1, 4, 8, 8]}, "y", constants)
    findings = bench.tell("check", one)["findings"]
    assert any(f["check"] == "weight-spread" for f in findings), findings


def test_W5(bench):
    """A bias that would overflow 32 bits raises its weight's scale, and is exact."""
    x = np.linspace(0, 127.5, 256, dtype=np.float32).reshape(1, 1, 16, 16)
    w = np.full((2, 1, 1, 1), 7.843e-10 * 127, np.float32)
    one = model([node("Conv", "x w b", "y")], {"x": [1, 1, 16, 16]}, "y", {"w": w, "b": f32([5, -4.5])})
    made = bench.quantize(one, {"x": x}, "--method", "minmax")
    assert made.parameters["x"].scale == np.float32(.5)
    least = np.array([5, 4.5]) / (.5 * (2**31 - 1))
    assert (made.parameters["w"].scale >= least).all() and (made.parameters["w"].scale < least * 1.01).all()
    (codes, scale), = made.biases()
    assert np.abs(codes * scale.astype(np.float64) - [5, -4.5]).max() < 1e-6
    assert "weight scales raised" in made.log


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3,), (1, 3), (2, 1), (2, 3)], ids=str)
@pytest.mark.parametrize("op", ["Gemm", "MatMul"])
def test_W5_shapes_of_biases(bench, op, shape):
    """A bias of one number gets codes for each column, whose scales differ; one that differs by row stays float."""
    w, x, b = uniform(6, 4, 3) * f32([1, .1, .01]), uniform(7, 2, 4), uniform(13, *shape)
    nodes = [node("Gemm", "x w b", "y")] if op == "Gemm" else [node("MatMul", "x w", "m"), node("Add", "m b", "y")]
    one = model(nodes, {"x": [2, 4]}, "y", {"w": w, "b": np.asarray(b, np.float32)})
    made = bench.quantize(one, {"x": x}, "--method", "minmax")
    if op == "Gemm":
        assert [len(scale) for _, scale in made.biases()] == ([3] if np.size(b) in (1, 3) else [])
    want = x @ w + b
    for got in (made.run({"x": x})["y"], bench.run(made, {"x": x})["y"]):
        assert np.abs(got - want).max() < .03


def test_W6(bench):
    """A row of zeros: scale 1, codes 0, no warning. Scales that f16 would lose stay."""
    w = uniform(8, 3, 4, 1, 1)
    w[1] = 0
    w[2] *= 1e-6 / np.abs(w[2]).max()
    one = model([node("Conv", "x w", "y")], {"x": [1, 4, 4, 4]}, "y", {"w": w})
    made = bench.quantize(one, {"x": uniform(9, 1, 4, 4, 4)})
    scale = made.parameters["w"].scale
    assert scale.dtype == np.float32 and scale[1] == 1 and abs(scale[2] / (1e-6 / 127) - 1) < 1e-5
    assert not made.codes("w")[1].any() and np.abs(made.codes("w")[2]).max() == 127
    assert "warning" not in made.log


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "double"])
def test_W7(bench, dtype):
    """Weights of another float type give the codes of the same numbers in f32."""
    w = np.array([54800, -54800, 1000, 3.5], np.float32).reshape(1, 4, 1, 1)
    plain = model([node("Conv", "x w", "y")], {"x": [1, 4, 4, 4]}, "y", {"w": w})
    number = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "double": TensorProto.DOUBLE}[dtype]
    w = w.astype(dtype).astype(np.float32) if dtype != "bfloat16" else (w.view(np.uint32) & 0xFFFF0000).view(np.float32)
    cast = model([node("Cast", "v", "w", to=F32), node("Conv", "x w", "y")], {"x": [1, 4, 4, 4]}, "y", {})
    if dtype == "bfloat16":
        tensor = TensorProto(name="v", data_type=number, dims=w.shape, raw_data=(w.view(np.uint32) >> 16).astype(np.uint16).tobytes())
    else:
        tensor = numpy_helper.from_array(w.astype(dtype), "v")
    cast.graph.initializer.append(tensor)
    plain.graph.initializer[0].CopyFrom(numpy_helper.from_array(w, "w"))
    x = {"x": uniform(10, 1, 4, 4, 4)}
    a, b = bench.quantize(plain, x, "--method", "minmax"), bench.quantize(cast, x, "--method", "minmax")
    assert np.array_equal(a.codes("w"), b.codes("w")) and a.parameters["w"] == b.parameters["w"]
    assert abs(b.parameters["w"].scale.item() - np.abs(w).max() / 127) < 1e-3


def test_Q13_W9(bench):
    """Two products that share weight and bias, on inputs of different scale: each has a bias of its own scale."""
    one = model([node("Conv", "a w b", "p"), node("Conv", "c w b", "q")], {"a": [1, 1, 1, 256], "c": [1, 1, 1, 256]}, "p q",
                {"w": f32([1], 1, 1, 1, 1), "b": f32([.5])})
    ramp = np.arange(256, dtype=np.float32).reshape(1, 1, 1, 256)
    feeds = {"a": ramp * np.float32(.02), "c": ramp * np.float32(.002)}
    made = bench.quantize(one, feeds, "--method", "minmax")
    codes = sorted(int(c.item()) for name, c in made.constants.items() if c.dtype == np.int32 and c.size == 1 and c.item())
    assert codes == [3175, 31750]
    got = made.run(feeds)
    assert np.abs(got["p"] - feeds["a"] - .5).max() < .03 and np.abs(got["q"] - feeds["c"] - .5).max() < .01


def test_W13(bench):
    """Small scales survive every text, and reading and writing again changes no byte."""
    w = np.full((1, 1, 1, 1), 2.6e-7 * 127, np.float32)
    x = np.linspace(0, 1e-6, 16, dtype=np.float32).reshape(1, 1, 4, 4)
    made = bench.quantize(model([node("Conv", "x w", "y")], {"x": [1, 1, 4, 4]}, "y", {"w": w}), {"x": x})
    told = bench.tell("info", made, "--values")["values"]
    assert np.float32(told["x"]["scale"][0]) == made.parameters["x"].scale > 0
    again = bench.new(".onnx")
    assert bench.call("convert", made.path, again).status == 0 and again.read_bytes() == made.path.read_bytes()


@pytest.mark.parametrize("act", ["u8", "s8", "u16", "s16"])
def test_W15(bench, act):
    """The weight's type does not follow the activation's."""
    one = model([node("Conv", "x w", "y")], {"x": [1, 4, 4, 4]}, "y", {"w": uniform(11, 2, 4, 1, 1)}, opset=21, ir_version=10)
    made = bench.quantize(one, {"x": uniform(12, 1, 4, 4, 4)}, "--act", act)
    assert made.codes("w").dtype == np.int8 and not made.parameters["w"].zero_point.any()
    assert made.parameters["x"].dtype == np.dtype(act.replace("u", "uint").replace("s", "int") if act[0] == "u" else "int" + act[1:])
