"""The schema agrees with the reader, as jsonschema and PyYAML see them; and a recipe does what its options do."""
import json
import os
import pathlib
import subprocess

import jsonschema
import numpy
import onnx
import pytest
import yaml
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = ROOT / "docs/formats/recipe.schema.json"


@pytest.fixture
def driver():
    folder = os.environ.get("TARE_DRIVERS")
    if not folder:
        pytest.skip("TARE_DRIVERS is not set: run by ctest")
    return lambda *words: subprocess.run([pathlib.Path(folder) / "driver_recipe", *words], capture_output=True, text=True,
                                         check=True).stdout


@pytest.fixture
def tare():
    program = os.environ.get("TARE_PROGRAM")
    if not program:
        pytest.skip("TARE_PROGRAM is not set: run by ctest")

    def run(*words, cwd):
        return subprocess.run([program, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)

    return run


def test_the_schema_in_the_repository_is_the_tables(driver):
    """After a change of options: build/dev/tests/driver_recipe > docs/formats/recipe.schema.json"""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert SCHEMA.read_text() == driver()


GOOD = """
{}
---
model: net.onnx
samples: 100
inputs: photos/
outputs: out.onnx
target: onnx
---
inputs:
- name: "a:0"
  data: random:3
  whole: true
  preprocess: {resize: 256, crop: 224x224, color: nv12-bgr, yuv-range: full, mean: [1, 2, 3], std: 58.5, pad: [0, 0, 0]}
- data: b.npy
- c.npz
calibration: {skip-nonfinite: true}
quantization:
  defaults: {method: minmax, act: u16, per-tensor: false, percentile: 99.9, keep-float: [Softmax, head_*]}
  rules:
  - {op: Softmax, keep-float: true}
  - {value: y, range: [-1.5, 2]}
target: {name: onnx}
outputs: {model: o.onnx}
---
inputs: {data: x, preprocess: {scale: 0.5, mean: 1}}
quantization: {defaults: {keep-float: one}}
---
inputs: []
quantization: {rules: []}
"""

BAD = """
modle: x
---
- a
---
inputs: [{name: x}]
---
inputs: {data: x, preprocess: {color: purple}}
---
inputs: {data: x, preprocess: {resize: [1, 2]}}
---
inputs: {data: x, preprocess: {scale: big}}
---
inputs: {data: x, whole: maybe}
---
inputs: {data: x, preprocess: 7}
---
quantization: {defaults: {target: onnx}}
---
quantization: {defaults: {percentile: 20}}
---
quantization: {defaults: {act: {u: 8}}}
---
quantization: {rules: [7]}
---
quantization: {rules: [{op: x, act: u9}]}
---
calibration: [1]
---
target: [onnx]
"""


def documents(text):
    return [part.strip() + "\n" for part in text.split("---\n")]


@pytest.mark.parametrize("text, is_good", [(t, True) for t in documents(GOOD)] + [(t, False) for t in documents(BAD)])
def test_schema_and_reader_agree(driver, tmp_path, text, is_good):
    (tmp_path / "r.yaml").write_text(text)
    line = driver(tmp_path / "r.yaml")
    assert line.startswith("0 ") == is_good, line
    errors = list(jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(yaml.safe_load(text)))
    assert (not errors) == is_good, errors


@pytest.mark.parametrize("text, part", [
    ("quantization: {rules: [{act: u8}]}", "1:24: quantization.rules[0]: a rule names one of op, node and value"),
    ("quantization: {rules: [{op: a, node: b}]}", "a rule names one of op, node and value"),
    ("quantization: {rules: [{op: a, range: [2, 1]}]}", "range wants two numbers, the lower first"),
    ("quantization: {rules: {op: a, range: 1}}", "1:23: quantization.rules[0]: range wants two numbers"),
])
def test_faults_of_whole_rules(driver, tmp_path, text, part):
    (tmp_path / "r.yaml").write_text(text)
    assert driver(tmp_path / "r.yaml").startswith(f"2 {tmp_path}/r.yaml: ") and part in driver(tmp_path / "r.yaml")


# ---- what a recipe does

RECIPE = """
model: net.onnx
samples: 6
inputs: {data: data.npy, preprocess: {mean: 128, std: 64}}
quantization:
  defaults: {method: minmax, act: s8}
  rules:
  - {value: h, range: [-4, 4]}
outputs: out.onnx
"""


@pytest.fixture
def work(tmp_path):
    """A folder with net.onnx (Conv, Conv, Relu), data.npy of u8 pixels, and the recipe."""
    random = numpy.random.default_rng(0)
    w = [numpy_helper.from_array(random.normal(0, .2, (4, c, 3, 3)).astype("f4"), f"w{c}") for c in (3, 4)]
    nodes = [helper.make_node("Conv", ["x", "w3"], ["h"], name="first", pads=[1] * 4),
             helper.make_node("Conv", ["h", "w4"], ["g"], name="second", pads=[1] * 4),
             helper.make_node("Relu", ["g"], ["y"], name="last")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 8, 8])], w)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
    numpy.save(tmp_path / "data.npy", random.integers(0, 256, (16, 3, 8, 8), dtype="u1"))
    (tmp_path / "r.yaml").write_text(RECIPE)
    return tmp_path


