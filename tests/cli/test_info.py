"""Verb info on quantized files: stage, target, and who decided each scale, of tare's own files and of others'."""
import json

import numpy as np
import onnx
from bench import f32, model, node, ort
from terminal import on_terminal
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from conftest import DIGITS, IMAGES

LONG = "encoder/layers/block_with_a_long_name_that_no_table_has_room_for/attention/probabilities"


def block():
    generator = np.random.default_rng(1)
    weight = generator.normal(size=(4, 3, 3, 3)).astype(np.float32)
    constants = {"w": weight, "b": f32([1, 2, 3, 4]), "fc": generator.normal(size=(4, 5)).astype(np.float32)}
    nodes = [node("Conv", "x w b", "conv", pads=[1] * 4), node("Relu", "conv", "relu"),
             node("MaxPool", "relu", LONG, kernel_shape=[2, 2]), node("GlobalAveragePool", LONG, "pooled"),
             node("Flatten", "pooled", "flat"), node("MatMul", "flat fc", "logits"), node("Softmax", "logits", "y")]
    return model(nodes, {"x": [1, 3, 6, 6]}, "y", constants)


def feeds(count=4):
    generator = np.random.default_rng(2)
    return {"x": generator.normal(size=(count, 1, 3, 6, 6)).astype(np.float32)}


def quantize(bench, *options):
    out = bench.new(".onnx")
    ran = bench.call("quantize", bench.save(block()), "--data", bench.samples(feeds()), "-o", out, *options)
    assert ran.status == 0, ran.log
    return out


def origins(bench, path):
    return {name: value["origin"] for name, value in bench.tell("info", path, "--values")["values"].items()
            if "origin" in value}


def test_a_quantized_file_says_what_it_is(bench):
    told = bench.tell("info", quantize(bench))
    assert (told["stage"], told["target"]) == ("quantized", "onnx")
    assert told["tool"].startswith("tare ")
    assert told["macs"] == told["quantized_macs"] == 4 * 27 * 36 + 20


def test_origins_are_in_the_file(bench):
    path = quantize(bench, "--method", "percentile", "--percentile", "99.9")
    metadata = {each.key: each.value for each in onnx.load(path).metadata_props}
    kept = json.loads(metadata["tare.origins"])
    assert kept["x_quantized"] == {"by": "percentile", "number": 99.9}
    assert kept["w_quantized"] == {"by": "weight"}
    assert kept[f"{LONG}_quantized"] == {"by": "same", "detail": "relu"}
    codes = {each.output[0] for each in onnx.load(path).graph.node if each.op_type == "QuantizeLinear"}
    assert codes < kept.keys()
    got = origins(bench, path)
    assert got["x"] == "percentile 99.9"
    assert {"weight", "bias = s_x*s_w", "same as 'relu'"} < set(got.values())
    onnx.checker.check_model(str(path), full_check=True)
    ort(onnx.load(path), {"x": feeds()["x"][0]})


def test_rewriting_keeps_them(bench):
    path = quantize(bench)
    again, third = bench.new(".onnx"), bench.new(".onnx")
    for source, to in ((path, again), (again, third)):
        ran = bench.call("convert", source, to)
        assert ran.status == 0, ran.log
    assert origins(bench, again) == origins(bench, path)
    assert again.read_bytes() == third.read_bytes()
    assert bench.tell("info", again)["stage"] == "quantized"


def test_another_tools_file_is_qdq(bench):
    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rows = iter({"x": each} for each in feeds()["x"])

        def get_next(self):
            return next(self.rows, None)

    path = bench.new(".onnx")
    quantize_static(bench.save(block()), path, Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    told = bench.tell("info", path)
    assert (told["stage"], told["target"], told["tool"]) == ("quantized", None, None)
    assert told["producer"] == "onnx.quantize"
    got = origins(bench, path)
    assert len(got) > 6 and set(got.values()) == {"qdq"}


def test_a_float_file_is_float(bench):
    told = bench.tell("info", block(), "--values")
    assert (told["stage"], told["target"], told["tool"]) == ("original_float", None, None)
    assert told["quantized"]["origins"] == {}


def test_what_strangers_write_is_left_out(bench):
    changed = onnx.load(quantize(bench))
    (entry,) = [each for each in changed.metadata_props if each.key == "tare.origins"]
    kept = json.loads(entry.value)
    kept["x_quantized"] = {"by": "magic"}
    kept["no such tensor"] = {"by": "mse"}
    entry.value = json.dumps(kept)
    path = bench.save(changed)
    ran = bench.call("info", path, "--values", "-v")
    assert ran.status == 0 and "'x_quantized'" in ran.log, ran.log
    got = origins(bench, path)
    assert got["x"] == "qdq" and got["w"] == "weight"
    entry.value = "[" * 100000
    assert set(origins(bench, bench.save(changed)).values()) == {"qdq"}


def test_tables_fit(bench):
    """80 columns on a terminal, whatever the names; each value and each origin has its line."""
    lines = on_terminal("info", quantize(bench), "--values", NO_COLOR="1").splitlines()[1:]
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert any(line.endswith("  weight") and " s8 " in line for line in lines)


def test_memory_over_time(bench):
    """Steps use what lies in the slab just then; nothing lies on anything else; the slab is as large as it must be."""
    path = quantize(bench)
    told = bench.tell("info", path, "--memory")
    steps, buffers = told["timeline"]["steps"], told["timeline"]["buffers"]
    assert [step["node"] for step in steps if step["op"] == "Conv"] == ["conv"]
    assert max(each["offset"] + each["size"] for each in buffers) == told["memory_bytes"]["values"]
    for s, step in enumerate(steps):
        live = sorted((each["offset"], each["size"]) for each in buffers if each["first"] <= s <= each["last"])
        assert step["used"] == sum(size for _, size in live)
        assert all(a + size <= b for (a, size), (b, _) in zip(live, live[1:]))
    names = {each["value"] for each in buffers}
    assert names & {"conv", "relu", "relu_raw"} and "logits" in {name and name.removesuffix("_raw") for name in names}
    lines = on_terminal("info", path, "--memory", NO_COLOR="1").splitlines()[1:]
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    assert any(line.startswith("  peak") for line in lines)
    assert max(line.count("█") for line in lines) == 24


def test_the_bundled_example(bench):
    out = bench.new(".onnx")
    ran = bench.call("quantize", DIGITS, "--data", IMAGES, "--scale", str(1 / 255), "-o", out)
    assert ran.status == 0, ran.log
    values = bench.tell("info", out, "--values")["values"]
    quantized = [value for value in values.values() if "origin" in value]
    assert len(quantized) == 15
    computed = {name for name, value in bench.tell("info", DIGITS, "--values")["values"].items() if not value["constant"]}
    assert computed == {name for name, value in values.items() if not value["constant"]}  # by the names that they had
    for value in quantized:
        assert len(value["scale"]) == len(value["zero_point"]) >= 1
        assert value["code"] in ("u8", "s8", "s32")
        assert (value["axis"] is None) == (len(value["scale"]) == 1)
