"""SAME_UPPER and SAME_LOWER where ONNX Runtime reads them in its own way (docs/decisions/same-padding.md): with dilations, and
where the strides step over more than the window reaches. The oracle is ONNX Runtime with the pads written out."""
import numpy as np
import pytest
from oracle import make_model, run_ort, run_tare


def same_pads(size, kernel, stride, dilation, auto_pad):
    """ONNX: output = ceil(input / stride), and pads are never below 0."""
    outputs = -(-size // stride)
    total = max(0, (outputs - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return (total // 2, total - total // 2) if auto_pad == "SAME_UPPER" else (total - total // 2, total // 2)


def compare(op, size, kernel, stride, dilation, auto_pad, directory):
    rng = np.random.default_rng(size)
    inputs = [rng.standard_normal([1, 2, size, size], np.float32)]
    if op == "Conv":
        inputs.append(rng.standard_normal([3, 2, kernel, kernel], np.float32))
    before, after = same_pads(size, kernel, stride, dilation, auto_pad)
    if op != "Conv" and max(before, after) >= kernel:
        pytest.skip("ONNX Runtime takes no pads as large as the kernel, though a dilated window is larger")
    common = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "dilations": [dilation] * 2}
    feeds = {f"in{i}": x for i, x in enumerate(inputs)}
    written_out = make_model(op, inputs, opset=19, pads=[before] * 2 + [after] * 2, **common)
    want = run_ort(written_out, feeds)[0]
    got = run_tare(make_model(op, inputs, opset=19, auto_pad=auto_pad, **common), feeds, directory)[0]
    assert got.shape == want.shape == (1, want.shape[1], -(-size // stride), -(-size // stride))
    assert np.max(np.abs(got - want)) <= 1e-5 * np.max(np.abs(want))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("op", ["Conv", "MaxPool", "AveragePool"])
@pytest.mark.parametrize("size, kernel, stride, dilation", [
    (9, 2, 1, 3), (9, 3, 2, 2), (8, 3, 1, 2), (7, 2, 3, 2),        # dilated
    (9, 3, 13, 1), (5, 1, 7, 1), (12, 1, 4, 1), (9, 2, 10, 2)])    # the stride is larger than window or input
def test_same(op, size, kernel, stride, dilation, auto_pad, tmp_path):
    compare(op, size, kernel, stride, dilation, auto_pad, tmp_path)
