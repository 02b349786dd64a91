"""Case book, 8: numerics."""
import numpy as np
from bench import S8, U8, model, node, ort

X, W, Y = .05296124517917633, .024093778803944588, .11484327912330627


def test_N1(bench):
    """Sums of u8 times s8 never saturate on the way, whatever the instruction set."""
    one = model([node("MatMulInteger", "a b", "y")], {"a": ([1, 3], U8)}, "y", {"b": np.array([[-81], [-80], [127]], np.int8)})
    a = {"a": np.array([[210, 198, 234]], np.uint8)}
    for cpu in ([], ["--cpu", "scalar"]):
        assert bench.run(one, a, *cpu)["y"].item() == -3132


def test_N2(bench):
    """A sum that lies a hair above a tie: the QDQ form and QLinearConv round as ONNX Runtime does, each its own way."""
    constants = {"xs": np.float32(X), "ws": np.float32(W), "ys": np.float32(Y), "xz": np.int8(0), "yz": np.int8(-126),
                 "w": np.array([[[[65]]]], np.int8)}
    qdq = model([node("DequantizeLinear", "x xs xz", "xd"), node("DequantizeLinear", "w ws xz", "wd"), node("Conv", "xd wd", "c"),
                 node("QuantizeLinear", "c ys yz", "y")], {"x": ([1, 1, 1, 1], S8)}, "y", constants)
    linear = model([node("QLinearConv", "x xs xz w ws xz ys yz", "y")], {"x": ([1, 1, 1, 1], S8)}, "y", constants)
    x = {"x": np.array([[[[9]]]], np.int8)}
    assert bench.run(qdq, x)["y"].item() == -119 == ort(qdq, x)["y"].item()
    assert abs(bench.run(linear, x)["y"].item() - ort(linear, x)["y"].item()) <= 1, "a tie of floats, at most one code"


def test_N4(bench):
    """The same bytes for any number of threads and any instruction set."""
    rng = np.random.default_rng(1)
    constants = {"w": rng.uniform(-1, 1, (16, 8, 3, 3)).astype(np.float32), "v": rng.uniform(-1, 1, (16, 10)).astype(np.float32)}
    one = model([node("Conv", "x w", "a"), node("Sigmoid", "a", "s"), node("GlobalAveragePool", "s", "m"), node("Flatten", "m", "f"),
                 node("MatMul", "f v", "l"), node("Softmax", "l", "y", axis=-1)], {"x": [1, 8, 20, 20]}, "y", constants)
    x = {"x": rng.uniform(-1, 1, (1, 8, 20, 20)).astype(np.float32)}
    runs = [bench.run(one, x, *options, "--tap", "all") for options in
            ([], ["--threads", "1"], ["--threads", "7"], ["--cpu", "scalar"], ["--cpu", "scalar", "--threads", "3"])]
    made = [bench.quantize(one, x, *options).path.read_bytes() for options in ([], ["--threads", "1"], ["--cpu", "scalar"])]
    assert len(set(made)) == 1
    for other in runs[1:]:
        assert all(np.array_equal(other[name], runs[0][name]) for name in runs[0])
