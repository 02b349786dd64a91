"""Verb run: one sample by --input, what is tapped, and the form of what is written."""
import json

import numpy as np
import pytest
from bench import f32, model, node, ort


def two_inputs(batch="N"):
    return model([node("Add", "a b", "sum"), node("Relu", "sum", "y")], {"a": [batch, 3], "b": [batch, 3]}, "y")


def feeds(rows=2):
    generator = np.random.default_rng(3)
    return {name: generator.normal(size=(rows, 3)).astype(np.float32) for name in "ab"}


def read(path):
    with np.load(path) as found:
        return {name: found[name] for name in found}


def run(bench, model_, out, *options):
    ran = bench.call("run", bench.save(model_), *options, "-o", out)
    assert ran.status == 0, ran.log
    return read(out) if out.suffix == ".npz" else {path.stem: read(path) for path in sorted(out.glob("*.npz"))}


def test_one_archive_feeds_every_input(bench):
    """An open batch is taken whole: one sample of two rows."""
    got = run(bench, two_inputs(), bench.new(".npz"), "--input", bench.data(feeds()))
    assert list(got) == ["y"]
    np.testing.assert_array_equal(got["y"], ort(two_inputs(), feeds())["y"])


def test_a_file_per_input(bench):
    options = []
    for name, array in feeds().items():
        np.save(bench.folder / f"{name}.npy", array)
        options += ["--input", f"{name}={bench.folder / name}.npy"]
    got = run(bench, two_inputs(), bench.new(".npz"), *options)
    np.testing.assert_array_equal(got["y"], ort(two_inputs(), feeds())["y"])


def test_a_directory_gets_one_archive_and_its_list(bench):
    out = bench.new("")
    data = bench.data(feeds())
    got = run(bench, two_inputs(), out, "--input", data)
    (name,) = got
    assert (out / "list.txt").read_text() == f"{name}.npz\n"
    np.testing.assert_array_equal(got[name]["y"], ort(two_inputs(), feeds())["y"])


@pytest.mark.parametrize("names, want", [("all", {"a", "b", "sum", "y"}), ("sum", {"sum", "y"}), ("a,sum", {"a", "sum", "y"})])
def test_taps(bench, names, want):
    got = run(bench, two_inputs(), bench.new(".npz"), "--input", bench.data(feeds()), "--tap", names)
    assert set(got) == want
    np.testing.assert_array_equal(got.get("sum"), feeds()["a"] + feeds()["b"])


def test_backend_float_leaves_rounding_out(bench):
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"), node("Identity", "d", "y")]
    rounding = model(nodes, {"x": [1, 4]}, "y", {"s": np.float32(.5), "z": np.uint8(0)})
    x = f32([[.1, .3, .8, 1.2]])
    said = {backend: run(bench, rounding, bench.new(".npz"), "--input", bench.data({"x": x}), "--backend", backend)["y"]
            for backend in ("float", "qdq")}
    np.testing.assert_array_equal(said["float"], x)
    np.testing.assert_array_equal(said["qdq"], ort(rounding, {"x": x})["y"])


def test_what_was_written_is_compared(bench):
    """A directory or one archive, against the model or another of them."""
    path, data, folder, file = bench.save(two_inputs()), bench.data(feeds()), bench.new(""), bench.new(".npz")
    run(bench, path, folder, "--input", data)
    run(bench, path, file, "--input", data)
    for pair in ([folder, folder], [file, file], [path, file], [path, folder]):
        options = ["--data", data, "--whole"] if path in pair else []
        ran = bench.call("compare", *pair, *options, "--json")
        assert ran.status == 0, ran.log
        assert json.loads(ran.out)["comparisons"][0]["values"]["y"]["exact"]


