"""What rules of a recipe do, key by key, and that none does nothing without a word."""
import numpy as np
import pytest
from bench import f32, model, node, ort

RNG = np.random.default_rng(0)
W = {key: f32(RNG.normal(size=(4, 4, 1, 1))) for key in "wvu"}
SAMPLES = f32(RNG.standard_t(2, size=(12, 1, 4, 8, 8)))
KEYS = ["method: minmax", "method: percentile, percentile: 90", "range: [-1, 1.5]", "act: u16", "act: s8, method: entropy"]


def net(middle, constants=None):
    """Conv c, what stands between, Conv y."""
    nodes = [node("Conv", "x w", "c"), *middle, node("Conv", f"{middle[-1].output[0] if middle else 'c'} v", "y")]
    return model(nodes, {"x": [1, 4, 8, 8]}, "y", {"w": W["w"], "v": W["v"], **(constants or {})})


PLAIN = net([])
MELTED = net([node("Relu", "c", "r")])
VIEWS = {"Reshape": net([node("Reshape", "c t", "d")], {"t": np.array([1, 4, 4, 16])}),
         "Transpose": net([node("Transpose", "c", "d", perm=[0, 1, 3, 2])]),
         "two": net([node("Reshape", "c t", "e"), node("Transpose", "e", "d", perm=[0, 1, 3, 2])], {"t": np.array([1, 4, 4, 16])}),
         "MaxPool": net([node("MaxPool", "c", "d", kernel_shape=[2, 2])])}
JOINED = model([node("Conv", "x w", "a"), node("Conv", "x v", "b"), node("Concat", "a b", "k", axis=2), node("Conv", "k u", "y")],
               {"x": [1, 4, 8, 8]}, "y", {**W, "v": W["v"] * np.float32(.8)})


@pytest.fixture
def quantize(bench):
    data = bench.samples({"x": SAMPLES})

    def run(net_, *rules, options=()):
        rules = ", ".join(f"{{{rule}}}" for rule in rules)
        made = bench.quantize(net_, data, "--method", "average", "--set", f"quantization.rules=[{rules}]", *options)
        made.warnings = [line for line in made.log.splitlines() if line.startswith("warning:") and "rule" in line]
        made.run({"x": SAMPLES[0]})
        return made
    return run


def scales(made):
    return {name: (float(each.scale), int(each.zero_point), each.dtype) for name, each in made.parameters.items()
            if each and each.scale.ndim == 0}


@pytest.mark.parametrize("key", KEYS)
def test_rules_of_nodes_are_for_what_they_give(quantize, key):
    plain, by_value = scales(quantize(PLAIN)), quantize(PLAIN, f"value: c, {key}")
    assert by_value.warnings == []
    assert scales(by_value)["c"] != plain["c"] and scales(by_value)["x"] == plain["x"]
    assert scales(quantize(PLAIN, f"node: c, {key}")) == scales(by_value)
    assert scales(quantize(PLAIN, f"op: Conv, {key}")) == scales(quantize(PLAIN, f"value: c, {key}", f"value: y, {key}"))


@pytest.mark.parametrize("key", KEYS)
def test_what_melts_into_a_node_is_its_own(quantize, key):
    by_value = quantize(MELTED, f"value: r, {key}")
    assert by_value.warnings == [] and scales(by_value)["r"] != scales(quantize(MELTED))["r"]
    for name in ("c", "r"):
        assert scales(quantize(MELTED, f"node: {name}, {key}")) == scales(by_value)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("view", VIEWS)
def test_values_whose_codes_are_moved_are_one(quantize, view, key):
    by_source = scales(quantize(VIEWS[view], f"value: c, {key}"))
    made = quantize(VIEWS[view], f"value: d, {key}")
    assert made.warnings == [] and scales(made) == by_source
    assert scales(made)["d"] == scales(made)["c"] != scales(quantize(VIEWS[view]))["c"]


