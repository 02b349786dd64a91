"""Ops that move or pick elements, on random shapes and every element size, against onnx's reference evaluator (and numpy
where that has no answer). Inputs that shapes depend on come both as initializers and as data of the run."""

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from node_runner import TYPES, run_node

SEEDS = range(6)
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
MOVED = ["bool", "u8", "s8", "f16", "bf16", "s16", "f32", "s32", "u32", "f64", "s64", "u64"]
RANKED = ["u8", "s8", "f16", "s16", "u16", "f32", "s32", "u32", "f64", "s64", "u64"]


def dims(rng, low=0, high=5, edge=6):
    return tuple(int(n) for n in rng.integers(1, edge, rng.integers(low, high)))


def s64(*numbers):
    return np.array(numbers, np.int64)


def fill(rng, shape, dtype):
    """Few distinct numbers, so that ties happen; of both signs where there are any."""
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    low = 0 if np.dtype(dtype).kind == "u" else -9
    return rng.integers(low, 10, shape).astype(dtype)


# Each gives op, inputs, which of them shapes depend on, and attributes; data inputs are (shape) tuples.


def reshape(rng):
    shape = dims(rng)
    wanted = [int(n) for n in rng.permutation(shape)]
    if wanted and rng.integers(2):
        wanted[rng.integers(len(wanted))] = -1
    return "Reshape", [shape, s64(*wanted)], (1,), {}


def squeeze(rng):
    shape = [int(n) for n in rng.integers(1, 3, rng.integers(1, 6))]
    ones = [axis for axis, n in enumerate(shape) if n == 1 and rng.integers(2)]
    axes = s64(*(axis - len(shape) * int(rng.integers(2)) for axis in ones))
    return "Squeeze", [tuple(shape), axes if ones else None], (1,), {}


def unsqueeze(rng):
    shape, count = dims(rng), int(rng.integers(1, 3))
    rank = len(shape) + count
    return "Unsqueeze", [shape, rng.permutation(rank)[:count] - rank * int(rng.integers(2))], (1,), {}


def transpose(rng):
    shape = dims(rng, 1, 6)
    return "Transpose", [shape], (), {"perm": [int(n) for n in rng.permutation(len(shape))]}


def concat(rng):
    shape = list(dims(rng, 1))
    axis = int(rng.integers(len(shape)))
    shapes = [tuple(shape[:axis] + [int(rng.integers(0, 4))] + shape[axis + 1 :]) for _ in range(rng.integers(1, 5))]
    return "Concat", shapes, (), {"axis": axis - len(shape) * int(rng.integers(2))}


def slices(rng):
    shape = dims(rng, 1)
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]
    # A start before the first element is 0 in ONNX (and onnxruntime), but nothing in numpy when going down.
    starts = np.maximum(rng.integers(-8, 8, len(axes)), [-shape[axis] for axis in axes])
    ends = rng.integers(-8, 8, len(axes))
    steps = rng.choice([-3, -2, -1, 1, 2, 3], len(axes))
    return "Slice", [shape, starts, ends, axes.astype(np.int64), steps.astype(np.int64)], (1, 2, 3, 4), {}


def gather(rng):
    shape = dims(rng, 1)
    axis = int(rng.integers(len(shape)))
    picks = rng.integers(-shape[axis], shape[axis], dims(rng, 0, 3))
    return "Gather", [shape, np.asarray(picks, rng.choice([np.int32, np.int64]))], (), {"axis": axis}


def gather_elements(rng):
    shape = dims(rng, 1)
    axis = int(rng.integers(len(shape)))
    size = [int(rng.integers(1, n + 1)) for n in shape]
    size[axis] = int(rng.integers(1, 7))
    return "GatherElements", [shape, rng.integers(-shape[axis], shape[axis], size)], (), {"axis": axis}


