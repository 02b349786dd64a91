"""score.py of the shared models: what the models are fed, and what it makes of outputs."""
import csv
import json
import subprocess
import sys

import pytest
from program import SHARED

SCORE = SHARED / "models" / "score.py"


def need_models():
    if not SCORE.is_file():
        pytest.skip(f"{SCORE} is not there: the figures are not compared with its (TARE_SHARED)")


def call(*arguments):
    ran = subprocess.run([sys.executable, SCORE, *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1]


def feed(name, to):
    call("feeds", name, "--use", "eval", "-o", to)
    return to


def judge(name, outputs):
    return json.loads(call("score", name, "--outputs", outputs))


def write_labels(name, to, count):
    """One a line, in the order of the feeds."""
    with open(SHARED / "models" / name / "labels.csv", newline="", encoding="utf-8") as file:
        rows = [row["label"] for row in csv.DictReader(file) if row["use"] == "eval"]
    to.write_text("\n".join(rows[:count]) + "\n")
    return to
