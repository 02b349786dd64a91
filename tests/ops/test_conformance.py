"""Every node test that the onnx package brings, run by tare: conformance.txt lists those that pass, skips.txt those that
do not, each with its reason. Either list failing to tell the truth is a failure.

`python test_conformance.py` writes both lists anew from what passes now (its reasons are the errors seen; where
numbers differ, say why by hand)."""

import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
import onnx
import pytest

from node_runner import HERE, run_model

NEWEST_OPSET = 25  # that tare reads; newer forms of ops only take more types, or have attributes that are refused


def read_list(name):
    """Lines `case` or `case: reason`."""
    lines = (HERE / name).read_text().splitlines() if (HERE / name).exists() else []
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return {case: reason for case, _, reason in pairs}


def collect():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None) if case.model is not None}


def compare(case, got, want):
    """None when they agree by the case's own tolerances (as onnx.backend.test.runner compares), else what differs."""
    if len(got) != len(want):
        return f"{len(got)} outputs, want {len(want)}"
    for index, (ours, theirs) in enumerate(zip(got, want)):
        if isinstance(theirs, onnx.TensorProto):
            theirs = onnx.numpy_helper.to_array(theirs)
        if not isinstance(theirs, (np.ndarray, np.generic)):
            return f"output {index} is no tensor"
        theirs = np.asarray(theirs)
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return f"output {index} is {ours.dtype}{ours.shape}, want {theirs.dtype}{theirs.shape}"
        if ours.dtype.kind not in "biu":
            ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        if not np.allclose(ours, theirs, rtol=case.rtol, atol=case.atol, equal_nan=True):
            with np.errstate(invalid="ignore"):
                return f"output {index} differs by up to {np.nanmax(np.abs(ours.astype(float) - theirs.astype(float)))}"
    return None


def run_case(case, directory):
    """None when the case passes, else why not."""
    proto = onnx.ModelProto()
    proto.CopyFrom(case.model)
    for opset in proto.opset_import:
        if not opset.domain:
            opset.version = min(opset.version, NEWEST_OPSET)
    for inputs, outputs in case.data_sets:
        made, problem = run_model(directory, proto, inputs)
        problem = problem or compare(case, made, outputs)
        if problem:
            return problem
    return None


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("conformance")
    return {name: run_case(case, directory) for name, case in collect().items()}


@pytest.mark.parametrize("name", read_list("conformance.txt"))
def test_case_passes(results, name):
    assert name in results, "the onnx package does not have this case any more"
    assert results[name] is None, results[name]


def test_every_case_is_listed(results):
    assert set(results) == set(read_list("conformance.txt")) | set(read_list("skips.txt"))


def test_no_skipped_case_passes(results):
    assert [name for name in read_list("skips.txt") if results.get(name, "gone") is None] == []


def test_no_case_dies(results):
    assert {name: why for name, why in results.items() if why and why.startswith("died")} == {}


def shorten(why):
    """Without the names of nodes, which say nothing here."""
    return re.sub(r"^node '[^']*' \((\w+)\): ", r"\1: ", why.splitlines()[0])


def main():
    with tempfile.TemporaryDirectory() as directory:
        found = {name: run_case(case, pathlib.Path(directory)) for name, case in collect().items()}
    known = read_list("skips.txt")
    passes = sorted(name for name, why in found.items() if why is None)
    # A refusal says why itself; why numbers differ a person has said, in a sentence that no error looks like.
    said = {name: why for name, why in known.items() if not re.match(r"\w+: |output ", why)}
    reasons = {name: said.get(name, why) if why and why.startswith("output ") else why for name, why in found.items()}
    skips = sorted(f"{name}: {shorten(why)}" for name, why in reasons.items() if why is not None)
    (HERE / "conformance.txt").write_text("".join(f"{line}\n" for line in passes))
    (HERE / "skips.txt").write_text("".join(f"{line}\n" for line in skips))
    sys.stdout.write(f"{len(passes)} pass, {len(skips)} do not\n")


if __name__ == "__main__":
    main()
