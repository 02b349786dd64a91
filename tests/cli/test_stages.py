"""--stages: each stage is a file that loads, says what it is, gives what the model gave, and compares with the others."""
import json

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from bench import f32, model, node
from conftest import DIGITS, IMAGES
from program import run_program

STAGES = ["original_float", "optimized_float", "calibrated", "quantized"]


def told(*arguments):
    ran = run_program(*arguments, "--json")
    assert ran.status == 0, ran.log
    return json.loads(ran.out)


@pytest.fixture
def net(tmp_path):
    """A Conv, a BatchNormalization that the passes fold into it, a Relu."""
    random = np.random.default_rng(7)
    constants = {"w": f32(random.normal(size=(4, 3, 3, 3))), "gain": f32([.5, 2, 1, 3]), "shift": f32([0, 1, -1, 0]),
                 "mean": f32([.1, .2, -.1, 0]), "variance": f32([1, 2, .5, 1])}
    made = model([node("Conv", "x w", "c"), node("BatchNormalization", "c gain shift mean variance", "n"),
                  node("Relu", "n", "y")], {"x": [1, 3, 8, 8]}, "y", constants)
    onnx.save(made, tmp_path / "net.onnx")
    np.save(tmp_path / "data.npy", random.normal(size=(12, 3, 8, 8)).astype(np.float32))
    return tmp_path


def run_ort(path, x):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def test_each_loads_and_is_what_it_says(net):
    said = told("quantize", net / "net.onnx", "--data", net / "data.npy", "--stages", net / "s", "-o", net / "q.onnx")
    paths = [net / "s" / f"{stage}.onnx" for stage in STAGES]
    assert said["stages"] == [str(path) for path in paths]
    assert sorted(path.name for path in (net / "s").iterdir()) == sorted(path.name for path in paths)
    x = np.load(net / "data.npy")[:1]
    want = run_ort(net / "net.onnx", x)
    for stage, path, close in zip(STAGES, paths, (1e-6, 1e-5, .05, .05)):
        onnx.checker.check_model(onnx.load(path), full_check=True)
        assert told("info", path)["stage"] == stage
        assert np.abs(run_ort(path, x) - want).max() <= close * np.abs(want).max(), stage
    types = [[n.op_type for n in onnx.load(path).graph.node] for path in paths]
    assert "BatchNormalization" in types[0] and "BatchNormalization" not in types[1]
    weights = [{i.data_type for i in onnx.load(path).graph.initializer if len(i.dims) == 4} for path in paths]
    assert weights == [{1}, {1}, {1}, {3}]  # calibrated: scales are there, the weight is still float
    assert types[1].count("QuantizeLinear") == 0 and types[2].count("QuantizeLinear") == 3
    assert paths[3].read_bytes() == (net / "q.onnx").read_bytes()


def test_without_stages_the_model_is_the_same(net):
    for name, more in (("a", ()), ("b", ("--stages", net / "s"))):
        assert run_program("quantize", net / "net.onnx", "--data", net / "data.npy", *more, "-o", net / f"{name}.onnx").status == 0
    assert (net / "a.onnx").read_bytes() == (net / "b.onnx").read_bytes()


def test_they_compare(tmp_path):
    ran = run_program("quantize", DIGITS, "--data", IMAGES, "--samples", "20", "--stages", tmp_path, "-o", tmp_path / "q.onnx")
    assert ran.status == 0, ran.log
    said = told("compare", *(tmp_path / f"{stage}.onnx" for stage in STAGES), "--data", IMAGES, "--samples", "3")
    losses = [one["values"]["logits"] for one in said["comparisons"]]
    assert losses[0]["exact"] or losses[0]["sqnr_db"] > 100
    assert all(30 < loss["sqnr_db"] < 60 for loss in losses[1:])


def test_a_stage_is_taken_further(net):
    """The calibrated stage has its scales: no samples are needed any more."""
    ran = run_program("quantize", net / "net.onnx", "--data", net / "data.npy", "--stages", net / "s", "-o", net / "q.onnx")
    assert ran.status == 0, ran.log
    ran = run_program("quantize", net / "s" / "calibrated.onnx", "-o", net / "again.onnx")
    assert ran.status == 0, ran.log
    x = np.load(net / "data.npy")[:1]
    assert np.abs(run_ort(net / "again.onnx", x) - run_ort(net / "q.onnx", x)).max() < .2  # a step: with ranges the mean is kept


def test_what_is_refused(net):
    ask = ("quantize", net / "net.onnx", "--data", net / "data.npy", "-o", net / "q.onnx", "--stages")
    ran = run_program(*ask, net / "no" / "such")
    assert ran.status == 5 and "error: --stages:" in ran.log and "mkdir" in ran.log
    ran = run_program(*ask, net / "net.onnx")
    assert ran.status == 5 and "error: --stages:" in ran.log and "is a file" in ran.log
    assert not (net / "q.onnx").exists()
    assert run_program(*ask, net / "s").status == 0
    before = (net / "s" / "original_float.onnx").read_bytes()
    ran = run_program("quantize", net / "s" / "original_float.onnx", "--data", net / "data.npy", "--stages", net / "s", "-o",
                      net / "q.onnx")
    assert ran.status == 2 and "inputs are never touched" in ran.log
    assert (net / "s" / "original_float.onnx").read_bytes() == before


def test_a_gate_that_is_not_met_writes_none(net):
    ran = run_program("quantize", net / "net.onnx", "--data", net / "data.npy", "--stages", net / "s", "-o", net / "q.onnx",
                      "--fail-below", "900")
    assert ran.status == 1
    assert not list((net / "s").iterdir()) and not (net / "q.onnx").exists()
