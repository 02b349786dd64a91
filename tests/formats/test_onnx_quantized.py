"""Quantized values become Q and DQ nodes that ONNX Runtime runs in integers; names, interface, opset and types are as they
must be."""
import collections

import likeness
import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)
# c1 is not among them: Relu follows, and is the zero point of r1.
ACTIVATIONS = {"x": (-2, 2), "r1": (0, 4), "c2": (-5, 5), "sum": (-4, 8), "pooled": (-2, 4), "flat": (-2, 4),
               "y": (-6, 6)}


def weight(name, *shape):
    random = numpy.random.default_rng(len(name) + sum(shape))
    return numpy_helper.from_array(random.standard_normal(shape).astype(numpy.float32) / 4, name)


def build(opset=13):
    """A residual block with a classifier."""
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1] * 4),
             helper.make_node("Relu", ["c1"], ["r1"], name="relu1"),
             helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], name="conv2", pads=[1] * 4),
             helper.make_node("Add", ["r1", "c2"], ["sum"], name="add"),
             helper.make_node("GlobalAveragePool", ["sum"], ["pooled"], name="pool"),
             helper.make_node("Flatten", ["pooled"], ["flat"], name="flatten"),
             helper.make_node("Gemm", ["flat", "w3", "b3"], ["y"], name="fc", transB=1)]
    weights = [weight("w1", 8, 3, 3, 3), weight("b1", 8), weight("w2", 8, 8, 3, 3), weight("b2", 8), weight("w3", 10, 8),
               weight("b3", 10)]
    shapes = {"c1": (1, 8, 6, 6), "r1": (1, 8, 6, 6), "c2": (1, 8, 6, 6), "sum": (1, 8, 6, 6), "pooled": (1, 8, 1, 1),
              "flat": (1, 8)}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    graph = helper.make_graph(nodes, "block", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 6])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])], weights, value_info=infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4)


def scale_of(low, high, codes=255):
    scale = numpy.float32((high - low) / codes)
    return scale, int(round(-low / scale))


def options(code="u8", weight_code="s8", contrib=False, names=ACTIVATIONS):
    out = []
    for name in names:
        scale, zero = scale_of(*ACTIVATIONS[name], 255 if code.endswith("8") else 65535)
        out += ["--quant", f"{name}:{code}:{scale:.9g}:{zero}" + (":contrib" if contrib else "")]
    for w in ("w1", "w2", "w3"):
        out += ["--weight", f"{w}:{weight_code}:0"]
    return out


BIASES = ["--bias", "b1:x:w1", "--bias", "b2:r1:w2", "--bias", "b3:flat:w3"]


@pytest.fixture
def write(driver, tmp_path):
    def run(*arguments, opset=13):
        onnx.save(build(opset), tmp_path / "in.onnx")
        ran = driver(tmp_path / "in.onnx", tmp_path / "out.onnx", *arguments)
        assert ran.status == 0, ran.log
        model = onnx.load(tmp_path / "out.onnx")
        onnx.checker.check_model(model, full_check=True)
        return model, tmp_path / "out.onnx"
    return run


def session(path, level, optimized=None):
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = level
    if optimized:
        settings.optimized_model_filepath = str(optimized)
    return onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])


