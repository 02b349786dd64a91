"""Samples are for the first model's inputs: another model gets them by name, whatever the order and number of its own."""
import json

import numpy as np
from bench import f32, node
from onnx import TensorProto, helper
from program import check_error

SHAPES = {"x": [1, 4], "y": [1, 4], "k": [1, 4]}


def inputs(names):
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPES["k"]) for name in names]


def difference(names, left="x", right="y"):
    """left - right + k, where k is a constant that old exporters list among the inputs too."""
    nodes = [node("Sub", f"{left} {right}", "d"), node("Add", "d k", "out")]
    graph = helper.make_graph(nodes, "g", inputs(names),
                              [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 4])],
                              [helper.make_tensor("k", TensorProto.FLOAT, [1, 4], [1, 2, 3, 4])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def compare(bench, a, b):
    names = [i.name for i in a.graph.input if i.name != "k"]
    feeds = {name: f32(np.arange(4).reshape(1, 4) * (i + 2)) for i, name in enumerate(names)}
    return bench.call("compare", bench.save(a), bench.save(b), "--data", bench.data(feeds), "--json")


def exact(ran):
    assert ran.status == 0, ran.log
    return [json.loads(ran.out)["comparisons"][0]["values"]["out"]["exact"]]


def test_more_inputs_on_the_other_side(bench):
    assert exact(compare(bench, difference("xy"), difference("kxy"))) == [True]
    assert exact(compare(bench, difference("xy"), difference("xyk"))) == [True]
    assert exact(compare(bench, difference("kyx"), difference("xy"))) == [True]


def test_another_order(bench):
    assert exact(compare(bench, difference("xy"), difference("yx"))) == [True]


def test_other_names_go_by_order(bench):
    assert exact(compare(bench, difference("xy"), difference("pq", "p", "q"))) == [True]
    assert exact(compare(bench, difference("xy"), difference("yp", "p", "y"))) == [True]


def test_fewer_inputs_by_name(bench):
    """What the other has no input for is left out."""
    b = difference("xy", "x", "x")
    del b.graph.input[1]
    ran = compare(bench, difference("xy", "x", "x"), b)
    assert exact(ran) == [True]


def test_an_input_without_data(bench):
    a = difference("xy", "x", "x")
    del a.graph.input[1]
    check_error(compare(bench, a, difference("xy")), 2, "input 'y' has no data", "more inputs first", "the same names")


def test_inputs_that_could_be_several(bench):
    """Of two that are left either could be the one that is wanted: none is left out in silence."""
    b = difference("pq", "p", "p")
    del b.graph.input[1]
    check_error(compare(bench, difference("xy", "x", "x"), b), 2, "input 'p' has no data", "2 of other names for 1",
                "the same names")
