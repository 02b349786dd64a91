"""Read and written again, a model is what it was: the shared models, ONNX's own node and real-model tests, and files with
everything in them that tare does not look into. What was written passes the checker, loads, and is a fixed point."""
import collections
import pathlib
import warnings

import likeness
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(4)


def roundtrip(driver, source, out, *arguments):
    ran = driver(source, out, *arguments)
    assert ran.status == 0, ran.log
    return onnx.load(out)


def imports(proto):
    return {o.domain for o in proto.opset_import}


def check_alike(before, after, may_lift=False):
    """The domains that nodes use are imported now, and the IR version is the opset's at least."""
    first, second = likeness.model(before), likeness.model(after)
    added = imports(after) - imports(before)
    assert added <= {n.domain for n in after.graph.node}
    for domain in added:
        del second["opsets"][domain]
    if may_lift and "" in first["opsets"]:
        first["opsets"][""] = max(first["opsets"][""], second["opsets"][""])
    assert likeness.difference(first, second) is None
    assert after.ir_version >= before.ir_version


def test_shared_models(driver, shared, tmp_path):
    sources = [p for p in sorted(shared.glob("*/*.onnx")) if p.parent.name != "malformed"]
    assert len(sources) >= 30
    for source in sources:
        before = onnx.load(source)
        after = roundtrip(driver, source, tmp_path / "out.onnx")
        check_alike(before, after)
        onnx.checker.check_model(after, full_check=True)
        if not imports(after) & {"onnx.brevitas", "qonnx.custom_op.general"}:
            onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
        first = (tmp_path / "out.onnx").read_bytes()
        roundtrip(driver, tmp_path / "out.onnx", tmp_path / "again.onnx")
        assert (tmp_path / "again.onnx").read_bytes() == first


OPSETS = 7, 25
UNKNOWN_TYPES = {TensorProto.COMPLEX64, TensorProto.COMPLEX128, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ,
                 TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ, TensorProto.FLOAT4E2M1, TensorProto.FLOAT8E8M0,
                 TensorProto.UINT2, TensorProto.INT2}


def backend_models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        for case in collect_testcases(None):
            if case.model is not None:
                yield case.name, case.model
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for path in sorted(data.glob("*/*/model.onnx")):
        yield path.parent.name, onnx.load(path)


def fit_opset(proto):
    """Models of opsets that tare does not read are given the nearest that it does, if their ops are the same there."""
    for opset in proto.opset_import:
        if opset.domain in ("", "ai.onnx") and not OPSETS[0] <= opset.version <= OPSETS[1]:
            wanted = min(max(opset.version, OPSETS[0]), OPSETS[1])
            for node in proto.graph.node:
                if node.domain not in ("", "ai.onnx"):
                    continue
                if not onnx.defs.has(node.op_type, "") or \
                        onnx.defs.get_schema(node.op_type, opset.version, "").since_version > wanted or \
                        onnx.defs.get_schema(node.op_type, wanted, "").since_version > opset.version:
                    return False
            opset.version = wanted
    return True


def is_refused(proto, log):
    """Valid, but said to be unsupported: bodies of ops that tare does not know, element types that it does not have."""
    return "a body in an operator" in log or "sparse" in log.lower() or \
        ("data_type" in log and "is not supported" in log)


def test_backend_models(driver, tmp_path):
    counts = collections.Counter()
    for name, before in backend_models():
        if not fit_opset(before):
            counts["other opset"] += 1
            continue
        source, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
        out.unlink(missing_ok=True)
        onnx.save(before, source)
        ran = driver(source, out)
        if ran.status == 4 and is_refused(before, ran.log):
            counts["unsupported"] += 1
            continue
        assert ran.status == 0, (name, ran.log)
        after = onnx.load(out)
        if before.functions:
            counts["with functions"] += 1
            continue
        try:
            check_alike(before, after, may_lift=True)
        except AssertionError as error:
            raise AssertionError(name) from error
        counts["same"] += 1
    print(dict(counts))
    assert counts["same"] > 1650 and counts["unsupported"] < 60


# ---- everything that tare does not look into ----

def everything():
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4], [1, 2, 3, 4])
    weight.doc_string = "a weight"
    weight.metadata_props.add(key="layer", value="1")
    relu = helper.make_node("Transpose", ["x"], ["t"], name="turn", doc_string="what it does", perm=[1, 0])
    relu.metadata_props.add(key="from", value="line 5")
    relu.attribute[0].doc_string = "an attribute"
    known = helper.make_node("Transpose", ["t"], ["u"], name="back", perm=[1, 0])
    foreign = helper.make_node("Own", ["u", "", "w"], ["v", "", "extra"], name="own", domain="com.example", a=[1.5], s="x",
                               t=weight, overload="fast")
    last = helper.make_node("Identity", ["v"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4], doc_string="the input")
    x.type.denotation = "IMAGE"
    x.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    x.metadata_props.add(key="range", value="0..1")
    seq = helper.make_value_info("extra", helper.make_sequence_type_proto(
        helper.make_tensor_type_proto(TensorProto.FLOAT8E5M2, [3])))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", None])
    graph = helper.make_graph([relu, known, foreign, last], "all", [x], [y], [weight], doc_string="a graph",
                              value_info=[seq, helper.make_tensor_value_info("t", TensorProto.FLOAT, [4, "N"])])
    annotation = graph.quantization_annotation.add(tensor_name="t")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    graph.metadata_props.add(key="g", value="é")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("com.example", 3), helper.make_opsetid("", 13)],
                              ir_version=13, producer_name="maker", producer_version="1.2", doc_string="a model")
    model.domain, model.model_version = "org.example", 7
    helper.set_model_props(model, {"names": "{0: 'a'}", "empty": ""})
    info = model.training_info.add()
    info.initialization_binding.add(key="w", value="w2")
    model.configuration.add(name="two devices", num_devices=2)
    return model