def outputs(path, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
    x = numpy.random.default_rng(5).uniform(-2, 2, (1, 3, 6, 6)).astype(numpy.float32)
    return session(path, level).run(None, {"x": x})[0]


def makers(model):
    return {o: n for n in model.graph.node for o in n.output}


def test_runs_in_integers(write, tmp_path):
    _, path = write(*options(), *BIASES)
    session(path, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, tmp_path / "optimized.onnx")
    ops = collections.Counter(n.op_type for n in onnx.load(tmp_path / "optimized.onnx").graph.node)
    assert ops["QLinearConv"] == 2 and ops["QLinearAdd"] == 1 and ops["QLinearGlobalAveragePool"] == 1 and ops["QGemm"] == 1
    assert not {"Conv", "Relu", "Add", "Gemm", "GlobalAveragePool"} & set(ops)
    assert ops["QuantizeLinear"] == 1 and ops["DequantizeLinear"] == 1


def test_close_to_float(write, tmp_path):
    _, path = write(*options(), *BIASES)
    want = outputs(tmp_path / "in.onnx")
    assert numpy.abs(outputs(path) - want).max() < 0.1 and numpy.abs(want).max() > 0.3


def test_form(write):
    model, _ = write(*options(), *BIASES)
    maker, weights = makers(model), {t.name: t for t in model.graph.initializer}
    assert [i.name for i in model.graph.input] == ["x"] and [o.name for o in model.graph.output] == ["y"]
    for name in set(ACTIVATIONS) - {"x"}:
        dq = maker[name]
        q = maker[dq.input[0]]
        assert (dq.op_type, q.op_type) == ("DequantizeLinear", "QuantizeLinear")
        assert q.input[0] == name + "_raw" and maker[name + "_raw"].op_type not in ("QuantizeLinear", "DequantizeLinear")
        assert list(q.input[1:]) == list(dq.input[1:]) and len(q.input) == 3
    assert maker["x_dequantized"].input[0] == "x_quantized" and maker["x_quantized"].input[0] == "x"
    for name in ("w1", "w2", "w3"):
        dq = maker[name]
        codes, scale, zero = (weights[i] for i in dq.input)
        assert codes.data_type == zero.data_type == TensorProto.INT8 and list(scale.dims) == [codes.dims[0]] == list(zero.dims)
        assert {a.name: a.i for a in dq.attribute} == {"axis": 0}
    for name, parts in {"b1": ("x", "w1"), "b2": ("r1", "w2"), "b3": ("flat", "w3")}.items():
        codes, scale = (weights[i] for i in maker[name].input)
        s_x = scale_of(*ACTIVATIONS[parts[0]])[0]
        s_w = numpy_helper.to_array(weights[maker[parts[1]].input[1]])
        assert codes.data_type == TensorProto.INT32
        numpy.testing.assert_array_equal(numpy_helper.to_array(scale), s_x * s_w)
    uses = collections.Counter(n.input[0] for n in model.graph.node if n.op_type == "QuantizeLinear")
    assert set(uses.values()) == {1}
    assert len({n.name for n in model.graph.node}) == len(model.graph.node)


def test_equal_parameters_are_shared(write):
    """Pooled and flat have one range; x and r1 one width and other ends."""
    model, _ = write(*options(), *BIASES)
    maker = makers(model)
    assert maker["pooled"].input[1:] == maker["flat"].input[1:]
    assert maker["x_dequantized"].input[1] == maker["r1"].input[1] and maker["x_dequantized"].input[2] != maker["r1"].input[2]
    assert maker["w1"].input[2] == maker["w2"].input[2]  # eight zeros of s8 both
    assert maker["c2"].input[1] != maker["sum"].input[1]


def test_shapes_are_written(write):
    model, _ = write(*options(), *BIASES)
    infos = {i.name: i.type.tensor_type for i in model.graph.value_info}
    assert set(infos) == {o for n in model.graph.node for o in n.output} - {"y"}
    assert infos["c2_quantized"].elem_type == TensorProto.UINT8 and infos["c2_raw"].elem_type == TensorProto.FLOAT
    assert [d.dim_value for d in infos["c2_quantized"].shape.dim] == [1, 8, 6, 6]


@pytest.mark.parametrize("source", [9, 11, 12, 13, 17])
def test_lifted(write, source):
    """13 for Q and DQ per axis, with the IR version that came with it."""
    model, path = write(*options(), *BIASES, opset=source)
    assert model.opset_import[0].version == max(source, 13) and model.ir_version == (8 if source > 14 else 7)
    outputs(path)


def test_not_lifted_without_need(write):
    model, _ = write(opset=9)
    assert model.opset_import[0].version == 9


def test_16_bits_in_the_contrib_domain(write):
    model, path = write(*options("u16", contrib=True), *BIASES)
    assert {(o.domain, o.version) for o in model.opset_import} == {("", 13), ("com.microsoft", 1)}
    kinds = {(n.op_type, n.domain) for n in model.graph.node if "Linear" in n.op_type}
    assert ("QuantizeLinear", "com.microsoft") in kinds and ("DequantizeLinear", "") in kinds
    assert numpy.isfinite(outputs(path)).all()


def test_16_bits_in_the_main_domain(write):
    for contrib in (False, True):
        model, path = write(*options("u16", contrib=contrib), *BIASES, opset=13 if not contrib else 21)
        assert {(o.domain, o.version) for o in model.opset_import} == {("", 21)} and model.ir_version == 10
        assert numpy.isfinite(outputs(path)).all()


def test_4_bit_weights(write):
    model, path = write(*options(weight_code="s4"), opset=13)
    codes = next(t for t in model.graph.initializer if t.name == "w1_quantized")
    assert codes.data_type == TensorProto.INT4 and len(codes.raw_data) == 8 * 27 // 2
    assert model.opset_import[0].version == 21
    assert numpy.isfinite(outputs(path)).all()


def test_float_weights(write, tmp_path):
    """The stage before rounding: floats that go through Q and DQ, and give the same as their codes."""
    _, rounded = write(*options(), *BIASES)
    want = outputs(rounded)
    model, path = write(*options(), *BIASES, "--float-weights")
    maker, weights = makers(model), {t.name: t for t in model.graph.initializer}
    q = maker[maker["w1"].input[0]]
    assert q.op_type == "QuantizeLinear" and weights[q.input[0]].data_type == TensorProto.FLOAT
    assert weights[maker["b1"].input[0]].data_type == TensorProto.INT32
    numpy.testing.assert_array_equal(outputs(path), want)


def test_constant_that_is_not_rounded(write):
    """A quantized constant that is held as float is written as it is held."""
    model, path = write("--quant", "w1:s8:0.01:0", "--quant", "b1:s32:0.001:0")
    maker, weights = makers(model), {t.name: t for t in model.graph.initializer}
    assert weights[maker[maker["w1"].input[0]].input[0]].data_type == TensorProto.FLOAT
    assert weights["b1"].data_type == TensorProto.FLOAT and "b1" not in maker
    assert numpy.isfinite(outputs(path)).all()


def test_some_values_only(write):
    """One quantized value among float ones: its consumers read it dequantized, the output keeps its name."""
    model, path = write("--quant", "y:u8:0.05:128")
    assert makers(model)["y"].op_type == "DequantizeLinear" and makers(model)["y_raw"].op_type == "Gemm"
    assert [o.name for o in model.graph.output] == ["y"]
    steps = outputs(path) / numpy.float32(0.05)
    numpy.testing.assert_allclose(steps, numpy.rint(steps), atol=1e-4)


def test_written_file_is_read_as_it_is(write, driver, tmp_path):
    """The reader leaves Q and DQ nodes standing: what was written is a fixed point."""
    _, path = write(*options(), *BIASES)
    first = path.read_bytes()
    ran = driver(path, tmp_path / "again.onnx")
    assert ran.status == 0, ran.log
    assert (tmp_path / "again.onnx").read_bytes() == first


@pytest.mark.parametrize("more", [(), ("--float-weights",)], ids=["codes", "floats"])
def test_absorbed_and_spelled_again(write, driver, tmp_path, more):
    """Read into quantized values and written once more, the file is the same, names and shared scales with it; but for the
    order in which constants are dequantized the first time."""
    _, path = write(*options(), *BIASES, *more)
    ran = driver(path, tmp_path / "again.onnx", "--normalize")
    assert ran.status == 0, ran.log
    first, second = likeness.model(onnx.load(path)), likeness.model(onnx.load(tmp_path / "again.onnx"))
    for description in (first, second):
        description["graph"]["nodes"].sort(key=lambda node: node[3])
    assert likeness.difference(first, second) is None
    ran = driver(tmp_path / "again.onnx", tmp_path / "third.onnx", "--normalize")
    assert ran.status == 0, ran.log
    assert (tmp_path / "third.onnx").read_bytes() == (tmp_path / "again.onnx").read_bytes()


def test_unknown_operators_are_lifted_with_a_warning(driver, tmp_path):
    """What the new opset makes of an operator that tare does not know, nobody can say."""
    graph = helper.make_graph([helper.make_node("Unheard", ["x"], ["y"], name="n")], "g",
                              [helper.make_tensor_value_info("x", 1, [4])], [helper.make_tensor_value_info("y", 1, [4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=7), tmp_path / "in.onnx")
    ran = driver(tmp_path / "in.onnx", tmp_path / "out.onnx", "--quant", "x:u8:0.5:0")
    assert ran.status == 0 and "warning: node 'n' (Unheard): lifted from opset 11 to 13" in ran.log


def test_in_a_body(driver, tmp_path):
    """Values of a body, and outer ones that it reads; scales are the outer graph's."""
    def body(name, op):
        nodes = [helper.make_node(op, ["h"], [name + "_"]), helper.make_node("Add", [name + "_", "w"], [name])]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])])
    nodes = [helper.make_node("Abs", ["x"], ["h"]),
             helper.make_node("If", ["c"], ["y"], then_branch=body("t", "Relu"), else_branch=body("e", "Neg"))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
                                           helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
                              [numpy_helper.from_array(numpy.float32([0, 1, 0.25, 0.75]), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), tmp_path / "in.onnx")
    ran = driver(tmp_path / "in.onnx", tmp_path / "out.onnx", "--infer", "--quant", "h:u8:0.5:0", "--quant", "t:u8:0.25:0",
                 "--quant", "e:s8:0.5:3", "--weight", "w:s8:-1")
    assert ran.status == 0, ran.log
    model = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(model, full_check=True)
    then = next(a.g for n in model.graph.node for a in n.attribute if a.name == "then_branch")
    assert [n.op_type for n in then.node] == ["Relu", "Add", "QuantizeLinear", "DequantizeLinear"]
    assert [o.name for o in then.output] == ["t"] and not then.initializer
    runner = session(tmp_path / "out.onnx", onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    x = numpy.float32([0.3, -1.2, 2.9, -0.1])
    h, w = numpy.float32([0.5, 1, 3, 0]), numpy.rint(numpy.float32([0, 127, 31.75, 95.25])) / numpy.float32(127)
    for c, want in [(True, numpy.rint((h + w) / 0.25) * 0.25), (False, numpy.rint((w - h) / 0.5) * 0.5)]:
        got = runner.run(None, {"x": x, "c": numpy.array(c)})[0]
        numpy.testing.assert_allclose(got, want, atol=1e-6)
