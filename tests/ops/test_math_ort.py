"""The arithmetic ops against ONNX Runtime on random two-sided data; what is compared says nodes.py."""

import numpy as np
import pytest
from nodes import check, two_sided

# ---- one number ----

WHOLE_LINE = (
    "Abs Atan Asinh Ceil Cos Erf Exp Floor Neg Round "
    "Sigmoid Sign Sin Softplus Softsign Tanh Relu HardSwish Mish Sinh Cosh"
).split()


@pytest.mark.parametrize("size", [1, 15, 16, 17, 511, 513, 70001])
def test_functions(size, tmp_path):
    rng = np.random.default_rng(size)
    inputs = {
        "x": two_sided(rng, [size]),
        "p": rng.uniform(1e-4, 50, size).astype(np.float32),
        "u": rng.uniform(-1, 1, size).astype(np.float32),
        "q": rng.uniform(1, 9, size).astype(np.float32),
    }
    nodes = [(op, ["x"], {}) for op in WHOLE_LINE]
    nodes += [(op, ["p"], {}) for op in ("Log", "Sqrt", "Reciprocal")]
    nodes += [(op, ["u"], {}) for op in ("Acos", "Asin", "Atanh", "Tan")] + [("Acosh", ["q"], {})]
    check(nodes, inputs, tmp_path)


