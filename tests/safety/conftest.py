"""What the tests of safety share."""
import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "formats")]
from program import SHARED, find_program, run_program


@pytest.fixture(scope="session")
def tare():
    if not os.access(find_program(), os.X_OK):
        pytest.skip(f"{find_program()} is not there: run by ctest, or build first")
    return run_program


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "models").is_dir():
        pytest.skip(f"{SHARED}/models is not there: the shared models are not tried (TARE_SHARED)")
    return SHARED
