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
    (["--color", "RGB"], ["--color: no 'RGB'; did you mean 'rgb'?"]),
    (["--method", "Entropy"], ["did you mean 'entropy'?"]),
    (["--samples", "0"], ["leaves none of the 2", "pass N for the first N, or A:B"]),
    (["--rezise", "4x4"], ["did you mean '--resize'?"]),
    (["--keep-float", "a", "b"], ["'b' stands alone behind --keep-float", "--keep-float A,B"]),
    (["--mean", "127", "--std", "1/128"], ["std divides", "pass 128"]),
    (["--mean", "127,", "127,", "127"], ["'127,' stands alone behind --mean", "--mean A,B,C"]),
    (["--mean", "1 2 3"], ["neither spaces nor brackets, --mean A,B,C"]),
    (["--mean", "[1,2,3]"], ["neither spaces nor brackets, --mean A,B,C"]),
    (["--mean", "--std", "3"], ["--mean needs a value, and '--std' behind it is an option"]),
    (["--resize", "4", "4"], ["'4' stands alone behind --resize, whose value is one word, --resize WxH"]),
    (["--resize", "6x4:fit"], ["pass --resize 4x4:fit"]),
    (["--scale", "1/0"], ["it divides by 0"]),
    (["--std", "-1"], ["std -1 is below 0"]),
    (["--crop", "9x9"], ["only 4x4 before it; pass a smaller --crop or a larger --resize"]),
    (["--std", "0"], ["pass 1 where there was none"]),
    (["--percentile", "0.999"], ["outside 50 to 100 (the share kept"]),
    (["--max-mem", "1"], ["add K, M or G"]),
    (["--act", "int8"], ["did you mean 's8'?"]),
    (["--act", "UINT16"], ["did you mean 'u16'?"]),
    (["--SCALE", "1"], ["did you mean '--scale'?"]),
    (["--size", "4"], ["--resize WxH"]),
    (["--normalize"], ["--mean and --std"]),
    (["--per-channel"], ["a scale for each channel already"]),
    (["--bits", "8"], ["--act takes a code type"]),
    (["--calib-method", "mse"], ["by --method"]),
    (["-out", "o.onnx"], ["no option '-out'; did you mean '--output'?"]),
    (["pictures.npy"], ["'pictures.npy' is one operand too many: samples go behind --data"]),
    (["more.onnx"], ["what is to be written goes behind -o"]),
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
    check_error(bench.call("info", folder / "net.onnx"), 5, f"in '{folder}/' there is other_0.onnx, other_1.onnx",
                "and 2 more")
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


def test_options_of_no_verb(bench, colours):
    check_error(bench.call("convert", colours[0], "-o", "o.onnx"), 2, "`tare help convert` lists them; usage: tare convert IN OUT")


def test_data_that_are_none(bench, colours):
    net, pictures = colours
    labels = bench.new(".csv")
    labels.write_text("file,label\n0.png,0\n")
    check_error(quantize(bench, (net, f"{pictures}/*.png")), 5, "a pattern is not expanded: pass the directory")
    check_error(quantize(bench, (net, labels)), 5, "pass the pictures to --data and it to --labels")
    check_error(quantize(bench, (labels, pictures)), 4, "labels behind --labels, the model comes first")
    check_error(quantize(bench, colours, "--recipe", "none.yaml"), 5, "--recipe takes a YAML file: none.yaml")


def test_a_layout_that_the_array_has(bench, colours):
    data = bench.new(".npy")
    np.save(data, np.zeros((2, 3, 4, 4), np.float32))
    check_error(quantize(bench, (colours[0], data), "--layout", "nhwc"), 2, "leave --layout out")


def test_a_scale_that_makes_pixels_huge(bench, colours):
    ran = quantize(bench, colours, "--scale", "255")
    assert ran.status == 0 and "so large a one makes them huge; for 0...1 pass 1/255" in ran.log
    assert "huge" not in quantize(bench, colours, "--scale", "1").log
    assert "huge" not in quantize(bench, colours, "--mean", ".5", "--scale", "2").log


