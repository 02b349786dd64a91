"""Backend int: what it says, and what it refuses."""
import re

import numpy as np
from bench import model, node, ort, quantized


def sum_of_codes():
    nodes, constants = [], {}
    for name in "ab":
        pair, parameters = quantized(name, 0.05, 128)
        nodes += pair
        constants.update(parameters)
    pair, parameters = quantized("sum", 0.1, 120)
    tail = [node("Erf", "sum_d", "y")]
    nodes = [*nodes, node("Add", "a_d b_d", "sum"), *pair, *tail]
    return model(nodes, {"a": [2, 3], "b": [2, 3]}, "y", {**constants, **parameters})


def feeds():
    generator = np.random.default_rng(3)
    return {name: generator.normal(size=(2, 3)).astype(np.float32) for name in "ab"}


def run(bench, *options, to=None):
    return bench.call("run", bench.save(sum_of_codes()), "--input", bench.data(feeds()), "-o", to or bench.new(".npz"), *options)


def test_what_stays_in_float_is_told(bench):
    out = bench.new(".npz")
    ran = run(bench, "--backend", "int", to=out)
    assert ran.status == 0, ran.log
    assert "onnx, profile ort (validated: ONNX Runtime 1.32.0)" in ran.out and "1 on codes, 1 in float" in ran.out
    ran = run(bench, "--backend", "int", "-v", to=out)
    assert "node 'y' (Erf) in float: the target has no row for it" in ran.log
    with np.load(out) as found:
        np.testing.assert_allclose(found["y"], ort(sum_of_codes(), feeds())["y"], rtol=1e-6)


def test_compare_runs_it_too(bench):
    path = bench.save(sum_of_codes())
    ran = bench.call("compare", path, path, "--data", bench.data(feeds()), "--backend", "int")
    assert ran.status == 0, ran.log


def test_unknown_targets_and_profiles(bench):
    ran = run(bench, "--backend", "int", "--target", "tflight")
    assert ran.status == 2 and "--target: no 'tflight'; there is: onnx tflite tidl" in ran.log
    ran = run(bench, "--backend", "int", "--profile", "micro")
    assert ran.status == 2 and "--profile: target onnx has no 'micro'; there is: ort" in ran.log


def test_only_int_has_a_target(bench):
    ran = run(bench, "--target", "onnx")
    assert ran.status == 2 and "--target: only --backend int has one" in ran.log


def test_help_has_all_targets_and_profiles(bench):
    """The words that help and completion offer are those that targets have."""
    words = re.findall(r"--(target|profile) .*?\n +((?:\w+ \| )+\w+)\n", bench.call("help", "run").out, re.S)
    offered = {option: set(names.split(" | ")) for option, names in words}
    ran = run(bench, "--backend", "int", "--target", "nobody")
    assert set(ran.log.split("there is: ")[1].split()) == offered["target"]
    have = set()
    for target in offered["target"]:
        ran = run(bench, "--backend", "int", "--target", target, "--profile", "nobody")
        have |= set(ran.log.split("there is: ")[1].split())
    assert have == offered["profile"]
