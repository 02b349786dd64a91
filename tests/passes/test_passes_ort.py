"""Passes against ONNX Runtime: the graphs before and after in *.case, and the shared models before and after, compute the
same; what became of values that went away is told truly; scales that make no sense are refused by name."""
import os
import pathlib
import re
import subprocess

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import onnxruntime
import pytest
from onnx.reference.op_run import OpRun

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or HERE.parent.parent.parent / "shared")
MODELS = SHARED / "models"
CASES = [(path.stem, i, case) for path in sorted(HERE.glob("*.case"))
         for i, case in enumerate(path.read_text().split("\n===\n"), 1)]
NEWEST = 24  # the opset that has every function the passes recognise


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds(model, seed):
    """Random numbers for the inputs: reals on both sides of 0 when seed is odd, from 0 to 1 when it is even."""
    random = np.random.default_rng(seed)
    given = {i.name for i in model.graph.initializer}
    made = {}
    for value in model.graph.input:
        if value.name in given:
            continue
        dims = value.type.tensor_type.shape.dim
        shape = [d.dim_value if d.HasField("dim_value") else 2 if k == 0 else 64 for k, d in enumerate(dims)]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if np.issubdtype(kind, np.floating):
            made[value.name] = (random.random(shape) if seed % 2 == 0 else random.normal(0, 2, shape)).astype(kind)
        elif kind == np.bool_:
            made[value.name] = random.integers(0, 2, shape).astype(bool)
        else:
            made[value.name] = random.integers(0, 100, shape).astype(kind)
    return made


def compare(name, a, b, tolerance, floor=0.0):
    assert a.dtype == b.dtype and a.shape == b.shape, name
    if not np.issubdtype(a.dtype, np.floating) or tolerance == 0:
        np.testing.assert_array_equal(a, b, err_msg=name)
        return
    finite = np.isfinite(a)
    np.testing.assert_array_equal(a[~finite], b[~finite], err_msg=name)
    most = np.abs(a[finite]).max(initial=0)
    worst = np.abs(a[finite].astype(np.float64) - b[finite]).max(initial=0)
    assert worst <= tolerance * most + floor, f"{name}: {worst} of {most}"


# ---- cases ----

def parse(text):
    """The graph in ONNX's own text; in the opset that has what the passes put in when its own has not."""
    try:
        model = onnx.parser.parse_model(text)
        onnx.checker.check_model(model)
        return model
    except onnx.checker.ValidationError:
        model = onnx.parser.parse_model(re.sub(r'ir_version: \d+, opset_import: \["" : \d+',
                                               f'ir_version: 12, opset_import: ["" : {NEWEST}', text))
        onnx.checker.check_model(model)
        return model


@pytest.mark.parametrize("name, number, case", CASES, ids=[f"{n}-{i}" for n, i, _ in CASES])
def test_case(name, number, case):
    if "# quantized" in case:
        pytest.skip("values that hold their quantization: ONNX's text has no words for them")
    if "qonnx" in case:
        pytest.skip("ONNX Runtime does not know QONNX's nodes")
    before, after = (parse(text) for text in case.split("\n---\n"))
    exact = not name.startswith(("fuse-", "recognise-", "normalize"))
    for seed in range(3):
        made = feeds(before, seed)
        for value, a, b in zip(before.graph.output, session(before.SerializeToString()).run(None, made),
                               session(after.SerializeToString()).run(None, made)):
            compare(value.name, a, b, 0 if exact else 1e-6)


# ---- models ----

def models():
    if not MODELS.is_dir():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{MODELS} is not there (TARE_SHARED)"))]
    return [path for path in sorted(MODELS.glob("*/*.onnx")) if path.parent.name != "malformed"]


@pytest.fixture(scope="module")
def driver():
    folder = os.environ.get("TARE_DRIVERS")
    if not folder:
        pytest.skip("TARE_DRIVERS is not set: run by ctest")

    def run(*arguments):
        ran = subprocess.run([pathlib.Path(folder) / "driver_passes", *map(str, arguments)], capture_output=True,
                             stdin=subprocess.DEVNULL, check=False)
        return ran.returncode, ran.stdout.decode(), ran.stderr.decode()

    return run


def load(path):
    """The model, when ONNX Runtime can run it."""
    model = onnx.load(path)
    if any(node.op_type in ("Quant", "BipolarQuant") for node in model.graph.node):
        pytest.skip("ONNX Runtime does not know QONNX's nodes")
    return model


