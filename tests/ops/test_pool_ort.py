"""Pools with random shapes and attributes against ONNX Runtime, and the published cases with their right values."""

import numpy as np
import pytest
from oracle import check, feeds_of, make_model, run_tare


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def draw_pool(seed, dilates):
    """Pads stay below the kernel, as ONNX Runtime demands."""
    rng = np.random.default_rng(seed)
    rank = pick(rng, 1, 2, 2, 2, 3)
    kernel = [int(rng.integers(1, 6)) for _ in range(rank)]
    attributes = {"kernel_shape": kernel}
    if rng.random() < 0.7:
        attributes["strides"] = [int(rng.integers(1, 4)) for _ in range(rank)]
    auto_pad = pick(rng, "NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    if auto_pad != "NOTSET":
        attributes["auto_pad"] = auto_pad
        if "strides" in attributes:  # ONNX Runtime's MaxPool refuses the negative pads of wider ones
            attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel)]
    elif rng.random() < 0.7:
        attributes["pads"] = [int(rng.integers(0, k)) for k in kernel + kernel]
    if dilates and auto_pad in ("NOTSET", "VALID") and rng.random() < 0.3:
        attributes["dilations"] = [int(rng.integers(1, 3)) for _ in range(rank)]
    if auto_pad == "NOTSET" and rng.random() < 0.5:
        attributes["ceil_mode"] = 1
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, attributes.get("dilations", [1] * rank))]
    size = [r + int(rng.integers(0, (60, 14, 6)[rank - 1])) for r in reach]
    x = rng.standard_normal([int(rng.integers(1, 3)), int(rng.integers(1, 40)), *size], np.float32)
    return x, attributes, rng


@pytest.mark.parametrize("seed", range(100))
def test_max_pool(seed, tmp_path):
    x, attributes, rng = draw_pool(seed, True)
    check("MaxPool", [x], tmp_path, threads=pick(rng, 1, 3), **attributes)


@pytest.mark.parametrize("seed", range(60))
def test_max_pool_indices(seed, tmp_path):
    """Few different numbers: of equal ones the first counts."""
    x, attributes, rng = draw_pool(seed, True)
    x = np.round(x * 2)
    check("MaxPool", [x], tmp_path, outputs=2, storage_order=int(rng.integers(2)), **attributes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float64, np.float16])
def test_max_pool_types(dtype, tmp_path):
    x = np.random.default_rng(0).integers(0, 100, [2, 3, 7, 8]).astype(dtype)
    model = make_model("MaxPool", [x], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    want = check("MaxPool", [x.astype(np.float32)], tmp_path, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])[0]
    got = run_tare(model, {"in0": x}, tmp_path)[0]
    assert got.dtype == dtype and np.array_equal(got, want.astype(dtype))


@pytest.mark.parametrize("seed", range(100))
def test_average_pool(seed, tmp_path):
    x, attributes, rng = draw_pool(seed, True)
    check("AveragePool", [x], tmp_path, opset=19, threads=pick(rng, 1, 3), count_include_pad=int(rng.integers(2)),
          **attributes)


@pytest.mark.parametrize("seed", range(40))
def test_lp_pool(seed, tmp_path):
    x, attributes, rng = draw_pool(seed, False)
    attributes.pop("ceil_mode", None)
    check("LpPool", [x], tmp_path, p=int(rng.integers(1, 4)), **attributes)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
@pytest.mark.parametrize("shape", [(1, 3, 5), (2, 70, 9, 31), (1, 200, 7, 7), (2, 5, 3, 4, 5), (3, 1, 1, 1)])
def test_global_pool(op, shape, tmp_path):
    x = np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)
    for threads in (1, 3):
        check(op, [x], tmp_path, threads=threads)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("seed", range(8))
def test_pool_bits(op, seed, tmp_path):
    x, attributes, _ = draw_pool(seed, True)
    model = make_model(op, [x], opset=19, **attributes)
    feeds = feeds_of(model, [x])
    bits = {run_tare(model, feeds, tmp_path, threads, cpu)[0].tobytes()
            for threads, cpu in ((1, "scalar"), (1, None), (7, None))}
    assert len(bits) == 1


