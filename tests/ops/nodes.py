"""Graphs of many single nodes on shared inputs, through tare and through ONNX Runtime: floats agree to 1e-5 of the
tensor's largest magnitude, whole numbers exactly; and tare's results have the same bits on every instruction set of
this machine, and for one thread and three."""

import functools
import tempfile

import numpy as np
import onnx
from onnx import helper
from oracle import run_ort, run_tare

CPUS = ["scalar", "avx2", "avx512"]


@functools.cache
def machine_cpus():
    """Those that the machine has (the driver refuses the others)."""
    model = make([("Neg", ["x"], {})], {"x": np.zeros(3, np.float32)})
    with tempfile.TemporaryDirectory() as directory:
        return [
            cpu
            for cpu in CPUS
            if not isinstance(run_tare(model, {"x": np.zeros(3, np.float32)}, directory, 1, cpu), str)
        ]


def make(nodes, inputs, opset=20, constants=()):
    """nodes: (op, names of inputs, attributes); the outputs are named y0, y1, …, each a graph output."""
    made, outputs = [], []
    for index, (op, names, attributes) in enumerate(nodes):
        domain = "com.microsoft" if op.startswith("QLinear") and op not in ("QLinearConv", "QLinearMatMul") else ""
        made.append(helper.make_node(op, names, [f"y{index}"], domain=domain, **attributes))
        outputs.append(onnx.ValueInfoProto(name=f"y{index}"))
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in inputs.items()
        if name not in constants
    ]
    fixed = [onnx.numpy_helper.from_array(x, name) for name, x in inputs.items() if name in constants]
    graph = helper.make_graph(made, "g", given, outputs, fixed)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def same(ours, theirs, what, limit):
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, f"{what}: {ours.dtype}{ours.shape}"
    if theirs.dtype.kind != "f":
        wrong = np.argwhere(ours != theirs)
        assert not len(wrong), f"{what}: {len(wrong)} of {ours.size} differ, first at {wrong[0]}"
        return
    finite = np.isfinite(theirs)
    assert np.array_equal(ours[~finite], theirs[~finite], equal_nan=True), f"{what}: not finite elsewhere"
    largest = np.max(np.abs(theirs[finite].astype(np.float64)), initial=0)
    worst = np.max(np.abs(ours[finite].astype(np.float64) - theirs[finite]), initial=0)
    assert worst <= limit * largest, f"{what}: differs by {worst} of {largest}"


def same_bits(a, b):
    """All NaNs count as one."""
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a) & (a == a), np.signbit(b) & (b == b))


def check(nodes, inputs, directory, opset=20, constants=(), limit=None):
    model = make(nodes, inputs, opset, constants)
    feeds = {name: x for name, x in inputs.items() if name not in constants}
    want, got = run_ort(model, feeds), run_tare(model, feeds, directory)
    assert not isinstance(got, str), got
    for node, ours, theirs in zip(nodes, got, want, strict=True):
        usual = {np.dtype(np.float32): 1e-5, np.dtype(np.float16): 2e-3}.get(theirs.dtype, 1e-6)
        shapes = [inputs[name].shape if name else None for name in node[1]]
        same(ours, theirs, f"{node[0]} {shapes} {node[2]}", usual if limit is None else limit)
    for threads, cpu in [(1, cpu) for cpu in machine_cpus()] + [(3, None)]:
        again = run_tare(model, feeds, directory, threads, cpu)
        for node, ours, other in zip(nodes, got, again, strict=True):
            assert same_bits(ours, other), f"{node[0]} {threads} threads {cpu}"
    return got


def two_sided(rng, shape, dtype=np.float32, scale=3.0):
    x = np.asarray(rng.standard_normal(shape) * scale)
    flat = x.reshape(-1)
    flat[:: max(1, x.size // 7)] = rng.choice(
        [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0], flat[:: max(1, x.size // 7)].size
    )
    return np.asarray(x, dtype)
