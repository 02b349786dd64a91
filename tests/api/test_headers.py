"""The public headers as a C++ program sees them."""
import pathlib
import shutil
import subprocess

import pytest

HEADERS = sorted((pathlib.Path(__file__).resolve().parent.parent.parent / "include" / "tare").glob("*.h"))
COMPILER = next(filter(None, map(shutil.which, ("clang-14", "clang", "g++"))), None)


@pytest.mark.skipif(not COMPILER, reason="no C++ compiler is there: headers are not tried in C++")
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_cpp_takes_it(header, tmp_path):
    source = tmp_path / "user.cpp"
    source.write_text(f"#include <tare/{header.name}>\n#include <tare/tare.h>\nconst char *ask() {{ return tare_version(); }}\n")
    ran = subprocess.run([COMPILER, "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c",
                          "-I", HEADERS[0].parent.parent, source, "-o", tmp_path / "user.o"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert b"_Z12tare_version" not in (tmp_path / "user.o").read_bytes()
