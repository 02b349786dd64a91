"""Constants that hold NaN or Inf: no scale holds them, wherever they stand."""
import numpy as np
import pytest
from bench import f32, model, node, ort

RNG = np.random.default_rng(0)
WEIGHTS = {"w": f32(RNG.normal(size=(6, 5))), "v": f32(RNG.normal(size=(5, 3)))}
SAMPLES = f32(RNG.normal(size=(12, 2, 6)))


def behind_matmul(bad):
    bias = f32(RNG.normal(size=5))
    bias[2] = bad
    return model([node("MatMul", "x w", "m"), node("Add", "m b", "s"), node("Relu", "s", "r"), node("MatMul", "r v", "y")],
                 {"x": [2, 6]}, "y", {**WEIGHTS, "b": bias})


def between(op, bad):
    """No bias: it has another shape, or is joined on."""
    other = f32(RNG.normal(size=(2, 5)))
    other[1, 2] = bad
    inputs = "m c" if op != "Concat" else "c m"
    weights = {**WEIGHTS, "c": other}
    return model([node("MatMul", "x w", "m"), node(op, inputs, "s", **({"axis": 0} if op == "Concat" else {})),
                  node("Relu", "s", "r"), node("MatMul", "r v", "y")], {"x": [2, 6]}, "y", weights)


def check_outputs(made, net):
    """Where a Relu takes the infinity out again."""
    for x in SAMPLES:
        np.testing.assert_allclose(made.run({"x": x})["y"], ort(net, {"x": x})["y"], atol=.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bias_added_behind_a_product(bench, bad):
    net, data = behind_matmul(bad), bench.samples({"x": SAMPLES})
    bench.refuse(3, "quantize", bench.save(net), "--data", data, "-o", bench.new(".onnx"),
                 words=["node 'm' (MatMul)", "tensor 'b' holds 1 NaN or Inf", "--skip-nonfinite"])
    made = bench.quantize(net, data, "--skip-nonfinite")
    assert "node 'm' (MatMul) stays float: tensor 'b' holds 1 NaN or Inf" in made.log
    assert "w" not in made.parameters and "v" in made.parameters
    if bad == -np.inf:
        check_outputs(made, net)


@pytest.mark.parametrize("op", ["Add", "Mul", "Concat"])
def test_constant_of_a_node_between_products(bench, op):
    net, data = between(op, -np.inf), bench.samples({"x": SAMPLES})
    made = bench.quantize(net, data, "--skip-nonfinite")
    assert "w" in made.parameters and "c" not in made.parameters
    if op != "Mul":
        check_outputs(made, net)


def test_rule_that_keeps_it_float_asks_for_nothing(bench):
    made = bench.quantize(behind_matmul(-np.inf), bench.samples({"x": SAMPLES}), "--skip-nonfinite", "--keep-float", "m")
    assert "holds 1 NaN" not in made.log
