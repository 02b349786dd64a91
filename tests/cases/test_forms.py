"""Case book, 7 and K14: graph forms."""
import hashlib
import shutil

import numpy as np
import onnx
import pytest
from bench import F32, S64, Quantized, f32, model, node, ort
from onnx import helper, numpy_helper

EYE = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)


def uniform(seed, *shape, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def bn_model(ir_version):
    nodes = [node("Conv", "x w", "a"), node("BatchNormalization", "a g b m v", "y")]
    one = model(nodes, {"x": [1, 4, 8, 8]}, "y", {"w": uniform(1, 4, 4, 1, 1), "g": uniform(2, 4, low=.5), "b": uniform(3, 4),
                                                 "m": uniform(4, 4), "v": uniform(5, 4, low=.5)}, opset=9, ir_version=ir_version)
    for tensor in one.graph.initializer:
        one.graph.input.append(helper.make_tensor_value_info(tensor.name, F32, list(tensor.dims)))
    return one


@pytest.mark.parametrize("ir_version", [3, 4, 8])
def test_G1(bench, ir_version):
    """Initializers that are listed as inputs are constants: folded, not asked for; yet from IR 4 on they can be fed."""
    one, x = bn_model(ir_version), uniform(6, 1, 4, 8, 8)
    assert [n.op_type for n in bench.optimize(one).graph.node] == ["Conv"]
    assert np.allclose(bench.run(one, {"x": x})["y"], ort(one, {"x": x})["y"], rtol=0, atol=1e-5)
    made = bench.quantize(one, {"x": x})
    assert "BatchNormalization" not in made.ops and made.codes_of_weights()
    if ir_version > 3:
        nine, out = {"b": f32([9, 9, 9, 9])}, bench.new(".npz")
        assert np.allclose(bench.run(one, {"x": x, **nine})["y"], ort(one, {"x": x, **nine})["y"], rtol=0, atol=1e-4)
        ran = bench.call("run", bench.save(one), "--data", f"x={bench.data({'x': x})}", "--data", f"b={bench.data(nine)}", "--whole",
                         "-o", out)
        assert ran.status == 0, ran.log
        assert np.allclose(np.load(out)["y"], ort(one, {"x": x, **nine})["y"], rtol=0, atol=1e-4)


def test_G2(bench):
    """Numbers that are shapes stay s64, are no activations, and have no scales."""
    nodes = [node("Conv", "x w", "a"), node("Shape", "a", "s"), node("Gather", "s zero", "n", axis=0),
             node("Concat", "n minus", "to", axis=0), node("Reshape", "a to", "r"), node("MatMul", "r m", "y")]
    one = model(nodes, {"x": ["N", 4, 2, 2]}, "y", {"w": EYE, "zero": np.array([0]), "minus": np.array([-1]), "m": uniform(7, 16, 3)})
    x = uniform(8, 1, 4, 2, 2)
    made = bench.quantize(one, {"x": x})
    assert not {"s", "n", "to"} & made.parameters.keys()
    for n in (1, 3):
        feeds = {"x": uniform(9, n, 4, 2, 2)}
        assert np.allclose(bench.run(one, feeds)["y"], ort(one, feeds)["y"], rtol=0, atol=1e-5)
        assert made.run(feeds)["y"].shape == (n, 3)


def test_G3(bench):
    """Only the data of a node are quantized: not scales, sizes, pads, bounds, indices, axes."""
    nodes = [node("Conv", "x w", "a"), node("Resize", "a roi scales", "b", mode="nearest"), node("Pad", "b pads three", "c"),
             node("Slice", "c from to axes", "d"), node("Clip", "d low high", "e"), node("Gather", "e rows", "f", axis=2),
             node("Conv", "f w", "y")]
    constants = {"w": EYE, "roi": f32([], 0), "scales": f32([1, 1, 2, 2]), "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
                 "three": np.float32(0), "from": np.array([1]), "to": np.array([9]), "axes": np.array([2]),
                 "low": np.float32(-.5), "high": np.float32(.5), "rows": np.array([0, 2, 4])}
    one, x = model(nodes, {"x": [1, 4, 4, 4]}, "y", constants), uniform(10, 1, 4, 4, 4)
    made = bench.quantize(one, {"x": x})
    assert not made.parameters.keys() & (constants.keys() - {"w"})
    want = bench.run(one, {"x": x})["y"]
    assert np.abs(made.run({"x": x})["y"] - want).max() < .03


G4 = [(7, {"mode": "linear"}, [0, 3.5714, 9.2857, 15, 20.7143, 26.4286, 30]),
      (7, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, [0, 5, 10, 15, 20, 25, 30]),
      (7, {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, [0, 5.7143, 11.4286, 17.1429, 22.8571, 28.5714, 30]),
      (7, {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, [0, 0, 10, 10, 20, 20, 30]),
      (7, {"mode": "nearest", "nearest_mode": "round_prefer_floor"}, [0, 0, 10, 10, 20, 30, 30]),
      (7, {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}, [0, 0, 10, 20, 20, 30, 30]),
      (1, {"mode": "linear"}, [15]), (1, {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, [0]),
      (1, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, [0]),
      (1, {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, [0])]


@pytest.mark.parametrize("size, attributes, want", G4, ids=lambda v: "_".join(v.values()) if isinstance(v, dict) else "")
def test_G4(bench, size, attributes, want):
    one = model([node("Resize", "x roi scales sizes", "y", **attributes)], {"x": [1, 1, 1, 4]}, "y",
                {"sizes": np.array([1, 1, 1, size]), "roi": f32([], 0), "scales": f32([], 0)})
    got = bench.run(one, {"x": f32([0, 10, 20, 30], 1, 1, 1, 4)})["y"].ravel()
    assert len(got) == size and np.abs(got - want).max() < 1e-4


def test_G4_given_scale(bench):
    """A scale that does not give a whole length is used as it is given."""
    one = model([node("Resize", "x roi scales", "y", mode="linear")], {"x": [1, 1, 1, 4]}, "y",
                {"roi": f32([], 0), "scales": f32([1, 1, 1, 2.6])})
    got = bench.run(one, {"x": f32([0, 10, 20, 30], 1, 1, 1, 4)})["y"].ravel()
    want = [0, .7692, 4.6154, 8.4615, 12.3077, 16.1538, 20, 23.8462, 27.6923, 30]
    assert len(got) == 10 and np.abs(got - want).max() < 1e-4


PASSING = {
    "Transpose": ([node("Transpose", "a", "b", perm=[0, 1, 3, 2])], {}),
    "Reshape": ([node("Reshape", "a to", "b")], {"to": np.array([1, 4, 2, 8])}),
    "Slice": ([node("Slice", "a from to", "b")], {"from": np.array([0, 0, 1, 1]), "to": np.array([1, 4, 4, 4])}),
    "Split": ([node("Split", "a sizes", "b c", axis=2)], {"sizes": np.array([2, 2])}),
    "Squeeze": ([node("Unsqueeze", "a one", "u"), node("Squeeze", "u one", "b")], {"one": np.array([2])}),
    "Gather": ([node("Gather", "a rows", "b", axis=2)], {"rows": np.array([3, 1])}),
    "Expand": ([node("Slice", "a from to axes", "d"), node("Expand", "d shape", "b")],
               {"from": np.array([0]), "to": np.array([1]), "axes": np.array([2]), "shape": np.array([1, 4, 3, 4])}),
    "MaxPool": ([node("MaxPool", "a", "b", kernel_shape=[2, 2])], {}),
    "Resize": ([node("Resize", "a roi scales", "b", mode="nearest")], {"roi": f32([], 0), "scales": f32([1, 1, 2, 2])}),
}


@pytest.mark.parametrize("op", PASSING)
def test_G6(bench, op):
    """What only moves numbers has the scale of what it moves, at each output, and adds no error."""
    middle, constants = PASSING[op]
    last = middle[-1].output
    nodes = [node("Conv", "x w", "a"), *middle, *[node("Conv", f"{name} w", f"y{i}") for i, name in enumerate(last)]]
    one = model(nodes, {"x": [1, 4, 4, 4]}, " ".join(f"y{i}" for i in range(len(last))), {"w": EYE, **constants})
    made = bench.quantize(one, {"x": uniform(11, 1, 4, 4, 4)})
    for each in middle:
        for name in each.output:
            if name in made.parameters:
                assert made.parameters[name] == made.parameters["a"], name
    is_nothing = op == "Squeeze"  # of an Unsqueeze: both go
    assert is_nothing or all(name in made.parameters for name in last)
    assert is_nothing or {each.op_type for each in middle} <= set(made.ops)


def test_G7(bench):
    """Three outputs, one of which a Conv reads too: names, order, types and count stay; they are float."""
    nodes = [node("Conv", "x w", "middle"), node("Conv", "middle w", "last"), node("Relu", "x", "first"), node("Shape", "x", "size")]
    one = model(nodes, {"x": [1, 4, 4, 4]}, "last middle first size", {"w": EYE})
    x = uniform(12, 1, 4, 4, 4)
    made = bench.quantize(one, {"x": x})
    assert [o.name for o in made.model.graph.output] == ["last", "middle", "first", "size"]
    assert [o.type.tensor_type.elem_type for o in made.model.graph.output] == [F32, F32, F32, S64]
    assert [i.name for i in made.model.graph.input] == ["x"]
    want, got = bench.run(one, {"x": x}), made.run({"x": x})
    assert all(np.abs(got[name] - want[name]).max() < .02 for name in want)


def test_G10(bench):
    """External data beside the model: inputs stay, a second run over the same output gives the same bytes, nothing piles up."""
    source, out = bench.new(""), bench.new("")
    source.mkdir(), out.mkdir()
    one = model([node("Conv", "x w", "y")], {"x": [1, 4, 4, 4]}, "y", {"w": uniform(13, 64, 4, 3, 3)})
    onnx.save(one, source / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    before = {path.name: path.read_bytes() for path in source.iterdir()}
    results = []
    for _ in range(2):
        ran = bench.call("quantize", source / "model.onnx", "--data", bench.data({"x": uniform(14, 1, 4, 4, 4)}), "-o", out / "q.onnx")
        assert ran.status == 0, ran.log
        results.append({path.name: hashlib.sha256(path.read_bytes()).digest() for path in out.iterdir()})
    assert results[0] == results[1] and set(results[0]) == {"q.onnx"}
    assert {path.name: path.read_bytes() for path in source.iterdir()} == before
    shutil.rmtree(source)
    assert Quantized(out / "q.onnx", "").run({"x": uniform(14, 1, 4, 4, 4)})["y"].shape == (1, 64, 2, 2), "it needs nothing of the source"


def test_G11(bench):
    """Open dimensions stay open; calibrated with one sample, run with four, row by row the same bytes."""
    nodes = [node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("GlobalAveragePool", "a", "m"), node("Flatten", "m", "f"),
             node("MatMul", "f v", "y")]
    one = model(nodes, {"x": ["N", 4, "H", "W"]}, "y", {"w": uniform(15, 8, 4, 3, 3), "v": uniform(16, 8, 3)})
    x = uniform(17, 4, 4, 8, 8)
    made = bench.quantize(one, {"x": x[:1]})
    dims = made.model.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["N", 4, "H", "W"]
    assert made.model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "N"
    for each in (one, made):
        four = bench.run(each, {"x": x})["y"]
        assert all(np.array_equal(bench.run(each, {"x": x[i:i + 1]})["y"][0], four[i]) for i in range(4))
    assert np.abs(made.run({"x": x})["y"] - bench.run(one, {"x": x})["y"]).max() < .1
    same = model([node("Add", "x z", "y")], {"x": ["N", 2], "z": ["N", 2]}, "y")
    bench.refuse(2, "run", bench.save(same), "--data", bench.data({"x": f32([[1, 2]] * 2), "z": f32([[1, 2]] * 3)}), "--whole",
                 "-o", bench.new(".npz"), words=["N"])


def test_G13(bench):
    """Nodes without names, or with one name twice, have names of their own in every answer; the file keeps what it had."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"]), helper.make_node("Conv", ["a", "w"], ["b"], name="twice"),
             helper.make_node("Conv", ["b", "w"], ["y"], name="twice")]
    one = model(nodes, {"x": [1, 4, 4, 4]}, "y", {"w": np.ones_like(EYE)})
    shown = bench.call("info", bench.save(one), "--nodes").out
    told = bench.tell("info", one, "--nodes")["nodes"]
    names = list(told) if isinstance(told, dict) else [each["name"] for each in told]
    assert len(set(names)) == 3 and names[0] == "Conv#0", names
    assert all(name in shown for name in names)
    again = bench.new(".onnx")
    assert bench.call("convert", bench.save(one), again).status == 0
    assert [n.name for n in onnx.load(again).graph.node][0] == ""
    bench.refuse(3, "quantize", bench.save(one), "--data", bench.data({"x": np.full((1, 4, 4, 4), 3e38, np.float32)}), "-o",
                 bench.new(".onnx"), words=["Conv#"])


def test_K14(bench):
    """No flags, no preprocessing: every value as ONNX Runtime has it, within 1e-5 of the largest."""
    nodes = [node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Sigmoid", "a", "s"), node("Mul", "a s", "m"),
             node("AveragePool", "m", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Resize", "p roi scales", "r", mode="linear"),
             node("Softmax", "r", "y", axis=1)]
    constants = {"w": uniform(18, 4, 4, 3, 3), "roi": f32([], 0), "scales": f32([1, 1, 2, 2])}
    one, x = model(nodes, {"x": [1, 4, 8, 8]}, "y", constants), uniform(19, 1, 4, 8, 8, high=255)
    got = bench.run(one, {"x": x}, "--tap", "all")
    every = model(nodes, {"x": [1, 4, 8, 8]}, "a s m p r y", constants)
    want = ort(every, {"x": x})
    assert set(want) <= set(got)
    for name in want:
        assert np.abs(got[name] - want[name]).max() <= 1e-5 * np.abs(want[name]).max(), name
