"""Case book, 6: calibration and data."""
import subprocess
import sys

import numpy as np
import pytest
from bench import S8, f32, model, node
from program import IS_SANITIZED, find_program

CONV = {"w": f32([1, -1], 2, 1, 1, 1)}


def conv(**attributes):
    return model([node("Conv", "x w", "y", name="conv", **attributes)], {"x": [1, 1, 4, 4]}, "y", CONV)


def filled(number):
    return {"x": np.full((1, 1, 4, 4), number, np.float32)}


@pytest.mark.parametrize("act", ["u8", "s8"])
def test_K1(bench, act):
    """A value that is always 0 has scale 1; one that is always 3 has [0, 3] and 3.0 exactly; both are told."""
    lowest = 0 if act == "u8" else -128
    zero = bench.quantize(conv(), filled(0), "--act", act).parameters["x"]
    assert zero.scale == 1 and zero.zero_point == 0
    for method in ("minmax", "mse", "percentile", "entropy", "average"):
        three = bench.quantize(conv(), filled(3), "--act", act, "--method", method).parameters["x"]
        assert three.zero_point == lowest and three.scale * np.float32(255) == 3, method
    for number in (0, 3):
        told = bench.tell("check", conv(), "--data", bench.data(filled(number)), "--whole")["findings"]
        assert any(f["check"] == "range-constant" and f["value"] == "x" for f in told)


@pytest.mark.parametrize("low, high, u8, s8", [(-6, -2, 255, 127), (2, 6, 0, -128)])
def test_K2(bench, low, high, u8, s8):
    """A range without 0 is widened to it, so that padding adds exactly 0."""
    x = {"x": np.linspace(low, high, 16, dtype=np.float32).reshape(1, 1, 4, 4)}
    padded = conv(pads=[1, 1, 1, 1])
    for act, zero_point in (("u8", u8), ("s8", s8)):
        made = bench.quantize(padded, x, "--act", act, "--method", "minmax")
        assert made.parameters["x"].scale == np.float32(6 / 255) and made.parameters["x"].zero_point == zero_point
        y = bench.run(made, x)["y"]
        assert not y[..., 0, :].any() and not y[..., :, -1].any()


def five(bench, third):
    x = np.random.default_rng(1).uniform(-1, 1, (5, 1, 1, 4, 4)).astype(np.float32)
    x[2].flat[:len(third)] = third
    return bench.samples({"x": x})


def test_K3(bench):
    """NaN and Inf stop the work, naming value, node, sample and counts; or they are counted and left out."""
    one, data, out = bench.save(conv()), five(bench, [np.nan, np.inf]), bench.new(".onnx")
    bench.refuse(3, "quantize", one, "--data", data, "-o", out,
                 words=["sample '0002'", "value 'x'", "graph input", "1 NaN", "1 Inf", "--skip-nonfinite"])
    assert not out.exists()
    made = bench.quantize(one, data, "--skip-nonfinite", "--method", "minmax")
    assert made.parameters["x"].scale <= np.float32(2 / 255)
    assert "1 NaN" in made.log and "1 Inf" in made.log and "'x'" in made.log and "0002" in made.log


def test_K3_inside(bench):
    """Numbers that are none may be born inside: the node that made them is named."""
    nodes = [node("Sqrt", "x", "r", name="root"), node("Conv", "r w", "y")]
    one, data = bench.save(model(nodes, {"x": [1, 1, 4, 4]}, "y", CONV)), five(bench, [])
    bench.refuse(3, "quantize", one, "--data", data, "-o", bench.new(".onnx"), words=["value 'r' of node 'root' (Sqrt)", "NaN"])
    every = bench.samples({"x": np.full((3, 1, 1, 4, 4), -1, np.float32)})
    bench.refuse(3, "quantize", one, "--data", every, "--skip-nonfinite", "-o", bench.new(".onnx"), words=["'r'", "NaN"])


PEAK = ("import resource, subprocess, sys; status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, status)")


def test_K4(bench):
    """Memory does not grow with samples."""
    if IS_SANITIZED:
        pytest.skip("a sanitizer keeps what is freed")
    w = np.random.default_rng(2).uniform(-1, 1, (8, 3, 3, 3)).astype(np.float32)
    one = bench.save(model([node("Conv", "x w", "a"), node("Relu", "a", "b"), node("GlobalAveragePool", "b", "y")],
                           {"x": [1, 3, 64, 64]}, "y", {"w": w}))

    def peak(count):
        ran = subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, find_program(), "quantize", one, "--data", f"random:{count}",
                              "--threads", "1", "-o", bench.new(".onnx")], capture_output=True, text=True, check=True)
        kilobytes, status = map(int, ran.stdout.split())
        assert status == 0, ran.stderr
        return kilobytes
    few, many = peak(10), peak(2000)
    assert few > 4000, "that was not the program's memory"
    assert many < few * 1.02 + 2000 * 64 / 1024, "an id of a sample takes some bytes"