def test_special_numbers(tmp_path):
    x = np.array([np.inf, -np.inf, np.nan, 0, -0.0, 3e38, -3e38, 1e-40, 88.8, -104, 1, -1], np.float32)
    nodes = [
        (op, ["x"], {}) for op in ("Abs", "Neg", "Ceil", "Floor", "Relu", "IsNaN", "IsInf", "Exp", "Sqrt", "Reciprocal")
    ]
    nodes += [("IsInf", ["x"], {"detect_negative": 0}), ("IsInf", ["x"], {"detect_positive": 0})]
    check(nodes, {"x": x}, tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_activations(seed, tmp_path):
    rng = np.random.default_rng(seed)
    x = two_sided(rng, [1 + seed, 3, 7, 11 + 20 * seed])
    nodes = [
        ("LeakyRelu", ["x"], {}),
        ("LeakyRelu", ["x"], {"alpha": 0.3}),
        ("Elu", ["x"], {}),
        ("Elu", ["x"], {"alpha": 2.5}),
        ("Selu", ["x"], {}),
        ("Selu", ["x"], {"alpha": 1.1, "gamma": 0.7}),
        ("Celu", ["x"], {"alpha": 0.5}),
        ("ThresholdedRelu", ["x"], {"alpha": 0.5}),
        ("HardSigmoid", ["x"], {}),
        ("HardSigmoid", ["x"], {"alpha": 1 / 6, "beta": 0.5}),
        ("Gelu", ["x"], {}),
        ("Gelu", ["x"], {"approximate": "tanh"}),
        ("Shrink", ["x"], {"bias": 0.25, "lambd": 1.5}),
    ]
    check(nodes, {"x": x}, tmp_path)


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_functions_of_other_floats(dtype, tmp_path):
    rng = np.random.default_rng(5)
    ops = {
        np.float64: "Abs Ceil Exp Floor Neg Round Sigmoid Sqrt Tanh Relu Reciprocal Log Sin Cos".split(),
        np.float16: ["Round", "Relu", "Tanh", "Sqrt", "Abs", "Neg", "Exp"],
    }[dtype]
    x = rng.uniform(0.1, 5, [3, 700]).astype(dtype)
    check([(op, ["x"], {}) for op in ops], {"x": x}, tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_functions_of_integers(dtype, tmp_path):
    info = np.iinfo(dtype)
    x = np.concatenate([np.random.default_rng(1).integers(-100 if info.min else 0, 100, 600), [info.max, 0, 1]]).astype(
        dtype
    )
    ops = ["Abs", "Sign"] + (["Neg"] if info.min else []) + (["Relu"] if dtype in (np.int8, np.int32) else [])
    check([(op, ["x"], {}) for op in ops] + [("BitwiseNot", ["x"], {})], {"x": x}, tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_clip(dtype, tmp_path):
    rng = np.random.default_rng(2)
    x = (
        (rng.standard_normal([5, 133]) * 40 + (60 if np.dtype(dtype).kind == "u" else 0))
        .clip(0 if np.dtype(dtype).kind == "u" else -100, 120)
        .astype(dtype)
    )
    lo, hi = np.array(3, dtype), np.array(41, dtype)
    nodes = [
        ("Clip", ["x"], {}),
        ("Clip", ["x", "lo"], {}),
        ("Clip", ["x", "", "hi"], {}),
        ("Clip", ["x", "lo", "hi"], {}),
        ("Clip", ["x", "hi", "lo"], {}),
    ]
    check(nodes, {"x": x, "lo": lo, "hi": hi}, tmp_path)


def test_clip_of_old_opsets(tmp_path):
    x = two_sided(np.random.default_rng(3), [4, 50])
    check(
        [("Clip", ["x"], {"min": -1.0, "max": 2.0}), ("Clip", ["x"], {"max": 0.5}), ("Clip", ["x"], {})],
        {"x": x},
        tmp_path,
        opset=9,
    )


# ---- two numbers ----

SHAPES = [
    ([3, 4, 5], [3, 4, 5]),
    ([3, 4, 5], [5]),
    ([3, 4, 5], [4, 1]),
    ([3, 1, 5], [4, 1]),
    ([7], []),
    ([], [6]),
    ([], []),
    ([2, 3, 4, 600], [2, 3, 1, 1]),
    ([2, 3, 40, 60], [3, 1, 1]),
    ([1, 3, 200, 200], [1, 3, 200, 200]),
    ([2, 1, 3, 1, 2], [5, 1, 4, 1]),
    ([0, 3], [1]),
    ([2, 30000], [2, 1]),
]


@pytest.mark.parametrize("shapes", SHAPES)
def test_binary(shapes, tmp_path):
    rng = np.random.default_rng(len(shapes[0]))
    a, b = (two_sided(rng, shape) for shape in shapes)
    b[b == 0] = 0.25
    inputs = {"a": a, "b": b, "p": np.asarray(np.abs(a) + np.float32(0.1)), "k": np.asarray(np.round(b))}
    nodes = [
        (op, ["a", "b"], {})
        for op in "Add Sub Mul Div Max Min Equal Greater GreaterOrEqual Less LessOrEqual Sum Mean".split()
    ]
    nodes += [
        ("Pow", ["p", "b"], {}),
        ("Pow", ["a", "k"], {}),
        ("Mod", ["a", "b"], {"fmod": 1}),
        ("Sub", ["b", "a"], {}),
    ]
    check(nodes, inputs, tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint32, np.uint64, np.float64])
@pytest.mark.parametrize("shapes", [([5, 7], [5, 7]), ([5, 7], [7]), ([700], []), ([4, 1], [1, 9])])
def test_binary_of_other_types(dtype, shapes, tmp_path):
    rng = np.random.default_rng(7)
    lowest = 0 if np.dtype(dtype).kind == "u" else -11
    a, b = (np.asarray(rng.integers(lowest, 12, shape), dtype) for shape in shapes)
    b[b == 0] = 3
    nodes = [(op, ["a", "b"], {}) for op in ("Add", "Sub", "Mul", "Div")]
    if dtype in (np.int32, np.int64, np.float64, np.uint32, np.uint64):
        nodes += [(op, ["a", "b"], {}) for op in ("Max", "Min")]
    if dtype in (np.int32, np.int64, np.float64):
        nodes += [(op, ["a", "b"], {}) for op in ("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal")]
    if dtype != np.float64:
        nodes += [("Mod", ["a", "b"], {}), ("Mod", ["a", "b"], {"fmod": 1})]
        nodes += [(op, ["a", "b"], {}) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")]
    check(nodes, {"a": a, "b": b}, tmp_path)


def test_half_floats(tmp_path):
    rng = np.random.default_rng(8)
    a, b = two_sided(rng, [30, 41], np.float16), rng.uniform(0.5, 2, [41]).astype(np.float16)
    check([(op, ["a", "b"], {}) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min")], {"a": a, "b": b}, tmp_path)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_bit_shift(dtype, tmp_path):
    rng = np.random.default_rng(9)
    a = rng.integers(0, np.iinfo(dtype).max, [6, 50], dtype=dtype, endpoint=True)
    b = rng.integers(0, np.iinfo(dtype).bits, [50]).astype(dtype)
    check([("BitShift", ["a", "b"], {"direction": d}) for d in ("LEFT", "RIGHT")], {"a": a, "b": b}, tmp_path)


def test_powers(tmp_path):
    x = two_sided(np.random.default_rng(10), [3, 701])
    inputs = {
        "x": x,
        "p": np.abs(x) + np.float32(0.01),
        "i": np.arange(-9, 12, dtype=np.int64),
        "n": np.array(3, np.int64),
    }
    inputs |= {f"e{k}": np.array(k, np.float32) for k in (1, 2, 3)} | {
        "h": np.array(0.5, np.float32),
        "m": np.array(-1.5, np.float32),
    }
    nodes = [("Pow", ["x", f"e{k}"], {}) for k in (1, 2, 3)] + [("Pow", ["p", name], {}) for name in ("h", "m")]
    nodes += [("Pow", ["x", "n"], {}), ("Pow", ["i", "n"], {}), ("Pow", ["i", "e2"], {})]
    check(nodes, inputs, tmp_path)


def test_logic(tmp_path):
    rng = np.random.default_rng(11)
    inputs = {"a": rng.random([4, 1, 333]) < 0.5, "b": rng.random([3, 1]) < 0.5}
    check([(op, ["a", "b"], {}) for op in ("And", "Or", "Xor", "Equal")] + [("Not", ["a"], {})], inputs, tmp_path)


def test_many_inputs(tmp_path):
    rng = np.random.default_rng(12)
    inputs = {
        "a": two_sided(rng, [3, 4, 5]),
        "b": two_sided(rng, [5]),
        "c": two_sided(rng, [4, 1]),
        "d": two_sided(rng, []),
    }
    check(
        [(op, ["a", "b", "c", "d"], {}) for op in ("Max", "Min", "Sum", "Mean")]
        + [(op, ["a"], {}) for op in ("Max", "Sum", "Mean")],
        inputs,
        tmp_path,
    )


def test_prelu(tmp_path):
    rng = np.random.default_rng(13)
    inputs = {
        "x": two_sided(rng, [2, 5, 7, 9]),
        "c": two_sided(rng, [5, 1, 1]),
        "s": two_sided(rng, []),
        "w": two_sided(rng, [9]),
    }
    check([("PRelu", ["x", slope], {}) for slope in ("c", "s", "w")], inputs, tmp_path)


# ---- rows ----


@pytest.mark.parametrize("opset", [8, 11, 13, 20])
@pytest.mark.parametrize(
    "shape", [[7], [3, 1000], [2, 33, 5], [2, 70, 6, 5], [3, 4, 1, 1], [1, 2, 3, 4, 5], [4, 1, 700]]
)
def test_softmax(opset, shape, tmp_path):
    x = two_sided(np.random.default_rng(14), shape, scale=5)
    nodes = [(op, ["x"], {"axis": axis}) for op in ("Softmax", "LogSoftmax", "Hardmax") for axis in range(len(shape))]
    check(
        nodes + [(op, ["x"], {}) for op in ("Softmax", "LogSoftmax", "Hardmax") if opset >= 13 or len(shape) > 1],
        {"x": x},
        tmp_path,
        opset=opset,
    )


def test_softmax_extremes(tmp_path):
    x = np.array([[1e4, 1e4, -1e4], [-np.inf, 0, 1], [88, 89, 90], [-3e38, 3e38, 0]], np.float32)
    check([("Softmax", ["x"], {"axis": a}) for a in (0, 1)] + [("LogSoftmax", ["x"], {"axis": 1})], {"x": x}, tmp_path)


REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare".split()
)


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize(
    "shape,axes",
    [
        ([5], [0]),
        ([3, 700], [1]),
        ([700, 3], [0]),
        ([2, 30, 6, 5], [2, 3]),
        ([2, 3, 40, 50], [1]),
        ([2, 5, 6, 7], [0, 2]),
        ([3, 4, 5], [0, 1, 2]),
        ([3, 4, 5], None),
        ([2, 9, 100], [-1]),
        ([2, 3, 1, 5], [-2, 1]),
    ],
)
def test_reductions(opset, shape, axes, tmp_path):
    rng = np.random.default_rng(15)
    inputs = {"x": two_sided(rng, shape), "p": rng.uniform(0.5, 1.5, shape).astype(np.float32)}
    nodes, constants = [], []
    for op in [*REDUCTIONS, "ReduceLogSum"]:
        for keepdims in (0, 1):
            data = "p" if op in ("ReduceLogSum", "ReduceProd") else "x"
            as_input = opset >= 18 or (opset >= 13 and op == "ReduceSum")
            if axes is None:
                nodes.append((op, [data], {"keepdims": keepdims}))
            elif as_input:
                nodes.append((op, [data, "axes"], {"keepdims": keepdims}))
                inputs["axes"], constants = np.array(axes, np.int64), ["axes"]
            else:
                nodes.append((op, [data], {"keepdims": keepdims, "axes": axes}))
    check(nodes, inputs, tmp_path, opset=opset, constants=constants)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64])
def test_reductions_of_other_types(dtype, tmp_path):
    x = np.random.default_rng(16).integers(1, 5, [3, 4, 6]).astype(dtype)
    nodes = [
        (op, ["x"], {"keepdims": 0, "axes": [1]})
        for op in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
        if (op, dtype) != ("ReduceProd", np.float64)
    ]
    check([n for n in nodes if n[0] != "ReduceProd" or dtype != np.float64], {"x": x}, tmp_path, opset=11)


def test_reduction_over_many(tmp_path):
    """A mean of a million: the lanes keep the error of the sum small."""
    x = (np.random.default_rng(17).random([1, 1 << 20]) + 1).astype(np.float32)
    got = check([("ReduceMean", ["x"], {"axes": [1]}), ("ReduceSum", ["x"], {})], {"x": x}, tmp_path, opset=12)
    assert abs(float(got[0].item()) / x.mean(dtype=np.float64) - 1) < 1e-6


# ---- normalizations ----


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
@pytest.mark.parametrize("shape", [[4, 17], [2, 16, 9], [2, 33, 7, 6], [1, 3, 4, 5, 6]])
def test_batch_normalization(opset, shape, tmp_path):
    rng = np.random.default_rng(18)
    inputs = {"x": two_sided(rng, shape)} | {name: two_sided(rng, [shape[1]]) for name in "sbm"}
    inputs["v"] = rng.uniform(0.01, 3, shape[1]).astype(np.float32)
    check(
        [
            ("BatchNormalization", ["x", "s", "b", "m", "v"], {}),
            ("BatchNormalization", ["x", "s", "b", "m", "v"], {"epsilon": 0.01}),
        ],
        inputs,
        tmp_path,
        opset=opset,
        constants=list("sbmv"),
    )


def test_tiny_variance(tmp_path):
    inputs = {
        "x": np.array([[[0.1003]]], np.float32),
        "s": np.ones(1, np.float32),
        "b": np.array([0.25], np.float32),
        "m": np.array([0.1], np.float32),
        "v": np.array([1e-12], np.float32),
    }
    got = check([("BatchNormalization", ["x", "s", "b", "m", "v"], {})], inputs, tmp_path, constants=list("sbmv"))
    assert abs(got[0].item() - 0.34487) < 1e-5


@pytest.mark.parametrize("shape", [[2, 5, 40], [3, 17, 6, 7], [1, 4, 3, 4, 5]])
def test_instance_and_group_normalization(shape, tmp_path):
    rng = np.random.default_rng(19)
    inputs = {"x": two_sided(rng, shape) + np.float32(2)} | {name: two_sided(rng, [shape[1]]) for name in "sb"}
    check([("InstanceNormalization", ["x", "s", "b"], {"epsilon": e}) for e in (1e-5, 0.1)], inputs, tmp_path)
    inputs["x"] = two_sided(rng, [shape[0], 12, *shape[2:]])
    inputs |= {name: two_sided(rng, [12]) for name in "sb"}
    check([("GroupNormalization", ["x", "s", "b"], {"num_groups": g}) for g in (1, 3, 12)], inputs, tmp_path, opset=21)


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_layer_normalization(axis, tmp_path):
    rng = np.random.default_rng(20)
    shape = [2, 5, 6, 77]
    inputs = {"x": two_sided(rng, shape)} | {name: two_sided(rng, shape[axis:] if axis > 0 else [77]) for name in "sb"}
    check(
        [
            ("LayerNormalization", ["x", "s", "b"], {"axis": axis}),
            ("LayerNormalization", ["x", "s"], {"axis": axis, "epsilon": 0.1}),
        ],
        inputs,
        tmp_path,
    )


def test_other_normalizations(tmp_path):
    rng = np.random.default_rng(21)
    inputs = {"x": two_sided(rng, [2, 9, 6, 11])}
    nodes = [("LRN", ["x"], {"size": size, "alpha": 0.02, "beta": 0.6, "bias": 1.5}) for size in (1, 3, 5, 15)]
    nodes += [("LpNormalization", ["x"], {"axis": axis, "p": p}) for axis in (-1, 0, 1, 2) for p in (1, 2)]
    nodes += [("MeanVarianceNormalization", ["x"], {}), ("MeanVarianceNormalization", ["x"], {"axes": [1, 2]})]
    check(nodes, inputs, tmp_path)


# ---- sampling, sums of products ----


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(align, padding, tmp_path):
    rng = np.random.default_rng(26)
    inputs = {"x": two_sided(rng, [2, 3, 7, 9]), "g": rng.uniform(-1.7, 1.7, [2, 5, 6, 2]).astype(np.float32)}
    attributes = {"align_corners": align, "padding_mode": padding}
    check(
        [("GridSample", ["x", "g"], {"mode": mode, **attributes}) for mode in ("linear", "nearest", "cubic")],
        inputs,
        tmp_path,
    )
    check(
        [("GridSample", ["x", "g"], {"mode": mode, **attributes}) for mode in ("bilinear", "nearest", "bicubic")],
        inputs,
        tmp_path,
        opset=16,
    )
    inputs = {"x": two_sided(rng, [2, 3, 4, 5, 6]), "g": rng.uniform(-1.4, 1.4, [2, 3, 4, 5, 3]).astype(np.float32)}
    check(
        [("GridSample", ["x", "g"], {"mode": mode, **attributes}) for mode in ("linear", "nearest")], inputs, tmp_path
    )


@pytest.mark.parametrize(
    "equation,shapes",
    [
        ("ij,jk->ik", ([5, 7], [7, 4])),
        ("bij,bjk", ([2, 5, 7], [2, 7, 4])),
        ("...ij,...jk->...ik", ([3, 2, 5, 7], [1, 2, 7, 4])),
        ("bhid,bhjd->bhij", ([2, 3, 5, 4], [2, 3, 6, 4])),
        ("i,i->", ([9], [9])),
        ("ij->ji", ([4, 6],)),
        ("ij->i", ([4, 6],)),
        ("i,j->ij", ([4], [5])),
        ("...ii->...i", ([3, 4, 4],)),
        ("ij,kj,kl->il", ([2, 3], [4, 3], [4, 5])),
        ("bn,anm,bm->ba", ([2, 3], [5, 3, 4], [2, 4])),
    ],
)
def test_einsum(equation, shapes, tmp_path):
    rng = np.random.default_rng(27)
    inputs = {f"x{i}": two_sided(rng, shape) for i, shape in enumerate(shapes)}
    check([("Einsum", list(inputs), {"equation": equation})], inputs, tmp_path)