def test_samples_left_out(bench, colours):
    ran = quantize(bench, colours, "--samples", "1", "--scale", "1")
    assert "1 of 2 by --samples, in the order of names or rows" in ran.out
    assert "by --samples" not in quantize(bench, colours, "--scale", "1").out


def test_gray_is_told(bench):
    net, picture = bench.save(model([node("Relu", "x", "y")], {"x": [1, 1, 4, 4]}, "y")), bench.new(".png")
    Image.fromarray(np.full((4, 4), 40, np.uint8)).save(picture)
    assert "color gray," in quantize(bench, (net, picture), "--scale", "1").out


@pytest.fixture
def pair(bench, colours):
    """A float model and what was made of it."""
    made = bench.new(".onnx")
    assert quantize(bench, colours, "--scale", "1", out=made).status == 0
    return colours[0], made


def test_models_of_debug(bench, colours, pair):
    net, made = pair
    data = ["--data", colours[1], "--scale", "1"]
    turned = bench.call("debug", made, net, *data)
    assert turned.status == 0 and "taken in the other order" in turned.log
    assert turned.out == bench.call("debug", net, made, *data).out
    alone = bench.call("debug", made, *data)
    assert alone.status == 0 and "give the float model that it was made of first" in alone.log
    assert "next" not in alone.out
    told = bench.call("debug", net, made, *data, "--method", "minmax")
    assert told.status == 0 and f"'{made}' is quantized already, so that --method only goes into the command" in told.log


def test_labels_that_are_none(bench, colours, pair):
    labels = bench.new(".csv")
    compare = ["compare", *pair, "--data", colours[1], "--scale", "1", "--labels"]
    form = "--labels takes a text with a line 'file,label'"
    check_error(bench.call(*compare, labels), 5, form, "No such file")
    check_error(bench.call(*compare, colours[1]), 5, form, "is a directory")
    labels.write_text("name,label\n0,1\n")
    check_error(bench.call(*compare, labels), 3, "'file', 'id' or 'row'", "such as file,label")


def test_labels_of_another_net(bench):
    """A net that names the brightest of ten channels is right about each sample; by other labels it is as one that guesses."""
    net = bench.save(model([node("Relu", "x", "y")], {"x": [1, 10]}, "y"))
    data, labels = bench.new(".npy"), bench.new(".txt")
    classes = np.arange(40) % 10
    np.save(data, np.eye(10, dtype=np.float32)[classes].reshape(40, 10) + 1)

    def compare(numbers):
        labels.write_text("".join(f"{i}\n" for i in numbers))
        ran = bench.call("compare", net, net, "--data", data, "--labels", labels)
        assert ran.status == 0
        return ran.log

    assert "as guessing would: are the labels numbered as the model's classes" in compare((classes + 1) % 10)
    assert "guessing" not in compare(classes)


def test_holdouts(bench, colours):
    net, pictures = colours
    check_error(quantize(bench, colours, "--holdout", pictures / "none"), 5, "--holdout: ", "No such file")
    ran = quantize(bench, colours, "--holdout", pictures, "--scale", "1")
    assert ran.status == 0 and "--holdout is --data: the loss is measured on what calibrates" in ran.log


def test_a_model_in_the_wrong_place(bench, colours, pair):
    net, made = pair
    data = ["--data", colours[1], "--scale", "1"]
    assert "so give the float model first" in bench.call("compare", made, net, *data).log
    assert "give the float model first" not in bench.call("compare", net, made, *data).log
    check_error(bench.call("compare", net, "dump", *data), 5, "no such model, nor a directory of dumped tensors")
    check_error(bench.call("debug", net, colours[1], *data), 5, "dumps are for `tare compare`")


def test_a_recipe_with_tabs(bench, colours):
    recipe = bench.new(".yaml")
    recipe.write_text("inputs:\n\t- data: here\n")
    check_error(quantize(bench, colours, "--recipe", recipe), 3, "indented by spaces, not by tabs")
