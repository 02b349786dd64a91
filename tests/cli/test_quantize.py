"""What quantize tells: the loss on held-out samples against the same done by hand, the gate, the next command."""
import json
import math
import pathlib
import shlex

import numpy as np
import onnx
import pytest
from PIL import Image
from bench import f32, model, node
from program import check_error, run_program

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"
MODEL, IMAGES = DIGITS / "digits.onnx", DIGITS / "images"
PATHS = sorted(IMAGES.iterdir())


def tare(*arguments, status=0):
    ran = run_program(*arguments)
    assert ran.status == status, ran.log
    return ran.out


def told(*arguments, status=0):
    return json.loads(tare(*arguments, "--json", status=status))


def listed(path, images):
    path.write_text("".join(f"{image}\n" for image in images))
    return path


def loss_by_hand(folder, calibrate, measure, *options):
    """The model of some samples, compared on others."""
    some, others = listed(folder / "some.txt", calibrate), listed(folder / "others.txt", measure)
    tare("quantize", MODEL, "--data", some, "-o", folder / "some.onnx", *options)
    compared = told("compare", MODEL, folder / "some.onnx", "--data", others)
    return compared


def find_outputs(compared):
    """The metrics of the one comparison, by output."""
    (one,) = compared["comparisons"]
    return {name: value for name, value in one["values"].items() if value.get("output", True)}


@pytest.mark.parametrize("method", ["mse", "minmax", "entropy"])
def test_loss_is_that_of_held_out_samples(method, tmp_path):
    images = PATHS[:23]
    said = told("quantize", MODEL, "--data", listed(tmp_path / "all.txt", images), "--method", method, "-o",
                tmp_path / "all.onnx")
    assert said["samples"] == {"available": 23, "given": 23, "calibrated": 23, "held_out": 4, "measured": 4,
                               "measured_on": "held_out", "synthetic": False}
    held = images[4::5]
    want = find_outputs(loss_by_hand(tmp_path, [image for image in images if image not in held], held, "--method", method))
    assert list(said["outputs"]) == list(want)
    for name, metrics in want.items():
        for key in ("sqnr_db", "cosine", "relative_l2", "top1", "sqnr_worst_db", "worst_sample"):
            assert said["outputs"][name][key] == metrics[key], (name, key)