def gather_nd(rng):
    shape = dims(rng, 2)
    batch = int(rng.integers(0, len(shape) - 1))
    length = int(rng.integers(1, len(shape) - batch + 1))
    lead = shape[:batch] + dims(rng, 1, 3)
    picks = np.stack([rng.integers(-n, n, lead) for n in shape[batch : batch + length]], -1)
    return "GatherND", [shape, picks], (), {"batch_dims": batch}


def expand(rng):
    shape = tuple(int(n) for n in rng.choice([1, 1, 3, 4], rng.integers(0, 4)))
    wanted = [n if n > 1 and rng.integers(2) else 1 if n > 1 else int(rng.integers(1, 4)) for n in shape]
    wanted = list(dims(rng, 0, 3)) + wanted
    return "Expand", [shape, s64(*wanted)], (1,), {}


def tile(rng):
    shape = dims(rng, 1)
    return "Tile", [shape, rng.integers(0, 4, len(shape))], (1,), {}


def depth_to_space(rng):
    block, (n, c, h, w) = int(rng.integers(1, 4)), rng.integers(1, 4, 4)
    shape = int(n), int(c) * block * block, int(h), int(w)
    return "DepthToSpace", [shape], (), {"blocksize": block, "mode": str(rng.choice(["DCR", "CRD"]))}


def space_to_depth(rng):
    block, (n, c, h, w) = int(rng.integers(1, 4)), rng.integers(1, 4, 4)
    return "SpaceToDepth", [(int(n), int(c), int(h) * block, int(w) * block)], (), {"blocksize": block}


def trilu(rng):
    shape = dims(rng, 2, 5)
    return "Trilu", [shape, np.array(rng.integers(-6, 7), np.int64)], (), {"upper": int(rng.integers(2))}


def compress(rng):
    shape = dims(rng, 1)
    axis = int(rng.integers(len(shape)))
    keep = rng.integers(0, 2, rng.integers(1, shape[axis] + 1)).astype(np.bool_)
    return "Compress", [shape, keep], (1,), {"axis": axis}


def reverse_sequence(rng):
    shape, batch = dims(rng, 2), int(rng.integers(2))
    lengths = rng.integers(1, shape[1 - batch] + 1, shape[batch])
    return "ReverseSequence", [shape, lengths], (), {"batch_axis": batch, "time_axis": 1 - batch}


def where(rng):
    shape = dims(rng)
    parts = [tuple(n if rng.integers(3) else 1 for n in shape)[int(rng.integers(0, len(shape) + 1)) :] for _ in range(3)]
    return "Where", [rng.integers(0, 2, parts[0]).astype(np.bool_), parts[1], parts[2]], (), {}


def scatter_elements(rng):
    shape = dims(rng, 1)
    axis = int(rng.integers(len(shape)))
    size = [int(rng.integers(1, n + 1)) for n in shape]
    picks = np.argsort(rng.random(shape), axis)[tuple(slice(n) for n in size)]
    return "ScatterElements", [shape, picks.astype(np.int64), picks.shape], (), {"axis": axis}


def scatter_nd(rng):
    shape = dims(rng, 1)
    length = int(rng.integers(1, len(shape) + 1))
    spots = np.array(list(np.ndindex(*shape[:length])), np.int64)
    picks = rng.permutation(spots)[: rng.integers(1, len(spots) + 1)]
    return "ScatterND", [shape, picks, (len(picks), *shape[length:])], (), {}


MOVES = [reshape, squeeze, unsqueeze, transpose, concat, slices, gather, gather_elements, gather_nd, expand, tile,
         depth_to_space, space_to_depth, trilu, compress, reverse_sequence, where, scatter_elements, scatter_nd]  # fmt: skip


def oracle(op, inputs, attributes, outputs=1):
    names = ["" if tensor is None else f"i{place}" for place, tensor in enumerate(inputs)]
    node = onnx.helper.make_node(op, names, [f"o{place}" for place in range(outputs)], **attributes)
    ports = [onnx.ValueInfoProto(name=name) for name in names if name]
    graph = onnx.helper.make_graph([node], "g", ports, [onnx.ValueInfoProto(name=name) for name in node.output])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 23)])
    return ReferenceEvaluator(model).run(None, {n: t for n, t in zip(names, inputs) if n})


