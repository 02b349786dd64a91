"""MatMul and Gemm with random shapes and attributes against ONNX Runtime; the same bits for every number of threads and
instruction set."""

import numpy as np
import pytest
from oracle import check, feeds_of, make_model, run_tare


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def draw_matmul(seed):
    rng = np.random.default_rng(seed)
    rows, columns, depth = (int(rng.integers(1, 70)) for _ in range(3))
    if rng.random() < 0.2:
        depth = int(rng.integers(250, 600))
    lead = [int(rng.integers(1, 4)) for _ in range(rng.integers(0, 4))]
    a_lead = [1 if rng.random() < 0.2 else d for d in lead][rng.integers(0, len(lead) + 1):]
    b_lead = [1 if rng.random() < 0.2 else d for d in lead][rng.integers(0, len(lead) + 1):]
    a = [depth] if rng.random() < 0.15 else [*a_lead, rows, depth]
    b = [depth] if rng.random() < 0.15 else [*b_lead, depth, columns]
    return [rng.standard_normal(a, np.float32), rng.standard_normal(b, np.float32)], rng


@pytest.mark.parametrize("seed", range(120))
def test_matmul(seed, tmp_path):
    inputs, rng = draw_matmul(seed)
    check("MatMul", inputs, tmp_path, pick(rng, (), (1,), (0,)), threads=pick(rng, 1, 3))


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 4)])
@pytest.mark.parametrize("constants", [(), (1, 2)])
def test_gemm_does_not_look_at_c_where_beta_is_0(shape, constants, tmp_path):
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal([3, 5], np.float32), rng.standard_normal([5, 4], np.float32),
              np.full(shape, np.inf, np.float32)]
    for alpha in (1.0, 0.5):
        got = check("Gemm", inputs, tmp_path, constants, beta=0.0, alpha=alpha)
        assert np.isfinite(got[0]).all()


@pytest.mark.parametrize("seed", range(20))
def test_matmul_bits(seed, tmp_path):
    inputs, _ = draw_matmul(seed)
    bits = set()
    for constants in ((), (1,)):
        model = make_model("MatMul", inputs, constants)
        for threads, cpu in ((1, "scalar"), (1, None), (5, None)):
            bits.add(run_tare(model, feeds_of(model, inputs), tmp_path, threads, cpu)[0].tobytes())
    assert len(bits) == 1


def test_matmul_large(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal([500, 700], np.float32), rng.standard_normal([700, 300], np.float32)
    for threads in (1, 2, 4):
        check("MatMul", [a, b], tmp_path, (1,), threads=threads)
        check("MatMul", [a[:1], b], tmp_path, (1,), threads=threads)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float64, np.float16])
def test_matmul_types(dtype, tmp_path):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 50, [2, 3, 5]).astype(dtype), rng.integers(0, 50, [5, 4]).astype(dtype)
    if np.dtype(dtype).kind == "i":
        a, b = a - dtype(25), b * dtype(2**16)
    got = run_tare(make_model("MatMul", [a, b]), {"in0": a, "in1": b}, tmp_path)[0]
    assert got.dtype == dtype and np.array_equal(got, np.matmul(a, b))


def draw_gemm(seed):
    rng = np.random.default_rng(seed)
    rows, columns, depth = (int(rng.integers(1, 60)) for _ in range(3))
    attributes = {}
    if rng.random() < 0.4:
        attributes["transA"] = 1
    if rng.random() < 0.5:
        attributes["transB"] = 1
    if rng.random() < 0.4:
        attributes["alpha"] = float(np.float32(rng.uniform(-2, 2)))
    if rng.random() < 0.4:
        attributes["beta"] = float(np.float32(rng.uniform(-2, 2)))
    a = rng.standard_normal([depth, rows] if "transA" in attributes else [rows, depth], np.float32)
    b = rng.standard_normal([columns, depth] if "transB" in attributes else [depth, columns], np.float32)
    c_shape = pick(rng, None, [columns], [columns], [1, columns], [rows, 1], [rows, columns], [1], [1, 1], [])
    c = None if c_shape is None else np.asarray(rng.standard_normal(c_shape), np.float32)
    return [a, b, c], attributes, rng


@pytest.mark.parametrize("seed", range(150))
def test_gemm(seed, tmp_path):
    inputs, attributes, rng = draw_gemm(seed)
    check("Gemm", inputs, tmp_path, pick(rng, (1, 2), (), (1,), (2,)), threads=pick(rng, 1, 3), **attributes)


@pytest.mark.parametrize("seed", range(20))
def test_gemm_bits(seed, tmp_path):
    inputs, attributes, _ = draw_gemm(seed)
    bits = set()
    for constants in ((), (1, 2)):
        model = make_model("Gemm", inputs, constants, **attributes)
        for threads, cpu in ((1, "scalar"), (1, None), (5, None)):
            bits.add(run_tare(model, feeds_of(model, inputs), tmp_path, threads, cpu)[0].tobytes())
    assert len(bits) == 1


@pytest.mark.parametrize("op, a, b, what", [
    ("MatMul", (3, 4), (5, 6), "rows of 4 numbers meet columns of 5"),
    ("MatMul", (), (5, 6), "input 0 is a scalar, want a matrix"),
    ("MatMul", (2, 3, 4), (3, 4, 5), "the leading dimensions 2 and 3 do not broadcast"),
    ("Gemm", (3, 4), (5, 6), "rows of 4 numbers meet columns of 5"),
    ("Gemm", (1, 3, 4), (4, 6), "has rank 3, want 2"),
])
def test_refuses(op, a, b, what, tmp_path):
    inputs = [np.zeros(a, np.float32), np.zeros(b, np.float32)]
    got = run_tare(make_model(op, inputs), {"in0": inputs[0], "in1": inputs[1]}, tmp_path)
    assert isinstance(got, str) and what in got


def test_gemm_refuses_c(tmp_path):
    inputs = [np.zeros((3, 4), np.float32), np.zeros((4, 5), np.float32), np.zeros((2, 5), np.float32)]
    model = make_model("Gemm", inputs)
    got = run_tare(model, feeds_of(model, inputs), tmp_path)
    assert isinstance(got, str) and "of shape 2x5 does not broadcast to 3x5" in got