@pytest.mark.parametrize("key", KEYS)
def test_what_is_joined_may_have_codes_of_its_own(quantize, key):
    plain = scales(quantize(JOINED))
    assert plain["a"] == plain["b"] == plain["k"]
    made = quantize(JOINED, f"value: k, {key}")
    assert made.warnings == []
    assert scales(made)["k"] != plain["k"] and scales(made)["a"] != scales(made)["k"] != scales(made)["b"]
    everywhere = scales(quantize(JOINED, f"value: '*', {key}"))
    assert everywhere["a"] == everywhere["b"] == everywhere["k"] != plain["k"]


def test_rules_combine_key_by_key(quantize):
    both = ["op: Conv, act: u16", "value: y, method: minmax"]
    want = scales(quantize(PLAIN, "op: Conv, act: u16", "value: y, method: minmax, act: u16"))
    assert want["y"] != scales(quantize(PLAIN, both[0]))["y"] and want["y"][2] == np.uint16
    for rules in (both, both[::-1]):
        made = quantize(PLAIN, *rules)
        assert scales(made) == want and made.warnings == []


def test_last_one_holds(quantize):
    for first, last in (("value: c", "node: c"), ("node: c", "value: c"), ("op: Conv", "op: Con*")):
        made = quantize(PLAIN, f"{first}, range: [-3, 3], act: u16", f"{last}, range: [-1, 1]")
        scale, _, dtype = scales(made)["c"]
        assert dtype == np.uint16 and scale == pytest.approx(2 / 65535)
        assert made.warnings == [f"warning: range of the rule for '{first.split()[1]}' has no effect: what it fits gets no codes, "
                                 "has a scale that the file or the target sets, or another rule holds"]


def test_keep_float_is_taken_back(quantize):
    kept = scales(quantize(PLAIN, "op: Conv, keep-float: true", "node: y, act: u16"))
    assert kept == {}
    back = quantize(PLAIN, "op: Conv, keep-float: true", "node: y, keep-float: false")
    assert set(scales(back)) == {"c", "y"}


# ---- what values without codes mean for those who need them ----

@pytest.mark.parametrize("value", ["x", "w", "b"])
def test_value_kept_float_keeps_its_product(quantize, value):
    net_ = model([node("Conv", "x w b", "c"), node("Relu", "c", "r"), node("Conv", "r v", "y")], {"x": [1, 4, 8, 8]}, "y",
                 {"w": W["w"], "v": W["v"], "b": f32([1, 2, 3, 4])})
    by_value = quantize(net_, f"value: {value}, keep-float: true")
    assert "a rule keeps what it reads float" in by_value.log
    assert scales(by_value) == scales(quantize(net_, "node: c, keep-float: true")) and "w" not in by_value.parameters
    assert set(scales(by_value)) == {"r", "y"}


def test_product_of_a_value_kept_float(quantize):
    made = quantize(PLAIN, "value: y, keep-float: true")
    assert "a rule keeps what it gives float" in made.log
    assert scales(made) == {} or set(scales(made)) == {"x", "c"}
    assert "v" not in made.parameters and "w" in made.parameters


@pytest.mark.parametrize("rule", ["value: r, keep-float: true", "op: Relu, keep-float: true"])
def test_activation_kept_float_does_not_melt(quantize, rule):
    net_ = net([node("Relu", "c", "r"), node("Softmax", "r", "s", axis=1)])
    made = quantize(net_, rule)
    assert "c" in made.parameters and "w" in made.parameters, made.log
    want, got = ort(net_, {"x": SAMPLES[0]})["y"].ravel(), made.run({"x": SAMPLES[0]})["y"].ravel()
    assert np.corrcoef(want, got)[0, 1] > .95