def same(got, want):
    """To the bit."""
    want = np.asarray(want)
    assert got.shape == want.shape
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def random_bits(rng, shape, dtype):
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.uint8)
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), BITS[dtype.itemsize]).reshape(shape)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", MOVES)
def test_moves_bits(tmp_path, make, seed):
    """Elements of each size move as unsigned integers of that size do."""
    rng = np.random.default_rng([seed, MOVES.index(make)])
    name = MOVED[int(rng.integers(len(MOVED)))]
    op, shapes, deciding, attributes = make(rng)
    dtype = np.dtype(TYPES[name])
    data = [random_bits(rng, t, dtype) if isinstance(t, tuple) else t for t in shapes]
    ours = [t.view(dtype) if isinstance(shape, tuple) else t for t, shape in zip(data, shapes)]
    if op == "GatherElements":  # the evaluator wants equal shapes; what lies past the indices is not looked at
        sizes = [None if axis == attributes["axis"] else n for axis, n in enumerate(data[1].shape)]
        want = oracle(op, [data[0][tuple(map(slice, sizes))], data[1]], attributes)[0]
    else:
        want = oracle(op, data, attributes)[0]
    for constants in ((), deciding) if deciding else ((),):
        got, problem = run_node(tmp_path, op, ours, constants, **attributes)
        assert problem is None, problem
        assert got[0].dtype == dtype
        same(got[0], want)


def pad_values(rng, mode, name):
    shape = dims(rng, 1, 5)
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]
    low = -1 if mode in ("constant", "edge") else 0
    most = [shape[axis] - 1 if mode == "reflect" else 4 for axis in axes]
    pads = [[int(rng.integers(low if shape[axis] > 2 else 0, high + 1)) for axis, high in zip(axes, most)] for _ in "ab"]
    data = fill(rng, shape, TYPES[name])
    value = None if rng.integers(2) or mode != "constant" else fill(rng, (), TYPES[name])
    return data, axes.astype(np.int64), pads, value


def numpy_pad(data, axes, pads, mode, value):
    cut = [slice(None)] * data.ndim
    widths = [(0, 0)] * data.ndim
    for axis, begin, end in zip(axes, *pads):
        cut[axis] = slice(max(0, -begin), data.shape[axis] - max(0, -end))
        widths[axis] = max(0, begin), max(0, end)
    more = {"constant_values": 0 if value is None else value} if mode == "constant" else {}
    return np.pad(data[tuple(cut)], widths, mode, **more)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(tmp_path, mode, seed):
    rng = np.random.default_rng([seed, 77])
    data, axes, pads, value = pad_values(rng, mode, str(rng.choice(["u8", "f16", "f32", "s64", "bool"])))
    want = numpy_pad(data, axes, pads, mode, value)
    inputs = [data, s64(*pads[0], *pads[1]), value, axes]
    for constants in ((), (1, 3)):
        got, problem = run_node(tmp_path, "Pad", inputs, constants, mode=mode)
        assert problem is None, problem
        same(got[0], want)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RANKED)
