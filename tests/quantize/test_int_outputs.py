"""--int-outputs: what the model gives are the codes that its last QuantizeLinear would have given, and they can be told and
compared as what they mean."""
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from bench import U8, TensorProto, f32, model, node, ort

RANDOM = np.random.default_rng(11)
WEIGHT, FEEDS = f32(RANDOM.normal(size=(6, 4))), {"x": f32(RANDOM.normal(size=(8, 6)))}
NETS = {
    "product": ([node("Gemm", "x w b", "y")], "y"),
    "relu": ([node("Gemm", "x w b", "g"), node("Relu", "g", "y")], "y"),
    "moved": ([node("Gemm", "x w b", "g"), node("Reshape", "g shape", "y")], "y"),
    "softmax behind": ([node("Gemm", "x w b", "g"), node("Softmax", "g", "y")], "y"),
    "float behind": ([node("Gemm", "x w b", "g"), node("Erf", "g", "y")], "y"),
    "joined": ([node("Gemm", "x w b", "g"), node("Erf", "g", "e"), node("Concat", "g e", "y", axis=1)], "y"),
    "read inside too": ([node("Gemm", "x w b", "y"), node("Gemm", "y v", "z")], "y z"),
    "two readers": ([node("Gemm", "x w b", "y"), node("Erf", "y", "e"), node("Tanh", "y", "z")], "e y z"),
}


def net(name):
    nodes, outputs = NETS[name]
    names = {each for n in nodes for each in n.input}
    constants = {"w": WEIGHT, "b": f32([.5, -1, 0, 2]), "v": f32(RANDOM.normal(size=(4, 3))), "shape": np.array([-1, 2, 2])}
    return model(nodes, {"x": ["N", 6]}, outputs, {key: value for key, value in constants.items() if key in names})


def scales(bench, path):
    return {name: value for name, value in bench.tell("info", path)["outputs"].items() if "scale" in value}


def last_codes(quantized, feeds, dtype=U8):
    """The codes before the DequantizeLinear that gives an output, by the output's name: of a model with float outputs."""
    proto = onnx.load(quantized.path)
    ends = {n.output[0]: n.input[0] for n in proto.graph.node if n.op_type == "DequantizeLinear"}
    wanted = {o.name: ends[o.name] for o in proto.graph.output if o.name in ends}
    proto.graph.output.extend(onnx.helper.make_tensor_value_info(name, dtype, None) for name in set(wanted.values()))
    found = ort(proto, feeds)
    return {name: found[codes] for name, codes in wanted.items()}


