"""Case book, 9: measuring accuracy."""
import json

import numpy as np
import pytest
from bench import f32, model, node, quantized


def uniform(seed, *shape, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def compared(bench, a, b, *options):
    """Of two dumps with one value y."""
    folders = []
    for array in (a, b):
        folder = bench.new("")
        folder.mkdir()
        np.savez(folder / "0.npz", y=f32(array))
        (folder / "list.txt").write_text("0.npz\n")
        folders.append(folder)
    ran = bench.call("compare", *folders, *options, "--json")
    assert ran.status == 0, ran.log
    text = bench.call("compare", *folders, *options).out
    return json.loads(ran.out)["comparisons"][0]["values"]["y"], text


def test_M1(bench):
    """Cosine of zeros: both 1, one 0; what is no number is counted, never a score; no error is exact, not infinite."""
    both, text = compared(bench, [[0, 0, 0]], [[0, 0, 0]])
    assert both["cosine"] == 1 and both["exact"] and both["sqnr_db"] is None and "exact" in text and "inf" not in text
    for a, b in (([[1, 2, 3]], [[0, 0, 0]]), ([[0, 0, 0]], [[1, 2, 3]])):
        one, _ = compared(bench, a, b)
        assert one["cosine"] == 0 and not one["exact"]
    none, text = compared(bench, [[1, 2, 3]], [[1, np.nan, np.inf]])
    assert none["cosine"] is None and none["nonfinite"] == 2 and "n/a" in text
    same, text = compared(bench, [[1, 2, 3]], [[1, 2, 3]])
    assert same["exact"] and "exact" in text and "inf" not in text


def test_M2(bench):
    """What one number for all hides: worst sample, worst channel, mean and largest error stand beside the cosine."""
    x = uniform(1, 1, 3, 8, 8)
    x[:, 0] *= 1000
    y = x.copy()
    y[:, 1] *= -1
    told, text = compared(bench, x, y)
    assert told["cosine"] > .99999 and told["worst_channel"] == 1 and told["worst_channel_db"] < 0
    assert told["chebyshev"] > 1.9 and told["l1"] > .2 and told["worst_sample"] == "0" and told["sqnr_db"] > 50
    assert "Chebyshev" in text and "SQNR" in text


def test_M3(bench):
    """Codes at an output: what they mean stands beside them, and they are compared as that, not as numbers."""
    def coded(scale, zero_point, dtype=np.int8):
        head, constants = quantized("x", scale, zero_point, dtype)
        one = model(head[:1], {"x": [1, 4]}, "x_q", constants)
        one.graph.node[0].output[0] = one.graph.output[0].name = "y"
        return one
    plain = model([node("Identity", "x", "y")], {"x": [1, 4]}, "y")
    x = {"x": f32([2.25, -1, 0, .5], 1, 4)}
    fine, coarse = coded(.0625, -10), coded(.25, 3, np.uint8)
    assert bench.run(fine, x)["y"].tolist() == [[26, -26, -10, -2]]
    told = bench.tell("info", fine)["outputs"]["y"]
    assert told["type"] == "s8" and told["scale"] == .0625 and told["zero_point"] == -10
    assert ".0625 * (code - -10)" in bench.call("info", bench.save(fine)).out

    def compare(a, b):
        return bench.tell("compare", a, bench.save(b), "--data", bench.data(x))["comparisons"][0]["values"]["y"]
    assert compare(plain, fine)["exact"] and compare(fine, plain)["exact"]
    assert compare(fine, coarse)["chebyshev"] == 1 * .25, "uint8 with zero point 3 cannot say -1"
    assert compare(fine, fine)["exact"]


def test_M5(bench):
    """Two columns: what a node loses by itself, and what has come together there."""
    nodes = [node("Conv", "x w", "a"), node("Conv", "a v", "b"), node("Conv", "b w", "y")]
    w = uniform(2, 8, 8, 1, 1)
    rough = w.copy()
    rough[0, 0] *= 100  # its codes leave the rest of row 0 next to nothing
    one = model(nodes, {"x": [1, 8, 8, 8]}, "y", {"w": w, "v": rough})
    data = bench.data({"x": uniform(3, 1, 8, 8, 8)})
    told = bench.tell("debug", one, "--data", data, "--whole", "--per-tensor")["values"]
    local = {name: told[name]["local"]["sqnr_db"] for name in ("a", "b", "y")}
    together = {name: told[name]["accumulated"]["sqnr_db"] for name in ("a", "b", "y")}
    assert local["y"] > together["y"] and local["a"] > 35
    worst = {name: told[name]["local"]["worst_channel_db"] for name in ("a", "b", "y")}
    assert min(worst, key=worst.get) == "b", "it is b that breaks, whoever shows the error"
    text = bench.call("debug", bench.save(one), "--data", data, "--whole", "--per-tensor").out
    assert "local" in text and "accumulated" in text


@pytest.mark.parametrize("method", ["minmax", "mse", "percentile", "entropy", "average"])
@pytest.mark.parametrize("act", ["u8", "s8"])
def test_M6(bench, method, act):
    """Two-sided data with zeros, ties, both ends of the codes and one loud channel: ends are reached, zero is exact."""
    x = np.tile(f32([-128, -127, -.5, 0, .5, 1.5, 2.5, 127]), 128).reshape(1, 4, 16, 16)
    eye = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)
    one = model([node("Conv", "x w", "y")], {"x": [1, 4, 16, 16]}, "y", {"w": eye})
    made = bench.quantize(one, {"x": x}, "--method", method, "--act", act)
    tapped = bench.run(made, {"x": x}, "--tap", "x")["x"]
    own = made.parameters["x"]
    assert not tapped[x == 0].any()
    if method != "minmax":
        return
    assert own.scale == 1 and np.array_equal(np.unique(tapped), [-128, -127, 0, 2, 127]), "ties go to even"