def test_top_k_and_arg(tmp_path, name, seed):
    rng = np.random.default_rng([seed, RANKED.index(name)])
    shape = dims(rng, 1, 4, 40)
    axis, sign = int(rng.integers(len(shape))), int(rng.choice([-1, 1]))
    data = fill(rng, shape, TYPES[name])
    k = int(rng.integers(0, shape[axis] + 1))
    places = np.argsort(-sign * data.astype(np.float64), axis, kind="stable").take(range(k), axis)
    got, problem = run_node(tmp_path, "TopK", [data, s64(k)], (), 2, axis=axis, largest=(sign + 1) // 2)
    assert problem is None, problem
    same(got[0], np.take_along_axis(data, places, axis))
    same(got[1], places)
    op, find = (("ArgMax", np.argmax), ("ArgMin", np.argmin))[int(rng.integers(2))]
    last = int(rng.integers(2))
    want = shape[axis] - 1 - find(np.flip(data, axis), axis) if last else find(data, axis)
    got, problem = run_node(tmp_path, op, [data], axis=axis, keepdims=0, select_last_index=last)
    assert problem is None, problem
    same(got[0], want)


def test_nan_ranks_highest(tmp_path):
    data = np.array([1, np.nan, -0.0, 0.0, np.inf, np.nan, -np.inf], np.float32)
    got, _ = run_node(tmp_path, "TopK", [data, s64(7)], (), 2)
    same(got[1], s64(1, 5, 4, 0, 2, 3, 6))
    for op in "ArgMax", "ArgMin":
        same(run_node(tmp_path, op, [data], keepdims=0)[0][0], np.int64(1))


REDUCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_reductions(tmp_path, reduction, seed):
    """Repeated indices, in order; small integers wrap."""
    rng = np.random.default_rng([seed, 5])
    dtype = TYPES[str(rng.choice(["f32", "f64", "s8", "u8", "s32", "s64", "u64"]))]
    data, picks = fill(rng, (5, 4), dtype), rng.integers(-5, 5, (7, 1))
    updates = fill(rng, (7, 4), dtype)
    want = data.copy()
    with np.errstate(over="ignore"):
        for pick, update in zip(picks[:, 0], updates):
            want[pick] = REDUCTIONS[reduction](want[pick], update)
    got, problem = run_node(tmp_path, "ScatterND", [data, picks, updates], reduction=reduction)
    assert problem is None, problem
    same(got[0], want)
    got, problem = run_node(
        tmp_path, "ScatterElements", [data, np.repeat(picks, 4, 1), updates], axis=0, reduction=reduction
    )
    assert problem is None, problem
    same(got[0], want)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["f32", "f64", "f16", "s32", "s64", "u8"])
def test_cum_sum(tmp_path, name, seed):
    rng = np.random.default_rng([seed, 6])
    data = fill(rng, dims(rng, 1, 4, 30), TYPES[name])
    axis, exclusive, reverse = int(rng.integers(data.ndim)), int(rng.integers(2)), int(rng.integers(2))
    turned = np.flip(data, axis) if reverse else data
    want = np.cumsum(turned, axis, dtype=np.float32 if name == "f16" else data.dtype)
    if exclusive:
        want = np.roll(want, 1, axis)
        want[(slice(None),) * axis + (0,)] = 0
    want = (np.flip(want, axis) if reverse else want).astype(data.dtype)
    got, problem = run_node(tmp_path, "CumSum", [data, s64(axis)], exclusive=exclusive, reverse=reverse)
    assert problem is None, problem
    same(got[0], want)


CASTS = ["f32", "f16", "bf16", "f64", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "bool"]


@pytest.mark.parametrize("to", CASTS)
@pytest.mark.parametrize("name", CASTS)
def test_cast(tmp_path, name, to):
    """As numpy casts, where that is defined: in range, and among integers always."""
    rng = np.random.default_rng(9)
    source, target = np.dtype(TYPES[name]), np.dtype(TYPES[to])
    data = np.frombuffer(rng.bytes(4096 * source.itemsize), BITS[source.itemsize])
    data = (data & 1).astype(np.bool_) if name == "bool" else data.view(source)
    is_float = name in ("f32", "f16", "bf16", "f64")
    if is_float:
        with np.errstate(invalid="ignore"):
            data = data[np.isfinite(data.astype(np.float64))]
    if is_float and to not in ("f32", "f16", "bf16", "f64", "bool"):
        limits = np.iinfo(target)
        scale = rng.choice([1, 1e3, float(limits.max) / 2], len(data))
        with np.errstate(over="ignore"):
            data = (rng.uniform(-1 if limits.min else 0, 1, len(data)) * scale).astype(source)
        data = data[np.isfinite(data.astype(np.float64)) & (np.abs(data.astype(np.float64)) <= limits.max)]
    with np.errstate(over="ignore"):
        want = data.astype(target) if to != "bool" else data.astype(np.float64) != 0
        if "bf16" in (name, to) or to == "f16":
            want = round_once(data, target, want)
    got, problem = run_node(tmp_path, "Cast", [data], to=int(onnx.helper.np_dtype_to_tensor_dtype(target)))
    assert problem is None, problem
    same(got[0], want)


