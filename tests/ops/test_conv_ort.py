"""Conv and ConvTranspose with random shapes and attributes against ONNX Runtime; the same bits for every number of threads
and instruction set."""

import numpy as np
import pytest
from oracle import check, feeds_of, make_model, run_tare



def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def draw_window(rng, rank, dilates=True):
    kernel = [int(rng.integers(1, 6)) for _ in range(rank)]
    attributes = {"kernel_shape": kernel}
    if rng.random() < 0.6:
        attributes["strides"] = [int(rng.integers(1, 4)) for _ in range(rank)]
    auto_pad = pick(rng, "NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    if auto_pad != "NOTSET":
        attributes["auto_pad"] = auto_pad
    elif rng.random() < 0.7:
        attributes["pads"] = [int(rng.integers(0, 4)) for _ in range(2 * rank)]
    if dilates and auto_pad in ("NOTSET", "VALID") and rng.random() < 0.4:
        attributes["dilations"] = [int(rng.integers(1, 4)) for _ in range(rank)]
    return attributes


def reach(attributes, i):
    return (attributes["kernel_shape"][i] - 1) * attributes.get("dilations", [1] * 9)[i] + 1


def draw_conv(seed):
    rng = np.random.default_rng(seed)
    rank = pick(rng, 1, 2, 2, 2, 3)
    attributes = draw_window(rng, rank)
    kind = pick(rng, "plain", "plain", "grouped", "depthwise", "repeated", "pointwise")
    if kind == "pointwise":
        attributes = {"kernel_shape": [1] * rank}
    group = 1 if kind in ("plain", "pointwise") else int(rng.integers(2, 20 if rank < 3 else 6))
    channels = group * (int(rng.integers(1, 40 if group == 1 else 6)) if kind in ("plain", "grouped", "pointwise") else 1)
    outputs = group * (1 if kind == "depthwise" else int(rng.integers(2, 5)) if kind == "repeated" else int(rng.integers(1, 24)))
    size = [reach(attributes, i) + int(rng.integers(0, (60, 18, 7)[rank - 1])) for i in range(rank)]
    x = rng.standard_normal([int(rng.integers(1, 4)), channels, *size], np.float32)
    w = rng.standard_normal([outputs, channels // group, *attributes["kernel_shape"]], np.float32)
    b = rng.standard_normal(outputs).astype(np.float32) if rng.random() < 0.6 else None
    if group > 1:
        attributes["group"] = group
    if rng.random() < 0.3:
        del attributes["kernel_shape"]
    return [x, w, b], attributes, rng


@pytest.mark.parametrize("seed", range(150))
def test_conv(seed, tmp_path):
    inputs, attributes, rng = draw_conv(seed)
    constants = pick(rng, (1, 2), (1, 2), (), (1,), (2,))
    check("Conv", inputs, tmp_path, constants, threads=pick(rng, 1, 3), **attributes)


@pytest.mark.parametrize("seed", range(24))
def test_conv_bits(seed, tmp_path):
    inputs, attributes, _ = draw_conv(seed)
    model = make_model("Conv", inputs, (1, 2), **attributes)
    feeds = feeds_of(model, inputs)
    bits = {run_tare(model, feeds, tmp_path, threads, cpu)[0].tobytes()
            for threads, cpu in ((1, "scalar"), (7, "scalar"), (1, None), (2, None), (5, None))}
    assert len(bits) == 1


def test_conv_large(tmp_path):
    """More pixels and channels than a tile has, k of several blocks."""
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal([2, 70, 31, 29], np.float32), rng.standard_normal([150, 70, 3, 3], np.float32)
    for threads in (1, 2, 4):
        check("Conv", [x, w, None], tmp_path, (1,), threads=threads, pads=[1, 1, 1, 1])


def test_conv_long_kernel(tmp_path):
    """As in a spectrogram: one channel, a kernel of hundreds, also with padding."""
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal([2, 1, 3000], np.float32), rng.standard_normal([40, 1, 511], np.float32)
    check("Conv", [x, w, None], tmp_path, (1,), strides=[128])
    check("Conv", [x, w, None], tmp_path, (1,), strides=[128], pads=[255, 255])


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_conv_transpose_other_types(dtype, tmp_path):
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal([1, 4, 5, 6]).astype(dtype), rng.standard_normal([4, 3, 3, 2]).astype(dtype)
    model = make_model("ConvTranspose", [x, w], (1,), strides=[2, 2])
    got = run_tare(model, {"in0": x}, tmp_path)[0]
    want = check("ConvTranspose", [x.astype(np.float32), w.astype(np.float32)], tmp_path, (1,), strides=[2, 2])[0]
    assert got.dtype == dtype
    assert np.max(np.abs(got - want)) <= (4e-3 if dtype == np.float16 else 1e-5) * np.max(np.abs(want))


def draw_transpose(seed):
    rng = np.random.default_rng(1000 + seed)
    rank = pick(rng, 1, 2, 2, 3)
    attributes = draw_window(rng, rank, dilates=False)
    group = int(pick(rng, 1, 1, 2, 5))
    kernel = attributes["kernel_shape"]
    strides = attributes.get("strides", [1] * rank)
    if "auto_pad" not in attributes:
        if rng.random() < 0.4:
            attributes["dilations"] = [int(rng.integers(1, 4)) for _ in range(rank)]
        if rng.random() < 0.4:
            attributes["output_padding"] = [int(rng.integers(0, s)) for s in strides]
    size = [int(rng.integers(1, (30, 9, 5)[rank - 1])) for _ in range(rank)]
    pads = attributes.get("pads")
    if pads:  # keep something of the output
        for i in range(rank):
            whole = (size[i] - 1) * strides[i] + reach(attributes, i)
            pads[i], pads[i + rank] = min(pads[i], (whole - 1) // 2), min(pads[i + rank], (whole - 1) // 2)
    x = rng.standard_normal([int(rng.integers(1, 3)), group * int(rng.integers(1, 20)), *size], np.float32)
    w = rng.standard_normal([x.shape[1], int(rng.integers(1, 20)), *kernel], np.float32)
    b = rng.standard_normal(group * w.shape[1]).astype(np.float32) if rng.random() < 0.6 else None
    if group > 1:
        attributes["group"] = group
    return [x, w, b], attributes, rng


@pytest.mark.parametrize("seed", range(120))
def test_conv_transpose(seed, tmp_path):
    inputs, attributes, rng = draw_transpose(seed)
    check("ConvTranspose", inputs, tmp_path, pick(rng, (1, 2), ()), threads=pick(rng, 1, 3), **attributes)


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_conv_transpose_output_shape(auto_pad, size, tmp_path):
    rng = np.random.default_rng(size)
    x, w = rng.standard_normal([1, 2, 3], np.float32), rng.standard_normal([2, 3, 3], np.float32)
    check("ConvTranspose", [x, w], tmp_path, (1,), strides=[2], output_shape=[size], auto_pad=auto_pad)


@pytest.mark.parametrize("seed", range(8))
def test_conv_transpose_bits(seed, tmp_path):
    inputs, attributes, _ = draw_transpose(seed)
    model = make_model("ConvTranspose", inputs, (1, 2), **attributes)
    feeds = feeds_of(model, inputs)
    bits = {run_tare(model, feeds, tmp_path, threads, cpu)[0].tobytes()
            for threads, cpu in ((1, "scalar"), (1, None), (5, None))}
    assert len(bits) == 1


def line(*numbers):
    return np.array(numbers, np.float32).reshape(1, 1, -1)


@pytest.mark.parametrize("auto_pad, want", [("SAME_UPPER", [21, 43, 5]), ("SAME_LOWER", [10, 32, 54]), ("VALID", [21, 43])])
def test_case_p6_conv(auto_pad, want, tmp_path):
    model = make_model("Conv", [line(1, 2, 3, 4, 5), line(1, 10)], (1,), strides=[2], auto_pad=auto_pad)
    assert run_tare(model, {"in0": line(1, 2, 3, 4, 5)}, tmp_path)[0].ravel().tolist() == want


@pytest.mark.parametrize("attributes, want", [
    ({"auto_pad": "SAME_UPPER"}, [1, 10, 102, 20, 203, 30]),
    ({"auto_pad": "SAME_LOWER"}, [10, 102, 20, 203, 30, 300]),
    ({"auto_pad": "VALID"}, [1, 10, 102, 20, 203, 30, 300]),
    ({"output_padding": [1], "pads": [1, 1]}, [10, 102, 20, 203, 30, 300]),
    ({"output_shape": [8]}, [1, 10, 102, 20, 203, 30, 300, 0]),
])
def test_case_p6_transpose(attributes, want, tmp_path):
    model = make_model("ConvTranspose", [line(1, 2, 3), line(1, 10, 100)], (1,), strides=[2], **attributes)
    assert run_tare(model, {"in0": line(1, 2, 3)}, tmp_path)[0].ravel().tolist() == want


@pytest.mark.parametrize("x, w, attributes, what", [
    ((1, 3, 8, 8), (4, 2, 3, 3), {}, "the input has 3 channels, the weight wants 2 in 1 groups"),
    ((1, 4, 8, 8), (3, 2, 3, 3), {"group": 2}, "the weight makes 3 channels, want a multiple of group 2"),
    ((1, 3, 2, 8), (4, 3, 3, 3), {}, "a window of 3 does not fit into spatial dimension 0"),
    ((1, 3, 8, 8), (4, 3, 3, 3), {"strides": [1]}, "attribute 'strides' has 1 numbers, want 2"),
    ((1, 3, 8, 8), (4, 3, 3, 3), {"strides": [0, 1]}, "attribute 'strides' has 0, want 1 at least"),
    ((1, 3, 8, 8), (4, 3, 3, 3), {"pads": [-1, 0, 0, 0]}, "attribute 'pads' has -1, want 0 at least"),
    ((1, 3, 8, 8), (4, 3, 3, 3), {"kernel_shape": [3, 2]}, "attribute 'kernel_shape' has 2, but the weight has 3"),
    ((1, 3, 8, 8), (4, 3, 3, 3), {"dilations": [1, 9223372036854775807]}, "attribute 'dilations' has"),
    ((3, 8), (4, 3), {}, "the input has rank 2, want 3 at least"),
    ((1, 3, 8, 8), (4, 3, 3), {}, "has rank 3, want 4"),
])
def test_conv_refuses(x, w, attributes, what, tmp_path):
    inputs = [np.zeros(x, np.float32), np.zeros(w, np.float32)]
    got = run_tare(make_model("Conv", inputs, (1,), **attributes), {"in0": inputs[0]}, tmp_path)
    assert isinstance(got, str) and what in got
