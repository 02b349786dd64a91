"""Case book, 1: pooling and padding."""
import numpy as np
import onnx
import pytest
from bench import S8, U8, f32, model, node, ort, quantized

LOWEST = np.float32(np.finfo(np.float32).min)


def near(got, want):
    want = np.array(want, np.float32)
    return got.shape[-want.ndim:] == want.shape and np.abs(got.reshape(want.shape) - want).max() <= 1e-5 * np.abs(want).max()


def line(bench, op, x, w=None, opset=13, **attributes):
    """Of one line of numbers; as it is, and optimized."""
    constants = {} if w is None else {"w": f32(w, 1, 1, len(w))}
    one = model([node(op, "x" if w is None else "x w", "y", **attributes)], {"x": [1, 1, len(x)]}, "y", constants, opset)
    feeds = {"x": f32(x, 1, 1, len(x))}
    out = bench.run(one, feeds)["y"]
    assert np.array_equal(bench.run(bench.optimize(one), feeds)["y"], out)
    return out


def square(bench, op, x, opset=13, **attributes):
    x = f32(x)[None, None]
    return bench.run(model([node(op, "x", "y", **attributes)], {"x": list(x.shape)}, "y", opset=opset), {"x": x})["y"]


def test_P1(bench):
    """MaxPool: padding is lower than all data, for codes and for numbers, and never enters a range."""
    x = -np.arange(5, 21, dtype=np.float32).reshape(1, 1, 4, 4) / 10
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    pairs, constants = quantized("x", 0.1, 0, np.int8)
    tail, more = quantized("p", 0.1, 0, np.int8)
    both = model([*pairs, node("MaxPool", "x_d", "p", **pool), *tail], {"x": [1, 1, 4, 4]}, "p_d", constants | more)
    assert near(bench.run(both, {"x": x})["p_d"], [[-.5, -.6], [-.9, -1.0]])
    codes = model([node("MaxPool", "x", "y", **pool)], {"x": ([1, 1, 4, 4], S8)}, "y")
    assert bench.run(codes, {"x": -np.arange(5, 21, dtype=np.int8).reshape(1, 1, 4, 4)})["y"].ravel().tolist() == [-5, -6, -9, -10]
    between = model([node("Conv", "x w", "a"), node("MaxPool", "a", "b", **pool), node("Conv", "b w", "y")],
                    {"x": [1, 1, 4, 4]}, "y", {"w": f32(1, 1, 1, 1, 1)})
    made = bench.quantize(between, {"x": x}, "--method", "minmax")
    assert made.parameters["a"] == made.parameters["b"] and made.parameters["a"].scale == np.float32(2 / 255)
    assert np.abs(made.run({"x": x})["y"].ravel() - [-.5, -.6, -.9, -1.0]).max() < .01


@pytest.mark.parametrize("lowest", [LOWEST, np.float32(-np.inf)])
def test_P2(bench, lowest):
    """The same padding as a Pad of its own: it is folded, and its number never seen by calibration."""
    pool = {"kernel_shape": [3], "strides": [2]}
    constants = {"pads": np.array([0, 0, 1, 0, 0, 1]), "low": lowest, "w": f32(1, 1, 1, 1)}
    x = f32([-1, -2, -3, -4], 1, 1, 4)
    plain = model([node("Pad", "x pads low", "p"), node("MaxPool", "p", "y", **pool)], {"x": [1, 1, 4]}, "y", constants)
    assert bench.run(plain, {"x": x})["y"].ravel().tolist() == [-1, -2]
    assert [n.op_type for n in bench.optimize(plain).graph.node] == ["MaxPool"]
    between = model([node("Conv", "x w", "a"), node("Pad", "a pads low", "p"), node("MaxPool", "p", "b", **pool),
                     node("Conv", "b w", "y")], {"x": [1, 1, 4]}, "y", constants)
    made = bench.quantize(between, {"x": x}, "--method", "minmax")
    assert made.parameters["a"] == made.parameters["b"] and made.parameters["a"].scale == np.float32(4 / 255)
    # A Pad that is kept float and apart must not own the range either.
    left = bench.quantize(bench.optimize(between, "--skip-passes", "fold-pad-into-pool"), {"x": x}, "--method", "minmax")
    assert all(p is None or p.scale.max() <= np.float32(4 / 255) * 1.001 for p in left.parameters.values())