def test_K8(bench):
    """Values without elements: shapes keep the 0, statistics skip them, the run goes on."""
    nodes = [node("Slice", "x zero zero two", "none"), node("Relu", "none", "b"),
             node("ReduceMax", "none", "m", axes=[3], keepdims=1), node("Concat", "x b", "xb", axis=2), node("Conv", "xb w", "y")]
    one = model(nodes, {"x": [1, 1, 4, 4]}, "y m", {**CONV, "zero": np.array([0]), "two": np.array([2])})
    x = {"x": np.random.default_rng(3).uniform(-1, 1, (1, 1, 4, 4)).astype(np.float32)}
    got = bench.run(one, x)
    assert got["y"].shape == (1, 2, 4, 4)
    made = bench.quantize(one, x)
    assert bench.run(made, x)["y"].shape == (1, 2, 4, 4)
    for kind in ([1, 1, 3, 3], [4, 1, 3, 3]):
        batch = model([node("Conv", "x w", "y")], {"x": ["N", 1, 8, 8]}, "y", {"w": np.ones(kind, np.float32)})
        assert bench.run(batch, {"x": np.zeros((0, 1, 8, 8), np.float32)})["y"].shape == (0, kind[0], 6, 6)
    five = model([node("ReduceMax", "x", "y", axes=[4], keepdims=1)], {"x": [1, 1, 1, 0, 1]}, "y")
    assert bench.run(five, {"x": np.zeros((1, 1, 1, 0, 1), np.float32)})["y"].shape == (1, 1, 1, 0, 1)


def test_K9(bench):
    """Channels last for a model that has them first: refused, saying what to pass; never reshaped by itself."""
    one = bench.save(model([node("Relu", "x", "y")], {"x": [1, 3, 4, 4]}, "y"))
    x = np.arange(48, dtype=np.float32).reshape(4, 4, 3)
    path, out = bench.new(".npy"), bench.new(".npz")
    np.save(path, x)
    bench.refuse(2, "run", one, "--data", path, "-o", out, words=["1x3x4x4", "4x4x3", "--layout nhwc"])
    assert bench.call("run", one, "--data", path, "--layout", "nhwc", "-o", out).status == 0
    assert np.array_equal(np.load(out)["y"], x.transpose(2, 0, 1)[None])
    np.save(path, x.reshape(1, 48))
    bench.refuse(2, "run", one, "--data", path, "-o", out, words=["1x3x4x4", "1x48"])
    for input_shape, shape, index in (([1, 49, 10, 1], (12, 49, 10), "x[..., None]"), (["N", 49, 10, 1], (49, 10), "x[..., None]"),
                                      ([1, 49, 10, 1], (49, 10), "x[..., None]"), (["N", 1, 8, 8], (5, 8, 8), "x[:, None]"),
                                      ([1, 1, 8, 8], (8, 8), "x[None]")):
        lacks = bench.save(model([node("Relu", "x", "y")], {"x": input_shape}, "y"))
        short = np.zeros(shape, np.float32)
        np.save(path, short)
        bench.refuse(2, "run", lacks, "--data", path, "-o", out, words=[str(path), "x".join(map(str, shape)), f"save {index} instead of x"])
        np.save(path, eval(index, {"x": short}))
        assert bench.call("run", lacks, "--data", path, "-o", bench.new("")).status == 0


def test_K10_K11(bench):
    """What preprocessing makes of the first sample is printed; the second subtraction is warned of."""
    from PIL import Image
    picture = bench.new(".png")
    Image.fromarray(np.full((4, 4, 3), (200, 0, 0), np.uint8)).save(picture)
    means = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
    plain = bench.save(model([node("Relu", "x", "r"), node("Identity", "x", "y")], {"x": [1, 3, 4, 4]}, "y r"))

    def first(*options):
        out = bench.new(".npz")
        ran = bench.call("run", plain, "--data", picture, *means, *options, "-o", out, "-v")
        assert ran.status == 0, ran.log
        return np.load(out)["y"][0, :, 0, 0], ran.log
    rgb, log = first("--color", "rgb")
    bgr, _ = first("--color", "bgr")
    assert abs(rgb[0] - 1.3070) < 1e-4 and abs(bgr[2] - (200 - 103.53) / 57.375) < 1e-4 and abs(bgr[2] - 1.6814) < 1e-4
    assert "mean" in log and "rgb" in log and "max 1.30" in log.replace("max  ", "max "), log
    own = model([node("Sub", "x m", "d"), node("Div", "d s", "y")], {"x": [1, 3, 4, 4]}, "y",
                {"m": f32([123.675, 116.28, 103.53], 1, 3, 1, 1), "s": f32([58.395, 57.12, 57.375], 1, 3, 1, 1)})
    ran = bench.call("run", bench.save(own), "--data", picture, *means, "-o", bench.new(".npz"))
    assert ran.status == 0 and "warning: input 'x': the model begins with node 'd' (Sub)" in ran.log


def test_K13(bench):
    """Pixels are no codes of an int8 input: a mismatch is an error, or a conversion that was declared."""
    one = bench.save(model([node("Identity", "x", "y")], {"x": ([1, 1, 1, 5], S8)}, "y"))
    path, out = bench.new(".npy"), bench.new(".npz")
    np.save(path, np.array([0, 127, 128, 200, 255], np.uint8).reshape(1, 1, 1, 5))
    bench.refuse(2, "run", one, "--data", path, "-o", out, words=["u8", "s8"])
    assert bench.call("run", one, "--data", path, "--mean", "128", "-o", out).status == 0
    assert np.load(out)["y"].ravel().tolist() == [-128, -1, 0, 72, 127]
    np.save(path, np.linspace(0, 1, 5, dtype=np.float32).reshape(1, 1, 1, 5))
    bench.refuse(2, "run", one, "--data", path, "-o", out, words=["f32", "s8"])
