"""The commands that README shows are run as they stand there."""
import os
import pathlib
import re
import shlex
import subprocess

import numpy as np
import onnx
import pytest
from bench import f32, model, node
from PIL import Image
from program import find_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINES = [line for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S) for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a reader has: a net of pictures of three channels, photos of several sizes, their labels, and tare on the PATH."""
    path = tmp_path_factory.mktemp("reader")
    rng = np.random.default_rng(0)
    weights = {"w": f32(rng.normal(0, .1, 8 * 3 * 16 * 16), 8, 3, 16, 16), "v": f32(rng.normal(0, 1, 40), 8, 5)}
    nodes = [node("Conv", "x w", "a", strides=[16, 16]), node("Relu", "a", "b"), node("GlobalAveragePool", "b", "c"),
             node("Flatten", "c", "d"), node("MatMul", "d v", "y")]
    onnx.save(model(nodes, {"x": [1, 3, 224, 224]}, "y", weights), path / "model.onnx")
    (path / "photos").mkdir()
    rows = ["file,label"]
    for i in range(12):
        size = (int(rng.integers(60, 90)), int(rng.integers(60, 90)), 3)
        Image.fromarray(rng.integers(0, 256, size, np.uint8)).save(path / "photos" / f"{i}.jpg")
        rows.append(f"{i}.jpg,{i % 5}")
    (path / "labels.csv").write_text("\n".join(rows) + "\n")
    program = path / "build" / "release" / "tare"
    program.parent.mkdir(parents=True)
    program.symlink_to(find_program())
    (path / "examples").symlink_to(ROOT / "examples")
    return path


def run(folder, command):
    path = f"{folder / 'build' / 'release'}:{os.environ['PATH']}"
    ran = subprocess.run(shlex.split(command), cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith("tare ")])
def test_build_commands(line, folder):
    """What make does is tried elsewhere; what follows it is tried here."""
    made, _, command = line.partition(" && ")
    target = made.partition(" ")[2] or "all"
    assert made.startswith("make") and re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)
    assert not command or "digits_int8.onnx" in run(folder, command)


def test_commands_for_ones_own_model(folder):
    """In their order, as each takes what the one before it wrote."""
    printed = [run(folder, line) for line in LINES if line.startswith("tare ")]
    assert len(printed) == 3 and (folder / "model_int8.onnx").exists()
    assert "model_int8.onnx" in printed[0] and "most is lost at" in printed[1] and "12 " in printed[2]
