"""Quantization ops against ONNX Runtime: codes, and reals made of codes, are the same."""

import numpy as np
import onnx
import pytest
from nodes import check, make, two_sided
from onnx import helper
from oracle import run_ort, run_tare

CODES = [np.int8, np.uint8, np.int16, np.uint16]


@pytest.mark.parametrize("code", CODES)
def test_quantize_and_dequantize(code, tmp_path):
    rng = np.random.default_rng(22)
    info, scale = np.iinfo(code), np.float32(0.0371)
    x = two_sided(rng, [3, 5, 400], scale=float(scale) * info.max)
    x.reshape(-1)[:900] = (np.arange(900) - 450) * scale / 2  # ties
    x.reshape(-1)[900:905] = [np.nan, np.inf, -np.inf, 3e38, -3e38]
    inputs = {
        "x": x,
        "s": np.array(scale),
        "z": np.array(info.max // 3, code),
        "vs": rng.uniform(0.01, 0.1, 5).astype(np.float32),
        "vz": rng.integers(info.min, info.max, 5).astype(code),
        "q": rng.integers(info.min, info.max, [3, 5, 400], endpoint=True).astype(code),
    }
    nodes = [
        ("QuantizeLinear", ["x", "s", "z"], {}),
        ("QuantizeLinear", ["x", "vs", "vz"], {"axis": 1}),
        ("DequantizeLinear", ["q", "s", "z"], {}),
        ("DequantizeLinear", ["q", "vs", "vz"], {"axis": -2}),
        ("DequantizeLinear", ["q", "s"], {}),
    ]
    check(nodes, inputs, tmp_path, opset=21, constants=["s", "z", "vs", "vz"], limit=0)


def test_dequantize_of_biases_and_blocks(tmp_path):
    rng = np.random.default_rng(23)
    inputs = {
        "b": rng.integers(-(2**31), 2**31, 300).astype(np.int32),
        "s": np.array(3e-7, np.float32),
        "w": rng.integers(-128, 128, [4, 10, 6]).astype(np.int8),
        "ws": rng.uniform(0.01, 0.1, [4, 4, 6]).astype(np.float32),
        "wz": rng.integers(-9, 9, [4, 4, 6]).astype(np.int8),
    }
    nodes = [
        ("DequantizeLinear", ["b", "s"], {}),
        ("DequantizeLinear", ["w", "ws", "wz"], {"axis": 1, "block_size": 3}),
    ]
    check(nodes, inputs, tmp_path, opset=21, constants=["s", "ws", "wz"], limit=0)


def test_dynamic_quantization(tmp_path):
    rng = np.random.default_rng(24)
    made = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["acc"]),
    ]
    inputs = {
        "x": two_sided(rng, [6, 40]),
        "w": rng.integers(-128, 128, [40, 9]).astype(np.int8),
        "wz": rng.integers(-5, 5, 9).astype(np.int8),
    }
    given = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [6, 40])]
    fixed = [onnx.numpy_helper.from_array(inputs[name], name) for name in ("w", "wz")]
    graph = helper.make_graph(
        made, "g", given, [onnx.ValueInfoProto(name=name) for name in ("q", "s", "z", "acc")], fixed
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for scale in (1.0, 0.0, -2.0):
        feeds = {"x": inputs["x"] * np.float32(scale)}
        got, want = run_tare(model, feeds, tmp_path), run_ort(model, feeds)
        assert not isinstance(got, str), got
        for ours, theirs, name in zip(got, want, ("q", "s", "z", "acc"), strict=True):
            assert np.array_equal(ours, theirs), name


def test_conv_integer(tmp_path):
    rng = np.random.default_rng(25)
    inputs = {
        "x": rng.integers(0, 256, [2, 6, 9, 8]).astype(np.uint8),
        "w": rng.integers(0, 256, [4, 3, 3, 2]).astype(np.uint8),
        "xz": np.array(131, np.uint8),
        "wz": np.array(9, np.uint8),
    }
    check(
        [
            (
                "ConvInteger",
                ["x", "w", "xz", "wz"],
                {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]},
            ),
            ("ConvInteger", ["x", "w"], {"group": 2}),
        ],
        inputs,
        tmp_path,
    )


@pytest.mark.parametrize("seed", range(4))
def test_qlinear_forms(seed, tmp_path):
    """Codes; one may differ where ONNX Runtime rounds after adding the zero point, or takes its Softmax from a table."""
    rng = np.random.default_rng(seed)
    code = (np.uint8, np.int8)[seed % 2]
    info = np.iinfo(code)

    def codes(shape, kind=code):
        return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, endpoint=True).astype(kind)

    def scale(shape=()):
        return rng.uniform(0.003, 0.03, shape).astype(np.float32)

    inputs = {
        "x": codes([2, 6, 8, 7]),
        "y": codes([2, 6, 8, 7]),
        "xs": scale(),
        "xz": codes([]),
        "ys": scale(),
        "yz": codes([]),
        "zs": scale() * 8,
        "zz": codes([]),
        "w": codes([9, 6, 3, 2], np.int8),
        "ws": scale(9),
        "wz": np.zeros(9, np.int8),
        "b": rng.integers(-9000, 9000, 9).astype(np.int32),
        "m": codes([5, 12]),
        "n": codes([12, 9], np.int8),
        "ns": scale(9),
        "nz": np.zeros(9, np.int8),
        "one": np.array(1 / 256, np.float32),
        "lo": np.array(info.min, code),
        "p": codes([3, 10]),
    }
    x, y, out = ["x", "xs", "xz"], ["y", "ys", "yz"], ["zs", "zz"]
    exact = [
        ("QLinearConv", [*x, "w", "ws", "wz", *out, "b"], {"pads": [1, 0, 1, 1], "strides": [2, 1]}),
        ("QLinearMatMul", ["m", "xs", "xz", "n", "ns", "nz", *out], {}),
        ("QLinearSigmoid", [*x, "one", "lo"], {}),
        ("QLinearLeakyRelu", [*x, *out], {"alpha": 0.2}),
        ("QLinearConcat", [*out, *x, *y], {"axis": 1}),
        ("QLinearGlobalAveragePool", [*x, *out], {"channels_last": 0}),
    ]
    near = [
        ("QLinearAdd", [*x, *y, *out], {}),
        ("QLinearMul", [*x, *y, *out], {}),
        ("QLinearAveragePool", [*x, *out], {"kernel_shape": [2, 3]}),
        ("QLinearSoftmax", ["p", "xs", "xz", "one", "lo"], {"opset": 13, "axis": 1}),
        ("QLinearSoftmax", ["p", "xs", "xz", "one", "lo"], {"opset": 11, "axis": 1}),
    ]
    constants = [name for name in inputs if name not in ("x", "y", "m", "p")]
    model = make(exact + near, inputs, 17, constants)
    feeds = {name: inputs[name] for name in ("x", "y", "m", "p")}
    want, got = run_ort(model, feeds), run_tare(model, feeds, tmp_path)
    assert not isinstance(got, str), got
    for node, ours, theirs in zip(exact + near, got, want, strict=True):
        apart = np.abs(ours.astype(int) - theirs)
        limit = 0.1 if node[0] == "QLinearSoftmax" else 0.02 if node in near else 0.002
        assert (
            apart.max() <= 1 and np.mean(apart != 0) <= limit
        ), f"{node[0]}: {np.mean(apart != 0)} differ, by {apart.max()}"
