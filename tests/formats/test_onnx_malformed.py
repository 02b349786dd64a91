"""Every malformed family gets its exit status and an error that names what is wrong, leaves nothing behind, and costs
little; files that are merely odd are read and written."""
import csv
import os

import malformed
import pytest

# What the set of the shared models expects of a reader that infers shapes; the two valid traps are read.
SHARED_FAULTS = {
    "cycle": (3, "cycle"), "dangling_input": (3, "'nowhere'"), "duplicate_output": (3, "'y'"),
    "truncated_half": (3, "byte"), "empty": (3, "empty"), "raw_data_too_short": (3, "'w'"), "dims_overflow": (3, "'w'"),
    "external_parent_escape": (3, "'w'"), "external_absolute": (3, "'w'"), "opset_9999": (4, "opset 9999"),
    "weights_nan_inf": (0, ""), "weights_all_zero_channel": (0, ""),
}


def check_left(folder, before, output, status):
    """Nothing beside the output, and that only when all went well."""
    assert output.exists() == (status == 0)
    left = {entry.name for entry in os.scandir(folder)} - before
    assert left <= {output.name}


@pytest.mark.parametrize("one", malformed.CASES, ids=lambda one: one.id)
def test_family(one, driver, tmp_path, is_sanitized):
    if is_sanitized and one.heavy:
        pytest.skip("too heavy with a sanitizer")
    source = one.write(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    ran = driver(source, out / "out.onnx", *one.arguments)
    assert ran.status == one.status, ran.log
    for word in one.words:
        assert word in ran.log
    if one.status:
        assert ran.log.count("error: ") == 1 and source.name in ran.log
    assert not any(ord(letter) < 32 and letter != "\n" for letter in ran.log)
    check_left(out, set(), out / "out.onnx", one.status)
    if is_sanitized:
        return
    size = source.stat().st_size if source.is_file() else 0
    assert ran.seconds < (2 if one.heavy else 1)
    assert ran.peak < (64 << 20) + (8 if one.heavy else 1) * size


def test_shared_set(driver, shared, tmp_path):
    with (shared / "malformed" / "INDEX.csv").open() as index:
        names = [row["file"] for row in csv.DictReader(index)]
    assert set(SHARED_FAULTS) <= {name.removesuffix(".onnx") for name in names}
    for name, (status, word) in SHARED_FAULTS.items():
        ran = driver(shared / "malformed" / f"{name}.onnx", tmp_path / f"{name}.onnx")
        assert ran.status == status and word in ran.log, (name, ran.log)


def test_every_family_has_a_case():
    """1-90 without those that have a test of their own: 5 and 87 (test_onnx_read.c), 22 and 88 (tests/base), 49 (as 40), 57
    (it shows when the loop runs), 89 (the program's)."""
    elsewhere = {5, 22, 49, 57, 87, 88, 89}
    assert {int(one.id[:2]) for one in malformed.CASES if one.id[2] == "_"} | elsewhere >= set(range(1, 91))
