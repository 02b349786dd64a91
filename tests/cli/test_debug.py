"""What debug says first: which node costs most, measured; what samples and models do not fit; and rows of what is lost."""
import shlex

import numpy as np
import pytest
from bench import f32, model, node, ort, quantized
from terminal import on_terminal

SEED = np.random.default_rng(11)
WEIGHTS = {f"w{i}": f32(SEED.normal(size=(8, 8)) / 3) for i in range(4)}
DATA = f32(SEED.normal(size=(12, 1, 8)))


def chain(steps=None, names=None):
    """Four MatMuls with Relus between. `steps`: value -> (scale, zero point) of its codes; none: the float model."""
    nodes, constants, value = [], dict(WEIGHTS), "x"
    names = names or [f"m{i}" for i in range(4)]

    def round_to_codes(name):
        if name not in (steps or {}):
            return name
        pair, more = quantized(name, *steps[name])
        nodes.extend(pair)
        constants.update(more)
        return f"{name}_d"

    for i, name in enumerate(names):
        value = round_to_codes(value)
        nodes.append(node("MatMul", f"{value} w{i}", name, f"dense of {name}"))
        value = round_to_codes(name)
        if i < 3:
            nodes.append(node("Relu", value, f"r{i}"))
            value = f"r{i}"
    return model(nodes, {"x": [1, 8]}, names[-1], constants)


FINE = {"x": (8 / 255, 128), **{f"m{i}": (8 / 255, 128) for i in range(4)}, **{f"r{i}": (4 / 255, 0) for i in range(3)}}


