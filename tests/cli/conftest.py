"""What the tests of the verbs share."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from bench import Bench
from program import find_program


@pytest.fixture
def bench(tmp_path):
    if not os.access(find_program(), os.X_OK):
        pytest.skip(f"{find_program()} is not there: run by ctest, or build first")
    return Bench(tmp_path)