def test_node_kept_float_joins_no_scales(quantize):
    plain, kept = scales(quantize(JOINED)), scales(quantize(JOINED, "op: Concat, keep-float: true"))
    assert plain["a"] == plain["b"] and kept["a"] != kept["b"]
    view = quantize(VIEWS["Reshape"], "op: Reshape, keep-float: true", "value: d, range: [-1, 1]")
    assert scales(view)["c"] != scales(view)["d"] and view.warnings == []


# ---- rules that do nothing ----

@pytest.mark.parametrize("rule, words", [
    ("node: cc, keep-float: true", "no node 'cc', which a rule is for"),
    ("node: nope*, act: u8", "no node 'nope*', which a rule is for"),
    ("op: Convv, keep-float: true", "no op 'Convv', which a rule is for; did you mean 'Conv'?"),
    ("value: xs, range: [0, 1]", "no value 'xs', which a rule is for; did you mean 'x'?"),
    ("value: x, percentile: 99", "percentile of the rule for 'x' has no effect: no such range is chosen by method percentile"),
    ("value: w, range: [-1, 1]", "range of the rule for 'w' has no effect"),
    ("value: r, method: minmax", "method of the rule for 'r' has no effect"),
    ("node: s, range: [0, 2]", "range of the rule for 's' has no effect"),
])
def test_rule_without_effect_is_told_once(quantize, rule, words):
    net_ = net([node("Relu", "c", "e"), node("Softmax", "e", "s", axis=1)])
    net_.graph.node.append(node("Exp", "y", "r"))
    net_.graph.output[0].name = "r"
    made = quantize(net_, rule)
    (warning,) = made.warnings
    assert words in warning


def test_scale_of_the_file_is_told(bench, quantize):
    file = quantize(PLAIN).path
    for rule, words in (("value: c_raw, range: [-1, 1]", "has no effect"), ("value: c_raw, keep-float: true", "keeps the scale")):
        made = quantize(file, rule)
        assert any(words in warning for warning in made.warnings) and scales(made) == scales(quantize(file))


@pytest.mark.parametrize("name, words", [("con", "no node or op 'con', which a rule is for"),
                                         ("first_cov", "no node or op 'first_cov', which a rule is for; did you mean 'first_conv'?"),
                                         ("Relux", "no node or op 'Relux', which a rule is for; did you mean 'Relu'?")])
def test_keep_float_of_nothing_is_told(quantize, name, words):
    net_ = net([node("Relu", "c", "r")])
    net_.graph.node[0].name = "first_conv"
    made = quantize(net_, options=["--keep-float", f"{name},y"])
    (warning,) = made.warnings
    assert words in warning
    assert "v" not in made.parameters


@pytest.mark.parametrize("range_", ["[-1e39, 1e39]", "[0, 1e39]", "[-.inf, .inf]", "[-.inf, 1]", "[.nan, 1]", "[1e-45, 1e-44]",
                                    "[-1e-37, 1e-37]", "[1, 1]", "[2, 1]", "[1]", "[1, 2, 3]"])
def test_ranges_that_are_none(bench, range_):
    words = ["quantization.rules"]
    if "e39" in range_:
        words.append("range wants numbers that float32 holds")
    if "e-" in range_:
        words.append("range is too narrow: its steps would be below what float32 holds")
    bench.refuse(2, "quantize", bench.save(PLAIN), "--data", bench.samples({"x": SAMPLES}), "-o", bench.new(".onnx"), "--set",
                 f"quantization.rules=[{{value: x, range: {range_}}}]", words=words)


@pytest.mark.parametrize("range_, act", [("[-3e38, 3e38]", "u8"), ("[-1e-33, 1e-33]", "u16"), ("[0, 1e-33]", "u8")])
def test_ranges_at_the_ends_of_float32(quantize, range_, act):
    made = quantize(PLAIN, f"value: x, range: {range_}, act: {act}")
    low, high = (float(word) for word in range_.strip("[]").split(","))
    assert float(made.parameters["x"].scale) == pytest.approx((high - low) / (255 if act == "u8" else 65535), rel=1e-6)