@pytest.mark.parametrize("opset", [11, 18, 19, 21, 22])
def test_P3(bench, opset):
    """AveragePool that counts pads, of which there are some at the ends only."""
    got = square(bench, "AveragePool", [[1, 1], [1, 1]], opset, kernel_shape=[2, 2], pads=[0, 0, 1, 1], count_include_pad=1)
    assert near(got, [[1, .5], [.5, .25]])
    got = square(bench, "AveragePool", np.arange(12).reshape(6, 2), opset, kernel_shape=[5, 1], auto_pad="SAME_LOWER",
                 count_include_pad=1)
    assert near(got.ravel(), [1.2, 1.8, 2.4, 3.2, 4, 5, 6, 7, 5.6, 6.4, 4.8, 5.4])


def test_P5(bench):
    """ceil_mode: no window begins in the padding at the end."""
    ceil = {"kernel_shape": [3, 3], "ceil_mode": 1}
    assert near(square(bench, "AveragePool", [[1, 2], [3, 4]], strides=[3, 3], pads=[1] * 4, **ceil), [[2.5]])
    assert near(square(bench, "MaxPool", [[-1, -2], [-3, -4]], strides=[3, 3], pads=[1] * 4, **ceil), [[-1]])
    sixteen = np.arange(1, 17).reshape(4, 4)
    assert near(square(bench, "AveragePool", sixteen, strides=[2, 2], **ceil), [[6, 7.5], [12, 13.5]])
    assert near(square(bench, "MaxPool", sixteen, strides=[2, 2], **ceil), [[11, 12], [15, 16]])


@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("is_inside", [False, True])
def test_P5_declared(bench, pool, is_inside):
    """onnx's inference before opset 22 declares a window that begins in the padding, and what follows from it."""
    ceil = {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1}
    rng = np.random.default_rng(5)
    constants = {"w": rng.standard_normal([4, 3, 1, 1]).astype(np.float32), "yes": np.array(True)}
    nodes = [node("Identity", "x", "a"), node(pool, "a", "b", "pool", **ceil), node("Conv", "b w", "c"), node("Relu", "c", "d")]
    if is_inside:
        branch = onnx.helper.make_graph(nodes, "branch", [], [onnx.ValueInfoProto(name="d")])
        nodes = [node("Not", "no", "yes_"), node("If", "yes_", "e", then_branch=branch, else_branch=branch), node("Neg", "e", "y")]
        constants["no"] = np.array(False)
    else:
        nodes.append(node("Neg", "d", "y"))
    made = onnx.shape_inference.infer_shapes(model(nodes, {"x": [1, 3, 8, 8]}, "y", constants, 19), strict_mode=True)
    declared = [d.dim_value for d in made.graph.output[0].type.tensor_type.shape.dim]
    assert declared == [1, 4, 4, 4]
    x = {"x": rng.standard_normal([1, 3, 8, 8]).astype(np.float32)}
    out = bench.call("run", bench.save(made), "--data", bench.data(x), "-o", bench.new(".npz"))
    assert "node 'pool' (" + pool + "): output 'b' is declared 1x3x4x4, but the operator gives 1x3x3x3" in out.log
    got = bench.run(made, x)["y"]
    assert got.shape == (1, 4, 3, 3) and near(got, ort(made, x)["y"])
    int8 = bench.new(".onnx")
    assert bench.call("quantize", bench.save(made), "--data", bench.data(x), "-o", int8).status == 0
    assert np.abs(ort(onnx.load(int8), x)["y"] - got).max() < .05 * np.abs(got).max()


@pytest.mark.parametrize("size", [[1, 3, 3, 2], [1, 3, 3, 5], [1, 2, 3, 3]])
def test_P5_declared_otherwise(bench, size):
    """Any other size that the operator does not give is a fault of the file, behind such a pool too."""
    ceil = {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1}
    wrong = model([node("MaxPool", "x", "b", **ceil), node("Neg", "b", "y")], {"x": [1, 3, 8, 8]}, "y")
    wrong.graph.value_info.append(onnx.helper.make_tensor_value_info("b", 1, size))
    bench.refuse(3, "info", bench.save(wrong), words=["declared", "operator gives 1x3x3x3"])


@pytest.mark.parametrize("attributes", [{"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
                                        {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1] * 4, "ceil_mode": 1},
                                        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}])
def test_P5_declared_without_a_window_in_the_padding(bench, attributes):
    """One window more is onnx's count only where the last one would begin in the padding."""
    x = {"x": [1, 3, 8, 8]}
    made = model([node("MaxPool", "x", "b", **attributes), node("Neg", "b", "y")], x, "y")
    size = ort(made, {"x": np.zeros(x["x"], np.float32)})["y"].shape[2]
    made.graph.value_info.append(onnx.helper.make_tensor_value_info("b", 1, [1, 3, size + 1, size + 1]))
    bench.refuse(3, "info", bench.save(made), words=["declared", f"operator gives 1x3x{size}x{size}"])


