"""The rows of target tidl against TIDL's published rule, y = clamp((sum + 2^(n-1)) >> n), in numpy."""
import codes
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from onnx import helper

GRAPHS = 40
ROWS = {np.int8: (-128, 127), np.uint8: (0, 255)}


def power(rng, lo=-8, hi=-3):
    return np.float32(2.0 ** rng.integers(lo, hi))


def shift(sums, n, dtype):
    """Half up; n <= 0 shifts to the left."""
    sums = sums.astype(np.int64)
    steps = (sums + (1 << (n - 1))) >> n if n > 0 else sums << -n
    return np.clip(steps, *ROWS[dtype])


def exponent(ratio):
    return int(np.log2(float(ratio)))


def sum_of_products(x, w, bias, **attributes):
    """In f64, which is exact here."""
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, None) for n in "xwb"],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)])
    feeds = {name: array.astype(np.float64) for name, array in zip("xwb", (x, w, bias))}
    return ReferenceEvaluator(helper.make_model(graph)).run(None, feeds)[0]


def check(b, scale, want, tmp_path):
    model = b.finish(scale, b.dtype(0))
    ours, lines = codes.run_driver(model, b.feeds, tmp_path, "--target", "tidl")
    codes.assert_on_codes(lines)
    np.testing.assert_array_equal(ours["y"], want.astype(b.dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_conv(dtype, tmp_path):
    rng = np.random.default_rng(1)
    for i in range(GRAPHS):
        b = codes.Builder(rng, dtype, True)
        group, depth, outputs = int(rng.choice([1, 2])), int(rng.integers(1, 6)), 2 * int(rng.integers(1, 5))
        x_scale = power(rng)
        x = b.input("x", [1, group * depth, 6, 7], scale=x_scale, zero=dtype(0))
        w = rng.integers(-40, 41, (outputs, depth, 3, 3)).astype(np.int8)
        scales = np.array([power(rng) for _ in range(outputs if rng.random() < 0.5 else 1)])
        bias = rng.integers(-3000, 3000, outputs).astype(np.int32)
        b.constant("w", w), b.constant("bias", bias)
        each = scales if scales.size > 1 else scales[0]
        inputs = [x, b.dequantize("w", b.parameters("w", each, np.zeros(np.shape(each), np.int8)), axis=0),
                  b.dequantize("bias", b.parameters("bias", x_scale * each, np.zeros(np.shape(each), np.int32)), axis=0)]
        b.op("Conv", inputs, group=group, pads=[1, 1, 1, 1])
        sums = sum_of_products(b.feeds["x"], w, bias, group=group, pads=[1, 1, 1, 1])
        y_scale = np.float32(x_scale * scales.min() * 2.0 ** rng.integers(-1, 9))
        lowest = -(2**62)
        if rng.random() < 0.4:
            b.activation("Relu", [])
            lowest = 0
        shifted = [shift(sums[:, c], exponent(y_scale / (x_scale * scales[c % scales.size])), dtype) for c in range(outputs)]
        check(b, y_scale, np.maximum(np.stack(shifted, 1), lowest), tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_add_and_concat(dtype, tmp_path):
    rng = np.random.default_rng(2)
    for i in range(GRAPHS):
        op, bits = [("Add", 6), ("Concat", 7)][i % 2]
        b = codes.Builder(rng, dtype, True)
        shape = [2, int(rng.integers(1, 9)), 5]
        inputs = [b.input(name, shape, scale=power(rng), zero=dtype(0)) for name in "ab"]
        b.op(op, inputs, **({"axis": 1} if op == "Concat" else {}))
        common = max(b.scales) / 2**bits
        a, c = (b.feeds[name].astype(np.int64) * int(scale / common) for name, scale in zip("ab", b.scales))
        y_scale = np.float32(max(b.scales) * 2.0 ** rng.integers(-1, 3))
        check(b, y_scale, shift(a + c if op == "Add" else np.concatenate([a, c], 1), exponent(y_scale / common), dtype), tmp_path)


def test_other_scales_stay_in_float(tmp_path):
    b = codes.Builder(np.random.default_rng(3), np.int8, True)
    b.op("Add", [b.input("a", [4], scale=np.float32(0.3), zero=np.int8(0)), b.input("b", [4], scale=np.float32(0.25), zero=np.int8(0))])
    _, lines = codes.run_driver(b.finish(np.float32(0.5), np.int8(0)), b.feeds, tmp_path, "--target", "tidl")
    assert "on codes 0 left 1" in lines and "left Add: its scales are not a power of two apart" in lines
