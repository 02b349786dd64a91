"""Verbs calibrate and merge, and quantize --ranges: shards add up to the whole, to the byte."""
import json
import pathlib

import numpy as np
import onnx
import pytest
from bench import f32, model, node
from program import check_error, run_program

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"
MODEL, DATA = DIGITS / "digits.onnx", ["--data", DIGITS / "images"]


def tare(*arguments):
    ran = run_program(*arguments)
    assert ran.status == 0, ran.log
    return ran.out


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("ranges") / "whole.json"
    tare("calibrate", MODEL, *DATA, "-o", path)
    return path


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_shards_add_up(whole, order, tmp_path):
    for shard in range(3):
        tare("calibrate", MODEL, *DATA, "--shard", f"{shard}/3", "-o", tmp_path / f"{shard}.json")
    tare("merge", *(tmp_path / f"{shard}.json" for shard in order), "-o", tmp_path / "merged.json")
    assert (tmp_path / "merged.json").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("options", [[], ["--method", "entropy"], ["--method", "average", "--act", "s8"]])
def test_ranges_instead_of_samples(whole, options, tmp_path):
    tare("quantize", MODEL, "--ranges", whole, *options, "-o", tmp_path / "by_ranges.onnx")
    tare("quantize", MODEL, *DATA, *options, "-o", tmp_path / "by_samples.onnx")
    assert (tmp_path / "by_ranges.onnx").read_bytes() == (tmp_path / "by_samples.onnx").read_bytes()


def test_auto_takes_both(whole, tmp_path):
    refused = run_program("quantize", MODEL, "--ranges", whole, "--method", "auto", "-o", tmp_path / "auto.onnx")
    check_error(refused, 2, "method auto", "--data")
    tare("quantize", MODEL, "--ranges", whole, *DATA, "--method", "auto", "-o", tmp_path / "auto.onnx")


def test_what_was_seen_is_told(tmp_path):
    """Extremes with their samples, against numpy."""
    x = np.random.default_rng(1).normal(size=(7, 1, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    onnx.save(model([node("MatMul", "x w", "y")], {"x": [1, 4]}, "y", {"w": f32(np.eye(4), 4, 4)}), tmp_path / "m.onnx")
    told = json.loads(tare("calibrate", tmp_path / "m.onnx", "--data", tmp_path / "x.npy", "--json", "-o",
                           tmp_path / "r.json"))
    assert told["schema"] == "tare-ranges-seen/1" and told["samples"] == 7 and not told["synthetic"]
    seen = told["values"]["x"]
    assert seen["count"] == x.size and seen["nonfinite"] == 0
    assert np.float32(seen["min"]) == x.min() and np.float32(seen["max"]) == x.max()
    assert int(seen["min_sample"]) == x.min(axis=(1, 2)).argmin()
    assert int(seen["max_sample"]) == x.max(axis=(1, 2)).argmax()


@pytest.mark.parametrize("shard", ["3/3", "-1/3", "1", "1/0", "a/b", "1/3x"])
def test_shard_is_checked(shard, tmp_path):
    ran = run_program("calibrate", MODEL, *DATA, f"--shard={shard}", "-o", tmp_path / "r.json")
    check_error(ran, 2, "--shard", "0 <= I < N")
    assert not list(tmp_path.iterdir())


def test_ranges_of_another_model(whole, tmp_path):
    onnx.save(model([node("MatMul", "x w", "y")], {"x": [1, 4]}, "y", {"w": f32(np.eye(4), 4, 4)}), tmp_path / "m.onnx")
    check_error(run_program("quantize", tmp_path / "m.onnx", "--ranges", whole, "-o", tmp_path / "q.onnx"), 3,
                "another model", "tare calibrate")
    tare("calibrate", tmp_path / "m.onnx", "--data", "random:2", "-o", tmp_path / "other.json")
    check_error(run_program("merge", whole, tmp_path / "other.json", "-o", tmp_path / "merged.json"), 3, "other.json")
    assert not (tmp_path / "merged.json").exists() and not (tmp_path / "q.onnx").exists()


def test_broken_ranges(whole, tmp_path):
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole.read_bytes()[:-9])
    check_error(run_program("merge", whole, cut, "-o", tmp_path / "m.json"), 3, "cut.json")
    check_error(run_program("quantize", MODEL, "--ranges", cut, "-o", tmp_path / "q.onnx"), 3, "cut.json")
    check_error(run_program("merge", tmp_path / "none.json", "-o", tmp_path / "m.json"), 5, "none.json")
    assert [path.name for path in tmp_path.iterdir()] == ["cut.json"]


def test_inputs_are_never_touched(whole, tmp_path):
    one, two, own = (tmp_path / name for name in ("1.json", "2.json", "m.onnx"))
    one.write_bytes(whole.read_bytes())
    two.write_bytes(whole.read_bytes())
    own.write_bytes(MODEL.read_bytes())
    check_error(run_program("merge", one, two, "-o", two), 2, "2.json", "never touched")
    check_error(run_program("calibrate", own, *DATA, "-o", own), 2, "m.onnx", "never touched")
    picture = DIGITS / "images" / sorted(path.name for path in (DIGITS / "images").iterdir())[0]
    copy = tmp_path / picture.name
    copy.write_bytes(picture.read_bytes())
    check_error(run_program("calibrate", MODEL, "--data", copy, "-o", copy), 2, picture.name, "never touched")
    assert copy.read_bytes() == picture.read_bytes() and two.read_bytes() == whole.read_bytes()
