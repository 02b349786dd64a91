"""With --power-of-two every scale is one, also those that are raised for a bias or for weights that are all 0."""
import numpy as np
import pytest
from bench import f32, model, node, ort


def is_power(scale):
    return (np.frexp(scale)[0] == .5).all()


@pytest.mark.parametrize("bias", [[.3, .3, .3, .3], [3e3, -3e4, 3e5, 0]], ids=["small", "large"])
@pytest.mark.parametrize("dead", [0, 1e-9, 1e-36])
@pytest.mark.parametrize("options", [[], ["--per-tensor"], ["--act", "s8"]], ids=" ".join)
def test_scales_of_weights_and_biases(bench, bias, dead, options):
    rng = np.random.default_rng(0)
    weight = f32(rng.normal(size=(4, 4, 1, 1)))
    weight[1] *= dead
    net = model([node("Conv", "x w b", "y")], {"x": [1, 4, 8, 8]}, "y", {"w": weight, "b": f32(bias)})
    samples = f32(rng.normal(size=(12, 1, 4, 8, 8)))
    made = bench.quantize(net, bench.samples({"x": samples}), "--power-of-two", *options)
    assert all(is_power(each.scale) for each in made.parameters.values() if each), made.parameters
    assert made.parameters["w"].scale.size == (1 if options == ["--per-tensor"] else 4)
    ((codes, scales),) = made.biases()
    assert is_power(scales), scales
    np.testing.assert_allclose(codes * scales.astype(np.float64), bias, rtol=1e-3, atol=.02)
    want, got = ort(net, {"x": samples[0]})["y"], made.run({"x": samples[0]})["y"]
    np.testing.assert_allclose(got, want, atol=4 * float(made.parameters["y"].scale))


def test_scale_past_float32_is_told(bench):
    """Inputs next to nothing and a bias of a usual size."""
    net = model([node("Conv", "x w b", "y")], {"x": [1, 1, 4, 4]}, "y", {"w": f32([1], 1, 1, 1, 1), "b": f32([1e12])})
    data = bench.samples({"x": f32(np.full((12, 1, 1, 4, 4), 1e-40))})
    for options in ([], ["--power-of-two"]):
        bench.refuse(4, "quantize", bench.save(net), "--data", data, "-o", bench.new(".onnx"), *options,
                     words=["node 'y' (Conv)", "channel 0 would need a weight scale past float32"])
