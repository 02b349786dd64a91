"""Every metric of compare against numpy in f64, on numbers of both signs with outliers; and what tables show."""
import json

import numpy as np
import pytest
from bench import f32, model, node
from terminal import on_terminal

SHAPES = {"conv": (1, 6, 5, 7), "logits": (1, 40), "rows": (1, 3, 9), "line": (17,), "one": (1, 1)}
SAMPLES = 5


def noisy(generator, shape):
    """A pair: most numbers near 1, every 23rd up to 1000 times that; the other is off by its own noise and outliers."""
    a = generator.normal(size=shape)
    a[generator.random(shape) < 1 / 23] *= 1000
    b = a + .05 * generator.normal(size=shape)
    b[generator.random(shape) < 1 / 31] -= 300
    return f32(a), f32(b)


def db(signal, noise):
    return 10 * np.log10(signal / noise)


def oracle(a, b):
    """Of lists of one value's arrays, one a sample."""
    a, b = ([np.asarray(x, np.float64) for x in side] for side in (a, b))
    d = [y - x for x, y in zip(a, b)]
    square = lambda arrays: np.array([(x * x).sum() for x in arrays])
    signal, noise, norm = square(a), square(d), np.sqrt(square(d))
    cosines = np.array([(x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()) for x, y in zip(a, b)])
    counts = np.array([x.size for x in a])
    want = dict(samples=len(a), count=int(counts.sum()), nonfinite=0, exact=False, sqnr_db=db(signal.sum(), noise.sum()),
                cosine=cosines.mean(), cosine_worst=cosines.min(), relative_l2=np.sqrt(noise.sum() / signal.sum()),
                l2_norm=norm.mean(), rmse=np.sqrt(noise.sum() / counts.sum()),
                l1=np.mean([abs(x).mean() for x in d]), l2=np.mean(norm / counts), chebyshev=max(abs(x).max() for x in d),
                sqnr_worst_db=db(signal, noise).min(), worst_sample=f"{db(signal, noise).argmin():04d}",
                top1=None, worst_channel=None, worst_channel_db=None)
    axis = 1 if a[0].ndim >= 4 else a[0].ndim - 1
    if a[0].shape[axis] > 1:
        want["top1"] = np.mean([x.argmax(axis) == y.argmax(axis) for x, y in zip(a, b)])
    if a[0].ndim > 1 and a[0].shape[1] > 1:
        others = tuple(i for i in range(a[0].ndim + 1) if i != 2)
        channels = db((np.stack(a) ** 2).sum(others), (np.stack(d) ** 2).sum(others))
        want |= dict(worst_channel=int(channels.argmin()), worst_channel_db=channels.min())
    return want


def check(told, want):
    for key, number in want.items():
        if isinstance(number, float):
            assert told[key] == pytest.approx(number, rel=1e-8), key  # as many digits as the JSON has
        else:
            assert told[key] == number, key


def compare(bench, a, b, *options):
    ran = bench.call("compare", a, b, *options, "--json")
    assert ran.status == 0, ran.log
    return json.loads(ran.out)["comparisons"][0]["values"]


def test_dumps(bench):
    generator = np.random.default_rng(7)
    sides = {name: [noisy(generator, shape) for _ in range(SAMPLES)] for name, shape in SHAPES.items()}
    dumps = [bench.samples({name: np.stack([pair[side] for pair in pairs]) for name, pairs in sides.items()})
             for side in (0, 1)]
    told = compare(bench, *dumps)
    assert set(told) == set(SHAPES)
    for name, pairs in sides.items():
        check(told[name], oracle(*zip(*pairs)))


def test_nodes_of_models(bench):
    """Of what both dump of every value, with the float as the reference."""
    generator = np.random.default_rng(3)
    weight = f32(generator.normal(size=(4, 3, 3, 3)))
    net = bench.save(model([node("Conv", "x w", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"), node("Conv", "r v", "y")],
                           {"x": [1, 3, 8, 8]}, "y", {"w": weight, "v": f32(generator.normal(size=(5, 4, 1, 1)))}))
    data = bench.samples({"x": np.stack([noisy(generator, (1, 3, 8, 8))[0] for _ in range(SAMPLES)])})
    int8 = bench.quantize(net, data).path
    dumps = []
    for path in (net, int8):
        dumps.append(bench.new(""))
        assert bench.call("run", path, "--data", data, "--tap", "all", "-o", dumps[-1]).status == 0
    told = compare(bench, net, int8, "--data", data, "--nodes")
    read = [[np.load(path) for path in sorted(dump.glob("*.npz"))] for dump in dumps]
    names = set(told) & set(read[0][0]) & set(read[1][0])
    assert {"c", "y"} <= names
    for name in names - {"x"}:
        check(told[name], oracle(*([sample[name] for sample in side] for side in read)))
        assert told[name]["top1"] is not None


@pytest.mark.parametrize("options", [[], ["--nodes"], ["--nodes", "--columns", "all"], ["--columns", "l1,top1"]])
def test_tables_are_narrow(bench, options):
    path = "a_rather_long_name_of_a_value/" * 3
    net = bench.save(model([node("Relu", "x", path + "r"), node("Softmax", path + "r", path + "y", axis=1)],
                           {"x": [1, 4]}, path + "y"))
    data = bench.samples({"x": f32(np.random.default_rng(1).normal(size=(3, 1, 4)) * 1e6)})
    int8 = bench.quantize(net, data).path
    seen = on_terminal("compare", net.name, int8.name, "--data", data, *options, "-q", cwd=bench.folder)
    assert max(len(line) for line in seen.splitlines() if not line.startswith("  next ")) <= 80, seen
    headings = {"cosine", "L1", "L2", "Chebyshev", "SQNR", "rel.", "L2 norm", "RMSE", "top-1"}
    shown = {heading for heading in headings if f" {heading}" in seen}
    assert shown == ({"L1", "top-1"} if "l1,top1" in options else headings)


def test_columns_are_checked(bench):
    bench.refuse(2, "compare", "a", "b", "--columns", "cosin", words=["--columns", "did you mean 'cosine'"])
