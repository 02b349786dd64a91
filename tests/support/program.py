"""The program as tests run it: under limits of time and memory; and where the shared models are."""
import os
import pathlib
import resource
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or TESTS.parent.parent / "shared")
IS_SANITIZED = bool(os.environ.get("TARE_SANITIZE"))
SECONDS_MAX = 60  # wall clock, for a machine under load; the tests' own bounds are on CPU time


class Ran:
    """What a run of the program left: exit status, stdout, stderr, seconds of CPU."""

    def __init__(self, status, out, log, seconds):
        self.status, self.out, self.log, self.seconds = status, out, log, seconds


def find_program():
    return os.environ.get("TARE_PROGRAM") or str(TESTS.parent / "build" / "dev" / "tare")


def run_program(*arguments, memory=None, setup=None, **options):
    """`memory`: bytes of address space that the program gets; a sanitizer needs all there is."""
    def limit():
        if memory and not IS_SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        if setup:
            setup()

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        ran = subprocess.run([find_program(), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                             timeout=SECONDS_MAX, preexec_fn=limit, **options)
    except subprocess.TimeoutExpired:
        pytest.fail(f"still running after {SECONDS_MAX} s: {arguments}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(ran.returncode, ran.stdout.decode(errors="backslashreplace"),
               ran.stderr.decode(errors="backslashreplace"), seconds)


def check_error(ran, status, *words):
    """The status, and one line `error: …` with the words: nothing that a terminal would obey, no word of our own code."""
    assert ran.status == status, f"exit {ran.status}, want {status}: {ran.log}"
    lines = [line for line in ran.log.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, ran.log
    for word in words:
        assert word in lines[0], (word, lines[0])
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in ran.log)