def with_all_outputs(model):
    """All float values as outputs, whose names are returned."""
    model = onnx.shape_inference.infer_shapes(model)
    known = {v.name: v for v in model.graph.value_info}
    there = {v.name for v in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name in known and name not in there and known[name].type.tensor_type.elem_type == 1:
                model.graph.output.append(known[name])
    return model, [v.name for v in model.graph.output]


def rounded(model):
    """Values that come out of DequantizeLinear. A quantized value keeps the name of what is quantized."""
    return {name for node in model.graph.node if node.op_type == "DequantizeLinear" for name in node.output}


def run_all(model, made):
    model, names = with_all_outputs(model)
    return dict(zip(names, session(model.SerializeToString()).run(names, made)))


def back(alias, values):
    """What the value that went away was, from those that are there."""
    new, factor, offset, permutation = alias[1:]
    value = values.get(new)
    if value is None:
        return None
    if permutation:
        value = value.transpose([int(c) for c in permutation[:value.ndim]])
    return value * np.float64(factor) + np.float64(offset)


@pytest.mark.parametrize("path", models(), ids=lambda path: f"{path.parent.name}/{path.name}" if path else "none")
def test_model(driver, tmp_path, path):
    model = load(path)
    status, aliases, log = driver(path, tmp_path / "out.onnx")
    assert status == 0, log
    optimized = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(optimized, full_check=True)
    assert [o.name for o in optimized.graph.output] == [o.name for o in model.graph.output]
    changed = rounded(optimized) - rounded(model)
    was_rounded = rounded(model)
    for seed in range(2):
        made = feeds(model, seed)
        old, new = run_all(model, made), run_all(optimized, made)
        # What is next to nothing beside what it was made from has no digits of its own: sigmoids far from 0.
        for name in (o.name for o in model.graph.output):
            compare(name, old[name], new[name], 1e-5, 1e-6)
        checked = 0
        for alias in (line.split("\t") for line in aliases.splitlines()):
            was = back(alias, new)
            if was is None or alias[0] not in old or old[alias[0]].ndim != was.ndim:
                continue
            if alias[1] in rounded(optimized) and alias[0] not in was_rounded:
                continue
            compare(f"{alias[0]} from {alias[1]}", old[alias[0]].astype(np.float64), was, 1e-5, 1e-6)
            checked += 1
        same = [name for name in old if name in new and name not in changed]
        for name in same:
            compare(name, old[name], new[name], 1e-5, 1e-6)
        assert checked + len(same) > 0


# ---- old forms ----

def clipped_conv(opset):
    """The same Conv and Clip(0, 6) in an opset that has Clip's bounds as attributes, or as inputs."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    weight = np.linspace(-1, 1, 2 * 3 * 3 * 3, dtype=np.float32).reshape(2, 3, 3, 3)
    constants = [numpy_helper.from_array(weight, "w")]
    if opset < 11:
        clip = helper.make_node("Clip", ["c"], ["y"], min=0.0, max=6.0)
    else:
        clip = helper.make_node("Clip", ["c", "lo", "hi"], ["y"])
        constants += [numpy_helper.from_array(np.float32(bound), name) for name, bound in (("lo", 0), ("hi", 6))]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["c"]), clip], "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, 5, 5])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 2, 3, 3])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("opset", [7, 9, 11, 12, 13])
def test_clip_forms(driver, tmp_path, opset):
    """cases.md Q4: one Conv and Clip in many opsets are one graph, and compute one thing."""
    onnx.save(clipped_conv(opset), tmp_path / "in.onnx")
    status, _, log = driver(tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert status == 0, log
    optimized = onnx.load(tmp_path / "out.onnx")
    assert [node.op_type for node in optimized.graph.node] == ["Conv", "Clip"]
    made = feeds(clipped_conv(13), 1)
    wanted = session(clipped_conv(13).SerializeToString()).run(None, made)[0]
    np.testing.assert_array_equal(wanted, session(optimized.SerializeToString()).run(None, made)[0])


@pytest.mark.parametrize("opset, bounds, wanted", [(13, ("", 6), [-3, 0, 5, 6]), (9, (0, ""), [0, 0, 5, 1e30]),
                                                   (13, (5, 2), [2, 2, 2, 2])])
def test_clip_bounds(driver, tmp_path, opset, bounds, wanted):
    """cases.md A2: bounds that are left out, or stand the wrong way round."""
    helper = onnx.helper
    constants = []
    if opset < 11:
        clip = helper.make_node("Clip", ["x"], ["y"], **{k: float(b) for k, b in zip(("min", "max"), bounds) if b != ""})
    else:
        names = [name if b != "" else "" for name, b in zip(("lo", "hi"), bounds)]
        clip = helper.make_node("Clip", ["x", *names], ["y"])
        constants = [onnx.numpy_helper.from_array(np.float32(b), name) for name, b in zip(names, bounds) if b != ""]
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy"]
    model = helper.make_model(helper.make_graph([clip], "g", ports[:1], ports[1:], constants),
                              opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, tmp_path / "in.onnx")
    status, _, log = driver(tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert status == 0, log
    x = np.array([-3, 0, 5, 1e30 if opset < 11 else 9], np.float32)
    got = session((tmp_path / "out.onnx").read_bytes()).run(None, {"x": x})[0]
    np.testing.assert_array_equal(got, np.array(wanted, np.float32))


# ---- functions that older opsets spell ----

@pytest.mark.parametrize("name, number, case", [c for c in CASES if c[0].startswith("recognise-")],
                         ids=[f"{n}-{i}" for n, i, _ in CASES if n.startswith("recognise-")])
def test_spelling(driver, tmp_path, name, number, case):
    """What is recognised is written in the words of the file's own opset."""
    model = onnx.parser.parse_model(case.split("\n---\n")[0])
    onnx.save(model, tmp_path / "in.onnx")
    status, _, log = driver(tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert status == 0, log
    optimized = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(optimized, full_check=True)
    assert optimized.opset_import[0].version == model.opset_import[0].version
    for seed in range(2):
        made = feeds(model, seed)
        for value, a, b in zip(model.graph.output, session(model.SerializeToString()).run(None, made),
                               session(optimized.SerializeToString()).run(None, made)):
            compare(value.name, a, b, 1e-6)


# ---- QONNX ----

class Quant(OpRun):
    """qonnx/custom_op/general/quant.py, its ROUND"""

    op_domain = "onnx.brevitas"

    def _run(self, x, scale, zero_point, bits, narrow=None, rounding_mode=None, signed=None):
        assert rounding_mode == "ROUND"
        top = 2 ** (bits - signed)
        lo, hi = (narrow - top, top - 1) if signed else (0, top - 1 - narrow)
        code = np.rint(np.clip(x / scale + zero_point, lo, hi))
        return (((code - zero_point) * scale).astype(np.float32),)


class BipolarQuant(OpRun):
    op_domain = "onnx.brevitas"

    def _run(self, x, scale):
        return (np.where(x >= 0, scale, -scale).astype(np.float32),)


class BatchNormalization(OpRun):
    """For inference; the one of onnx.reference mixes in the batch's own mean for old opsets."""

    def _run(self, x, scale, bias, mean, variance, epsilon=None, **_):
        shape = (1, -1) + (1,) * (x.ndim - 2)
        gain = scale / np.sqrt(variance + np.float32(epsilon))
        return (x * gain.reshape(shape) + (bias - mean * gain).reshape(shape),)


@pytest.mark.parametrize("name", ["espcn_x2/model_qonnx_quant", "espcn_x2/model_subpixel_qonnx_quant",
                                  "qonnx_tfc_w2a2/model", "qonnx_tfc_w2a2/model_1w1a_bipolar"])
def test_qonnx(driver, tmp_path, name):
    """What is written runs in ONNX Runtime and gives what the nodes of the file say: their codes fall alike but for sums
    that lie next to a tie."""
    if not MODELS.is_dir():
        pytest.skip(f"{MODELS} is not there (TARE_SHARED)")
    model = onnx.load(MODELS / f"{name}.onnx")
    if not any(o.domain == "onnx.brevitas" for o in model.opset_import):
        model.opset_import.append(onnx.helper.make_opsetid("onnx.brevitas", 1))
    status, _, log = driver(MODELS / f"{name}.onnx", tmp_path / "out.onnx")
    assert status == 0, log
    optimized = onnx.load(tmp_path / "out.onnx")
    assert all(node.domain == "" for node in optimized.graph.node)
    for seed in range(2):
        made = {k: v[:, :, :48, :48] if v.ndim == 4 and v.shape[1] == 3 else v for k, v in feeds(model, seed).items()}
        for value in list(model.graph.input) + list(optimized.graph.input):
            if value.name in made:
                for dim, size in zip(value.type.tensor_type.shape.dim, made[value.name].shape):
                    dim.dim_value = size
        for graph in (model.graph, optimized.graph):
            for value in graph.output:
                for dim in value.type.tensor_type.shape.dim:
                    dim.dim_param = "any"
            del graph.value_info[:]
        reference = onnx.reference.ReferenceEvaluator(model, new_ops=[Quant, BipolarQuant, BatchNormalization])
        wanted, got = reference.run(None, made)[0], session(optimized.SerializeToString()).run(None, made)[0]
        most = np.abs(wanted).max()
        assert np.mean(np.abs(wanted - got) > 1e-5 * most) < 1e-3, np.abs(wanted - got).max() / most


# ---- scales ----

BAD = {"qdq_scale_zero": "is 0, want a positive number", "qdq_scale_nan": "is nan, want a positive number",
       "qdq_per_channel_wrong_len": "scales", "wild_tf2onnx_person_detect_axis": "axis"}


@pytest.mark.parametrize("name", BAD)
def test_malformed(driver, tmp_path, name):
    if not MODELS.is_dir():
        pytest.skip(f"{MODELS} is not there (TARE_SHARED)")
    for options in [], ["--repair-scales"]:
        status, _, log = driver(MODELS / "malformed" / f"{name}.onnx", tmp_path / "out.onnx", *options)
        assert status == 3 and BAD[name] in log and "node '" in log, log
        assert not (tmp_path / "out.onnx").exists()
