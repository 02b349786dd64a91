"""Scales that a file brings along stay with the value that has them."""
import numpy as np
import pytest
from bench import f32, model, node, ort


@pytest.mark.parametrize("rows", [4, 6])
def test_scales_per_channel_are_not_moved_to_another_axis(bench, rows):
    rng = np.random.default_rng(0)
    scales = f32([.03, .3, .05, .003])
    constants = {"w": f32(rng.normal(size=(4, rows, 1, 1))), "s": scales, "z": np.zeros(4, np.int8)}
    net = model([node("QuantizeLinear", "x s z", "xq", axis=1), node("DequantizeLinear", "xq s z", "xd", axis=1),
                 node("Transpose", "xd", "t", perm=[0, 2, 1, 3]), node("Conv", "t w", "y")],
                {"x": [1, 4, rows, 8]}, "y", constants)
    samples = f32(rng.normal(size=(12, 1, 4, rows, 8)))
    made = bench.quantize(net, bench.samples({"x": samples}))
    want = np.stack([ort(net, {"x": each})["y"] for each in samples])
    got = np.stack([made.run({"x": each})["y"] for each in samples])
    assert 10 * np.log10((want ** 2).sum() / ((want - got) ** 2).sum()) > 30
