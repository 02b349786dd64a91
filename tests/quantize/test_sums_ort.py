"""Activations that codes cannot stand for: ONNX Runtime computes the product before them on codes all the same, and what
comes out is what it would be without the added rounding."""
import collections

import numpy as np
import onnx
import onnxruntime
import pytest
from bench import model, node

ACTIVATIONS = {"Relu": None, "Relu6": (0, 6), "HardTanh": (-1, 1), "off_zero": (1, 5), "lower": (-.5, None), "wide": (-1000, 1000)}
OPTIONS = [[], ["--method", "minmax"], ["--act", "s8"], ["--symmetric"], ["--symmetric", "--act", "s8"], ["--power-of-two"]]


def net(name, op):
    rng = np.random.default_rng(1)
    bounds = ACTIVATIONS[name]
    constants = {"a": rng.normal(size=(8, 3, 3, 3)).astype(np.float32), "b": rng.normal(size=(8, 8, 3, 3)).astype(np.float32)}
    if op == "ConvTranspose":
        constants["a"] = constants["a"].transpose(1, 0, 2, 3).copy()
    inputs = "p"
    for side, bound in zip("lh", bounds or (), strict=False):
        if bound is not None:
            constants[side] = np.float32(bound)
            inputs += f" {side}"
    return model([node(op, "x a", "p", pads=[1] * 4), node("Clip" if bounds else "Relu", inputs, "q"),
                  node("Conv", "q b", "y", pads=[1] * 4)], {"x": [1, 3, 16, 16]}, "y", constants)


def fused(path, folder):
    """The operators that ONNX Runtime runs."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return collections.Counter(each.op_type for each in onnx.load(folder / "optimized.onnx").graph.node)


def run_as_written(model_, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model_.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def without_sum(written):
    """The model less the Q and DQ between product and activation."""
    bare = onnx.ModelProto()
    bare.CopyFrom(written)
    (activation,) = [each for each in bare.graph.node if each.op_type in ("Relu", "Clip")]
    makers = {each.output[0]: each for each in bare.graph.node}
    dq = makers.get(activation.input[0])
    if dq is None or dq.op_type != "DequantizeLinear":
        return None
    q = makers[dq.input[0]]
    activation.input[0] = q.input[0]
    for each in (dq, q):
        bare.graph.node.remove(each)
    return bare


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_products_before_activations_are_on_codes(bench, name, options, tmp_path):
    x = np.random.default_rng(2).normal(size=(12, 1, 3, 16, 16)).astype(np.float32)
    made = bench.quantize(net(name, "Conv"), bench.samples({"x": x}), *options)
    ran = fused(made.path, tmp_path)
    assert ran["QLinearConv"] == 2 and not ran["Conv"] and not ran["FusedConv"], ran
    bare = without_sum(made.model)
    is_even = "--symmetric" in options
    merges = {"Relu": not is_even, "Relu6": not is_even and "--power-of-two" not in options, "HardTanh": False,
              "off_zero": False, "wide": True}
    if name in merges:  # "lower": as the zero point falls
        assert (bare is None) == merges[name]
    if bare:
        for each in x:
            np.testing.assert_array_equal(run_as_written(made.model, each), run_as_written(bare, each))


def test_summary_says_what_is_computed_in_float(bench):
    x = np.random.default_rng(2).normal(size=(12, 1, 3, 16, 16)).astype(np.float32)
    said = bench.tell("quantize", net("HardTanh", "Conv"), "--data", bench.samples({"x": x}), "-o", bench.new(".onnx"))
    assert said["macs"] == said["quantized_macs"]
    (group,) = said["float"]
    assert [each["op"] for each in group["nodes"]] == ["Clip"]


@pytest.mark.parametrize("options", [[], ["--symmetric"]], ids=" ".join)
@pytest.mark.parametrize("name", ["Relu", "Relu6", "HardTanh"])
@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_activations_melt_into_what_is_computed_on_codes(bench, op, name, options, tmp_path):
    """Add and Relu are one rounding, not two; where codes cannot stand for the activation, both keep theirs."""
    rng = np.random.default_rng(5)
    constants = {key: rng.normal(size=(4, 4, 3, 3)).astype(np.float32) for key in "abc"}
    bounds = ACTIVATIONS[name]
    inputs = "s"
    for side, bound in zip("lh", bounds or (), strict=False):
        constants[side] = np.float32(bound)
        inputs += f" {side}"
    net_ = model([node("Conv", "x a", "p", pads=[1] * 4), node("Conv", "p b", "q", pads=[1] * 4), node(op, "p q", "s"),
                  node("Clip" if bounds else "Relu", inputs, "r"), node("Conv", "r c", "y")], {"x": [1, 4, 8, 8]}, "y", constants)
    made = bench.quantize(net_, bench.samples({"x": rng.normal(size=(12, 1, 4, 8, 8)).astype(np.float32)}), *options)
    ran = fused(made.path, tmp_path)
    assert ran["QLinearConv"] == 3 and ran[f"QLinear{op}"] == 1 and not ran[op], ran
    merges = not options and name != "HardTanh"
    assert (made.parameters.get("s") is None) == merges
    assert made.parameters["r"] is not None and bool(ran["Relu"] or ran["Clip"]) != merges
