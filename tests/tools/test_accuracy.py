"""tools/accuracy: its bars and standard errors on figures whose answers are known."""
import importlib.machinery
import importlib.util
import pathlib
import types

import numpy as np
import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "accuracy"


@pytest.fixture(scope="module")
def accuracy():
    loader = importlib.machinery.SourceFileLoader("accuracy", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy", loader))
    loader.exec_module(module)
    return module


def result(**more):
    made = dict(model="net", metric="top1", n=100, tare={"top1": 90.0, "sqnr_db": 40.0, "top1_agree_float": 98.0},
                float={"top1": 91.0}, columns={"u8": {"top1": 92.0, "sqnr_db": 39.0, "top1_agree_float": 97.0},
                                               "percentile": {"top1": 80.0, "sqnr_db": 40.0, "top1_agree_float": 98.0}},
                codes=0.9, seconds=1.0, bar=91.0, se=0.5)
    return made | more


def test_all_hold(accuracy):
    assert accuracy.misses(result()) == []
    assert accuracy.row(result()).endswith("| 90.00 (± 0.5) | 40.00 | 40.00 | 98.00 | 98.00 | 90.0 % | 1.0 | hold |\n")


@pytest.mark.parametrize("more, said", [
    (dict(se=0.49), "top1 90.0 < 91.0 - 2 * 0.490"),
    (dict(tare={"top1": 90.0, "sqnr_db": 39.99, "top1_agree_float": 98.0}), "sqnr_db 39.99 < 40"),
    (dict(tare={"top1": 90.0, "sqnr_db": 40.0, "top1_agree_float": 97.5}), "top1_agree_float 97.5 < 98"),
    (dict(codes=0.89), "fewer than 90 %"),
    (dict(codes=None), "fewer than 90 %"),
    (dict(model="magika_v3", tare={"top1": 77.5, "sqnr_db": 40.0, "top1_agree_float": 98.0}, se=50), "top1 77.5 < 77.6"),
])
def test_what_does_not_hold_is_said(accuracy, more, said):
    missed = accuracy.misses(result(**more))
    assert len(missed) == 1 and missed[0].startswith(said)
    assert missed[0] in accuracy.row(result(**more))


def test_where_no_column_is_there_is_no_bar(accuracy):
    alone = result(columns={})
    del alone["bar"], alone["se"]
    assert accuracy.misses(alone) == []
    assert "| fails | 90.00 |  |  | 40.00 |" in accuracy.row(alone)


class Counted:
    """A task whose metric is the share of samples in hand whose output is their truth."""

    def score(self, outputs, truth, reference):
        share = 100 * float(np.mean([o[0] == t for o, t in zip(outputs, truth)]))
        return {"top1": share, "mAP": share}


@pytest.mark.parametrize("metric", ["top1", "mAP"])
def test_standard_error_is_of_the_difference(accuracy, metric):
    """Of a mean both ways give the standard error of the mean of the differences."""
    random = np.random.default_rng(3)
    truth = [1] * 40
    one, other = ([[int(x)] for x in random.integers(0, 2, 40)] for _ in range(2))
    j = types.SimpleNamespace(task=Counted(), truth=truth)
    differences = 100 * np.array([a[0] - b[0] for a, b in zip(one, other)])
    wanted = differences.std(ddof=1) / 40 ** .5
    assert accuracy.standard_error(j, metric, one, other, None) == pytest.approx(wanted)
    assert accuracy.standard_error(j, metric, one, one, None) == 0