def sqnr(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return 10 * np.log10((a**2).sum() / ((a - b)**2).sum())


def outputs(net):
    return [ort(net, {"x": x})["m3"] for x in DATA[[0, 2, 4, 6, 8, 10]]]


def test_the_node_that_costs_most_is_named_and_measured(bench):
    """The bad scale of m1; without it the output has what the model has whose m1 is no codes."""
    steps = FINE | {"m1": (2, 128)}
    told = bench.tell("debug", chain(), bench.save(chain(steps)), "--data", bench.samples({"x": DATA}))
    blame = told["blame"]
    assert blame["output"] == "m3" and blame["samples"] == 6
    assert blame["nodes"][0]["node"] == "dense of m1" and blame["nodes"][0]["op"] == "MatMul"
    without = {name: step for name, step in steps.items() if name not in ("m1", "r1")}
    assert blame["nodes"][0]["sqnr_db"] > blame["sqnr_db"] + 6
    # The worst sample is among those measured, the rest evenly spread: near, not equal.
    assert abs(blame["nodes"][0]["sqnr_db"] - sqnr(outputs(chain()), outputs(chain(without)))) < 3
    assert blame["activations_sqnr_db"] is None  # the weights are float: nothing is lost then


def test_the_command_it_gives_works(bench):
    data = bench.samples({"x": DATA})
    net, int8 = bench.save(chain()), bench.save(chain(FINE | {"m1": (2, 128)}))
    ran = bench.call("debug", net, int8, "--data", data, "--method", "minmax", cwd=bench.folder)
    assert ran.out.startswith("most is lost at: node 'dense of m1' (MatMul)\n")
    command = next(line for line in ran.out.splitlines() if line.startswith("  next "))
    words = shlex.split(command)[1:]
    assert words[:3] == ["tare", "quantize", str(net)] and "minmax" in words and words[words.index("--act") + 1] == "u16"
    assert bench.call(*words[1:], cwd=bench.folder).status == 0 and (bench.folder / "better.onnx").exists()


def test_weights_that_cost_most_are_kept_float(bench):
    """One scale a tensor and a huge weight: only float weights help, and quantize takes the name that debug gives."""
    spoiled = f32(WEIGHTS["w1"].copy())
    spoiled[:, 0] *= 1000
    nodes = [node("MatMul", "x w0", "m0", "first"), node("Relu", "m0", "r0"), node("MatMul", "r0 w1", "m1", "second of two"),
             node("Mul", "m1 k", "y")]
    net = bench.save(model(nodes, {"x": [1, 8]}, "y", {**WEIGHTS, "w1": spoiled, "k": f32([1e-3] + [1] * 7)}))
    data = bench.samples({"x": DATA})
    options = ["--data", data, "--per-tensor", "--act", "u16"]
    ran = bench.call("debug", net, *options, cwd=bench.folder)
    words = shlex.split(next(line for line in ran.out.splitlines() if line.startswith("  next ")))[1:]
    assert words[words.index("--keep-float") + 1] == "second of two"
    before = bench.tell("debug", net, *options)["blame"]["sqnr_db"]
    assert bench.call(*words[1:], cwd=bench.folder).status == 0
    after = bench.tell("compare", net, bench.folder / "better.onnx", "--data", data)["comparisons"][0]["values"]["y"]
    assert after["sqnr_db"] > before + 3


def test_what_an_activation_throws_away_is_not_lost(bench):
    """Codes of m1 from 0 on: half of its numbers are clipped, all of them below the Relu's bound."""
    steps = FINE | {f"m{i}": (4 / 255, 0) for i in range(3)}
    told = bench.tell("debug", chain(), bench.save(chain(steps)), "--data", bench.samples({"x": DATA}))["values"]
    for name in ("m0", "m1", "m2"):
        assert told[name]["behind"] == "Relu" and told[name]["node"] == f"dense of {name}"
        assert told[name]["local"]["sqnr_db"] > 30 and told[name]["accumulated"]["sqnr_db"] > 30
        assert told[name]["accumulated"]["saturated_low"] > .2
    assert told["m3"]["behind"] is None


@pytest.mark.parametrize("factor, is_told", [(1, False), (3, True), (1 / 100, True)])
def test_samples_that_do_not_fit_the_input(bench, factor, is_told):
    data = bench.samples({"x": f32(DATA * factor)})
    int8 = bench.save(chain(FINE))
    warnings = bench.tell("debug", chain(), int8, "--data", data)["warnings"]
    assert bool(warnings) == is_told
    if is_told:
        lo, hi = DATA.min() * factor, DATA.max() * factor
        assert f"input 'x' saw {lo:.4g} to {hi:.4g}, its codes hold -4.016 to 3.984" in warnings[0]
        assert bench.call("debug", bench.save(chain()), int8, "--data", data).out.startswith("warning: input 'x' saw")


def test_models_that_do_not_belong_together(bench):
    data = bench.samples({"x": DATA})
    net, int8 = bench.save(chain()), bench.save(chain(FINE))
    bench.refuse(2, "debug", net, net, "--data", data, words=["nothing is quantized in", "tare quantize"])
    other = bench.save(chain({"x": (8 / 255, 128)}, ["n0", "n1", "n2", "n3"]))
    renamed = model([node("MatMul", "x w0", "a", "d"), node("Sigmoid", "a", "b")], {"x": [1, 8]}, "b", WEIGHTS)
    bench.refuse(2, "debug", bench.save(renamed), other, "--data", data, words=["nothing but inputs in common"])


def test_rows_are_sorted_as_asked_and_names_whole(bench):
    names = [f"backbone/stage_{i}/block/convolution/batch_normalization/activation/output" for i in range(3)] + ["m3"]
    steps = {name: (8 / 255 * (1 + i), 128) for i, name in enumerate(["x", *names])}
    net, int8, data = bench.save(chain(None, names)), bench.save(chain(steps, names)), bench.samples({"x": DATA})

    def rows(*options):
        lines = bench.call("debug", net, int8, "--data", data, *options).out.splitlines()
        start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["local", "accumulated"])
        return [line for line in lines[start + 1:] if not line.startswith("  next")]

    worst, ordered = rows(), rows("--sort", "order")
    losses = [float("inf") if row.split()[0] == "exact" else float(row.split()[0]) for row in worst]
    assert losses == sorted(losses) and sorted(worst) == sorted(ordered) and worst != ordered
    assert all(any(row.endswith(f"  dense of {name}") for row in ordered) for name in names)
    seen = on_terminal("debug", net, int8, "--data", data, "-q", NO_COLOR="1").splitlines()
    table = [line for line in seen if " MatMul" in line and "lost at" not in line]
    assert len({line.split("MatMul")[1] for line in table}) == len(table) == 4 and max(map(len, table)) <= 80
