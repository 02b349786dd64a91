"""Errors of a first day say what to do next, and in which of the user's words."""
import numpy as np
import pytest
from bench import f32, model, node
from PIL import Image
from program import check_error


@pytest.fixture
def colours(bench):
    """A net of colour pictures, and pictures."""
    weight = f32(np.linspace(-1, 1, 2 * 3), 2, 3, 1, 1)
    net = bench.save(model([node("Conv", "x w", "y")], {"x": [1, 3, 4, 4]}, "y", {"w": weight}))
    pictures = bench.new("")
    pictures.mkdir()
    for i in range(2):
        Image.fromarray(np.full((4, 4, 3), 40 + 100 * i, np.uint8)).save(pictures / f"{i}.png")
    return net, pictures


def quantize(bench, colours, *options, out=None):
    net, pictures = colours
    return bench.call("quantize", net, "--data", pictures, "-o", out or bench.new(".onnx"), *options)


@pytest.mark.parametrize("options, words", [
    (["--color", "gray"], ["--color gives 1 channel, it wants 3", "leave --color out, or pass rgb or bgr"]),
    (["--color", "RGB"], ["--color: no 'RGB'; there are: as-is rgb bgr"]),
    (["--method", "Entropy"], ["did you mean 'entropy'?"]),
    (["--samples", "0"], ["leaves none of the 2", "pass N for the first N, or A:B"]),
    (["--rezise", "4x4"], ["did you mean '--resize'?"]),
    (["--keep-float", "a", "b"], ["'b' stands alone behind --keep-float", "--keep-float A,B"]),
    (["--mean", "127", "--std", "1/128"], ["std divides", "pass 128"]),
])
def test_quantize(options, words, bench, colours):
    check_error(quantize(bench, colours, *options), 2, *words)


def test_color_for_one_channel(bench, colours):
    net = bench.save(model([node("Relu", "x", "y")], {"x": [1, 1, 4, 4]}, "y"))
    check_error(quantize(bench, (net, colours[1]), "--color", "bgr"), 2, "3 channels, it wants 1", "or pass gray")


def test_what_is_no_list_is_not_taken_for_one(bench, colours):
    """A second file is one operand too many, whatever stands before it."""
    net, pictures = colours
    check_error(bench.call("quantize", net, "--keep-float", "a", net, "--data", pictures, "-o", "o.onnx"), 2,
                "one operand too many")


def test_a_tiny_std_alone(bench, colours):
    ran = quantize(bench, colours, "--std", "1/128")
    assert ran.status == 0 and "std divides" in ran.log and "--scale" in ran.log


def test_a_rule_for_nothing(bench, colours):
    ran = quantize(bench, colours, "--keep-float", "nothing_alike")
    assert ran.status == 0 and "no node or op 'nothing_alike'" in ran.log and "`tare info MODEL --nodes --values`" in ran.log


def test_an_output_that_is_an_input(bench, colours):
    check_error(quantize(bench, colours, out=colours[0]), 2, "inputs are never touched, so name another")


def test_a_missing_model(bench, colours, tmp_path):
    folder = tmp_path / "six"
    folder.mkdir()
    check_error(bench.call("info", folder / "net.onnx"), 5, f"there is no model in '{folder}/'")
    for i in range(6):
        (folder / f"other_{i}.onnx").write_bytes(b"")
    check_error(bench.call("info", folder / "net.onnx"), 5, "there is other_0.onnx, other_1.onnx", "and 2 more")
    check_error(bench.call("info", folder / "othr_5.onnx"), 5, "did you mean", "other_5.onnx'?")
    check_error(bench.call("info", folder / "nowhere" / "net.onnx"), 5, f"there is no directory '{folder}/nowhere/'")
    check_error(bench.call("info", "net.onnx", cwd=folder), 5, "there is other_0.onnx")


def test_models_that_are_none_of_each_other(bench, colours):
    net, pictures = colours
    smaller = bench.save(model([node("Relu", "x", "y")], {"x": [1, 3, 2, 2]}, "y"))
    check_error(bench.call("compare", net, smaller, "--data", pictures), 2, f"read for the first model, '{net}'",
                "compare models with the same inputs")
    alien = bench.save(model([node("Relu", "x", "z")], {"x": [1, 3, 4, 4]}, "z"))
    check_error(bench.call("compare", net, alien, "--data", pictures), 2, "no value in common", "is one made of the other?")
