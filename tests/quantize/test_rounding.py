"""Codes of weights keep the sums over windows, biases take out what is left of a shift of the mean."""
import numpy as np
import pytest
from bench import f32, model, node, ort


def errors_in_steps(made, name, weight, axis=0):
    scale = made.parameters[name].scale.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    return made.codes(name).astype(np.float64) - weight.astype(np.float64) / scale


CONVS = [((8, 4, 3, 3), dict(pads=[1, 1, 1, 1])), ((6, 1, 5, 5), dict(group=3, strides=[2, 2])),
         ((8, 2, 3, 1), dict(group=2, pads=[2, 0, 0, 0], dilations=[2, 1])),
         ((5, 4, 1, 7), dict(pads=[0, 3, 0, 3], strides=[1, 3]))]


def conv(shape, attributes, numbers, sizes=(9, 11)):
    """The model, its weight and bias, and the channels it reads."""
    channels = shape[1] * attributes.get("group", 1)
    w, b = f32(numbers.normal(size=shape)), f32(numbers.normal(size=shape[0]))
    made = model([node("Conv", "x w b", "y", **attributes)], {"x": [1, channels, *sizes]}, "y", {"w": w, "b": b})
    return made, w, b, channels


@pytest.mark.parametrize("shape, attributes", CONVS)
@pytest.mark.parametrize("options", [[], ["--per-tensor"], ["--power-of-two"]])
def test_sums_over_windows_are_kept(bench, shape, attributes, options):
    net, w, _, channels = conv(shape, attributes, np.random.default_rng(1))
    made = bench.quantize(net, {"x": f32(np.random.default_rng(2).normal(size=(1, channels, 9, 11)))}, *options)
    errors = errors_in_steps(made, "w", w)
    assert np.abs(errors.reshape(*shape[:2], -1).sum(axis=2)).max() <= 0.5 + 1e-4
    assert np.abs(errors).max() < 1
    # Those that were turned are the nearest to a tie: none that was not is nearer, in its window and direction.
    for window in errors.reshape(-1, np.prod(shape[2:])):
        turned = np.abs(window) > 0.5 + 1e-4
        left = window[~turned] * -np.sign(window[turned].sum())
        assert not turned.any() or left.max(initial=0) <= 1 - np.abs(window[turned]).max() + 1e-4


def test_codes_of_ends_are_not_turned_past_them(bench):
    """127.4 steps are 127 at most: what is wanted above goes to others."""
    w = f32([[[1, 1, 1, 0.4 / 127, 0.4 / 127, 0.4 / 127, 0.4 / 127]]])
    net = model([node("Conv", "x w", "y")], {"x": [1, 1, 9]}, "y", {"w": w})
    codes = bench.quantize(net, {"x": f32(np.arange(9), 1, 1, 9)}).codes("w").ravel()
    assert list(codes[:3]) == [127] * 3 and codes.sum() == 3 * 127 + 2


@pytest.mark.parametrize("net, axis", [
    (lambda w: model([node("Conv", "x w", "y")], {"x": [1, 6, 4]}, "y", {"w": w[:, :, None]}), 0),
    (lambda w: model([node("Gemm", "x w", "y", transB=1)], {"x": [4, 6]}, "y", {"w": w}), 0),
    (lambda w: model([node("MatMul", "x w", "y")], {"x": [4, 6]}, "y", {"w": w.T.copy()}), 1)])
def test_where_no_window_is_there_codes_are_the_nearest(bench, net, axis):
    w = f32(np.random.default_rng(3).normal(size=(7, 6)))
    made = net(w)
    size = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    quantized = bench.quantize(made, {"x": f32(np.random.default_rng(4).normal(size=size))})
    name = next(name.removesuffix("_quantized") for name in quantized.codes_of_weights())
    weight = w.T if axis else w.reshape(quantized.codes(name).shape)
    assert np.abs(errors_in_steps(quantized, name, weight, axis)).max() <= 0.5 + 1e-4


def shift_of_means(made, net, feeds, inputs):
    """Of the outputs in steps of the bias, mean over samples and places: codes' product and bias against float's."""
    (codes, scale), = made.biases()
    name = next(name.removesuffix("_quantized") for name in made.codes_of_weights())
    scales = made.parameters[name].scale
    weight = made.codes(name).astype(np.float32)
    axis = 1 if net.graph.node[0].op_type == "Gemm" and not net.graph.node[0].attribute else 0
    weight *= scales.reshape([-1 if i == axis else 1 for i in range(weight.ndim)]) if scales.size > 1 else scales
    other = model(list(net.graph.node), inputs, "y", {"w": weight, "b": codes.astype(np.float32) * scale})
    differences = [ort(other, {"x": x})["y"].astype(np.float64) - ort(net, {"x": x})["y"] for x in feeds]
    return np.mean(differences, axis=(0, 1, *range(3, differences[0].ndim + 1))) / scale


@pytest.mark.parametrize("shape, attributes", CONVS)
@pytest.mark.parametrize("options", [[], ["--per-tensor"]])
def test_biases_keep_the_means(bench, shape, attributes, options):
    """Numbers that are alike over each channel: then padding and strides count as they are counted."""
    numbers = np.random.default_rng(5)
    net, _, _, channels = conv(shape, attributes, numbers)
    feeds = np.abs(numbers.normal(size=(12, 1, channels, 1, 1)) + np.arange(channels)[:, None, None]) * np.ones((9, 11))
    made = bench.quantize(net, bench.samples({"x": f32(feeds)}), *options)
    off = shift_of_means(made, net, f32(feeds), {"x": [1, channels, 9, 11]})
    assert np.abs(off).max() <= 0.6


@pytest.mark.parametrize("attributes", [{}, {"transB": 1}])
def test_biases_keep_the_means_of_a_gemm(bench, attributes):
    numbers = np.random.default_rng(6)
    w, b = f32(numbers.normal(size=(6, 9))), f32(numbers.normal(size=6))
    w = w if attributes else w.T.copy()
    net = model([node("Gemm", "x w b", "y", **attributes)], {"x": [1, 9]}, "y", {"w": w, "b": b})
    feeds = f32(numbers.normal(size=(20, 1, 9)) + np.arange(9))
    made = bench.quantize(net, bench.samples({"x": feeds}))
    assert np.abs(shift_of_means(made, net, feeds, {"x": [1, 9]})).max() <= 0.6


def test_what_was_trained_for_codes_is_not_touched(bench):
    """Weights with scales in the file: the codes that they were trained with, and the bias at its nearest."""
    numbers = np.random.default_rng(7)
    w, b = f32(numbers.normal(size=(4, 3, 3, 3))), f32(numbers.normal(size=4))
    scale = f32(np.abs(w).max(axis=(1, 2, 3)) / 127)
    net = model([node("QuantizeLinear", "w s z", "q", axis=0), node("DequantizeLinear", "q s z", "d", axis=0),
                 node("Conv", "x d b", "y")], {"x": [1, 3, 8, 8]}, "y",
                {"w": w, "b": b, "s": scale, "z": np.zeros(4, np.int8)})
    made = bench.quantize(net, {"x": f32(numbers.normal(size=(1, 3, 8, 8)) + 2)})
    codes, = made.codes_of_weights().values()
    assert (codes == np.rint(w / scale[:, None, None, None])).all()
    (bias, step), = made.biases()
    assert (bias == np.rint(b.astype(np.float64) / step)).all()
