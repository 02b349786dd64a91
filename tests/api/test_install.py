"""What is installed serves by itself: the example is built from the installed tree alone, moved elsewhere before, by
pkg-config and by find_package, and writes the same bytes as the program."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from program import find_program

PROGRAM = pathlib.Path(find_program())
EXAMPLE, DIGITS = ROOT / "examples" / "c_api", ROOT / "examples" / "digits"
MODEL, IMAGES = DIGITS / "digits.onnx", DIGITS / "images"

if os.environ.get("TARE_SANITIZE"):
    pytest.skip("the library was built with sanitizers, which users do not link", allow_module_level=True)
if not (PROGRAM.parent / "cmake_install.cmake").is_file():
    pytest.skip(f"{PROGRAM} does not lie in a build tree that could be installed", allow_module_level=True)


def call(*words, status=0, **options):
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    call("cmake", "--install", PROGRAM.parent, "--prefix", folder / "first")
    return (folder / "first").rename(folder / "tree")


@pytest.fixture(scope="module")
def package_path(tree):
    (found,) = tree.rglob("tare.pc")
    return {**os.environ, "PKG_CONFIG_PATH": str(found.parent)}


def by_pkg_config(folder, tree, environment):
    flags = call("pkg-config", "--cflags", "--libs", "tare", env=environment).split()
    assert f"-I{tree}/" in " ".join(flags).replace("/lib/pkgconfig/../..", "") and str(ROOT) not in " ".join(flags)
    call("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", EXAMPLE / "quantize.c", *flags, "-o",
         folder / "quantize")
    return folder / "quantize"


def by_find_package(folder, tree, environment):
    shutil.copytree(EXAMPLE, folder / "source")
    call("cmake", "-S", folder / "source", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={tree}")
    call("cmake", "--build", folder / "build")
    assert str(ROOT) not in (folder / "build" / "CMakeCache.txt").read_text()
    return folder / "build" / "quantize"


@pytest.mark.parametrize("build", [by_pkg_config, by_find_package])
def test_the_example(build, tree, package_path, tmp_path):
    program = build(tmp_path, tree, package_path)
    said = call(program, MODEL, IMAGES, tmp_path / "by_example.onnx")
    assert "logits" in said and "SQNR" in said
    call(tree / "bin" / "tare", "quantize", MODEL, "--data", IMAGES, "-o", tmp_path / "by_program.onnx")
    assert (tmp_path / "by_example.onnx").read_bytes() == (tmp_path / "by_program.onnx").read_bytes()
    call(program, tmp_path / "none.onnx", IMAGES, tmp_path / "out.onnx", status=5)
    call(program, status=2)


def test_versions_agree(tree, package_path, tmp_path):
    version = call("pkg-config", "--modversion", "tare", env=package_path).strip()
    assert version == call(tree / "bin" / "tare", "--version").split()[1]
    lists = tmp_path / "CMakeLists.txt"
    for wanted, status in ((version, 0), ("99.0", 1)):
        lists.write_text(f"cmake_minimum_required(VERSION 3.18)\nproject(user C)\nfind_package(tare {wanted} REQUIRED)\n")
        call("cmake", "-S", tmp_path, "-B", tmp_path / f"build{status}", f"-DCMAKE_PREFIX_PATH={tree}", status=status)


def test_all_is_there(tree):
    for path in ("bin/tare", "include/tare/tare.h", "share/man/man1/tare.1", "share/man/man1/tare-quantize.1",
                 "share/bash-completion/completions/tare", "share/zsh/site-functions/_tare",
                 "share/fish/vendor_completions.d/tare.fish"):
        assert (tree / path).is_file(), path
    assert {path.name for path in (tree / "include" / "tare").iterdir()} == {
        path.name for path in (ROOT / "include" / "tare").iterdir()}