@pytest.mark.parametrize("method", ["mse", "average", "auto"])
def test_all_samples_make_the_ranges(method, tmp_path):
    """Holding out changes nothing of what is written."""
    data = listed(tmp_path / "all.txt", PATHS[:20])
    tare("quantize", MODEL, "--data", data, "--method", method, "-o", tmp_path / "a.onnx")
    if method == "auto":
        tare("quantize", MODEL, "--data", data, "--method", method, "--holdout", data, "-o", tmp_path / "b.onnx")
    else:
        tare("calibrate", MODEL, "--data", data, "-o", tmp_path / "ranges.json")
        tare("quantize", MODEL, "--ranges", tmp_path / "ranges.json", "--method", method, "-o", tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_too_few_to_hold_out(tmp_path):
    said = told("quantize", MODEL, "--data", IMAGES, "--samples", "9", "-o", tmp_path / "q.onnx")
    assert said["samples"]["held_out"] == 0 and said["samples"]["measured"] == 9
    assert said["samples"]["measured_on"] == "calibration"
    text = tare("quantize", MODEL, "--data", IMAGES, "--samples", "9", "-o", tmp_path / "q.onnx")
    assert "on 9 samples, those that calibrate" in text
    assert "9 samples to calibrate on are few, and the loss was measured on the same" in " ".join(text.split())


def test_inputs_are_told(tmp_path):
    """What goes in, step by step, and the numbers it came to over all samples."""
    said = told("quantize", MODEL, "--data", listed(tmp_path / "list.txt", PATHS[:12]), "--resize", "8x8:opencv",
                "--mean", "128", "--std", "64", "-o", tmp_path / "q.onnx")
    pixels = np.stack([np.asarray(Image.open(path).convert("L"), np.float32) for path in PATHS[:12]])
    assert pixels.shape == (12, 8, 8)
    assert said["inputs"] == {"image": {
        "type": "f32", "shape": [1, 1, 8, 8], "layout": "nchw", "data": str(tmp_path / "list.txt"), "ignored": None,
        "preprocess": {"color": "gray", "yuv_range": None, "resize": "8x8", "resize_by": "opencv", "fit": None, "pad": [],
                       "crop": None, "divide_by_255": False, "mean": [128], "std": [64], "scale": None},
        "min": (pixels.min() - 128) / 64, "max": (pixels.max() - 128) / 64, "seen_samples": 12}}
    assert said["had_scales"] == 0


def test_a_bad_result_is_a_warning(tmp_path):
    """And what comes next are commands that work, of the very files."""
    ruin = ["quantize", MODEL, "--data", IMAGES, "--scale", "1", "--method", "percentile", "--percentile", "51"]
    said = told(*ruin, "-o", tmp_path / "q.onnx")
    (loss,) = said["outputs"].values()
    assert loss["sqnr_db"] < 15
    assert f"int8 loses much at 'logits': {loss['sqnr_db']:.2f} dB" in said["warnings"][-1]
    debug, again = map(shlex.split, said["next"])
    assert debug[:4] == ["tare", "debug", str(MODEL), str(tmp_path / "q.onnx")]
    assert "--method mse" in said["next"][1] and "percentile --" not in said["next"][1]
    again[again.index("better.onnx")] = tmp_path / "better.onnx"
    better = told(*again[1:])
    assert better["warnings"] == [] and len(better["next"]) == 1
    assert "  warning " not in tare(*again[1:])


def test_doubts_about_samples_are_told(tmp_path):
    """Also where nobody heard the warning: in JSON, and in the summary with --quiet."""
    quantize = ["quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "q.onnx"]
    (warning,) = told(*quantize, "-q")["warnings"]
    assert warning.startswith("input 'image': pixels go in as they are, 0...255")
    assert "  warning     input 'image': pixels go in" in tare(*quantize, "-q")
    loud = run_program(*quantize)
    assert "pixels go in" in loud.log and "pixels go in" not in loud.out
    assert told(*quantize, "--scale", "1")["warnings"] == []


def test_what_has_scales_is_told(tmp_path):
    tare("quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "q.onnx")
    said = told("quantize", tmp_path / "q.onnx", "--data", IMAGES, "-o", tmp_path / "again.onnx")
    assert said["had_scales"] > 5
    assert f"quantized: {said['had_scales']} of" in tare("quantize", tmp_path / "q.onnx", "-o", tmp_path / "again.onnx")


CLASSES = {  # nodes behind x of [1, 4], what y is, and whether its largest number is a class
    "logits": ([node("MatMul", "x w", "m"), node("Add", "m b", "y")], ["N", 4], True),
    "scores": ([node("MatMul", "x w", "m"), node("Sigmoid", "m", "y")], ["N", 4], True),
    "softmax": ([node("Softmax", "x", "y")], ["N", 4], True),
    "spelled_softmax": ([node("Exp", "x", "e"), node("ReduceSum", "e axis", "s"), node("Div", "e s", "y")],
                        ["N", 4], True),
    "features": ([node("MatMul", "x w", "m"), node("Relu", "m", "y")], ["N", 4], False),
    "boxes": ([node("Reshape", "x rows", "r"), node("MatMul", "r w1", "y")], [4, 4], False),
    "decoded_boxes": ([node("MatMul", "x w", "m"), node("Split", "m", "p q", axis=1), node("Exp", "q", "size"),
                       node("Concat", "p size", "y", axis=1)], ["N", 4], False),
    "number_a_sample": ([node("MatMul", "x w1", "m"), node("ReduceMean", "m", "y", axes=[1], keepdims=0)], ["N"], False),
}


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_a_class(name, bench):
    nodes, shape, is_class = CLASSES[name]
    first = 1 if name == "boxes" else "N"
    constants = {"w": np.eye(4, dtype=np.float32), "b": f32([1, 2, 3, 4]), "w1": f32([[1, 2, 3, 4]] if name == "boxes"
                 else np.eye(4)), "rows": np.array([4, 1]), "axis": np.array([1])}
    used = {key: value for key, value in constants.items() if any(key in each.input for each in nodes)}
    net = bench.save(model(nodes, {"x": [first, 4]}, "y", used))
    x = np.random.default_rng(3).normal(size=(12, 4)).astype(np.float32)
    data = bench.samples({"x": x[:, None] if name == "boxes" else x})
    compared = json.loads(bench.call("compare", net, net, "--data", data, "--json").out)
    ((_, output),) = find_outputs(compared).items()
    assert output["is_class"] is is_class


def test_auto_measures_on_what_it_did_not_try(tmp_path):
    said = told("quantize", MODEL, "--data", IMAGES, "--samples", "20", "--method", "auto", "-o", tmp_path / "q.onnx")
    assert said["samples"]["held_out"] == said["samples"]["measured"] == 2  # of 4, 9, 14, 19 the second and the last


def test_given_samples_are_measured_on(tmp_path):
    others = listed(tmp_path / "others.txt", PATHS[20:31])
    said = told("quantize", MODEL, "--data", IMAGES, "--samples", "20", "--holdout", others, "-o", tmp_path / "q.onnx")
    assert said["samples"]["held_out"] == 0 and said["samples"]["calibrated"] == 20
    assert said["samples"]["measured_on"] == "given" and said["samples"]["measured"] == 11
    compared = told("compare", MODEL, tmp_path / "q.onnx", "--data", others)
    for name, metrics in find_outputs(compared).items():
        assert said["outputs"][name]["sqnr_db"] == metrics["sqnr_db"]


def test_samples_beside_ranges_are_measured_on(tmp_path):
    tare("calibrate", MODEL, "--data", IMAGES, "--samples", "12", "-o", tmp_path / "ranges.json")
    said = told("quantize", MODEL, "--ranges", tmp_path / "ranges.json", "--data", IMAGES, "--samples", "12:29", "-o",
                tmp_path / "q.onnx")
    assert said["samples"]["calibrated"] == 12 and said["samples"]["measured"] == 17
    assert said["samples"]["measured_on"] == "samples"


def test_ranges_alone_are_not_measured(tmp_path):
    tare("calibrate", MODEL, "--data", IMAGES, "-o", tmp_path / "ranges.json")
    arguments = ["quantize", MODEL, "--ranges", tmp_path / "ranges.json", "-o", tmp_path / "q.onnx"]
    said = told(*arguments)
    assert said["samples"]["measured"] == 0 and said["outputs"] == {} and said["next"] == []
    assert "not measured" in tare(*arguments)
    check_error(run_program(*arguments, "--fail-below", "1", "-o", tmp_path / "r.onnx"), 1, "no output was measured")
    assert not (tmp_path / "r.onnx").exists()


def test_gate(tmp_path):
    arguments = ["quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "q.onnx"]
    sqnr = min(output["sqnr_db"] for output in told(*arguments)["outputs"].values())
    (tmp_path / "q.onnx").unlink()
    refused = run_program(*arguments, "--fail-below", str(sqnr + .1))
    check_error(refused, 1, "SQNR", f"{sqnr + .1:.2f}")
    assert "SQNR dB" in refused.out and not (tmp_path / "q.onnx").exists()
    tare(*arguments, "--fail-below", str(math.floor(sqnr)))
    assert (tmp_path / "q.onnx").exists()


def test_text_fits_and_names_the_next_command(tmp_path):
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    for image in PATHS[:12]:
        (folder / image.name).write_bytes(image.read_bytes())
    text = tare("quantize", MODEL, "--data", folder, "--samples=10", "-o", folder.parent / "q.onnx")
    said, _, command = text.partition("  next ")
    assert max(len(line) for line in said.splitlines() if str(tmp_path) not in line) <= 80 and len(text.splitlines()) <= 16
    assert command.count("\n") == 1  # one line, however long: to be copied
    command = shlex.split(command)
    assert command[:2] == ["tare", "debug"] and str(folder) in command
    assert run_program(*command[1:]).status == 0


def test_scales_that_are_there_need_no_data(tmp_path):
    tare("quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "q.onnx")
    said = told("quantize", tmp_path / "q.onnx", "-o", tmp_path / "again.onnx")
    assert said["samples"]["calibrated"] == 0
    check_error(run_program("quantize", MODEL, "-o", tmp_path / "none.onnx"), 2, "--data", "--ranges")


def test_multiplications_on_codes(tmp_path):
    said = told("quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "q.onnx")
    assert said["quantized_macs"] == said["macs"] > 0
    assert said["nodes"] == said["quantized_nodes"] + sum(len(group["nodes"]) for group in said["float"])
    kept = told("quantize", MODEL, "--data", IMAGES, "--keep-float", "conv0", "-o", tmp_path / "k.onnx")
    assert kept["quantized_macs"] < kept["macs"] == said["macs"]
    (group,) = [group for group in kept["float"] if group["why"] == "a rule keeps it float"]
    assert "conv0" in [node["name"] for node in group["nodes"]]


def test_synthetic_is_said(tmp_path):
    arguments = ["quantize", MODEL, "--data", "random:12", "-o", tmp_path / "q.onnx"]
    assert told(*arguments)["samples"]["synthetic"]
    assert "SYNTHETIC" in tare(*arguments)


def test_output_is_no_sample(tmp_path):
    image = tmp_path / "x.png"
    image.write_bytes(PATHS[0].read_bytes())
    for option in ("--data", "--holdout"):
        data = ["--data", IMAGES] if option == "--holdout" else []
        ran = run_program("quantize", MODEL, *data, option, image, "-o", image)
        assert ran.status == 2 and image.read_bytes() == PATHS[0].read_bytes()


def test_contracts_of_a_recipe_hold_for_other_data(tmp_path):
    """Each input of a recipe has its preprocessing; --data and --holdout name other numbers for the same inputs."""
    rng = np.random.default_rng(3)
    onnx.save(model([node("Mul", "a b", "m"), node("MatMul", "m w", "y")], {"a": [1, 8], "b": [1, 8]}, "y",
                    {"w": f32(rng.normal(size=(8, 4)), 8, 4)}), tmp_path / "m.onnx")
    arrays = {name: rng.normal(10, 3, (12, 1, 8)).astype(np.float32) for name in "ab"}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        np.save(tmp_path / f"{name}_done.npy", (array - np.float32(10)) * np.float32(.25 if name == "a" else .5))
    (tmp_path / "r.yaml").write_text("inputs:\n" + "".join(
        f"  - {{name: {name}, data: {name}.npy, preprocess: {{mean: 10, scale: {scale}}}}}\n"
        for name, scale in {"a": .25, "b": .5}.items()))
    given = ["--data", f"a={tmp_path}/a.npy", "--data", f"b={tmp_path}/b.npy"]
    held = ["--holdout", f"a={tmp_path}/a.npy", "--holdout", f"b={tmp_path}/b.npy"]
    done = [word for name in "ab" for word in ("--data", f"{name}={tmp_path}/{name}_done.npy")]
    recipe, said = ["--recipe", tmp_path / "r.yaml"], []
    for options in (recipe, [*recipe, *given], done, [*recipe, *held], [*done, *[word.replace("--data", "--holdout") for word in done]]):
        said.append(told("quantize", tmp_path / "m.onnx", *options, "-o", tmp_path / f"{len(said)}.onnx"))
    files = [(tmp_path / f"{i}.onnx").read_bytes() for i in range(5)]
    assert files.count(files[0]) == 5
    assert said[0]["outputs"] == said[1]["outputs"] == said[2]["outputs"]
    assert said[3]["outputs"] == said[4]["outputs"] != said[0]["outputs"]