def round_once(data, target, otherwise):
    """ml_dtypes goes over f32, and rounds twice. Exact here: the nearest of the three codes around, ties to even."""
    if target not in (np.dtype(TYPES["bf16"]), np.dtype(np.float16)) or data.dtype.itemsize < 4:
        return otherwise
    codes = otherwise.view(np.uint16)
    for i, number in enumerate(data.tolist()):
        near = [int(codes[i]) + step for step in (-1, 0, 1)]
        near = [c for c in near if 0 <= c < 65536 and (c ^ int(codes[i])) < 32768]
        reals = {c: float(np.uint16(c).view(target)) for c in near}
        reals = {c: r for c, r in reals.items() if np.isfinite(r)}
        if np.isfinite(float(otherwise[i])) and reals:
            exact = abs_difference(number)
            codes[i] = min(reals, key=lambda c: (exact(reals[c]), c & 1))
    return otherwise


def abs_difference(number):
    from fractions import Fraction

    number = Fraction(number)
    return lambda real: abs(Fraction(real) - number)


@pytest.mark.parametrize("to,data,want", [
    ("u8", [300.0, -1.0, np.nan, np.inf, 254.9], [255, 0, 0, 255, 254]),
    ("s32", [3e9, -3e9, np.nan, -np.inf, -1.9], [2**31 - 1, -(2**31), 0, -(2**31), -1]),
    ("u64", [2e19, -1.0, np.nan], [2**64 - 1, 0, 0]),
    ("s64", [1e19, -1e19, np.nan], [2**63 - 1, -(2**63), 0]),
    ("u4", [16.0, -1.0, 7.5], [15, 0, 7]),
    ("s4", [8.0, -9.0, -7.5], [7, -8, -7]),
])  # fmt: skip
def test_cast_saturates(tmp_path, to, data, want):
    number = int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[to])))
    got, problem = run_node(tmp_path, "Cast", [np.array(data, np.float32)], to=number)
    assert problem is None, problem
    assert got[0].astype(object).tolist() == want


