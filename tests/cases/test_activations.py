"""Case book, 3: activations."""
import numpy as np
import pytest
from bench import f32, model, node, quantized


def uniform(seed, *shape, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def eye(n):
    return np.eye(n, dtype=np.float32).reshape(n, n, 1, 1)


@pytest.mark.parametrize("options", [["--symmetric", "--act", "s8"], ["--symmetric"], ["--act", "s8"], [], ["--act", "s16"]],
                         ids=lambda options: "_".join(options) or "default")
@pytest.mark.parametrize("op", ["Relu", "Clip"])
def test_A1(bench, options, op):
    """A Relu or Clip goes only where the codes' own ends do its work."""
    x = uniform(1, 1, 4, 8, 8, low=-6.35, high=6.35)
    constants = {"w": eye(4), "lo": np.float32(0), "hi": np.float32(4)}
    activation = node("Relu", "a", "b") if op == "Relu" else node("Clip", "a lo hi", "b")
    one = model([node("Conv", "x w", "a"), activation, node("Conv", "b w", "y")], {"x": [1, 4, 8, 8]}, "y", constants)
    made = bench.quantize(one, {"x": x}, "--method", "minmax", *options)
    want = bench.run(one, {"x": x})["y"]
    for got in (made.run({"x": x})["y"], bench.run(made, {"x": x})["y"]):
        assert np.abs(got - want).max() < .1, "-2 must become 0, not code -40"
    own = made.parameters["b"]
    is_symmetric = "--symmetric" in options or "s16" in options
    if is_symmetric:
        assert op in made.ops, "zero point in the middle: it must stay"
    elif op not in made.ops:
        assert own.zero_point == np.iinfo(own.zero_point.dtype).min


@pytest.mark.parametrize("opset, attributes, bounds, x, want", [
    (13, {}, {"hi": 6}, [-3, 0, 5, 9], [-3, 0, 5, 6]), (6, {"min": 0.0}, None, [-3, 0, 5, 1e30], [0, 0, 5, 1e30]),
    (13, {}, {"lo": 5, "hi": 2}, [-3, 0, 5, 9], [2, 2, 2, 2])], ids=["no_low", "attribute", "crossed"])
def test_A2(bench, opset, attributes, bounds, x, want):
    """Bounds that are left out, attributes of old files, bounds the wrong way round."""
    inputs = "x" if bounds is None else "x lo hi"
    one = model([node("Clip", inputs, "y", **attributes)], {"x": [4]}, "y", {k: np.float32(v) for k, v in (bounds or {}).items()},
                max(opset, 7))
    if bounds and "lo" not in bounds:
        one.graph.node[0].input[1] = ""
    assert bench.run(one, {"x": f32(x)})["y"].tolist() == f32(want).tolist()


def test_A3_codes(bench):
    """Sigmoid between fixed scales, as ONNX Runtime has it. That .tflite must fix them is that target's case."""
    head, constants = quantized("x", .1, 0, np.int8)
    tail, more = quantized("y", 1 / 256, -128, np.int8)
    one = model([*head, node("Sigmoid", "x_d", "y"), *tail], {"x": [5]}, "y_q", constants | more)
    x = f32(np.array([-128, -10, 0, 10, 127]) * np.float32(.1))
    assert bench.run(one, {"x": x})["y_q"].tolist() == [-128, -59, 0, 59, 127]


def hard(alpha=None):
    attributes = {} if alpha is None else {"alpha": alpha, "beta": .5}
    return [node("HardSigmoid", "x", "h", **attributes), node("Mul", "x h", "y")]


def test_A6(bench):
    """HardSwish is x * HardSigmoid with alpha 1/6; with the default 1/5 it is something else."""
    x = {"x": f32([-3, -1, 0, 1, 3])}

    def see(nodes, want, opset=14):
        one = model(nodes, {"x": [5]}, "y", opset=opset)
        assert np.allclose(bench.run(one, x)["y"], want, atol=1e-6)
        best = bench.optimize(one)
        assert np.allclose(bench.run(best, x)["y"], want, atol=1e-6)
        return [n.op_type for n in best.graph.node]
    swish = [0, -1 / 3, 0, 2 / 3, 3]
    assert see([node("HardSwish", "x", "y")], swish) == ["HardSwish"]
    assert see([node("HardSigmoid", "x", "y")], [0, .3, .5, .7, 1]) == ["HardSigmoid"]
    assert see(hard(), [0, -.3, 0, .7, 3]) == ["HardSigmoid", "Mul"]
    assert see(hard(1 / 6), swish) == ["HardSwish"]


@pytest.mark.parametrize("name", ["Gelu", "Silu"])
def test_A7(bench, name):
    """The small negative lobe keeps its codes: a range is not made symmetric, and what is clipped is little."""
    x = np.linspace(-8, 6, 4096, dtype=np.float32).reshape(1, 4, 32, 32)
    act = [node("Sigmoid", "a", "g"), node("Mul", "a g", "b")] if name == "Silu" else \
        [node("Div", "a r", "d"), node("Erf", "d", "e"), node("Add", "e one", "f"), node("Mul", "a f", "m"), node("Mul", "m half", "b")]
    constants = {"w": eye(4), "r": np.float32(2 ** .5), "one": np.float32(1), "half": np.float32(.5)}
    one = model([node("Conv", "x w", "a"), *act, node("Conv", "b w", "y")], {"x": [1, 4, 32, 32]}, "y",
                {k: v for k, v in constants.items() if k == "w" or name == "Gelu"})
    lowest = {"Silu": -.2784645, "Gelu": -.1699712}[name]
    for method in ("minmax", "percentile", "mse"):
        own = bench.quantize(one, {"x": x}, "--method", method).parameters["b"]
        low = -own.zero_point.astype(float) * own.scale
        assert .8 * lowest > low > 1.3 * lowest, (method, low)
        if method == "minmax":
            assert abs(own.scale - (6 - lowest) / 255) < .01 * own.scale


def test_A10(bench):
    """A mean that cancels: its own range, not the input's; and zero range is no zero scale."""
    head, constants = quantized("x", 3 / 127, 0, np.int8)
    tail, more = quantized("y", 3 / 127, 0, np.int8)
    one = model([*head, node("GlobalAveragePool", "x_d", "y"), *tail], {"x": [1, 1, 1, 3]}, "y_d", constants | more)
    assert bench.run(one, {"x": f32([-3, 0, 3], 1, 1, 1, 3)})["y_d"].item() == 0
    x = uniform(2, 1, 4, 8, 8, low=-3, high=3)
    x[:, :, :, 4:] = -x[:, :, :, :4]  # cancels
    between = model([node("Conv", "x w", "a"), node("GlobalAveragePool", "a", "m"), node("Conv", "m w", "y")], {"x": [1, 4, 8, 8]},
                    "y", {"w": eye(4)})
    made = bench.quantize(between, {"x": x})
    assert 0 < made.parameters["m"].scale < made.parameters["a"].scale
    assert np.isfinite(bench.run(made, {"x": x})["y"]).all()


def test_A11(bench):
    """LayerNorm of a loud channel is computed in float; only what it gives is codes."""
    x = uniform(3, 1, 4, 8)
    x[..., 2] *= 100
    norm = node("LayerNormalization", "a g c", "n", axis=-1)
    one = model([node("MatMul", "x w", "a"), norm, node("MatMul", "n w", "y")], {"x": [1, 4, 8]}, "y",
                {"w": np.eye(8, dtype=np.float32), "g": np.ones(8, np.float32), "c": np.zeros(8, np.float32)}, 17)
    made = bench.quantize(one, {"x": x})
    assert "LayerNormalization" in made.ops
    at = next(n for n in made.nodes if n.op_type == "LayerNormalization")
    makers = {name: n.op_type for n in made.nodes for name in n.output}
    assert all(makers.get(name) != "QuantizeLinear" for name in at.input), "it reads numbers"
    want = bench.run(one, {"x": x})["y"]
    got = made.run({"x": x})["y"]
    assert 20 * np.log10(np.linalg.norm(want) / np.linalg.norm(got - want)) > 20
