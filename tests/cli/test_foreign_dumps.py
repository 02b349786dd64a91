"""Dumps as boards and other tools write them: a directory of .npy a sample, joined by names that files can have."""
import json

import numpy as np
import pytest
from bench import f32, model, node

SAMPLES = 3


def net():
    """Names with what file names cannot hold; the BatchNormalization goes when the model is optimized."""
    ones = np.ones(4, np.float32)
    return model([node("Conv", "x w", "/head/conv:0"), node("BatchNormalization", "/head/conv:0 s b m v", "/head/norm:0"),
                  node("Relu", "/head/norm:0", "/head/Relu:0")], {"x": [1, 3, 5, 5]}, "/head/Relu:0",
                 {"w": np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32), "s": ones / 2, "b": ones / 3,
                  "m": ones / 5, "v": ones})


def feeds():
    return f32(np.random.default_rng(2).normal(size=(SAMPLES, 1, 3, 5, 5)))


@pytest.fixture
def made(bench):
    """The model, its data, and what it gives, by sample id and value."""
    path, data, out = bench.save(net()), bench.samples({"x": feeds()}), bench.new("")
    assert bench.call("run", path, "--data", data, "--tap", "all", "-o", out).status == 0
    return path, data, {npz.stem: dict(np.load(npz)) for npz in sorted(out.glob("*.npz"))}


def write(folder, arrays, spell):
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{spell(name)}.npy", array)
    return folder


def write_all(bench, dump, spell, change=lambda arrays: arrays):
    root = bench.new("")
    root.mkdir()
    for id_, arrays in dump.items():
        write(root / id_, change(arrays), spell)
    return root


def tell(bench, *arguments):
    ran = bench.call("compare", *arguments, "--json")
    assert ran.status == 0, ran.log
    (comparison,) = json.loads(ran.out)["comparisons"]
    return comparison


def underscored(name):
    return name.replace("/", "_").replace(":", "_")


@pytest.mark.parametrize("spell", [underscored, lambda name: underscored(name).strip("_"),
                                   lambda name: name.replace("/", "|")], ids=["underscores", "stripped", "bars"])
@pytest.mark.parametrize("is_reference", [False, True])
def test_a_directory_a_sample(bench, made, spell, is_reference):
    path, data, dump = made
    off = write_all(bench, dump, spell, lambda arrays: {name: array + np.float32(.5) for name, array in arrays.items()})
    sides = [off, path] if is_reference else [path, off]
    told = tell(bench, *sides, "--data", data, "--nodes")
    assert told["unmatched"] == 0 and told["without_partner"] == []
    want = {"x", "/head/conv:0", "/head/norm:0", "/head/Relu:0"}
    assert set(told["values"]) == ({spell(name) for name in want} if is_reference else want)
    for value in told["values"].values():
        assert value["samples"] == SAMPLES and value["rmse"] == pytest.approx(.5, rel=1e-6)


def test_one_sample(bench, made):
    path, data, dump = made
    flat = write(bench.new(""), dump["0001"], underscored)
    told = tell(bench, path, flat, "--data", data, "--samples", "1:2", "--nodes")
    assert len(told["values"]) == 4 and all(value["exact"] for value in told["values"].values())
    ran = bench.call("compare", path, flat, "--data", data)
    assert ran.status == 2 and "has the tensors of one sample, and there are 3" in ran.log
    assert all(value["exact"] for value in tell(bench, flat, flat)["values"].values())


def test_what_passes_took_out(bench, made):
    """The dump has the BatchNormalization's output, the optimized model makes it in the Conv."""
    path, data, dump = made
    optimized = bench.new(".onnx")
    assert bench.call("optimize", path, "-o", optimized).status == 0
    told = tell(bench, optimized, write_all(bench, dump, underscored), "--data", data, "--nodes")
    assert told["values"]["/head/Relu:0"]["sqnr_db"] > 120
    lost = {item["name"]: item for item in told["without_partner"]}
    assert set(lost) == {"_head_conv_0"} and lost["_head_conv_0"]["of"] == "other"