def scales(path):
    """The scale of each value that becomes codes, by its name."""
    model = onnx.load(path)
    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    return {n.output[0].removesuffix("_quantized"): float(constants[n.input[1]]) for n in model.graph.node if n.op_type == "QuantizeLinear"}


def test_a_recipe_equals_its_options(tare, work):
    text = RECIPE.replace("  rules:\n  - {value: h, range: [-4, 4]}\n", "")
    (work / "r.yaml").write_text(text)
    ran = tare("quantize", "--recipe", work / "r.yaml", cwd="/")
    assert ran.returncode == 0, ran.stderr
    ran = tare("quantize", "net.onnx", "--data", "data.npy", "--samples", 6, "--mean", 128, "--std", 64, "--method", "minmax",
               "--act", "s8", "-o", "flags.onnx", cwd=work)
    assert ran.returncode == 0, ran.stderr
    assert (work / "out.onnx").read_bytes() == (work / "flags.onnx").read_bytes()


def test_a_rule_sets_a_range(tare, work):
    assert tare("quantize", "--recipe", "r.yaml", cwd=work).returncode == 0
    assert abs(scales(work / "out.onnx")["h"] - 8 / 255) < 1e-7


def test_options_change_a_recipe(tare, work):
    ran = tare("quantize", "--recipe=r.yaml", "--samples", 2, "-o", "other.onnx", cwd=work)
    assert ran.returncode == 0, ran.stderr
    assert not (work / "out.onnx").exists() and (work / "other.onnx").exists()
    assert tare("quantize", "--recipe=r.yaml", cwd=work).returncode == 0
    few, many = scales(work / "other.onnx"), scales(work / "out.onnx")
    assert few["h"] == many["h"] and few["x"] <= many["x"] and few != many
    assert tare("quantize", "--recipe=r.yaml", "--std", 32, "-o", "twice.onnx", cwd=work).returncode == 0
    assert abs(scales(work / "twice.onnx")["x"] / many["x"] - 2) < 1e-6


def test_faults_of_recipes(tare, work):
    (work / "r.yaml").write_text(RECIPE.replace("method", "metod"))
    ran = tare("quantize", "--recipe", "r.yaml", cwd=work)
    assert ran.returncode == 2
    assert ran.stderr == "error: r.yaml: 6:14: quantization.defaults: no key 'metod'; did you mean 'method'?\n"
    ran = tare("quantize", "--recipe", "none.yaml", cwd=work)
    assert ran.returncode == 5 and "none.yaml: open: No such file" in ran.stderr
    (work / "r.yaml").write_text(RECIPE.replace("outputs: out.onnx\n", ""))
    assert "--output is needed" in tare("quantize", "--recipe", "r.yaml", cwd=work).stderr
    (work / "r.yaml").write_text("inputs: [{name: x, data: data.npy}, {name: z, data: data.npy}]\n")
    ran = tare("quantize", "net.onnx", "--recipe", "r.yaml", "--mean", 3, "-o", "o.onnx", cwd=work)
    assert ran.returncode == 2 and "each with its own preprocessing" in ran.stderr
