"""docs/formats/report.md against what the program prints: every key is documented with its type, every documented key
comes, and every schema has a section."""
import json
import re

import numpy as np
import onnx
import pytest
from bench import U8, f32, model, node
from conftest import DIGITS, IMAGES, ROOT

PAGE = ROOT / "docs" / "formats" / "report.md"
DATA = ["--data", IMAGES, "--samples", 4]
LABELS = ["--labels", DIGITS.parent / "labels.csv"]
METRIC = ["--metric-cmd", "echo loss 1; :"]

# For each schema the runs that together print every key of it; {int8}: the example quantized, {out}: a fresh path.
RUNS = {
    "tare-info/1": [["info", "{int8}", "--nodes", "--values", "--memory"], ["info", "{codes}"], ["info", DIGITS]],
    "tare-check/1": [["check", DIGITS, *DATA], ["check", "{huge}"]],
    "tare-bench/1": [["bench", "{int8}", "--nodes", "--runs", "3"]],
    "tare-ops/1": [["ops"]],
    "tare-optimize/1": [["optimize", "{raw}", "--explain", "-o", "{out}.onnx"]],
    "tare-ranges-seen/1": [["calibrate", DIGITS, *DATA, "-o", "{ranges}"], ["merge", "{ranges}", "-o", "{out}.ranges"]],
    "tare-quantize/1": [["quantize", DIGITS, *DATA, "--keep-float", "conv0", "--stages", "{out}.stages",
                         "--int-outputs", "-o", "{out}.onnx"],
                        ["quantize", DIGITS, *DATA, "--resize", "8x8:fit", "--mean", "128", "--std", "64", "-o", "{out}.onnx"],
                        ["quantize", "{biased}", "--data", "random:2", "-o", "{out}.onnx"]],
    "tare-compare/1": [["compare", DIGITS, "{int8}", "--nodes", *DATA, *LABELS, *METRIC],
                       ["compare", "{raw}", "{other}", "--data", "random:2", "--nodes"]],
    "tare-debug/2": [["debug", DIGITS, "{int8}", *DATA, *LABELS, *METRIC],
                     ["debug", DIGITS, "{int8}", *DATA, "--scale", "100"]],
    "tare-run/1": [["run", DIGITS, "--data", "random:1", "-o", "{out}.npz"],
                   ["run", DIGITS, *DATA, *LABELS, *METRIC, "-o", "{out}.dump"],
                   ["run", "{int8}", *DATA, "--backend", "int", "--target", "tflite", "-o", "{out}.dump"]],
}

KINDS = {"text": str, "integer": int, "number": (int, float), "bool": bool, "object": dict, "list": list, "dims": list,
         "metrics": dict, "accuracy": dict}
SHARED_SECTIONS = ("metrics", "accuracy")  # types that are said once


class Key:
    def __init__(self, kind, is_optional):
        self.kinds, self.is_optional = kind.split(" or "), is_optional

    def fits(self, value):
        if value is None:
            return "null" in self.kinds
        if isinstance(value, bool):
            return "bool" in self.kinds
        return any(isinstance(value, KINDS[kind]) for kind in self.kinds if kind != "null")


def read_sections():
    """{heading: {path: Key}}; a key whose type is a shared section has those of it below."""
    sections = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        keys = sections[part.split("\n")[0].strip("` ")] = {}
        for line in part.splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) == 3 and cells[0].strip("*").startswith("`"):
                path = cells[0].strip("*")[1:-1]
                assert path not in keys, f"{path} is documented twice"
                keys[path] = Key(cells[1], cells[0].startswith("*"))
    shared = {name: sections.pop(name) for name in SHARED_SECTIONS}
    for keys in sections.values():
        for path, key in list(keys.items()):
            for kind in set(key.kinds) & set(shared):
                keys.update({f"{path}.{name}": of for name, of in shared[kind].items()})
    return sections


def enter(path, name):
    return f"{path}.{name}" if path else name


class Walk:
    """Goes through what was printed; `seen` are the documented paths met."""

    def __init__(self, keys):
        self.keys, self.seen = keys, set()
        self.known = {path[:at] for path in keys for at in [m.start() for m in re.finditer(r"[.\[]|$", path)]}

    def go(self, value, path=""):
        if path in self.keys:
            assert self.keys[path].fits(value), f"{path}: {json.dumps(value)[:80]} is no {self.keys[path].kinds}"
            self.seen.add(path)
            if "dims" in self.keys[path].kinds:
                return
        if isinstance(value, dict):
            self.go_into(value, path)
        for item in value if isinstance(value, list) else []:
            assert f"{path}[]" in self.known | set(self.keys), f"{path}[] is not documented"
            self.go(item, f"{path}[]")

    def go_into(self, value, path):
        for name, child in value.items():
            inner = next((p for p in (enter(path, name), enter(path, "*")) if p in self.known), None)
            assert inner, f"{enter(path, name)} is not documented"
            self.go(child, inner)
        for wanted, key in self.keys.items():
            parent, _, name = wanted.rpartition(".")
            if parent == path and "*" not in name and "[]" not in name and not key.is_optional:
                assert name in value, f"{wanted} is documented and was not printed"


@pytest.fixture(scope="module")
def places(digits_int8, tare, tmp_path_factory):
    """What the placeholders of RUNS stand for."""
    folder = tmp_path_factory.mktemp("report")
    models = {
        "codes": model([node("DequantizeLinear", "x s z", "f"), node("Relu", "f", "r"),
                        node("QuantizeLinear", "r s z", "y")], {"x": (["N", 3], U8)}, "y",
                       {"s": np.float32(0.5), "z": np.uint8(128)}),  # takes and gives codes
        "raw": model([node("Identity", "x", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")], {"x": [2, 3]}, "y"),
        "biased": model([node("MatMul", "x w", "m"), node("Add", "m b", "y")], {"x": [1, 2]}, "y",
                        {"w": f32([[1e-9], [1e-9]]), "b": f32([1e3])}),  # a warning
        "huge": model([node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Add", "b low", "c"),
                       node("Exp", "c", "d"), node("MatMul", "c w", "y")], {"x": [2, 3]}, "y d",
                      {"low": f32([0, 0, -3.4e38]), "w": f32(np.eye(3))}),
    }
    models["other"] = model([node("Neg", "x", "n"), node("Relu", "x", "y")], {"x": [2, 3]}, "y")
    for name, made in models.items():
        onnx.save(made, folder / f"{name}.onnx")
    return {**{name: folder / f"{name}.onnx" for name in models}, "int8": digits_int8, "out": folder / "out",
            "ranges": folder / "digits.ranges"}


def sources_schemas():
    found = set()
    for path in (ROOT / "src").rglob("*.c"):
        found |= set(re.findall(r'tare_report_new\("([^"]+)"\)', path.read_text(encoding="utf-8")))
    return found


def test_every_schema_has_a_section_and_runs():
    schemas = sources_schemas()
    assert schemas and schemas == set(read_sections()) == set(RUNS)


@pytest.mark.parametrize("schema", RUNS)
def test_page_is_what_is_printed(schema, tare, places):
    walk = Walk({**read_sections()[schema], "schema": Key("text", False)})
    for run in RUNS[schema]:
        ran = tare(*[str(word).format(**places) for word in run], "--json")
        assert ran.status == 0, ran.log
        printed = json.loads(ran.out)
        assert printed["schema"] == schema
        walk.go(printed)
    missing = set(walk.keys) - walk.seen
    assert not missing, f"documented, and never printed: {sorted(missing)}"
