"""Case book, 4: models from quantization-aware training and from other tools."""
import numpy as np
import pytest
from bench import S8, U8, f32, model, node, ort, quantized


def test_Q2(bench):
    """MaxPool takes its input's scale; a Clip of what the codes can say anyway is nothing."""
    x = np.linspace(-1, 6, 64, dtype=np.float32).reshape(1, 1, 8, 8)
    nodes = [node("Conv", "x w", "a"), node("MaxPool", "a", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Clip", "p zero six", "c"),
             node("Conv", "c w", "y")]
    one = model(nodes, {"x": [1, 1, 8, 8]}, "y", {"w": f32(1, 1, 1, 1, 1), "zero": np.float32(0), "six": np.float32(6)})
    made = bench.quantize(one, {"x": x}, "--method", "minmax")
    assert made.parameters["a"] == made.parameters["p"]
    assert np.abs(made.run({"x": x})["y"] - bench.run(one, {"x": x})["y"]).max() < .04


def test_Q3(bench):
    """The reference of a trained model rounds as it was trained; `float` leaves the rounding out, by choice."""
    head, constants = quantized("x", .5, 0, np.int8)
    one = model([*head, node("Relu", "x_d", "y")], {"x": [1, 3]}, "y", constants)
    x = {"x": f32([[.3, 1.1, 2.6]])}
    assert bench.run(one, x)["y"].tolist() == ort(one, x)["y"].tolist() == [[.5, 1, 2.5]]
    assert np.array_equal(bench.run(one, x, "--backend", "float")["y"], x["x"])


def test_Q6(bench):
    """Codes that are made real and reshaped keep their sign; per axis too; and Q always says its zero point."""
    one = model([node("DequantizeLinear", "c s", "d"), node("Reshape", "d to", "y")], {"c": ([4], S8)}, "y",
                {"s": np.float32(.02), "to": np.array([2, 2])})
    assert np.allclose(bench.run(one, {"c": np.array([12, -45, 7, -3], np.int8)})["y"], [[.24, -.9], [.14, -.06]])
    axis = model([node("DequantizeLinear", "c s", "y", axis=1)], {"c": ([1, 2], S8)}, "y", {"s": f32([.01, .02])})
    assert np.allclose(bench.run(axis, {"c": np.array([[-30, 40]], np.int8)})["y"], [[-.3, .8]])
    conv = model([node("Conv", "x w", "y")], {"x": [1, 1, 4, 4]}, "y", {"w": f32(1, 1, 1, 1, 1)})
    made = bench.quantize(conv, {"x": np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)}, "--act", "s8")
    assert all(len(n.input) == 3 for n in made.nodes if n.op_type == "QuantizeLinear")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_Q7(bench, dtype):
    """Without a zero point Q gives u8 and DQ takes what it gets, both with 0."""
    q = model([node("QuantizeLinear", "x s", "y")], {"x": [3]}, "y", {"s": np.float32(1)})
    got = bench.run(q, {"x": f32([-1, 3, 300])})["y"]
    assert got.dtype == np.uint8 and got.tolist() == [0, 3, 255]
    codes = np.array([-5, 0, 100]).astype(dtype)
    d = model([node("DequantizeLinear", "c s", "y")], {"c": ([3], S8 if dtype == np.int8 else U8)}, "y", {"s": np.float32(.5)})
    assert np.array_equal(bench.run(d, {"c": codes})["y"], codes.astype(np.float32) / 2)


def test_Q10(bench):
    """A scale of 0 or NaN is refused by tensor and channel; where all codes mean 0 it can be repaired."""
    w = np.zeros((3, 1, 1, 1), np.int8)
    w[0], w[2] = 5, 7
    for bad in (0, np.nan, -1):
        one = model([node("DequantizeLinear", "q s z", "w", axis=0), node("Conv", "x w", "y")], {"x": [1, 1, 2, 2]}, "y",
                    {"q": w, "s": f32([.1, bad, .1]), "z": np.zeros(3, np.int8)})
        bench.refuse(3, "info", bench.save(one), words=["tensor 'q'", "1", "--repair-scales"])
        x = {"x": f32([1, 2, 3, 4], 1, 1, 2, 2)}
        got = bench.run(one, x, "--repair-scales")["y"]
        assert np.allclose(got[0, :, 0, 0], [.5, 0, .7])
        one.graph.initializer[0].raw_data = np.full(3, 5, np.int8).tobytes()
        bench.refuse(3, "info", bench.save(one), "--repair-scales", words=["tensor 'q'"])


@pytest.mark.parametrize("act, scale, zero_point", [("u8", 2 / 254, 127), ("s8", 1 / 127, 0)])
def test_Q11(bench, act, scale, zero_point):
    """Symmetric: zero lies in the middle of the codes, never at their end with signed data; what a file says is honoured."""
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)
    conv = model([node("Conv", "x w", "y")], {"x": [1, 1, 4, 4]}, "y", {"w": f32(1, 1, 1, 1, 1)})
    own = bench.quantize(conv, {"x": x}, "--symmetric", "--act", act, "--method", "minmax").parameters["x"]
    assert (own.scale, own.zero_point) in [(np.float32(scale), zero_point), (np.float32(2 / 255), 128)]
    for given, zero in ((2 / 255, 128), (2 / 254, 127)):
        head, constants = quantized("x", given, zero)
        one = model([*head, node("Conv", "x_d w", "y")], {"x": [1, 1, 4, 4]}, "y", {**constants, "w": f32(1, 1, 1, 1, 1)})
        assert np.array_equal(bench.run(one, {"x": x})["y"], ort(one, {"x": x})["y"])


@pytest.mark.parametrize("alpha, bias, want", [(1, True, [143, 91]), (2, True, [138, 86]), (1, False, [123, 123]), (2, False, [118, 118])])
def test_Q12(bench, alpha, bias, want):
    """Gemm's alpha scales the product, not the bias."""
    constants = {"as": np.float32(.02), "z": np.uint8(128), "bs": np.float32(.01), "bz": np.int8(0), "cs": np.float32(.0002),
                 "ys": np.float32(.05), "B": np.array([[10, -20], [30, 40], [-50, 60]], np.int8), "C": np.array([5000, -8000], np.int32)}
    nodes = [node("DequantizeLinear", "a as z", "ad"), node("DequantizeLinear", "B bs bz", "bd"), node("DequantizeLinear", "C cs", "cd"),
             node("Gemm", "ad bd cd" if bias else "ad bd", "g", alpha=float(alpha)), node("QuantizeLinear", "g ys z", "y")]
    one = model(nodes if bias else [n for n in nodes if "C" not in n.input], {"a": ([1, 3], U8)}, "y", constants)
    a = {"a": np.array([[200, 100, 150]], np.uint8)}
    assert bench.run(one, a)["y"].ravel().tolist() == want
    assert bench.run(bench.optimize(one), a)["y"].ravel().tolist() == want
    plain = model([node("Gemm", "x w c", "y", alpha=float(alpha))], {"x": [1, 3]}, "y",
                  {"w": f32([[.1, -.2], [.3, .4], [-.5, .6]]), "c": f32([1, -1.6])})
    x = {"x": f32([[1.44, -.56, .44]])}
    assert np.abs(bench.quantize(plain, x, "--method", "minmax").run(x)["y"] - ort(plain, x)["y"]).max() < .03
