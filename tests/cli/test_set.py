"""Option --set: any key of a recipe from the command line; flags win over it, and it wins over the recipe."""
import json
import numpy as np
import onnx
import pytest
from bench import f32, model, node
from program import check_error, run_program


@pytest.fixture
def room(tmp_path):
    """A model, data and a recipe for them, with paths relative to the folder of the recipe."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    net = model([node("Conv", "x w", "c", kernel_shape=[1, 1]), node("Softmax", "c", "s", axis=1), node("Conv", "s w", "y")],
                {"x": [1, 3, 4, 4]}, "y", {"w": f32(np.random.default_rng(1).normal(size=(3, 3, 1, 1)))})
    onnx.save(net, folder / "net.onnx")
    np.save(folder / "x.npy", f32(np.random.default_rng(2).normal(size=(12, 3, 4, 4))))
    (folder / "r.yaml").write_text("model: net.onnx\ninputs: {data: x.npy}\nquantization:\n  defaults: {method: minmax}\n"
                                   "  rules:\n  - {op: Softmax, keep-float: true}\n")
    return folder


def quantize(room, *options, with_recipe=True):
    """The bytes written; without the recipe the model and data are given."""
    out = room / "out.onnx"
    out.unlink(missing_ok=True)
    given = ["--recipe", "recipes/r.yaml"] if with_recipe else ["recipes/net.onnx", "--data", "recipes/x.npy"]
    ran = run_program("quantize", *given, "-o", out, *options, cwd=room.parent)
    assert ran.status == 0, ran.log
    return out.read_bytes()


KEEP = ("--keep-float", "Softmax")


@pytest.mark.parametrize("set_, flags", [
    (["quantization.defaults.method=entropy"], ["--method", "entropy", *KEEP]),
    (["quantization.defaults.per_tensor=yes"], ["--method", "minmax", "--per-tensor", *KEEP]),
    (["quantization.rules=[]"], ["--method", "minmax"]),
    (["quantization.rules[0].op=Conv"], ["--method", "minmax", "--keep-float", "Conv"]),
    (["quantization.rules[1]={op: Conv, keep-float: true}"], ["--method", "minmax", "--keep-float", "Softmax,Conv"]),
    (["quantization.defaults={act: s8}"], ["--method", "minmax", "--act", "s8", *KEEP]),
    (["samples=5"], ["--samples", "5", "--method", "minmax", *KEEP]),
    (["inputs.preprocess={mean: [1, 2, 3], std: [2]}"], ["--mean", "1,2,3", "--std", "2", "--method", "minmax", *KEEP]),
    (["quantization.defaults.method=mse", "quantization.defaults.method=average"], ["--method", "average", *KEEP]),
    (["inputs[0].data=recipes/x.npy"], ["--method", "minmax", *KEEP]),
])
def test_over_the_recipe(room, set_, flags):
    options = [word for each in set_ for word in ("--set", each)]
    assert quantize(room, *options) == quantize(room, *flags, with_recipe=False)
    assert quantize(room, *[f"--set={each}" for each in set_]) == quantize(room, *flags, with_recipe=False)


def test_flags_win(room):
    set_ = ["--set", "quantization.defaults.method=entropy", "--set", "quantization.defaults.act=s8"]
    for options in ([*set_, "--method", "average"], ["--method", "average", *set_]):
        assert quantize(room, *options) == quantize(room, "--method", "average", "--act", "s8", *KEEP, with_recipe=False)


def test_without_a_recipe(room):
    by_set = quantize(room, "--set", "quantization.defaults.method=minmax", "--set", "inputs.preprocess.mean=[1, 2, 3]",
                      with_recipe=False)
    assert by_set == quantize(room, "--method", "minmax", "--mean", "1,2,3", with_recipe=False)
    ran = run_program("quantize", "--set", "model=recipes/net.onnx", "--set", "inputs=recipes/x.npy", "--set",
                      "outputs=set.onnx", "--set", "samples=1:9", cwd=room.parent)
    assert ran.status == 0, ran.log
    assert (room.parent / "set.onnx").read_bytes() == quantize(room, "--samples", "1:9", with_recipe=False)


def test_debug_takes_it_too(room):
    answers = [run_program("debug", "--recipe", "r.yaml", *options, "--json", cwd=room)
               for options in (["--method", "average"], ["--set", "quantization.defaults.method=average"], [])]
    assert all(ran.status == 0 for ran in answers)
    told = [{key: what for key, what in json.loads(ran.out).items() if key != "next"} for ran in answers]
    assert told[0] == told[1] != told[2]


@pytest.mark.parametrize("text, words", [
    ("quantization.defaults.metod=mse", ["quantization.defaults: no key 'metod'", "did you mean 'method'"]),
    ("quantisation.defaults.method=mse", ["no key 'quantisation'", "did you mean 'quantization'"]),
    ("method=mse", ["did you mean 'quantization.defaults.method'"]),
    ("nonsense=1", ["no key 'nonsense'; there are: model samples inputs"]),
    ("quantization.defaults.act=u9", ["quantization.defaults.act", "'u9'"]),
    ("calibration.skip-nonfinite=maybe", ["calibration.skip-nonfinite", "'maybe' is not on or off"]),
    ("quantization.rules[2].op=Conv", ["quantization.rules: has 1 items; [1] would be the next"]),
    ("quantization.rules[-1].op=Conv", ["is no index such as [0]"]),
    ("quantization.rules[0].node=y", ["a rule names one of op, node and value"]),
    ("quantization.defaults.method.x=1", ["has no keys of its own"]),
    ("quantization=1", ["wants keys, not a value"]),
    ("samples=[1, 2]", ["samples: wants one value"]),
    ("samples=", ["samples", "has no value"]),
    ("samples=&a 3", ["anchors are not read"]),
    ("samples=3\n---\n4", ["a second document"]),
    ("samples", ["'samples' is not KEY=VALUE"]),
    ("=3", ["is not KEY=VALUE"]),
    ("quantization.rules=[{op: Conv}", ["--set"]),
])
def test_what_is_refused(room, text, words):
    ran = run_program("quantize", "--recipe", "r.yaml", "-o", "q.onnx", "--set", text, cwd=room)
    check_error(ran, 2, "--set", *words)
    assert not (room / "q.onnx").exists()


def test_an_input_without_data(room):
    ran = run_program("quantize", "net.onnx", "-o", "q.onnx", "--set", "inputs.name=x", cwd=room)
    check_error(ran, 2, "--data is needed", "inputs[0] has no data")