def test_everything_survives(driver, tmp_path):
    before = everything()
    raw = before.SerializeToString() + b"\xc2\x3e\x04kept" + b"\xc8\x3e\x05"  # fields 1000 and 1001
    (tmp_path / "in.onnx").write_bytes(raw)
    after = roundtrip(driver, tmp_path / "in.onnx", tmp_path / "out.onnx")
    check_alike(before, after)
    assert list(after.configuration) == list(before.configuration)
    assert after.graph.node[2].overload == "fast"
    assert after.graph.input[0].type == before.graph.input[0].type
    written = (tmp_path / "out.onnx").read_bytes()
    assert b"\xc2\x3e\x04kept" in written and b"\xc8\x3e\x05" in written
    assert next(t for t in after.graph.initializer if t.name == "w").doc_string == "a weight"


@pytest.mark.parametrize("numbers", ["raw", "typed"])
def test_every_element_type(driver, tmp_path, numbers):
    """Each type, stored in either way, comes out with the same numbers."""
    tensors = []
    for code in TensorProto.DataType.values():
        if code in UNKNOWN_TYPES or code == TensorProto.UNDEFINED or code > TensorProto.INT2:
            continue
        if code == TensorProto.STRING:
            values = ["a", "", "é"]
        elif code == TensorProto.BOOL:
            values = [1, 0, 1]
        elif code in (TensorProto.INT4, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64):
            values = [-3, 0, 7]
        else:
            values = [1, 0, 7]
        tensor = helper.make_tensor(f"t{code}", code, [3], values)
        if numbers == "raw" and code != TensorProto.STRING:
            tensor = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), f"t{code}")
        tensors.append(tensor)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", 1, [1])], [helper.make_tensor_value_info("y", 1, [1])],
                              tensors)
    before = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(before, tmp_path / "in.onnx")
    check_alike(before, roundtrip(driver, tmp_path / "in.onnx", tmp_path / "out.onnx"))
    assert len(tensors) == 16


def test_every_kind_of_attribute(driver, tmp_path):
    """Of operators that tare knows, with defaults that were written out; in an old opset, scales that are an input now."""
    floats = {"activation_alpha": [0.5, 1.0], "activation_beta": [0.25]}
    nodes = [helper.make_node("Constant", [], ["a"], value_floats=[1.5, -0.0, 3.0]),
             helper.make_node("Constant", [], ["b"], value_ints=[1, -2]), helper.make_node("Constant", [], ["c"], value_int=7),
             helper.make_node("Constant", [], ["d"], value_float=2.5), helper.make_node("Constant", [], ["s"], value_string="é"),
             helper.make_node("Constant", [], ["ss"], value_strings=["p", ""]),
             helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2, activations=["HardSigmoid", "Tanh", "Affine"],
                              direction="forward", clip=3.0, **floats)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [3, 1, 4])],
                              [helper.make_tensor_value_info("y", 1, [3, 1, 1, 2])],
                              [helper.make_tensor("w", 1, [1, 8, 4], [0.5] * 32), helper.make_tensor("r", 1, [1, 8, 2], [1] * 16)])
    before = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.save(before, tmp_path / "in.onnx")
    check_alike(before, roundtrip(driver, tmp_path / "in.onnx", tmp_path / "out.onnx"))
    up = helper.make_node("Upsample", ["x"], ["y"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])
    graph = helper.make_graph([up], "g", [helper.make_tensor_value_info("x", 1, [1, 1, 2, 2])],
                              [helper.make_tensor_value_info("y", 1, [1, 1, 4, 4])])
    before = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=3)
    onnx.save(before, tmp_path / "in.onnx")
    check_alike(before, roundtrip(driver, tmp_path / "in.onnx", tmp_path / "out.onnx"))


def test_names_of_nodes(driver, tmp_path):
    """ONNX Runtime refuses a name that stands twice; no name at all is fine."""
    nodes = [helper.make_node("Identity", ["x"], ["a"], name="n"), helper.make_node("Identity", ["a"], ["b"], name="n"),
             helper.make_node("Identity", ["b"], ["c"]), helper.make_node("Identity", ["c"], ["y"], name="last")]
    graph = helper.make_graph(nodes, "", [helper.make_tensor_value_info("x", 1, [1])],
                              [helper.make_tensor_value_info("y", 1, [1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "in.onnx")
    after = roundtrip(driver, tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert [n.name for n in after.graph.node] == ["n", "", "", "last"]
    onnx.checker.check_model(after, full_check=True)
    onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])


def test_old_models_get_the_ir_version_of_bare_initializers(driver, shared, tmp_path):
    """IR version 3 has every initializer among the inputs; they stay there."""
    before = onnx.load(shared / "mnist_cntk" / "model.onnx")
    after = roundtrip(driver, shared / "mnist_cntk" / "model.onnx", tmp_path / "out.onnx")
    assert before.ir_version == after.ir_version == 3
    assert [i.name for i in after.graph.input] == [i.name for i in before.graph.input]