def run_as_written(path):
    """ONNX Runtime without what it makes of pairs."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, FEEDS), strict=True))


@pytest.mark.parametrize("name", NETS)
def test_codes_are_those_of_the_last_q(bench, name):
    """In ONNX Runtime; and outputs that stayed float behind the last product are rounded as the scales say."""
    made = net(name)
    plain, ints = bench.quantize(made, FEEDS), bench.quantize(made, FEEDS, "--int-outputs")
    told, found, was, codes = scales(bench, ints.path), ints.run(FEEDS), plain.run(FEEDS), last_codes(plain, FEEDS)
    assert set(told) == set(found)
    for output, got in found.items():
        scale, zero_point = np.float32(told[output]["scale"]), told[output]["zero_point"]
        assert got.dtype == np.uint8 and told[output]["type"] == "u8"
        if output in codes and "behind" not in name and name != "two readers":
            assert np.array_equal(got, codes[output])
            parameters = plain.parameters[output]
            assert parameters.scale == scale and parameters.zero_point == zero_point
        else:  # a kept float value: its own rounding, or that of the sum before it, moves a code by one at most
            want = np.clip(np.rint(was[output] / scale) + zero_point, 0, 255)
            assert np.abs(got - want).max() <= 1
    if "softmax" in name:
        assert told["y"]["scale"] == np.float32(1 / 256) and told["y"]["zero_point"] == 0


@pytest.mark.parametrize("name", NETS)
def test_tare_runs_what_onnx_runtime_runs(bench, name):
    ints = bench.quantize(net(name), FEEDS, "--int-outputs")
    want = run_as_written(ints.path)
    for output, got in bench.run(ints, FEEDS).items():
        assert got.dtype == np.uint8
        assert np.abs(got.astype(int) - want[output]).max() <= 1 and np.mean(got != want[output]) < .05


def test_compared_as_what_they_mean(bench):
    made = net("product")
    plain, ints = bench.quantize(made, FEEDS), bench.quantize(made, FEEDS, "--int-outputs")
    ran = bench.call("compare", bench.save(made), plain.path, ints.path, "--data", bench.data(FEEDS), "--whole", "--json")
    assert ran.status == 0, ran.log
    losses = [one["values"]["y"] for one in json.loads(ran.out)["comparisons"]]
    assert losses[0]["sqnr_db"] == losses[1]["sqnr_db"] > 30


def test_it_is_told(bench):
    out = bench.new(".onnx")
    said = bench.tell("quantize", net("product"), "--data", bench.data(FEEDS), "--whole", "--int-outputs", "-o", out)
    told = scales(bench, out)["y"]
    assert said["int_outputs"] == {"y": {key: told[key] for key in ("type", "scale", "zero_point")}}
    assert said["outputs"]["y"]["sqnr_db"] > 30  # of what the codes mean
    origins = {p.key: p.value for p in onnx.load(out).metadata_props}["tare.origins"]
    assert json.loads(origins)["y"]["by"] == "mse"


@pytest.mark.parametrize("options", [("--act", "s8"), ("--method", "auto"), ("--power-of-two",), ("--symmetric",)])
def test_with_other_options(bench, options):
    ints = bench.quantize(net("float behind"), FEEDS, "--int-outputs", *options)
    assert ints.run(FEEDS)["y"].dtype == (np.int8 if "s8" in options else np.uint8)


def test_as_it_is_saved_again(bench):
    """Read and written, the outputs are the same codes; quantizing what has codes changes nothing."""
    made = bench.quantize(net("moved"), FEEDS, "--int-outputs")
    again = bench.new(".onnx")
    assert bench.call("convert", made.path, again).status == 0
    assert np.array_equal(ort(onnx.load(again), FEEDS)["y"], made.run(FEEDS)["y"])
    assert scales(bench, again) == scales(bench, made.path)


@pytest.mark.parametrize("opset", [13, 20, 21])
@pytest.mark.parametrize("act, dtype, number", [("u16", np.uint16, TensorProto.UINT16), ("s16", np.int16, TensorProto.INT16)])
@pytest.mark.parametrize("name", ["product", "moved", "float behind", "two readers"])
def test_codes_of_16_bits(bench, name, act, dtype, number, opset):
    """com.microsoft's operator before opset 21, ONNX's own from there on; saved again, the codes stay the same."""
    made = net(name)
    made.opset_import[0].version, made.ir_version = opset, 8 if opset < 15 else 10
    plain, ints = (bench.quantize(made, FEEDS, "--act", act, *options) for options in ([], ["--int-outputs"]))
    assert {n.domain for n in ints.model.graph.node if n.op_type == "QuantizeLinear"} == {"com.microsoft" if opset < 21 else ""}
    told, found, was = scales(bench, ints.path), ints.run(FEEDS), plain.run(FEEDS)
    codes = last_codes(plain, FEEDS, number)
    ran, written = bench.run(ints, FEEDS), run_as_written(ints.path)
    for output, got in found.items():
        scale, zero_point = np.float32(told[output]["scale"]), told[output]["zero_point"]
        assert got.dtype == ran[output].dtype == dtype and told[output]["type"] == act
        np.testing.assert_allclose((got.astype(np.int64) - zero_point) * scale, was[output], atol=4 * scale)
        if output in codes and name in ("product", "moved"):
            assert np.array_equal(got, codes[output])
        assert np.abs(written[output].astype(int) - ran[output].astype(int)).max() <= 1
    again = bench.new(".onnx")
    assert bench.call("convert", ints.path, again).status == 0
    assert scales(bench, again) == told
    saved = ort(onnx.load(again), FEEDS)
    assert all(np.array_equal(saved[output], found[output]) for output in found)


def test_outputs_that_are_no_f32_stay(bench):
    made = model([node("Gemm", "x w", "y"), node("ArgMax", "y", "best", axis=1)], {"x": ["N", 6]}, "y best", {"w": WEIGHT})
    ints = bench.quantize(made, FEEDS, "--int-outputs")
    assert "output 'best' stays as it is: it is no computed f32" in ints.log
    found = ints.run(FEEDS)
    assert found["y"].dtype == np.uint8 and found["best"].dtype == np.int64


def test_a_node_kept_float_gives_codes_too(bench):
    ints = bench.quantize(net("softmax behind"), FEEDS, "--int-outputs", "--keep-float", "Gemm")
    assert ints.ops == ["Gemm", "Softmax", "QuantizeLinear"]


def test_what_is_refused(bench):
    path, data = bench.save(net("product")), bench.data(FEEDS)
    ask = ("quantize", path, "--data", data, "--whole", "--int-outputs", "-o", bench.new(".onnx"))
    bench.refuse(2, *ask, "--set", "quantization.rules=[{value: y, keep-float: true}]",
                 words=["output 'y': a rule keeps it float, but --int-outputs wants codes"])


def test_a_recipe_says_it(bench):
    path, data, out = bench.save(net("product")), bench.data(FEEDS), bench.new(".onnx")
    recipe = bench.new(".yaml")
    recipe.write_text("quantization: {defaults: {int-outputs: true}}\n")
    ran = bench.call("quantize", path, "--data", data, "--whole", "--recipe", recipe, "-o", out)
    assert ran.status == 0, ran.log
    assert onnx.load(out).graph.output[0].type.tensor_type.elem_type == U8
