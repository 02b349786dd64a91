"""Broken files through every verb that reads a model: the exit status that each must get, one line that says where, no
output, little time and memory. The set is that of the shared models, and the families of tests/formats/malformed.py."""
import csv
import os

import malformed
import pytest
from program import IS_SANITIZED, check_error

MALFORMED, UNSUPPORTED = 3, 4
# file -> status and what the line must name
SET = {
    "conv_group_not_dividing": (MALFORMED, "node 'Conv#0' (Conv)", "3 channels", "2 groups"),
    "conv_stride_zero": (MALFORMED, "node 'Conv#0' (Conv)", "'strides'", "0, want 1"),
    "cycle": (MALFORMED, "cycle", "'Relu#0' needs 'Relu#1'"),
    "dangling_input": (MALFORMED, "node 'Relu#0' (Relu)", "'nowhere'"),
    "dims_overflow": (MALFORMED, "tensor 'w'", "16 bytes", "2^40"),
    "duplicate_output": (MALFORMED, "tensor 'y'", "'Relu#0'"),
    "empty": (MALFORMED, "empty file"),
    "external_absolute": (MALFORMED, "tensor 'w'", "'/etc/passwd'"),
    "external_parent_escape": (MALFORMED, "tensor 'w'", "'../../../../../../etc/passwd'"),
    "onnx6180_conv_rank_mismatch": (MALFORMED, "node 'Conv#0' (Conv)", "rank 0, want 4"),
    "opset_9999": (UNSUPPORTED, "opset 9999, supported 7-"),
    "ort28731_conv_kernel_longer_than_input": (MALFORMED, "node 'Conv#0' (Conv)", "rank 5, want 4"),
    "qdq_per_channel_wrong_len": (MALFORMED, "node 'QuantizeLinear#0'", "2 scales", "3"),
    "qdq_scale_nan": (MALFORMED, "tensor 'x'", "nan, want a positive", "--repair-scales"),
    "qdq_scale_zero": (MALFORMED, "tensor 'x'", "0, want a positive", "--repair-scales"),
    "raw_data_too_short": (MALFORMED, "tensor 'w'", "428 bytes", "want 432"),
    "truncated_half": (MALFORMED, "byte 2", "533", "267"),
    "wild_tf2onnx_person_detect_axis": (MALFORMED, "depthwise_bias_dequant' (DequantizeLinear)", "axis 3"),
}
# Sound files with a trap: read and run, and what quantizing makes of them.
TRAPS = {
    "weights_all_zero_channel": (0,),
    "weights_nan_inf": (MALFORMED, "node 'Conv#0' (Conv)", "tensor 'w'", "2 NaN or Inf", "--skip-nonfinite"),
}
VERBS = {
    "check": lambda model, out: ["check", model],
    "check_data": lambda model, out: ["check", model, "--data", "random:2"],
    "info": lambda model, out: ["info", model, "--nodes", "--values", "--memory"],
    "optimize": lambda model, out: ["optimize", model, "-o", out],
    "run": lambda model, out: ["run", model, "--data", "random:2", "-o", out.with_suffix("")],
    "calibrate": lambda model, out: ["calibrate", model, "--data", "random:2", "-o", out.with_suffix(".json")],
    "quantize": lambda model, out: ["quantize", model, "--data", "random:2", "-o", out],
    "compare": lambda model, out: ["compare", model, model, "--data", "random:2"],
    "debug": lambda model, out: ["debug", model, "--data", "random:2"],
    "cut": lambda model, out: ["cut", model, "--to", "y", "-o", out],
    "convert": lambda model, out: ["convert", model, out],
}


def check_refused(tare, verb, path, out, status, words, options=(), heavy=False):
    size = path.stat().st_size if path.is_file() else 0
    ran = tare(*VERBS[verb](path, out / "out.onnx"), *options, memory=(256 << 20) + 8 * size)
    check_error(ran, status, f"error: {path}: ", *words)
    assert not list(out.iterdir()), "something is left"
    assert IS_SANITIZED or ran.seconds < (3 if heavy else 1)


def test_set_is_whole(shared):
    with (shared / "models/malformed/INDEX.csv").open() as index:
        names = {row["file"].removesuffix(".onnx") for row in csv.DictReader(index)}
    assert names == SET.keys() | TRAPS.keys()


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", SET)
def test_set(name, verb, tare, shared, tmp_path):
    status, *words = SET[name]
    check_refused(tare, verb, shared / f"models/malformed/{name}.onnx", tmp_path, status, words)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", TRAPS)
def test_traps(name, verb, tare, shared, tmp_path):
    status, *words = TRAPS[name]
    path = shared / f"models/malformed/{name}.onnx"
    if status and verb in ("quantize", "debug", "calibrate"):
        check_refused(tare, verb, path, tmp_path, status, words)
        assert tare(*VERBS[verb](path, tmp_path / "out.onnx"), "--skip-nonfinite").status == 0
    else:
        assert tare(*VERBS[verb](path, tmp_path / "out.onnx")).status == 0


REFUSED = [one for one in malformed.CASES if one.status]


@pytest.mark.parametrize("one", REFUSED, ids=lambda one: one.id)
def test_families(one, tare, tmp_path):
    """What the reader's own test says, through the program, by a verb that answers and one that writes."""
    if IS_SANITIZED and one.heavy:
        pytest.skip("too heavy with a sanitizer")
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir(), out.mkdir()
    path = one.write(source)
    options = [option for option in one.arguments if option != "--infer"]  # the program always infers
    for verb in ("info", "convert"):
        check_refused(tare, verb, path, out, one.status, one.words, options, one.heavy)


def test_unreadable(tare, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(malformed.PLAIN)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read every file")
    check_error(tare("info", path), 5, f"{path}: ")
