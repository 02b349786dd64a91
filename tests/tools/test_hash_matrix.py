"""tools/hash-matrix sees bytes that differ between builds, threads or instruction sets, and runs that fail."""
import pathlib
import subprocess

import pytest

MATRIX = pathlib.Path(__file__).resolve().parents[2] / "tools" / "hash-matrix"


def build(directory, script):
    """A directory with a program `tare` that gets: OUT --threads N --cpu C."""
    directory.mkdir()
    program = directory / "tare"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(directory)


def matrix(*builds):
    command = [MATRIX, "--cpu", "scalar,avx2"]
    for directory in builds:
        command += ["--build", directory]
    done = subprocess.run([*command, "--", "{out}"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


SAME = 'echo model >"$1/model"; echo "wrote $1/model"'


def test_same_bytes(tmp_path):
    status, printed = matrix(build(tmp_path / "gcc", SAME), build(tmp_path / "clang", SAME))
    assert status == 0, printed
    assert "\nsame bytes: 1 kinds, threads 1,2,7\n" in printed
    assert len(printed.splitlines()) == 2 * 2 + 1


@pytest.mark.parametrize("script", [
    'echo "$3" >"$1/model"',
    'echo "$5" >"$1/model"',
    'echo "$3"',
    'echo model >"$1/$3"',
    'mkdir "$1/below"; echo "$5" >"$1/below/model"',
    "exit 3",
])
def test_difference_or_failure_is_seen(tmp_path, script):
    status, printed = matrix(build(tmp_path / "gcc", script))
    assert status == 1
    assert "NOT the same" in printed


def test_difference_between_builds_is_seen(tmp_path):
    status, printed = matrix(build(tmp_path / "gcc", SAME), build(tmp_path / "clang", SAME.replace("model", "Model", 1)))
    assert status == 1
    assert "NOT the same bytes: 2 kinds" in printed