P6 = [("Conv", [1, 10], [1, 2, 3, 4, 5], {"strides": [2]},
       {"SAME_UPPER": [21, 43, 5], "SAME_LOWER": [10, 32, 54], "VALID": [21, 43]}),
      ("MaxPool", None, [-1, -2, -3, -4, -5], {"kernel_shape": [2], "strides": [2]},
       {"SAME_UPPER": [-1, -3, -5], "SAME_LOWER": [-1, -2, -4]}),
      ("ConvTranspose", [1, 10, 100], [1, 2, 3], {"strides": [2]},
       {"SAME_UPPER": [1, 10, 102, 20, 203, 30], "SAME_LOWER": [10, 102, 20, 203, 30, 300],
        "VALID": [1, 10, 102, 20, 203, 30, 300]})]


@pytest.mark.parametrize("op, w, x, attributes, wants", P6, ids=lambda v: v if isinstance(v, str) else "")
def test_P6(bench, op, w, x, attributes, wants):
    for rule, want in wants.items():
        assert near(line(bench, op, x, w, auto_pad=rule, **attributes).ravel(), want), rule


def test_P6_output_padding(bench):
    w, x = [1, 10, 100], [1, 2, 3]
    got = line(bench, "ConvTranspose", x, w, strides=[2], pads=[1, 1], output_padding=[1])
    assert near(got.ravel(), [10, 102, 20, 203, 30, 300])
    got = line(bench, "ConvTranspose", x, w, strides=[2], output_shape=[8])
    assert near(got.ravel(), [1, 10, 102, 20, 203, 30, 300, 0])


def q_linear_conv(w, pads, x_zero, kernel):
    constants = {"xs": np.float32(.5), "xz": np.uint8(x_zero), "w": np.array(w, np.int8).reshape(1, 1, *kernel),
                 "ws": np.float32(1), "wz": np.int8(0), "ys": np.float32(.5), "yz": np.uint8(0)}
    return model([node("QLinearConv", "x xs xz w ws wz ys yz", "y", pads=pads)], {"x": ([1, 1, 2, 2], U8)}, "y", constants)


def test_P7(bench):
    """Padding of codes is the zero point."""
    feeds = {"x": np.array([12, 14, 16, 18], np.uint8).reshape(1, 1, 2, 2)}
    assert bench.run(q_linear_conv(np.ones(9), [1] * 4, 10, (3, 3)), feeds)["y"].ravel().tolist() == [20] * 4


def test_P8(bench):
    """Pads that differ by side, here [0, 1, 2, 0]; and such a Conv is quantized like any other."""
    feeds = {"x": np.array([11, 12, 13, 14], np.uint8).reshape(1, 1, 2, 2)}
    uneven = q_linear_conv([1, 2, 3, 4], [0, 1, 2, 0], 10, (2, 2))
    got = bench.run(uneven, feeds)["y"]
    assert got.shape == (1, 1, 3, 2) and got.ravel().tolist() == [14, 30, 6, 11, 0, 0]
    plain = model([node("Conv", "x w", "y", pads=[0, 1, 2, 0])], {"x": [1, 1, 2, 2]}, "y", {"w": f32([1, 2, 3, 4], 1, 1, 2, 2)})
    assert bench.tell("check", plain)["ops"]["Conv"]["on_codes"] == 1
    made = bench.quantize(plain, {"x": f32([.5, 1, 1.5, 2], 1, 1, 2, 2)})
    assert made.parameters["w"].dtype == np.int8 and made.parameters["y"].dtype == np.uint8


def test_P10(bench):
    """Averages of codes are rounded, not cut; sums of 16-bit codes do not wrap."""
    x = f32([[3, 3, 4, 3, -3, -3, -4, -3], [0, 0, 0, 0, 0, 0, 0, 0]])[None, None]
    head, constants = quantized("x", 1, 0, np.int8)
    tail, more = quantized("p", 1, 0, np.int8)
    average = node("AveragePool", "x_d", "p", kernel_shape=[2, 2], strides=[2, 2])
    one = model([*head, average, *tail], {"x": [1, 1, 2, 8]}, "p_d", constants | more)
    assert bench.run(one, {"x": x})["p_d"].ravel().tolist() == [2, 2, -2, -2]
    head, constants = quantized("x", 1, 0, np.int16)
    tail, more = quantized("p", 1, 0, np.int16)
    average = node("AveragePool", "x_d", "p", kernel_shape=[17, 17])
    one = model([*head, average, *tail], {"x": [1, 1, 17, 17]}, "p_d", constants | more, opset=21, ir_version=10)
    assert bench.run(one, {"x": np.full((1, 1, 17, 17), 32767, np.float32)})["p_d"].item() == 32767