def test_what_is_refused(bench):
    path, data = bench.save(two_inputs(1)), bench.data(feeds(1))
    many = bench.samples({name: np.stack([array] * 3) for name, array in feeds(1).items()})
    out = bench.new(".npz")
    bench.refuse(2, "run", path, "-o", out, words=["--input or --data is needed"])
    bench.refuse(2, "run", path, "--input", data, "--data", data, "-o", out, words=["give one of them"])
    bench.refuse(2, "run", path, "--input", many, "-o", out, words=["3 of them", "--data takes many"])
    bench.refuse(2, "run", path, "--data", many, "-o", out, words=["3 samples do not go into one .npz"])
    bench.refuse(2, "run", path, "--input", bench.data({"a": feeds(1)["a"]}), "-o", out, words=["'b'"])
    bench.refuse(2, "run", path, "--input", data, "--tap", "summ", "-o", out, words=["no value 'summ'"])
    bench.refuse(2, "run", path, "--input", data, words=["--output is needed"])
    assert not out.exists()


def check_figures(told, arrays):
    """Over all samples: what numpy makes of what was written."""
    flat = np.ravel(arrays).astype(np.float64)
    finite = flat[np.isfinite(flat)]
    assert told["nonfinite"] == flat.size - finite.size
    if finite.size:
        np.testing.assert_allclose([told["min"], told["mean"], told["max"]], [finite.min(), finite.mean(), finite.max()],
                                   rtol=1e-6, atol=1e-9)
    else:
        assert told["min"] is told["mean"] is told["max"] is None


def figures(bench, net, data, out, *options):
    told = json.loads(bench.call("run", net, *data, "-o", out, "--json", *options).out)
    return told["outputs"]


def test_figures_of_outputs(bench):
    """Of one sample the largest scores, of many how often each class has the largest; the same for any threads."""
    net = bench.save(model([node("MatMul", "x w", "y"), node("Reshape", "y s", "map")], {"x": [1, 7]}, "y map",
                           {"s": np.array([1, 1, 7, 1]), "w": np.eye(7, dtype=np.float32)}))
    x = np.random.default_rng(5).normal(size=(40, 1, 7)).astype(np.float32)
    told = [figures(bench, net, ["--data", bench.samples({"x": x})], bench.new(""), "--threads", str(threads))
            for threads in (1, 2)]
    assert told[0] == told[1]
    y = told[0]["y"]
    check_figures(y, x)
    assert y["type"] == "f32" and y["shape"] == [1, 7]
    tops = np.bincount(x.argmax(2).ravel(), minlength=7)
    want = sorted(((-count, i) for i, count in enumerate(tops) if count))[:5]
    assert [(-each["samples"], each["class"]) for each in y["largest"]] == want
    assert told[0]["map"]["largest"] == []  # no vector of scores
    one = figures(bench, net, ["--input", bench.data({"x": x[3]})], bench.new(".npz"))["y"]
    order = np.argsort(-x[3, 0])[:5]
    assert [each["class"] for each in one["largest"]] == list(order)
    np.testing.assert_allclose([each["score"] for each in one["largest"]], x[3, 0][order], rtol=1e-6)
    text = bench.call("run", net, "--input", bench.data({"x": x[3]}), "-o", bench.new(".npz")).out
    assert f"'y': {order[0]} ({x[3, 0][order[0]]:.4g})" in text


def test_figures_leave_out_what_is_not_finite(bench):
    net = bench.save(model([node("Identity", "x", "y")], {"x": ["N", 2, 3]}, "y"))
    x = f32([[[1, np.nan, 3], [np.inf, 5, -2]]])
    told = figures(bench, net, ["--input", bench.data({"x": x})], bench.new(".npz"))["y"]
    check_figures(told, x)
    none = figures(bench, net, ["--input", bench.data({"x": x * np.nan})], bench.new(".npz"))["y"]
    check_figures(none, x * np.nan)
    empty = figures(bench, net, ["--input", bench.data({"x": x[:0]})], bench.new(".npz"))["y"]
    check_figures(empty, x[:0])
    assert empty["shape"] == [0, 2, 3]
