"""Weights beside the model: written under a name made of their contents, found by onnx and ONNX Runtime, the same bytes each
time, and no file that was there before is touched."""
import hashlib

import likeness
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(4)


def build(opset=21):
    """Weights of 4 KiB and 16 bytes, int4 codes, one in a Constant node."""
    random = numpy.random.default_rng(1)
    big = numpy_helper.from_array(random.standard_normal((32, 32), numpy.float32), "big")
    small = numpy_helper.from_array(random.standard_normal((1, 4), numpy.float32), "small")
    codes = helper.make_tensor("codes", TensorProto.INT4, [63, 63], random.integers(-8, 8, 63 * 63))
    nodes = [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(numpy.zeros((40, 40), numpy.float32))),
             helper.make_node("Concat", ["x", "big"], ["t"], axis=0), helper.make_node("Identity", ["c"], ["d"]),
             helper.make_node("Identity", ["small"], ["s"]), helper.make_node("DequantizeLinear", ["codes", "one"], ["k"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [1, 32])],
                              [helper.make_tensor_value_info("t", 1, [33, 32]),
                               helper.make_tensor_value_info("d", 1, [40, 40]),
                               helper.make_tensor_value_info("s", 1, [1, 4]),
                               helper.make_tensor_value_info("k", 1, [63, 63])],
                              [big, small, codes, numpy_helper.from_array(numpy.float32(1), "one")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def write(driver, source, out, *arguments):
    ran = driver(source, out, "--external", 1000, *arguments)
    assert ran.status == 0, ran.log
    found = sorted(out.parent.glob(out.name + ".*.data"))
    assert found
    return found


def test_written_beside(driver, tmp_path):
    before = build()
    onnx.save(before, tmp_path / "in.onnx")
    (data,) = write(driver, tmp_path / "in.onnx", tmp_path / "out.onnx")
    bare = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    places = {t.name: {e.key: e.value for e in t.external_data} for t in bare.graph.initializer}
    assert places["small"] == {} and places["big"] == {"location": data.name, "offset": "0", "length": "4096"}
    assert places["codes"] == {"location": data.name, "offset": "4096", "length": "1985"}
    assert data.stat().st_size == 4096 + 1985
    assert likeness.difference(likeness.model(before), likeness.model(onnx.load(tmp_path / "out.onnx"))) is None
    onnx.checker.check_model(tmp_path / "out.onnx", full_check=True)
    session = onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
    got = session.run(["t", "s"], {"x": numpy.ones((1, 32), numpy.float32)})
    numpy.testing.assert_array_equal(got[0][1:], numpy_helper.to_array(before.graph.initializer[0]))


def test_same_bytes_and_nothing_touched(driver, tmp_path):
    model = build()
    onnx.save(model, tmp_path / "in.onnx")
    (first,) = write(driver, tmp_path / "in.onnx", tmp_path / "out.onnx")
    held = [(p, p.read_bytes()) for p in (first, tmp_path / "out.onnx")]
    assert write(driver, tmp_path / "in.onnx", tmp_path / "out.onnx") == [first]
    assert all(p.read_bytes() == content for p, content in held)
    # Other weights get another name, so that a model in use keeps its own.
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(numpy.ones((32, 32), numpy.float32), "big"))
    onnx.save(model, tmp_path / "other.onnx")
    both = write(driver, tmp_path / "other.onnx", tmp_path / "out.onnx")
    assert first in both and len(both) == 2 and first.read_bytes() == held[0][1]
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_read_from_beside(driver, tmp_path):
    """What onnx saved as external data is read, and written back into the model or beside it again."""
    before = build()
    onnx.save(before, tmp_path / "in.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0,
              convert_attribute=True)
    ran = driver(tmp_path / "in.onnx", tmp_path / "out.onnx")
    assert ran.status == 0, ran.log
    assert likeness.difference(likeness.model(build()), likeness.model(onnx.load(tmp_path / "out.onnx"))) is None
    weights = (tmp_path / "weights.bin").read_bytes()
    write(driver, tmp_path / "in.onnx", tmp_path / "beside.onnx")
    assert (tmp_path / "weights.bin").read_bytes() == weights


def test_checksum(driver, tmp_path):
    onnx.save(build(), tmp_path / "in.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    model = onnx.load(tmp_path / "in.onnx", load_external_data=False)
    digest = hashlib.sha1((tmp_path / "weights.bin").read_bytes()).hexdigest()
    for tensor in model.graph.initializer:
        tensor.external_data.add(key="checksum", value=digest)
    onnx.save(model, tmp_path / "checked.onnx")
    ran = driver(tmp_path / "checked.onnx", tmp_path / "out.onnx")
    assert ran.status == 0, ran.log


def test_from_another_directory(driver, tmp_path):
    """The directory of the model counts, not the current one."""
    (tmp_path / "models").mkdir()
    onnx.save(build(), tmp_path / "models" / "in.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    assert driver("models/in.onnx", "out.onnx", cwd=tmp_path).status == 0
    assert driver("in.onnx", "out.onnx", cwd=tmp_path / "models").status == 0
