"""The rows of target onnx against ONNX Runtime at its default optimization level, which fuses DQ, op and Q into its integer
kernels: random graphs whose codes must be equal, then whole networks."""
import os
import pathlib
import subprocess
import sys

import codes
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "run"))
import reference

MODELS = codes.SHARED / "models"
GRAPHS = 25  # of each seed
SEEDS = range(int(os.environ.get("TARE_SEEDS") or 4))
NUMBERS = {"graphs": 0, "codes": 0}
INNER = {}  # by op: of each graph, the share of codes that are not at the ends of their range


def has_vnni():
    """Without it ONNX Runtime's products of u8 and s8 saturate."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    return "avx512_vnni" in flags or "avx_vnni" in flags


pytestmark = [
    pytest.mark.skipif(ort.__version__ != "1.32.0", reason=f"ONNX Runtime {ort.__version__}, not 1.32.0: nothing is shown"),
    pytest.mark.skipif(not has_vnni(), reason="the CPU has no VNNI: ONNX Runtime's products saturate, nothing is shown"),
]


def run_runtime(model, feeds, s8_products=False):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if s8_products:
        options.add_session_config_entry("session.qdqisint8allowed", "1")
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds)))


def is_fused(model, s8_products, directory):
    """Does ONNX Runtime run it as one node on codes?"""
    path = directory / "optimized.onnx"
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(path)
    if s8_products:
        options.add_session_config_entry("session.qdqisint8allowed", "1")
    ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return any(node.op_type.startswith(("QLinear", "QGemm")) for node in onnx.load(path).graph.node)


# ---- graphs

def draw_window(rng, rank):
    kernel = [int(k) for k in rng.integers(1, 4, rank)]
    dilations = [int(d) for d in rng.integers(1, 3, rank)]
    pads = [int(rng.integers(0, k + 1)) for k in kernel * 2]
    size = [int((k - 1) * d + 1 + rng.integers(0, 8)) for k, d in zip(kernel, dilations)]
    return kernel, size, {"kernel_shape": kernel, "dilations": dilations, "pads": pads,
                          "strides": [int(s) for s in rng.integers(1, 3, rank)]}


def draw_weight(b, shape, dtype):
    """Weight codes with scales per tensor or per output channel; what s_x is multiplied by comes back too."""
    rng, info = b.rng, np.iinfo(dtype)
    most = int(rng.choice([3, 20, 127]))
    middle = 0 if dtype == np.int8 else 128
    array = np.clip(rng.integers(-most, most + 1, shape) + middle, info.min, info.max).astype(dtype)
    count = shape[0] if rng.random() < 0.6 else 1
    scales = np.array([codes.random_scale(rng, b.nice) for _ in range(count)])
    zeros = np.full(count, middle if rng.random() < 0.7 else rng.integers(info.min, info.max + 1), dtype)
    shaped = (scales, zeros) if count > 1 else (scales[0], zeros[0])
    b.constant("w", array)
    return b.dequantize("w", b.parameters("w", *shaped), axis=0), scales, most


def conv(b):
    rng = b.rng
    rank = int(rng.choice([1, 2, 2, 2]))
    kernel, size, attributes = draw_window(rng, rank)
    group = int(rng.choice([1, 1, 2, 3, 7]))
    depth = 1 if group > 3 else int(rng.integers(1, 9))
    outputs = group * int(rng.integers(1, 3 if group > 3 else 9))
    x_scale = b.scale()
    x = b.input("x", [int(rng.integers(1, 3)), group * depth, *size], scale=x_scale)
    w, scales, most = draw_weight(b, [outputs, depth, *kernel], np.int8 if rng.random() < 0.7 or b.dtype == np.int8 else np.uint8)
    inputs = [x, w]
    if rng.random() < 0.6:
        b.constant("bias", rng.integers(-2000, 2000, outputs).astype(np.int32))
        scale = (x_scale * scales).astype(np.float32)
        bias = b.parameters("bias", scale if scale.size > 1 else scale[0], np.zeros(scale.shape if scale.size > 1 else (), np.int32))
        inputs.append(b.dequantize("bias", bias, axis=0))
    b.op("Conv", inputs, group=group, **attributes)
    y_scale = codes.near_scale(rng, b.nice, float(x_scale) * float(scales.mean()) * most * 70 * np.sqrt(depth * np.prod(kernel)) / 50)
    zero = b.zero()
    if rng.random() < 0.3:
        zero = b.dtype(np.iinfo(b.dtype).min)  # then the activation is what the codes do anyway
        bounds = [b.constant("lo", np.float32(0)), b.constant("hi", np.float32(1e6))]
        b.activation(*(("Relu", []) if rng.random() < 0.5 else ("Clip", bounds)))
    return b.finish(y_scale, zero)


def draw_broadcast(rng):
    """Two shapes: equal, or one of them with ones or missing dimensions."""
    full = [int(d) for d in rng.integers(1, 7, rng.integers(1, 5))]
    other = [d if rng.random() < 0.7 else 1 for d in full] if rng.random() < 0.6 else list(full)
    if rng.random() < 0.2:
        other = other[rng.integers(0, len(other) + 1):]
    return (full, other) if rng.random() < 0.5 else (other, full)


def add(b):
    first, second = draw_broadcast(b.rng)
    b.op("Add", [b.input("a", first), b.operand("b", second)])
    zero = b.zero()
    if b.rng.random() < 0.2:
        zero = b.dtype(np.iinfo(b.dtype).min)
        b.activation("Relu", [])
    return b.finish(codes.near_scale(b.rng, b.nice, 1.5 * float(max(b.scales))), zero)


def concat(b):
    rng = b.rng
    shape = [int(d) for d in rng.integers(1, 6, rng.integers(1, 5))]
    axis = int(rng.integers(-len(shape), len(shape)))
    scale, zero = b.scale(), b.zero()
    inputs = []
    for i in range(int(rng.integers(2, 5))):
        shape[axis] = int(rng.integers(1, 6))
        same = {"scale": scale, "zero": zero} if rng.random() < 0.4 else {}
        inputs.append(b.input(f"x{i}", list(shape), **same))
    b.op("Concat", inputs, axis=axis)
    return b.finish(scale, zero)


def softmax(b):
    rng = b.rng
    shape = [int(d) for d in rng.integers(1, 7, rng.integers(1, 5))]
    axis = int(rng.integers(-len(shape), len(shape)))
    shape[axis] = int(rng.choice([1, 2, 5, 10, 33, 300]))
    b.op("Softmax", [b.input("x", shape)], axis=axis)
    steps = rng.choice([256, 255, 50, 64, 1000])
    scale = np.float32(1 / 256) if rng.random() < 0.4 else np.float32(1 / steps)
    return b.finish(scale, b.dtype(np.iinfo(b.dtype).min) if rng.random() < 0.7 else b.zero())


def add_of_few(b):
    """Shapes of ones and scalars, where it shows which operand ONNX Runtime takes for the repeated one."""
    shapes = [[], [1], [1, 1], [3, 1], [2, 3, 1], [1, 3], [3], [2, 1, 1]]
    first, second = (shapes[i] for i in b.rng.integers(0, len(shapes), 2))
    scale = b.scale()  # a sixth of the sums lie on ties, which errors of 1/6 pull to either side
    b.op("Add", [b.input("a", first, scale=scale), b.input("b", second, scale=2 * scale)])
    return b.finish(6 * scale, b.zero())


def mul(b):
    first, second = draw_broadcast(b.rng)
    b.op("Mul", [b.input("a", first), b.operand("b", second)])
    zero = b.zero()
    if b.rng.random() < 0.2:
        zero = b.dtype(np.iinfo(b.dtype).min)
        b.activation("Relu", [])
    return b.finish(codes.near_scale(b.rng, b.nice, 100 * float(b.scales[0]) * float(b.scales[1])), zero)


def where(b):
    rng = b.rng
    first, second = draw_broadcast(rng)
    shape = np.broadcast_shapes(tuple(first), tuple(second))
    condition = b.condition("c", [d if rng.random() < 0.7 else 1 for d in shape])
    scale, zero = b.scale(), b.zero()
    same = {"scale": scale, "zero": zero} if rng.random() < 0.4 else {}
    b.op("Where", [condition, b.input("a", first, **same), b.input("b", second)])
    return b.finish(scale, zero)


def sigmoid(b):
    b.op("Sigmoid", [b.input("x", [3, 100], scale=codes.near_scale(b.rng, b.nice, 1 / 30))])
    scale = np.float32(1 / 256) if b.rng.random() < 0.5 else codes.near_scale(b.rng, b.nice, 1 / 200)
    return b.finish(scale, b.dtype(np.iinfo(b.dtype).min) if b.rng.random() < 0.7 else b.zero())


def draw_matrix(b, name, depth, columns, trans=False, lead=()):
    """A constant second operand with scales per tensor or per column; what s_a is multiplied by comes back too."""
    rng = b.rng
    dtype = np.int8 if rng.random() < 0.7 or b.dtype == np.int8 else np.uint8
    info, middle = np.iinfo(dtype), 0 if dtype == np.int8 else 128
    most = int(rng.choice([3, 20, 127]))
    shape = [*lead, columns, depth] if trans else [*lead, depth, columns]
    b.constant(name, np.clip(rng.integers(-most, most + 1, shape) + middle, info.min, info.max).astype(dtype))
    count = columns if rng.random() < 0.6 else 1
    scales = np.array([codes.random_scale(rng, b.nice) for _ in range(count)])
    zeros = np.full(count, middle, dtype)
    shaped = (scales, zeros) if count > 1 else (scales[0], zeros[0])
    axis = len(lead) + (0 if trans else 1)
    return b.dequantize(name, b.parameters(name, *shaped), axis=axis), scales, most


def gemm(b):
    rng = b.rng
    rows, depth, columns = (int(d) for d in rng.integers(1, 40, 3))
    trans_a, trans_b = (int(rng.random() < 0.3) for _ in range(2))
    a_scale = b.scale()
    a = b.input("a", [depth, rows] if trans_a else [rows, depth], scale=a_scale)
    w, scales, most = draw_matrix(b, "w", depth, columns, bool(trans_b))
    inputs, alpha = [a, w], 1.0
    if rng.random() < 0.6:
        b.constant("bias", rng.integers(-2000, 2000, columns).astype(np.int32))
        scale = (a_scale * scales).astype(np.float32)
        shape = scale.shape if scale.size > 1 else ()
        inputs.append(b.dequantize("bias", b.parameters("bias", scale.reshape(shape), np.zeros(shape, np.int32)), axis=0))
    elif rng.random() < 0.3:
        alpha = float(rng.choice([0.5, 0.3, 2.0]))
    b.op("Gemm", inputs, transA=trans_a, transB=trans_b, alpha=alpha)
    return b.finish(codes.near_scale(rng, b.nice, alpha * float(a_scale) * float(scales.mean()) * most * 1.4 * np.sqrt(depth)), b.zero())


def matmul(b):
    rng = b.rng
    rows, depth, columns = (int(d) for d in rng.integers(1, 30, 3))
    lead = [int(d) for d in rng.integers(1, 4, rng.integers(0, 3))]
    a_scale = b.scale()
    if rng.random() < 0.6:
        a = b.input("a", [*lead, rows, depth], scale=a_scale)
        w, scales, most = draw_matrix(b, "w", depth, columns)
        size = float(scales.mean()) * most * 1.4
    else:  # two activations, one of them broadcast now and then
        other = [1 if rng.random() < 0.3 else d for d in lead]
        a = b.input("a", [*(other if rng.random() < 0.5 else lead), rows, depth], scale=a_scale)
        w = b.input("w", [*lead, depth, columns])
        size = float(b.scales[1]) * 100
    b.op("MatMul", [a, w])
    return b.finish(codes.near_scale(rng, b.nice, float(a_scale) * size * np.sqrt(depth)), b.zero())


def average_pool(b):
    rng = b.rng
    rank = int(rng.choice([1, 2, 2]))
    kernel = [int(k) for k in rng.integers(1, 4, rank)]
    pads = [int(rng.integers(0, k)) for k in kernel * 2]
    size = [int(k + rng.integers(0, 8)) for k in kernel]
    b.op("AveragePool", [b.input("x", [int(rng.integers(1, 3)), int(rng.integers(1, 9)), *size])], kernel_shape=kernel, pads=pads,
         strides=[int(s) for s in rng.integers(1, 3, rank)], count_include_pad=int(rng.integers(0, 2)), ceil_mode=int(rng.integers(0, 2)))
    # onnx's shapes have windows that begin in the padding, which the runtime leaves out, as opset 22 does
    return b.finish(codes.near_scale(rng, b.nice, float(b.scales[0])), b.zero(), infers=False)


def average_pool_of_all(b):
    """Windows as large as the image, which SAME pads."""
    size = [int(d) for d in b.rng.integers(1, 6, 2)]
    b.op("AveragePool", [b.input("x", [1, int(b.rng.integers(1, 9)), *size])], kernel_shape=size,
         auto_pad=str(b.rng.choice(["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])))
    return b.finish(codes.near_scale(b.rng, b.nice, float(b.scales[0])), b.zero())


def global_average_pool(b):
    rng = b.rng
    size = [int(d) for d in rng.integers(1, 12, rng.integers(1, 4))]
    b.op("GlobalAveragePool", [b.input("x", [int(rng.integers(1, 3)), int(rng.integers(1, 70)), *size])])
    return b.finish(codes.near_scale(rng, b.nice, float(b.scales[0])), b.zero())


def leaky_relu(b):
    b.op("LeakyRelu", [b.input("x", [2, 3, 50])], alpha=float(b.rng.uniform(-0.5, 1.5)))
    return b.finish(codes.near_scale(b.rng, b.nice, float(b.scales[0])), b.zero())


def move(b):
    """One of the operators that only move codes, with equal ones before and behind."""
    rng = b.rng
    scale, zero = b.scale(), b.zero()
    shape = [int(d) for d in rng.integers(1, 7, 4)]
    x = b.input("x", shape, scale=scale, zero=zero)
    axis = int(rng.integers(0, 4))
    ints = lambda name, *numbers: b.constant(name, np.array(numbers, np.int64))
    draws = {
        "MaxPool": lambda: b.op("MaxPool", [x], kernel_shape=[int(rng.integers(1, shape[2] + 1)), int(rng.integers(1, shape[3] + 1))],
                                strides=[1, 2], pads=[0, 0, 0, 0]),
        "Transpose": lambda: b.op("Transpose", [x], perm=[int(i) for i in rng.permutation(4)]),
        "Reshape": lambda: b.op("Reshape", [x, ints("to", shape[0], -1)]),
        "Flatten": lambda: b.op("Flatten", [x], axis=axis),
        "Unsqueeze": lambda: b.op("Unsqueeze", [x, ints("axes", axis)]),
        "Slice": lambda: b.op("Slice", [x, ints("starts", 0), ints("ends", (shape[axis] + 1) // 2), ints("axes", axis)]),
        "Gather": lambda: b.op("Gather", [x, ints("at", *rng.integers(0, shape[axis], 5))], axis=axis),
        "Expand": lambda: b.op("Expand", [x, ints("to", 3, *shape)]),
        "Tile": lambda: b.op("Tile", [x, ints("times", 1, 2, 1, 2)]),
        "ReduceMax": lambda: b.op("ReduceMax", [x], axes=[axis], keepdims=int(rng.integers(0, 2))),
        "ReduceMin": lambda: b.op("ReduceMin", [x], axes=[axis], keepdims=int(rng.integers(0, 2))),
        "Resize": lambda: b.op("Resize", [x, "", b.constant("times", np.array([1, 1, 2, 3], np.float32))], mode="nearest"),
    }
    draws[str(rng.choice(list(draws)))]()
    return b.finish(scale, zero)


DRAWN = [move, conv, gemm, matmul, add, add_of_few, mul, concat, where, softmax, sigmoid, leaky_relu, average_pool, average_pool_of_all,
         global_average_pool]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("nice", [True, False], ids=["ties", "random"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=["u8", "s8"])
@pytest.mark.parametrize("draw", DRAWN, ids=lambda draw: draw.__name__)
def test_codes_are_equal(draw, dtype, nice, seed, tmp_path):
    rng = np.random.default_rng([seed, nice, dtype == np.int8])
    s8_products = draw in (conv, matmul) and dtype == np.int8
    for i in range(GRAPHS):
        b = codes.Builder(rng, dtype, nice)
        model = draw(b)
        theirs = run_runtime(model, b.feeds, s8_products)["y"]
        ours, lines = codes.run_driver(model, b.feeds, tmp_path)
        codes.assert_on_codes(lines)
        assert i or draw is move or is_fused(model, s8_products, tmp_path)
        different = int((ours["y"] != theirs).sum())
        assert different == 0, f"graph {i}: {different} of {theirs.size} codes differ\n{onnx.printer.to_text(model)[-2000:]}"
        NUMBERS["graphs"] += 1
        NUMBERS["codes"] += theirs.size
        is_inner = (theirs > np.iinfo(dtype).min) & (theirs < np.iinfo(dtype).max)
        INNER.setdefault(draw, []).append(np.mean(is_inner))


VECTORS = codes.SHARED / "vectors" / "onnxruntime"
INDEX = VECTORS / "index.tsv"
ROWS = [line.split("\t")[:2] for line in INDEX.read_text().splitlines()] if INDEX.exists() else []
KEPT = [(name, kind) for name, kind in ROWS if kind.split(".")[0] in ("Conv", "Gemm", "MatMul", "Add", "Mul", "Concat", "Where", "Softmax", "Sigmoid", "LeakyRelu", "AveragePool",
                                                           "GlobalAveragePool")]


@pytest.mark.skipif(not KEPT, reason=f"{VECTORS} is not there: kept answers are not compared (TARE_SHARED)")
@pytest.mark.parametrize("name, kind", KEPT, ids=["-".join(row) for row in KEPT])
def test_kept_answers(name, kind, tmp_path):
    with np.load(VECTORS / f"{name}.npz") as golden:
        golden = {key: golden[key] for key in golden.files}
    feeds = {key[3:]: array for key, array in golden.items() if key.startswith("in_")}
    ours, lines = codes.run_driver(onnx.load(VECTORS / f"{name}.onnx"), feeds, tmp_path)
    codes.assert_on_codes(lines)
    for key, array in golden.items():
        if key.startswith("out_") and kind.startswith("MatMul.s8") and kind.endswith(".f32"):  # a float product there
            np.testing.assert_allclose(ours[key[4:]], array, rtol=0, atol=1e-6 * np.abs(array).max())
        elif key.startswith("out_"):
            np.testing.assert_array_equal(ours[key[4:]], array)


def test_all_graphs_together():
    for draw, shares in INNER.items():
        told = f"{draw.__name__}: most codes are at the ends of their range: little is shown"
        assert draw is softmax or len(shares) < GRAPHS or np.mean(shares) > 0.5, told
    print(f"{NUMBERS['codes']} codes of {NUMBERS['graphs']} graphs of single nodes, none differs")


# ---- networks

def quantize(name, directory):
    """The shared model, quantized by tare on its calibration samples."""
    feeds, out = directory / "feeds", directory / "quantized.onnx"
    subprocess.run([sys.executable, MODELS / "score.py", "feeds", name, "--use", "calib", "-o", feeds], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([codes.DRIVER.parent.parent / "tare", "quantize", MODELS / name / "model.onnx", "--data", feeds,
                    "--samples", "4", "-o", out], check=True, capture_output=True)
    with np.load(sorted(feeds.glob("*.npz"))[-1]) as sample:
        return onnx.load(out), {key: sample[key] for key in sample.files}


def show_codes(model):
    """The model with all codes of activations as outputs too, and (value, its codes, scale, zero point) of each."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    shown = [node for node in model.graph.node if node.op_type == "QuantizeLinear" and node.input[0] not in constants]
    for node in shown:
        model.graph.output.append(onnx.ValueInfoProto(name=node.output[0]))
    return model, [(node.input[0], node.output[0], *(constants[name] for name in node.input[1:3])) for node in shown]