def run(op, x, directory, **attributes):
    x = np.array(x, np.float32)
    return run_tare(make_model(op, [x], opset=19, **attributes), {"in0": x}, directory)[0]


def test_case_p1(tmp_path):
    x = -np.arange(5, 21).reshape(1, 1, 4, 4)
    got = run("MaxPool", x, tmp_path, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    assert got.ravel().tolist() == [-5, -6, -9, -10]


@pytest.mark.parametrize("include, want", [(1, [1, 0.5, 0.5, 0.25]), (0, [1, 1, 1, 1])])
def test_case_p3(include, want, tmp_path):
    got = run("AveragePool", np.ones([1, 1, 2, 2]), tmp_path, kernel_shape=[2, 2], pads=[0, 0, 1, 1],
              count_include_pad=include)
    assert got.ravel().tolist() == want


def test_case_p3_same_lower(tmp_path):
    got = run("AveragePool", np.arange(12).reshape(1, 1, 6, 2), tmp_path, kernel_shape=[5, 1], auto_pad="SAME_LOWER",
              count_include_pad=1)
    want = [1.2, 1.8, 2.4, 3.2, 4, 5, 6, 7, 5.6, 6.4, 4.8, 5.4]
    assert np.allclose(got.ravel(), want, rtol=1e-6)


def test_case_p5(tmp_path):
    """With ceil_mode, a window that would begin in the padding is not there."""
    common = {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}
    average = run("AveragePool", [[[[1, 2], [3, 4]]]], tmp_path, **common)
    largest = run("MaxPool", [[[[-1, -2], [-3, -4]]]], tmp_path, **common)
    assert average.tolist() == [[[[2.5]]]] and largest.tolist() == [[[[-1]]]]
    x = np.arange(1, 17).reshape(1, 1, 4, 4)
    common = {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}
    assert run("AveragePool", x, tmp_path, **common).ravel().tolist() == [6, 7.5, 12, 13.5]
    assert run("MaxPool", x, tmp_path, **common).ravel().tolist() == [11, 12, 15, 16]


@pytest.mark.parametrize("auto_pad, want", [("SAME_UPPER", [-1, -3, -5]), ("SAME_LOWER", [-1, -2, -4])])
def test_case_p6(auto_pad, want, tmp_path):
    got = run("MaxPool", [[[-1, -2, -3, -4, -5]]], tmp_path, kernel_shape=[2], strides=[2], auto_pad=auto_pad)
    assert got.ravel().tolist() == want


def test_case_p10(tmp_path):
    """The mean itself; rounding to codes is to nearest even afterwards."""
    x = np.array([[1, 2, 2, 2], [1, 1, 2, 2]]).reshape(2, 1, 4)
    got = run("AveragePool", np.concatenate([x, -x]), tmp_path, kernel_shape=[4])
    assert got.ravel().tolist() == [1.75, 1.5, -1.75, -1.5]


@pytest.mark.parametrize("shape, attributes, what", [
    ((1, 2, 5, 5), {}, "attribute 'kernel_shape'"),
    ((1, 2, 5, 5), {"kernel_shape": [3]}, "attribute 'kernel_shape' has 1 numbers, want 2"),
    ((1, 2, 5, 5), {"kernel_shape": [0, 3]}, "attribute 'kernel_shape' has 0, want 1 at least"),
    ((1, 2, 5, 5), {"kernel_shape": [3, 3], "pads": [3, 0, 0, 0]}, "pads 3 and 0 are not smaller than the window of 3"),
    ((1, 2, 2, 5), {"kernel_shape": [3, 3]}, "a window of 3 does not fit into spatial dimension 0"),
    ((2, 5), {"kernel_shape": [3]}, "the input has rank 2, want 3 at least"),
])
def test_pool_refuses(shape, attributes, what, tmp_path):
    x = np.zeros(shape, np.float32)
    got = run_tare(make_model("MaxPool", [x], **attributes), {"in0": x}, tmp_path)
    assert isinstance(got, str) and what in got
