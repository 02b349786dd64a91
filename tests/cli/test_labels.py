"""Option --labels of run, compare and debug: top-1 and top-5, as numpy and score.py count them."""
import json
import pathlib

import numpy as np
import pytest
import score
from bench import f32, model, node
from program import SHARED, run_program

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"
COUNT, CLASSES = 40, 9


def scores(seed=1):
    """Coarse, so that there are equal ones."""
    return np.random.default_rng(seed).integers(0, 12, (COUNT, 1, CLASSES)).astype(np.float32)


def count(array, labels):
    """Shares of hits; of equal scores the first is the larger."""
    order = np.argsort(-array.reshape(COUNT, CLASSES), axis=1, kind="stable")
    labels = np.array(labels)[:, None]
    return {"top1": (order[:, :1] == labels).any(1).mean(), "top5": (order[:, :5] == labels).any(1).mean()}


def identity():
    return model([node("Identity", "x", "y"), node("ReduceSum", "x", "sum", keepdims=0)], {"x": [1, CLASSES]}, "y sum")


@pytest.fixture
def labels():
    return [int(label) for label in np.random.default_rng(2).integers(0, CLASSES, COUNT)]


def write(path, lines):
    path.write_text("\n".join(map(str, lines)) + "\n")
    return path


def tell(*arguments):
    ran = run_program(*arguments, "--json")
    assert ran.status == 0, ran.log
    return json.loads(ran.out)


def check(found, want):
    assert found == pytest.approx(want, abs=1e-15)


@pytest.mark.parametrize("form", ["list", "row", "id", "file"])
def test_run_counts(bench, labels, form):
    data, lines = bench.samples({"x": scores()}), labels
    if form == "row":
        np.save(data := bench.new(".npy"), scores())
    if form != "list":
        names = {"row": "{:d}", "id": "{:04d}", "file": "folder/{:04d}.jpg"}[form]
        lines = [f"{form},label"] + [f"{names.format(i)},{label}" for i, label in enumerate(labels)][::-1]
    told = tell("run", bench.save(identity()), "--data", data, "-o", bench.new(""), "--labels",
                write(bench.new(".csv"), lines))
    assert told["schema"] == "tare-run/1" and told["samples"] == COUNT
    assert list(told["outputs"]) == ["y", "sum"] and "accuracy" not in told["outputs"]["sum"]
    check(told["outputs"]["y"]["accuracy"], {"samples": COUNT, **count(scores(), labels)})


def test_dumps_are_judged_side_by_side(bench, labels):
    a, b = bench.samples({"y": scores()}), bench.samples({"y": scores(5)})
    told = tell("compare", a, b, "--labels", write(bench.new(".txt"), labels))
    accuracy = told["comparisons"][0]["values"]["y"]["accuracy"]
    assert accuracy["samples"] == COUNT
    check(accuracy["reference"], count(scores(), labels))
    check(accuracy["other"], count(scores(5), labels))


def test_nan_is_no_hit(bench):
    array = f32([[[np.nan, 1, 2, 3, 4, 5]], [[0, 1, 2, 3, np.nan, 9]]])
    path, data = bench.save(model([node("Identity", "x", "y")], {"x": [1, 6]}, "y")), bench.samples({"x": array})
    told = tell("run", path, "--data", data, "-o", bench.new(""), "--labels", write(bench.new(".txt"), [0, 5]))
    check(told["outputs"]["y"]["accuracy"], {"samples": 2, "top1": 0, "top5": .5})


def test_few_classes_have_no_top5(bench):
    path, data = bench.save(model([node("Identity", "x", "y")], {"x": [1, 5]}, "y")), bench.samples({"x": np.eye(5)[:, None]})
    told = tell("run", path, "--data", data, "-o", bench.new(""), "--labels", write(bench.new(".txt"), range(5)))
    assert told["outputs"]["y"]["accuracy"] == {"samples": 5, "top1": 1, "top5": None}


def test_what_is_refused(bench, labels):
    path, data, out = bench.save(identity()), bench.samples({"x": scores()}), bench.new("")
    run = ["run", path, "--data", data, "-o", out, "--labels"]
    bench.refuse(2, *run, write(bench.new(".txt"), labels[:-1]), words=["sample '0039' has no label"])
    bench.refuse(2, *run, write(bench.new(".csv"), ["id,label", "0000,1"]), words=["sample '0001' has no label"])
    bench.refuse(3, *run, write(bench.new(".txt"), ["1", "cat"]), words=["line 2", "'cat' is no label"])
    bench.refuse(5, *run, bench.new(".txt"), words=["No such file"])
    assert not out.exists()
    high = write(bench.new(".txt"), [*labels[:-1], 9])
    bench.refuse(2, *run, high, words=["the highest label is 9", "no output is one vector of more than 9"])
    bench.refuse(2, "compare", path, path, "--data", data, "--labels", high, words=["the highest label is 9"])
    (path := bench.new(".csv")).write_text("file,label\n0000,1\n", encoding="utf-16")
    bench.refuse(3, "run", bench.save(identity()), "--data", bench.samples({"x": scores()}), "-o", bench.new(""), "--labels", path,
                 words=[str(path), "UTF-16", "save it as UTF-8"])


def test_bundled_example(tmp_path):
    """Compare and debug on real pictures; labels are joined by the pictures' names."""
    options = ["--data", DIGITS / "images", "--labels", DIGITS / "labels.csv"]
    ran = run_program("quantize", DIGITS / "digits.onnx", "--data", DIGITS / "images", "-o", tmp_path / "q.onnx")
    assert ran.status == 0, ran.log
    (tmp_path / "digits.onnx").write_bytes((DIGITS / "digits.onnx").read_bytes())
    ran = run_program("compare", "digits.onnx", "q.onnx", *options, cwd=tmp_path)
    assert ran.status == 0 and "labelled samples" in ran.out
    pairs = tell("compare", DIGITS / "digits.onnx", tmp_path / "q.onnx", *options)["comparisons"][0]["values"]
    debug = tell("debug", DIGITS / "digits.onnx", tmp_path / "q.onnx", *options)["values"]
    (judged,) = [name for name in pairs if "accuracy" in pairs[name]]
    assert debug[judged]["accuracy"] == pairs[judged]["accuracy"]
    assert [name for name in debug if "accuracy" in debug[name]] == [judged]
    assert pairs[judged]["accuracy"]["reference"]["top1"] > .8


@pytest.mark.parametrize("name, count", [("ic_resnet8", 600), ("vww_mobilenet025", 36), ("kws_dscnn", 800)])
def test_figures_are_those_of_score(name, count, tmp_path):
    score.need_models()
    feeds = score.feed(name, tmp_path / "feeds")
    told = tell("run", SHARED / "models" / name / "model.onnx", "--data", feeds, "-o", tmp_path / "out", "--labels",
                score.write_labels(name, tmp_path / "labels.txt", count))
    judged = score.judge(name, tmp_path / "out")
    (accuracy,) = [output["accuracy"] for output in told["outputs"].values()]
    assert accuracy["samples"] == judged["n"] == count
    assert round(100 * accuracy["top1"], 2) == judged["top1"]
