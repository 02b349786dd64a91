"""What the tests of the formats share: the driver, and where the shared models are."""
import os
import pathlib
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or ROOT.parent / "shared")


class Ran:
    """What a run of the driver left: exit status, stderr, seconds of CPU, most bytes allocated at once."""

    def __init__(self, status, log, seconds, peak):
        self.status, self.log, self.seconds, self.peak = status, log, seconds, peak


@pytest.fixture(scope="session")
def driver():
    folder = os.environ.get("TARE_DRIVERS")
    if not folder:
        pytest.skip("TARE_DRIVERS is not set: run by ctest")
    program = pathlib.Path(folder) / "driver_onnx"

    def run(*arguments, cwd=None):
        started = time.monotonic()
        child = subprocess.Popen([program, *map(str, arguments)], cwd=cwd, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        log = child.stderr.read().decode(errors="backslashreplace")
        peak = child.stdout.read()
        child.stderr.close()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = min(usage.ru_utime + usage.ru_stime, time.monotonic() - started)
        return Ran(child.returncode, log, seconds, int(peak or 0))

    return run


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "models").is_dir():
        pytest.skip(f"{SHARED}/models is not there: the shared models are not tried (TARE_SHARED)")
    return SHARED / "models"


@pytest.fixture(scope="session")
def is_sanitized():
    return bool(os.environ.get("TARE_SANITIZE"))
