"""What check counts is what quantize does, and a danger is one that enters a scale."""
import shlex

import numpy as np
import pytest
from bench import f32, model, node
from conftest import DIGITS, IMAGES
from program import SHARED, run_program

SEED = np.random.default_rng(3)
W = {"w": f32(SEED.normal(size=(4, 4)) / 2), "mask": f32([0, 0, -1e9, 0])}


def counts(told):
    floats = {(group["why"], each["name"]) for group in told["float"] for each in group["nodes"]}
    return told["nodes"], told["quantized_nodes"], floats


def test_counts_are_those_of_quantize(bench):
    data = ["--data", IMAGES, "--samples", "12"]
    made = bench.tell("quantize", DIGITS, *data, "-o", bench.folder / "q.onnx")
    assert counts(bench.tell("check", DIGITS, *data)) == counts(made) == counts(bench.tell("check", DIGITS))
    again = bench.tell("check", bench.folder / "q.onnx")
    assert again["quantized"] and counts(again) == counts(made)
    assert "quantized already, for target onnx, by tare" in bench.call("check", bench.folder / "q.onnx").out


@pytest.mark.parametrize("name", ["ultraface_rfb320", "sci_lowlight", "nanodet_m_320", "magika_v3"])
def test_counts_of_real_models(bench, name):
    net = SHARED / "models" / name / "model.onnx"
    if not net.exists():
        pytest.skip(f"no {net}")
    made = bench.tell("quantize", net, "--data", "random:2", "-o", bench.folder / "q.onnx")
    told = bench.tell("check", net, "--data", "random:2")
    assert counts(told) == counts(made)
    ops = told["ops"].values()
    assert sum(each["on_codes"] for each in ops) == told["quantized_nodes"]
    again = bench.tell("check", bench.folder / "q.onnx")
    assert again["quantized"] and counts(again)[:2] == counts(made)[:2]


def dangers(bench, nodes, outputs="y"):
    told = bench.tell("check", model(nodes, {"x": [2, 4]}, outputs, W))
    return [each["check"] for each in told["findings"] if each["severity"] == "danger"]


def test_a_huge_constant_is_a_danger_where_codes_are(bench):
    between = [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Add", "b mask", "c"), node("MatMul", "c w", "y")]
    assert dangers(bench, between) == ["huge-constant"]
    at_the_end = [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Add", "b mask", "c"), node("Softmax", "c", "y")]
    assert dangers(bench, at_the_end) == []
    never_out = [node("MatMul", "x w", "a"), node("Sigmoid", "a", "b"), node("Max", "b mask", "c"), node("MatMul", "c w", "y")]
    assert dangers(bench, never_out) == []


def test_the_command_it_gives_works(bench):
    ran = bench.call("check", DIGITS, "--data", IMAGES, "--samples", "12")
    words = shlex.split(next(line for line in ran.out.splitlines() if line.startswith("  next ")))[1:]
    assert words[:2] == ["tare", "quantize"] and run_program(*words[1:], cwd=bench.folder).status == 0
