"""Families 91-110: operators whose attributes, shapes or constant inputs break their rules are refused by whoever reads the
model, before anything is computed, naming the node; and so they are when the numbers come only with the data."""
import numpy as np
import onnx
import pytest
from onnx import helper
from operators import CASES
from program import IS_SANITIZED, check_error


def write(one, folder):
    path = folder / "model.onnx"
    onnx.save(one.model(), path)
    return path


def check(one, ran, path, output):
    if one.status == 0:
        assert ran.status == 0, ran.log
    else:
        check_error(ran, one.status, f"error: {path}: ", f"node 'n' ({one.op})", *one.words)
        assert not output.exists()


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.id)
def test_operator(one, tare, tmp_path):
    path = write(one, tmp_path)
    check(one, tare("info", path, memory=256 << 20), path, tmp_path / "out.npz")
    if any(isinstance(given, list) for given in one.inputs):
        check(one, tare("run", path, "--data", "random:1", "-o", tmp_path / "out.npz", memory=1 << 30), path,
              tmp_path / "out.npz")


def as_data(one):
    """The same with the small integer inputs as graph inputs, and what to feed them."""
    model, feeds = one.model(), {}
    for tensor in list(model.graph.initializer):
        numbers = onnx.numpy_helper.to_array(tensor)
        if numbers.dtype == np.int64:
            model.graph.initializer.remove(tensor)
            model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, numbers.shape))
            feeds[tensor.name] = numbers
    return model, feeds


MOVING = [one for one in CASES if one.status and 93 <= int(one.id[:3].rstrip("_")) <= 104 and as_data(one)[1]]


@pytest.mark.parametrize("one", MOVING, ids=lambda one: one.id)
def test_same_fault_in_data(one, tare, tmp_path):
    model, feeds = as_data(one)
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        feeds.setdefault(value.name, np.ones(dims, np.float32))
    path, data, out = tmp_path / "model.onnx", tmp_path / "data.npz", tmp_path / "out.npz"
    onnx.save(model, path)
    np.savez(data, **feeds)
    ran = tare("run", path, "--data", data, "--whole", "-o", out, memory=1 << 30)
    check_error(ran, one.status, f"error: {path}: node 'n' ({one.op}): ")
    assert not out.exists()


def test_more_memory_than_there_is(tare, tmp_path):
    model = helper.make_model(helper.make_graph(
        [helper.make_node("Expand", ["x", "shape"], ["y"], name="n")], "g",
        [helper.make_tensor_value_info("x", 1, [1, 1])], [onnx.ValueInfoProto(name="y")],
        [onnx.numpy_helper.from_array(np.array([1 << 20, 1 << 20]), "shape")]), opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8)
    onnx.save(model, tmp_path / "model.onnx")
    ran = tare("run", tmp_path / "model.onnx", "--data", "random:1", "-o", tmp_path / "out.npz", memory=256 << 20)
    check_error(ran, 6, f"error: {tmp_path / 'model.onnx'}: ", str(4 << 40))


def test_unknown_operator(tare, tmp_path):
    """Family 43 of check: the node is a finding that is told, and then the reason to fail."""
    path = tmp_path / "model.onnx"
    graph = helper.make_graph([helper.make_node("Foo", ["x"], ["y"], name="n", domain="d")], "g",
                              [helper.make_tensor_value_info("x", 1, [1])], [helper.make_tensor_value_info("y", 1, [1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("d", 1)], ir_version=8), path)
    ran = tare("check", path)
    check_error(ran, 4, f"error: {path}: ", "node 'n' (Foo)")
    assert "unknown-op" in ran.out and any(line.split()[0] == "Foo" for line in ran.out.splitlines() if line.strip())


def test_loop_without_end(tare, tmp_path):
    """Family 57: 2^63 - 1 rounds and a condition that stays true."""
    if IS_SANITIZED:
        pytest.skip("a million rounds take too long with a sanitizer")
    value, tensor = helper.make_tensor_value_info, onnx.numpy_helper.from_array
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Relu", ["v"], ["w"])], "b",
                             [value("i", 7, []), value("go", 9, []), value("v", 1, [1])],
                             [value("on", 9, []), value("w", 1, [1])])
    loop = helper.make_node("Loop", ["trips", "yes", "x"], ["y"], name="n", body=body)
    graph = helper.make_graph([loop], "g", [value("x", 1, [1])], [value("y", 1, [1])],
                              [tensor(np.array((1 << 63) - 1), "trips"), tensor(np.array(True), "yes")])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    ran = tare("run", path, "--data", "random:1", "-o", tmp_path / "out.npz", memory=256 << 20)
    check_error(ran, 6, f"error: {path}: node 'n' (Loop): ", "1000000 rounds")


def test_families_have_cases():
    """108 is the reader's: tests/formats/malformed.py."""
    assert {int(one.id.split("_")[0]) for one in CASES} == set(range(91, 111)) - {108}
    assert len({one.id for one in CASES}) == len(CASES)
