"""What the tests of the verbs share: a bench, the bundled example, and what is made of it."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from bench import bench  # a fixture
from program import find_program, run_program

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
IMAGES = ROOT / "examples" / "digits" / "images"


@pytest.fixture(scope="session")
def tare():
    if not os.access(find_program(), os.X_OK):
        pytest.skip(f"{find_program()} is not there: run by ctest, or build first")
    return run_program


@pytest.fixture(scope="session")
def digits_int8(tare, tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits_int8.onnx"
    assert tare("quantize", DIGITS, "--data", IMAGES, "-o", path).status == 0
    return path
