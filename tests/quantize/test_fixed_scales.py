"""Scales that a target fixes, as Softmax's, are for what that operator alone puts out."""
import numpy as np
import pytest
from bench import f32, model, node


@pytest.mark.parametrize("order", ["x s", "s x"])
def test_what_is_joined_with_a_softmax_keeps_its_range(bench, order):
    rng = np.random.default_rng(0)
    weights = {"w": f32(rng.normal(size=(4, 4, 1, 1))), "v": f32(rng.normal(size=(4, 8, 1, 1)))}
    net = model([node("Conv", "x w", "c"), node("Softmax", "c", "s", axis=1), node("Concat", order, "k", axis=1),
                 node("Conv", "k v", "y")], {"x": [1, 4, 8, 8]}, "y", weights)
    made = bench.quantize(net, bench.samples({"x": f32(rng.uniform(-3, 3, size=(6, 1, 4, 8, 8)))}))
    parameters = made.parameters["x"]
    step, zero = float(parameters.scale), int(parameters.zero_point)
    assert (0 - zero) * step <= -2.9 and (255 - zero) * step >= 2.9, parameters