@pytest.mark.skipif(not MODELS.is_dir(), reason=f"{MODELS} is not there: no network is run (TARE_SHARED)")
@pytest.mark.parametrize("form", ["qdq_u8s8_pt", "qoperator_u8s8_pc"])
@pytest.mark.parametrize("name", ["ic_resnet8", "kws_dscnn"])
def test_networks_of_its_own(name, form, tmp_path):
    """Quantized by ONNX Runtime, also as QLinearConv and the like; what comes out behind the last node."""
    model = onnx.load(MODELS / "quantized_forms" / f"{name}_ort_{form}.onnx")
    for index in range(3):
        feeds = reference.fit_feeds(model, reference.feeds_of(name, index=index))
        ours, lines = codes.run_driver(model, feeds, tmp_path)
        assert int(lines[1].split()[2]) >= 10, "few nodes are on codes: little is shown"
        for output, theirs in run_runtime(model, feeds).items():
            np.testing.assert_array_equal(ours[output], theirs)


@pytest.mark.skipif(not MODELS.is_dir(), reason=f"{MODELS} is not there: no network is run (TARE_SHARED)")
@pytest.mark.parametrize("name", ["ic_resnet8", "vww_mobilenet025", "osnet_x0_25", "ppocr_cls", "nanodet_m_320", "kws_dscnn"])
def test_networks(name, tmp_path):
    model, feeds = quantize(name, tmp_path)
    shown, values = show_codes(model)
    theirs = run_runtime(shown, feeds)
    ours, lines = codes.run_driver(model, feeds, tmp_path)
    dequantized = {node.input[0]: node.output[0] for node in model.graph.node if node.op_type == "DequantizeLinear"}
    total = different = 0
    for value, code, scale, zero in values:
        got = np.rint(ours[value if value in ours else dequantized[code]].astype(np.float64) / scale) + zero.astype(np.float64)
        total += got.size
        different += int((got != theirs[code]).sum())
    print(f"{name}: {different} of {total} codes differ over the whole network; " + "; ".join(lines[1:]))
    assert different <= 1e-3 * total