def test_values_without_partner_are_told(bench, made):
    path, data, dump = made

    def change(arrays):
        kept = {name: array for name, array in arrays.items() if name != "/head/norm:0"}
        return kept | {"debug_counter": np.zeros(3, np.float32)}

    off = write_all(bench, dump, underscored, change)
    told = tell(bench, path, off, "--data", data, "--nodes")
    assert {(item["name"], item["of"]) for item in told["without_partner"]} == {("/head/norm:0", "reference"),
                                                                                ("debug_counter", "other")}
    text = bench.call("compare", path, off, "--data", data, "--nodes").out
    assert "2 values had no partner, the first '/head/norm:0'" in text
    told = tell(bench, path, off, "--data", data)
    assert list(told["values"]) == ["/head/Relu:0"] and told["unmatched"] == 1


def test_an_output_that_the_dump_lacks_is_told(bench):
    path = bench.save(model([node("Relu", "x", "y"), node("Neg", "x", "z")], {"x": [1, 4]}, "y z"))
    data = bench.samples({"x": f32(np.eye(4)[:, None])})
    dump = bench.samples({"y": f32(np.eye(4)[:, None])})
    told = tell(bench, path, dump, "--data", data)
    assert told["values"]["y"]["exact"] and [item["name"] for item in told["without_partner"]] == ["z"]


def test_names_that_look_alike_are_not_guessed(bench):
    """'a/b' and 'a:b' may both be the file a_b.npy, and 'c/d' is not c_d.npy where there is a 'c_d'."""
    path = bench.save(model([node("Relu", "x", "a/b"), node("Neg", "x", "a:b"), node("Abs", "x", "c/d"), node("Exp", "x", "c_d")],
                            {"x": [1, 4]}, "a/b a:b c/d c_d"))
    x = f32(np.eye(4)[:1])
    dump = write(bench.new(""), {"a_b": np.maximum(x, 0), "c_d": np.exp(x)}, str)
    told = tell(bench, path, dump, "--data", bench.samples({"x": x[None]}), "--samples", "1")
    assert set(told["values"]) == {"c_d"} and told["values"]["c_d"]["sqnr_db"] is None or told["values"]["c_d"]["sqnr_db"] > 120
    assert {item["name"] for item in told["without_partner"]} == {"a/b", "a:b", "c/d", "a_b"}


@pytest.mark.parametrize("change, words", [
    (lambda y: y.reshape(1, 4, 9), ["'/head/Relu:0' is f32 1x4x3x3", "but f32 1x4x9"]),
    (lambda y: y.astype(np.int8), ["'/head/Relu:0' is f32 1x4x3x3", "but s8 1x4x3x3"]),
])
def test_another_shape_or_type_is_an_error(bench, made, change, words):
    path, data, dump = made
    off = write_all(bench, dump, underscored, lambda arrays: {"/head/Relu:0": change(arrays["/head/Relu:0"])})
    bench.refuse(3, "compare", path, off, "--data", data, words=["sample '0000'", *words])


def test_what_is_no_dump(bench, made):
    path, data, dump = made
    empty = bench.new("")
    (empty / "sub").mkdir(parents=True)
    bench.refuse(2, "compare", path, empty, "--data", data, words=["is no dump", "<id>/<tensor>.npy"])
    off = write_all(bench, dump, underscored)
    (off / "0002" / "_head_Relu_0.npy").unlink()
    bench.refuse(3, "compare", path, off, "--data", data, words=["no array '_head_Relu_0' for this sample"])
    (off / "0001" / "_head_Relu_0.npy").write_bytes(b"\x93NUMPY")
    bench.refuse(3, "compare", path, off, "--data", data, words=["sample '0001'", "_head_Relu_0"])
    for file in (off / "0001").iterdir():
        file.unlink()
    bench.refuse(2, "compare", path, off, "--data", data, words=["no tensors of sample '0001'"])
