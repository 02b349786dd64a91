"""Forms that ops had in old opsets, run by tare and by ONNX Runtime: attributes that became inputs, ops that became
others. Also that a number an op cannot do without is missed."""

import numpy as np
import onnx
import onnxruntime
import pytest

from node_runner import run_model, run_node

RNG = np.random.default_rng(4)
X = RNG.integers(-9, 9, (1, 4, 6, 1)).astype(np.float32)
IMAGE = RNG.standard_normal((1, 2, 3, 4)).astype(np.float32)
INDEX = np.array([[1, 0, 2]], np.int64)

FORMS = [
    ("Squeeze", 7, [X], 1, {"axes": [0, 3]}),
    ("Squeeze", 11, [X], 1, {"axes": [-1]}),
    ("Squeeze", 12, [X], 1, {}),
    ("Unsqueeze", 7, [X], 1, {"axes": [0, 2]}),
    ("Unsqueeze", 12, [X], 1, {"axes": [-1]}),
    ("Slice", 7, [X], 1, {"starts": [1, -3], "ends": [3, 1000], "axes": [1, 2]}),
    ("Slice", 9, [X], 1, {"starts": [0, 1], "ends": [1, -1]}),
    ("Split", 7, [X], 2, {"axis": 1}),
    ("Split", 11, [X], 3, {"axis": 2, "split": [1, 2, 3]}),
    ("Split", 12, [X], 2, {"axis": -2}),
    ("Pad", 7, [X], 1, {"pads": [0, 0, 1, 2, 0, 0, 3, 4], "value": 2.5}),
    ("Pad", 10, [X], 1, {"pads": [0, 1, 2, 0, 0, 1, 3, 0], "mode": "reflect"}),
    ("Pad", 9, [X], 1, {"pads": [0, 1, 2, 0, 0, 1, 3, 0], "mode": "edge"}),
    ("TopK", 8, [X], 2, {"axis": 2, "k": 3}),
    ("Dropout", 7, [X], 1, {"ratio": 0.3}),
    ("Dropout", 10, [X], 1, {"ratio": 0.3}),
    ("Scatter", 9, [IMAGE[0, 0], INDEX, np.ones((1, 3), np.float32)], 1, {"axis": 0}),
    ("Scatter", 10, [IMAGE[0, 0], INDEX, np.ones((1, 3), np.float32)], 1, {"axis": 1}),
    ("Upsample", 7, [IMAGE], 1, {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 3.0]}),
    ("Upsample", 8, [IMAGE], 1, {"mode": "linear", "scales": [1.0, 1.0, 2.0, 1.5]}),
    ("Upsample", 9, [IMAGE, np.array([1, 1, 1.5, 2], np.float32)], 1, {"mode": "nearest"}),
    ("Flatten", 7, [X], 1, {"axis": 2}),
    ("ArgMax", 7, [X], 1, {"axis": 1}),
    ("DepthToSpace", 7, [X], 1, {"blocksize": 2}),
    ("Cast", 8, [X], 1, {"to": 6}),
    ("Gather", 10, [X, INDEX], 1, {"axis": 1}),
    ("Tile", 7, [X, np.array([2, 1, 1, 3])], 1, {}),
    ("Reshape", 7, [X, np.array([0, -1])], 1, {}),
    ("Constant", 9, [], 1, {"value": onnx.numpy_helper.from_array(X)}),
    ("ConstantOfShape", 9, [np.array([2, 3])], 1, {}),
    ("Transpose", 7, [X], 1, {"perm": [0, 2, 3, 1]}),
]


def run_ort(op, opset, inputs, count, attributes):
    names = [f"i{place}" for place in range(len(inputs))]
    node = onnx.helper.make_node(op, names, [f"o{place}" for place in range(count)], **attributes)
    ports = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(tensor.dtype), tensor.shape)
        for name, tensor in zip(names, inputs)
    ]
    graph = onnx.helper.make_graph([node], "g", ports, [onnx.ValueInfoProto(name=name) for name in node.output])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, dict(zip(names, inputs)))


@pytest.mark.parametrize("op,opset,inputs,count,attributes", FORMS, ids=lambda x: x if isinstance(x, (str, int)) else "")
def test_old_form(tmp_path, op, opset, inputs, count, attributes):
    got, problem = run_node(tmp_path, op, inputs, (), count, opset, **attributes)
    assert problem is None, problem
    for ours, theirs in zip(got, run_ort(op, opset, inputs, count, attributes), strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        if op == "Upsample":
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
        else:
            np.testing.assert_array_equal(ours, theirs)


MISSING = [
    ("Concat", 13, [X], "axis"), ("Cast", 13, [X], "to"), ("SpaceToDepth", 13, [X], "blocksize"),
    ("Unsqueeze", 11, [X], None), ("Slice", 9, [X], None), ("TopK", 9, [X], None),
]  # fmt: skip


@pytest.mark.parametrize("op,opset,inputs,name", MISSING, ids=lambda x: x if isinstance(x, (str, int)) else "")
def test_missing_number_is_named(tmp_path, op, opset, inputs, name):
    got, problem = run_node(tmp_path, op, inputs, (), 1, opset)
    assert got is None
    assert f"({op})" in problem and (name or "input") in problem


def test_training_dropout_is_refused(tmp_path):
    inputs = [X, np.array(0.5, np.float32), np.array(True)]
    for constants in (), (2,):
        got, problem = run_node(tmp_path, "Dropout", inputs, constants, 1, 13)
        assert got is None and "does not train" in problem


def test_nested_branches_fold_to_shapes(tmp_path):
    """A chain that exporters build: Reshape by the batch size of another value, inside an If."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N,2,3] x, bool c) => (float[] y) <int64[1] m = {-1}, int64 z = {0}, int64[1] a = {0}> {
      y = If(c) <
        then_branch = t () => (u) { s = Shape(x) b = Gather(s, z) d = Unsqueeze(b, a) e = Concat<axis = 0>(d, m)
                                    u = Reshape(x, e) },
        else_branch = f () => (v) { v = Flatten<axis = 0>(x) }>
    }"""
    model = onnx.parser.parse_model(text)
    data = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    for flag, shape in (True, (4, 6)), (False, (1, 24)):
        got, problem = run_model(tmp_path, model, [data, np.array(flag)])
        assert problem is None, problem
        assert got[0].shape == shape and got[0].tobytes() == data.tobytes()
