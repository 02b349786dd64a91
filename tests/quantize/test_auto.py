"""Method auto as users have it: samples that are held out, the same bytes for any threads and instruction set, recipes."""
import os
import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from bench import Bench, model, node
from program import find_program

RANDOM = np.random.default_rng(4)
CONSTANTS = {name: RANDOM.normal(size=shape).astype(np.float32)
             for name, shape in {"a": (8, 3, 3, 3), "b": (8, 8, 3, 3), "c": (4, 8, 1, 1)}.items()}
NET = model([node("Conv", "x a", "p", pads=[1, 1, 1, 1]), node("Relu", "p", "q"), node("Conv", "q b", "r", pads=[1, 1, 1, 1]),
             node("Add", "q r", "s"), node("Conv", "s c", "y")], {"x": [1, 3, 8, 8]}, "y", CONSTANTS)


@pytest.fixture
def bench(tmp_path):
    if not os.access(find_program(), os.X_OK):
        pytest.skip(f"{find_program()} is not there: run by ctest, or build first")
    return Bench(tmp_path)


def samples(bench, count):
    return bench.samples({"x": np.random.default_rng(9).standard_t(2, (count, 1, 3, 8, 8)).astype(np.float32)})


def scales(made):
    return {name: (float(each.scale), int(each.zero_point)) for name, each in made.parameters.items() if each.scale.ndim == 0}


def test_threads_and_instruction_sets_change_no_byte(bench):
    data = samples(bench, 22)
    made = [bench.quantize(NET, data, "--method", "auto", *options).path.read_bytes()
            for options in (["--threads", "1"], ["--threads", "2"], ["--threads", "7"], ["--cpu", "scalar"])]
    assert made.count(made[0]) == len(made)


@pytest.mark.parametrize("count, tried", [(1, 1), (9, 2), (10, 1), (60, 2)])
def test_held_out_samples_are_tried(bench, count, tried):
    """Every tenth, of ten or more, as the other held-out ones measure; the ranges in the file are those of all."""
    data = samples(bench, count)
    made = bench.quantize(NET, data, "--method", "auto")
    assert f"tried ranges on {tried} sample{'s' * (tried > 1)};" in made.log
    assert ("too few to hold some out" in made.log) == (count < 10)
    found = [scales(bench.quantize(NET, data, "--method", method)) for method in ("mse", "minmax", "average", "percentile", "entropy")]
    for name, scale in scales(made).items():
        assert scale in [each[name] for each in found], name


def test_a_rule_of_a_recipe(bench):
    data = samples(bench, 22)
    recipe = bench.new(".yaml")
    recipe.write_text("quantization: {defaults: {method: average}, rules: [{value: q, method: auto}]}\n")
    made, auto, plain = (scales(bench.quantize(NET, data, *options)) for options in
                         (["--recipe", recipe], ["--method", "auto"], ["--method", "average"]))
    assert made["q"] == auto["q"] != plain["q"]
    assert {**made, "q": 0} == {**plain, "q": 0}
