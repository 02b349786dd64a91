"""What each range method chooses, against its definition tried by brute force with numpy on the numbers themselves: the
range is read from the file that `tare quantize` writes for a net whose only quantized activation is its input."""
import os
import subprocess

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

COUNT = 30000


def spread(quantile):
    """As a distribution says, without chance: its quantiles in the middle of equal shares."""
    return quantile((numpy.arange(COUNT) + 0.5) / COUNT)


def laplace(p):
    return numpy.sign(p - 0.5) * -numpy.log1p(-2 * numpy.abs(p - 0.5))


def exponential(p):
    return -numpy.log1p(-p)


def logistic(p):
    return numpy.log(p / (1 - p))


def with_outliers(numbers):
    return numpy.concatenate([numbers, numpy.linspace(60, 90, 6), numpy.linspace(-50, -40, 3)])


DATA = {
    "two-sided": spread(logistic),
    "heavy": spread(laplace),
    "skewed": spread(logistic) * numpy.where(spread(logistic) < 0, 1, 3),
    "outliers": with_outliers(spread(logistic)),
    "one-sided": spread(exponential),
    "negative": -spread(exponential),
    "relu": numpy.concatenate([numpy.zeros(COUNT), spread(exponential)]),
}
TIES = {
    "pixels": numpy.repeat(numpy.arange(256) / 255, 1 + numpy.arange(256) % 7),
    "clipped": numpy.concatenate([numpy.repeat(6.0, COUNT // 8), numpy.minimum(spread(exponential), 6)]),
    "few": numpy.repeat([-1.5, -0.25, 0.5, 2.0], [3, 500, 400, 2]),
}
CONSTANT = {"constant": numpy.full(100, 3.25), "below": numpy.full(7, -0.125)}


@pytest.fixture
def choose(tmp_path):
    """The scale and zero point of the input, by a method, after samples of these numbers."""
    program = os.environ.get("TARE_PROGRAM")
    if not program:
        pytest.skip("TARE_PROGRAM is not set: run by ctest")

    def run(samples, *options):
        samples = numpy.asarray(samples, numpy.float32)
        samples = samples.reshape(-1, 1, 1, samples.shape[-1])
        shape = [1, 1, 1, samples.shape[-1]]
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "net",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
                                  [numpy_helper.from_array(numpy.ones((1, 1, 1, 1), numpy.float32), "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "net.onnx")
        numpy.save(tmp_path / "x.npy", samples)
        ran = subprocess.run([program, "quantize", "net.onnx", "--data", "x.npy", "-o", "out.onnx", *options], cwd=tmp_path,
                             capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        made = onnx.load(tmp_path / "out.onnx").graph
        constants = {i.name: numpy_helper.to_array(i) for i in made.initializer}
        (node,) = [n for n in made.node if n.op_type == "QuantizeLinear" and n.input[0] == "x"]
        return float(constants[node.input[1]]), int(constants[node.input[2]])

    return run


def codes_of(lo, hi):
    """Scale and zero point of u8 codes for a range that holds 0 (DESIGN: as ONNX does it)."""
    scale = (hi - lo) / 255
    return scale, int(numpy.clip(numpy.rint(-lo / scale), 0, 255))


def candidates(numbers, most_outside=1.0):
    """Ranges of all lengths: ends of each side a twelfth of a binade apart, seven binades down, and 0 or the extremes."""
    shrink = 2.0 ** (-numpy.arange(84) / 12)
    low, high = min(numbers.min(), 0), max(numbers.max(), 0)
    for lo in low * shrink if low else [0]:
        for hi in high * shrink if high else [0]:
            if numpy.mean((numbers < lo) | (numbers > hi)) <= most_outside:
                yield codes_of(lo, hi)


def divergence(numbers, scale, zero_point):
    """KL divergence, in nats, of the numbers (each with the place between it and its neighbours), those outside moved to
    the outer codes, from what the codes of those inside say when each is spread evenly over its places: by the chain rule,
    that of the codes and that within them. What is nearer to zero than 1/64 of the mean magnitude is as good as zero."""
    numbers = numpy.sort(numbers[numbers != 0])
    places = numpy.gradient(numbers)
    counts_as = numpy.abs(numbers) >= numpy.abs(numbers).mean() / 64
    numbers, places = numbers[counts_as], places[counts_as]
    codes = numpy.rint(numbers / scale) + zero_point
    is_inside = (codes >= 0) & (codes <= 255)
    codes = numpy.clip(codes, 0, 255).astype(int)
    inside = codes[is_inside]
    counts, everything = numpy.bincount(inside, minlength=256), numpy.bincount(codes, minlength=256)
    widths = numpy.bincount(inside, places[is_inside], minlength=256)
    said = numpy.where(everything > counts, counts + 0.5, counts)[everything > 0]  # an empty code is not an impossible one
    share = everything[everything > 0] / len(numbers)
    within = everything[inside] / counts[inside] / len(numbers)
    return float(numpy.sum(share * numpy.log(share / (said / len(inside)))) +
                 numpy.sum(within * numpy.log(widths[inside] / counts[inside] / places[is_inside])))


def squared_error(numbers, scale, zero_point):
    """The mean, with what is beyond the codes counted three times."""
    lowest, highest = scale * (0 - zero_point), scale * (255 - zero_point)
    rounded = scale * (numpy.clip(numpy.rint(numbers / scale) + zero_point, 0, 255) - zero_point)
    weight = numpy.where((numbers < lowest) | (numbers > highest), 3, 1)
    return float(numpy.mean(weight * (numbers - rounded) ** 2))


def as_f32(numbers):
    return numbers.astype(numpy.float32).astype(float)


@pytest.mark.parametrize("name", DATA)
def test_entropy_is_least_of_all_that_were_tried(choose, name):
    """Where numbers are few, places are wide and chance decides between many neighbours: a third above the least is allowed,
    and one candidate of thirty that is better."""
    numbers = as_f32(DATA[name])
    got = divergence(numbers, *choose(numbers, "--method", "entropy"))
    tried = numpy.array([divergence(numbers, *c) for c in candidates(numbers, 1 / 16)])
    assert len(tried) > 20
    assert got <= 1.33 * tried.min() + 2e-5, (got, tried.min())
    assert numpy.sum(tried < got) <= max(1, len(tried) / 30)


@pytest.mark.parametrize("name", [*DATA, *TIES])
def test_mse_is_least_of_all_that_were_tried(choose, name):
    numbers = as_f32((DATA | TIES)[name])
    got = squared_error(numbers, *choose(numbers, "--method", "mse"))
    tried = numpy.array([squared_error(numbers, *c) for c in candidates(numbers)])
    assert len(tried) > 20
    assert got <= 1.01 * tried.min() + 1e-12, (got, tried.min())


@pytest.mark.parametrize("name", TIES)
@pytest.mark.parametrize("method", ["mse", "minmax", "average", "percentile", "entropy"])
def test_numbers_that_many_share_are_kept(choose, method, name):
    numbers = as_f32(TIES[name])
    scale, zero_point = choose(numbers, "--method", method)
    for number, count in zip(*numpy.unique(numbers, return_counts=True)):
        rounded = scale * (numpy.clip(numpy.rint(number / scale) + zero_point, 0, 255) - zero_point)
        assert count < 0.02 * len(numbers) or abs(rounded - number) <= 0.51 * scale


@pytest.mark.parametrize("name", CONSTANT)
@pytest.mark.parametrize("method", ["mse", "minmax", "average", "percentile", "entropy"])
def test_a_constant_is_the_range(choose, method, name):
    number = CONSTANT[name][0]
    scale, zero_point = choose(CONSTANT[name], "--method", method)
    assert scale == pytest.approx(abs(number) / 255, rel=1 / 128)  # statistics keep seven bits of it
    assert zero_point == (0 if number > 0 else 255)


@pytest.mark.parametrize("name", [*DATA, *TIES])
def test_extremes_means_and_shares(choose, name):
    """Four samples, the numbers dealt out in turn."""
    numbers = as_f32((DATA | TIES)[name])
    samples = numbers[:len(numbers) // 4 * 4].reshape(-1, 4).T
    want = codes_of(min(samples.min(), 0), max(samples.max(), 0))
    assert choose(samples, "--method", "minmax") == (pytest.approx(want[0], rel=1e-6), want[1])
    want = codes_of(min(samples.min(axis=1).mean(), 0), max(samples.max(axis=1).mean(), 0))
    scale, zero_point = choose(samples, "--method", "average")
    assert scale == pytest.approx(want[0], rel=1e-6) and abs(zero_point - want[1]) <= 1  # the middle may be a tie
    scale, zero_point = choose(samples, "--method", "percentile", "--percentile", "99.5")
    low, high = numpy.quantile(samples, [0.005, 0.995], method="inverted_cdf")
    assert scale == pytest.approx((max(high, 0) - min(low, 0)) / 255, rel=1 / 64)
    assert abs(zero_point - codes_of(min(low, 0), max(high, 0))[1]) <= 1
