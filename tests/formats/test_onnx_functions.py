"""The model's own functions are inlined: ONNX Runtime computes with the written model what the functions mean, and no
function is left."""
import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(4)
X = numpy.linspace(-2, 3, 8, dtype=numpy.float32).reshape(2, 4)


def run(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": X})


def build(nodes, functions, outputs=("y",), opset=17):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs])
    return helper.make_model(graph, functions=functions, ir_version=8, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("own", 1)])


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opset=17):
    return helper.make_function("own", name, list(inputs), list(outputs), list(nodes),
                                [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)], list(attributes),
                                list(defaults))


def refer(op, inputs, outputs, name, reference, kind):
    node = helper.make_node(op, inputs, outputs)
    attribute = node.attribute.add(name=name, ref_attr_name=reference, type=kind)
    assert attribute.name
    return node


def turned():
    """perm comes through two calls, and from a default once."""
    inner = function("Turn", ["a"], ["b"], [refer("Transpose", ["a"], ["b"], "perm", "order", onnx.AttributeProto.INTS)],
                     defaults=[helper.make_attribute("order", [1, 0])])
    call = refer("Turn", ["p"], ["q"], "order", "way", onnx.AttributeProto.INTS)
    call.domain = "own"
    outer = function("Both", ["p"], ["r"], [call, helper.make_node("Turn", ["q"], ["r"], domain="own")], ["way"])
    nodes = [helper.make_node("Both", ["x"], ["t"], domain="own", way=[0, 1]),
             helper.make_node("Both", ["t"], ["y"], domain="own", way=[1, 0], name="second")]
    return build(nodes, [inner, outer]), [X.T]


def same_names_inside_and_out():
    """Names in a function are its own, twice used and equal to the model's."""
    join = function("Join", ["x", "z"], ["y"], [helper.make_node("Concat", ["x", "z"], ["t"], axis=1),
                                               helper.make_node("Concat", ["t", "x"], ["y"], axis=1)])
    nodes = [helper.make_node("Join", ["x", "x"], ["t"], domain="own"),
             helper.make_node("Join", ["t", "x"], ["z"], domain="own"), helper.make_node("Identity", ["z"], ["y"])]
    t = numpy.hstack([X, X, X])
    return build(nodes, [join]), [numpy.hstack([t, X, t])]


def handed_on():
    """An input that is an output as well, an output that nobody wants, an input that is left out."""
    split = function("Pick", ["a", "b", "c"], ["a", "d", "e"],
                     [helper.make_node("Transpose", ["b"], ["d"], perm=[1, 0]), helper.make_node("Identity", ["d"], ["e"]),
                      helper.make_node("Concat", ["d", "d"], ["unused"], axis=0)])
    nodes = [helper.make_node("Pick", ["x", "x"], ["y", "", "z"], domain="own")]
    return build(nodes, [split], ("y", "z")), [X, X.T]


def not_in_order():
    """The call stands before what makes its input."""
    turn = function("Turn", ["a"], ["b"], [helper.make_node("Transpose", ["t"], ["b"], perm=[1, 0]),
                                           helper.make_node("Identity", ["a"], ["t"])])
    return build([helper.make_node("Turn", ["i"], ["y"], domain="own"), helper.make_node("Identity", ["x"], ["i"])], [turn]), [X.T]


def body_inside():
    """A body in a function sees the function's names and no others; its own names are those of the model as well."""
    def body(name, perm):
        nodes = [helper.make_node("Transpose", ["a"], ["t"], perm=perm), helper.make_node("Concat", ["t", "w"], [name], axis=0)]
        return helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=name)],
                                 [onnx.numpy_helper.from_array(numpy.zeros((1, 4), numpy.float32), "w")])
    nodes = [helper.make_node("Identity", ["p"], ["a"]),
             helper.make_node("If", ["c"], ["b"], then_branch=body("y", [0, 1]), else_branch=body("e", [0, 1]))]
    choose = function("Choose", ["p", "c"], ["b"], nodes)
    calls = [helper.make_node("Constant", [], ["yes"], value=helper.make_tensor("v", TensorProto.BOOL, [], [True])),
             helper.make_node("Choose", ["x", "yes"], ["t"], domain="own", name="one"),
             helper.make_node("Choose", ["t", "yes"], ["y"], domain="own", name="two")]
    zero = numpy.zeros((1, 4), numpy.float32)
    return build(calls, [choose]), [numpy.vstack([X, zero, zero])]


def overloaded():
    """The overload is part of a function's name. Calls in calls have both names in front."""
    one = function("Turn", ["a"], ["b"], [helper.make_node("Transpose", ["a"], ["b"], perm=[1, 0])])
    two = function("Turn", ["a"], ["b"], [helper.make_node("Identity", ["a"], ["n" * 300]),
                                          helper.make_node("Identity", ["n" * 300], ["b"])])
    one.overload, two.overload = "x", "y"
    outer = function("Both", ["p"], ["r"], [helper.make_node("Turn", ["p"], ["q"], domain="own", name="in", overload="x"),
                                            helper.make_node("Turn", ["q"], ["r"], domain="own", name="in", overload="y")])
    return build([helper.make_node("Both", ["x"], ["y"], domain="own", name="out")], [one, two, outer]), [X.T]


@pytest.mark.parametrize("make", [turned, same_names_inside_and_out, handed_on, not_in_order, body_inside, overloaded])
def test_inlined(make, driver, tmp_path):
    source, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
    model, wanted = make()
    onnx.save(model, source)
    ran = driver(source, out, "--infer")
    assert ran.status == 0, ran.log
    assert "inlined" in ran.log
    after = onnx.load(out)
    assert not after.functions and {n.domain for n in after.graph.node} == {""}
    onnx.checker.check_model(after, full_check=True)
    for want, got in zip(wanted, run(out), strict=True):
        numpy.testing.assert_array_equal(want, got)


def test_names_tell_the_call(driver, tmp_path):
    onnx.save(turned()[0], tmp_path / "in.onnx")
    assert driver(tmp_path / "in.onnx", tmp_path / "out.onnx").status == 0
    names = {o for n in onnx.load(tmp_path / "out.onnx").graph.node for o in n.output}
    assert "second/q" in names and "y" in names and "t" in names


def test_other_opset(driver, tmp_path):
    """A function may import another opset than the model while its operators are read into the same form."""
    squeeze = function("Drop", ["a"], ["b"], [helper.make_node("Squeeze", ["a"], ["b"], axes=[0])], opset=11)
    model = build([helper.make_node("Drop", ["x"], ["y"], domain="own", name="call")], [squeeze])
    onnx.save(model, tmp_path / "in.onnx")
    ran = driver(tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert ran.status == 0, ran.log
    after = onnx.load(tmp_path / "out.onnx")
    assert not after.graph.node[0].attribute and len(after.graph.node[0].input) == 2