@pytest.mark.parametrize("start,limit,delta,dtype", [
    (0, 10, 3, np.int64), (10, 0, -3, np.int32), (5, 5, 1, np.int64), (-3, 4, 1, np.int16),
    (0, 1, 0.1, np.float32), (1, -2, -0.3, np.float64), (-(2**63), 2**63 - 1, 2**62, np.int64),
])  # fmt: skip
def test_range(tmp_path, start, limit, delta, dtype):
    bounds = [np.array(number, dtype) for number in (start, limit, delta)]
    count = max(0, -((int(start) - int(limit)) // int(delta))) if np.dtype(dtype).kind == "i" else None
    exact = [float(b) for b in bounds]
    if count is None:
        count = int(np.ceil((exact[1] - exact[0]) / exact[2]))
    step = int(delta) if np.dtype(dtype).kind == "i" else exact[2]
    want = np.array([(int(start) if np.dtype(dtype).kind == "i" else exact[0]) + i * step for i in range(count)], dtype)
    for constants in ((), (0, 1, 2)):
        got, problem = run_node(tmp_path, "Range", bounds, constants)
        assert problem is None, problem
        same(got[0], want)


FAULTS = [
    ("Gather", [np.zeros(3, np.float32), s64(3)], {}, "index 3 at 0"),
    ("GatherElements", [np.zeros((2, 3), np.float32), np.full((2, 3), -3)], {"axis": 0}, "index -3 at 0"),
    ("GatherND", [np.zeros((2, 3), np.float32), s64(0, 3)], {}, "index 3 at 1"),
    ("ScatterND", [np.zeros(3, np.float32), s64(-4).reshape(1, 1), np.zeros(1, np.float32)], {}, "index -4"),
    ("ScatterElements", [np.zeros(3, np.float32), s64(9), np.zeros(1, np.float32)], {}, "index 9"),
    ("Range", [np.array(0.0), np.array(1.0), np.array(np.nan)], {}, "by nan"),
    ("Range", [np.array(0), np.array(1), np.array(0)], {}, "by 0"),
    ("Range", [np.array(0), np.array(2**62), np.array(1)], {}, "would have 4611686018427387904 elements"),
    ("OneHot", [s64(1), np.array(-1), np.zeros(2, np.float32)], {}, "depth is -1"),
    ("CumSum", [np.zeros(3, np.float32), s64(1)], {}, "axis 1 is outside"),
    ("ReverseSequence", [np.zeros((2, 2), np.float32), s64(1, 3)], {}, "sequence length is 3"),
    ("ConstantOfShape", [s64(1 << 31)], {}, "2147483647"),
    ("ConstantOfShape", [s64(1 << 30, 1 << 30)], {}, "2^40"),
    ("Split", [np.zeros(4, np.float32), s64(5)], {}, "5, the dimension is 4"),
]


@pytest.mark.parametrize("op,inputs,attributes,text", FAULTS)
def test_faults_of_data(tmp_path, op, inputs, attributes, text):
    """What only the data can get wrong, as data of the run."""
    got, problem = run_node(tmp_path, op, inputs, (), **attributes)
    assert got is None
    assert text in problem and f"({op})" in problem


X = np.arange(6, dtype=np.float32)
LIES = [
    ("Reshape", [X, s64(3, 2)], {}, [[2, 3]]),
    ("Reshape", [X, s64(3, 2)], {}, [[7, 7]]),
    ("Slice", [X, s64(0), s64(6)], {}, [[2]]),
    ("Slice", [X, s64(0), s64(2)], {}, [[600]]),
    ("Expand", [X, s64(5, 6)], {}, [[2, 6]]),
    ("Tile", [X, s64(5)], {}, [[6]]),
    ("Pad", [X, s64(2, 2)], {}, [[6]]),
    ("Range", [np.array(0), np.array(9), np.array(1)], {}, [[3]]),
    ("ConstantOfShape", [s64(9, 9)], {}, [[3, 3]]),
    ("NonZero", [X], {}, [[1, 3]]),
    ("Compress", [X, np.array([True] * 5)], {"axis": 0}, [[3]]),
    ("TopK", [X, s64(4)], {}, [[2], [2]]),
    ("OneHot", [s64(1), np.array(9), np.zeros(2, np.float32)], {}, [[1, 3]]),
    ("Split", [X, s64(2, 4)], {}, [[4], [2]]),
    ("Squeeze", [X.reshape(1, 6), s64(0)], {}, [[60]]),
    ("Unsqueeze", [X, s64(0)], {}, [[1, 60]]),
]


@pytest.mark.parametrize("op,inputs,attributes,shapes", LIES)
def test_declared_shapes_that_lie(tmp_path, op, inputs, attributes, shapes):
    """Shapes that only the data of the run tell, and the file declares otherwise: refused, or not believed."""
    kinds = {"Range": [np.int64], "NonZero": [np.int64], "TopK": [np.float32, np.int64]}.get(op, [np.float32] * 2)
    got, problem = run_node(tmp_path, op, inputs, (), len(shapes), declared=list(zip(kinds, shapes)), **attributes)
    if problem is None:
        for ours, theirs in zip(got, oracle(op, inputs, attributes, len(shapes))):
            same(ours, theirs)
    else:
        assert "declared" in problem and f"({op})" in problem
