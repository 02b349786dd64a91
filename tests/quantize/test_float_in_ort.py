"""A product that is kept float between codes is float in ONNX Runtime too: what it computes with all its rewriting is what it
computes of the nodes as they are written. Left alone, it would round such a weight to s8, with one scale."""
import numpy as np
import onnx
import onnxruntime
import pytest
from bench import f32, model, node


def ort(path, feeds, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, feeds)[0]


def between(kind, channels, activation):
    """Conv, the node that is kept float, Conv; the float weight has one channel far wider than the others."""
    generator = np.random.default_rng(3)
    weights = {"w0": f32(generator.normal(size=(channels, 2, 3, 3))), "b": f32(generator.normal(size=channels))}
    weights["w"] = f32(generator.normal(size=(channels, channels, 3, 3)) * .1)
    weights["w"][0] *= 40
    weights["w2"] = f32(generator.normal(size=(3, channels, 3, 3)))
    nodes = [node("Conv", "x w0", "a", "first", pads=[1] * 4), node("Relu", "a", "r"),
             node(kind, "r w b", "k", "kept", pads=[1] * 4)]
    nodes += [node(activation, "k", "ka")] if activation else []
    nodes += [node("Conv", "ka w2" if activation else "k w2", "y", "last", pads=[1] * 4)]
    return model(nodes, {"x": [1, 2, 6, 7]}, "y", weights)


def gemm(transposed):
    generator = np.random.default_rng(4)
    w = f32(generator.normal(size=(8, 8)) * .1)
    w[0] *= 40
    nodes = [node("Gemm", "x w0", "a", "first"), node("Gemm", "a w b", "k", "kept", transB=transposed),
             node("Gemm", "k w2", "y", "last")]
    return model(nodes, {"x": [5, 4]}, "y", {"w0": f32(generator.normal(size=(4, 8))), "w": w,
                 "b": f32(generator.normal(size=8)), "w2": f32(generator.normal(size=(8, 3)))})


def check(bench, made, shape):
    feeds = {"x": f32(np.random.default_rng(5).normal(size=shape))}
    path = bench.quantize(made, feeds, "--keep-float", "kept").path
    levels = onnxruntime.GraphOptimizationLevel
    as_written, rewritten = (ort(path, feeds, level) for level in (levels.ORT_DISABLE_ALL, levels.ORT_ENABLE_ALL))
    step = np.abs(as_written).max() / 255
    assert np.abs(rewritten - as_written).max() <= 1.01 * step  # a code where a tie falls the other way; unguarded: 10
    again = bench.new(".onnx")
    assert bench.call("convert", path, again).status == 0
    assert again.read_bytes() == path.read_bytes()
    dqs = [n for n in onnx.load(path).graph.node if n.op_type == "DequantizeLinear" and n.output[0].endswith("_float")]
    assert len(dqs) == 1


@pytest.mark.parametrize("activation", [None, "Relu"])
@pytest.mark.parametrize("channels", [6, 1])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_convolutions(bench, kind, channels, activation):
    check(bench, between(kind, channels, activation), (1, 2, 6, 7))


@pytest.mark.parametrize("transposed", [0, 1])
def test_gemm(bench, transposed):
    check(bench, gemm(transposed), (5, 4))


def test_initializers_that_are_inputs_too(bench):
    """Of a quantized model they are constants, of a float product as well: a runtime prepares them once."""
    made = between("Conv", 6, None)
    made.graph.input.extend(onnx.helper.make_tensor_value_info(i.name, i.data_type, i.dims)
                            for i in made.graph.initializer)
    feeds = {"x": f32(np.random.default_rng(5).normal(size=(1, 2, 6, 7)))}
    path = bench.quantize(made, feeds, "--keep-float", "kept").path
    assert [i.name for i in onnx.load(path).graph.input] == ["x"]
    assert not np.array_equal(bench.run(path, feeds)["y"], bench.run(made, feeds)["y"])
