"""cases/VERB.txt: what a user types and what is seen, for every verb. Each file is run in one folder, command by command.
`$ ` begins a command for sh, `| ` what it prints to stdout, `! ` to stderr, `= N` its exit code when that is not 0; other
lines are prose. `{*}` in an expected line stands for anything. With TARE_UPDATE=1 the files are rewritten by what came: read
the difference as a user would."""
import os
import pathlib
import re
import subprocess

import numpy as np
import onnx
import pytest
from bench import f32, model, node, quantized
from conftest import DIGITS, IMAGES
from program import find_program

CASES = pathlib.Path(__file__).resolve().parent / "cases"
FILES = sorted(CASES.glob("*.txt"))
COLUMNS = 80
# Text for programs, and names that nothing cuts where there is no terminal.
WIDE = re.compile(r"--(json|markdown|man|completion)\b|^tare ops\b")


def write_things(folder):
    """The models and the data of the cases: a float net, the same with all codes said, one that ends too early."""
    weight = f32([0.5, -0.25, 0.125, 1, -1, 0.75, 0.375, -0.5, 0.25, -0.125, 0.625, 0.875], 4, 3)
    nodes = [node("MatMul", "x w", "sum", "dense"), node("Add", "sum b", "biased"), node("Relu", "biased", "y")]
    constants = {"w": weight, "b": f32([0.5, -0.5, 0.25])}
    onnx.save(model(nodes, {"x": ["N", 4]}, "y", constants), folder / "net.onnx")
    pair_x, of_x = quantized("x", 2**-6, 128)
    pair_y, of_y = quantized("sum", 2**-4, 128)
    pair_w, of_w = quantized("w", 2**-7, 0, np.int8)
    onnx.save(model([*pair_x, *pair_w, node("MatMul", "x_d w_d", "sum", "dense"), *pair_y,
                     node("Add", "sum_d b", "biased"), node("Relu", "biased", "y")], {"x": ["N", 4]}, "y",
                    {**constants, **of_x, **of_y, **of_w}), folder / "net_int8.onnx")
    data = np.sin(np.arange(48, dtype=np.float32).reshape(12, 4)).astype(np.float32)
    np.save(folder / "data.npy", data)
    np.savez(folder / "one.npz", x=data[:1])
    (folder / "short.onnx").write_bytes((folder / "net.onnx").read_bytes()[:100])
    (folder / "digits.onnx").symlink_to(DIGITS)
    (folder / "images").symlink_to(IMAGES)


class Command:
    def __init__(self, text):
        self.text, self.out, self.err, self.status = text, [], [], 0

    def lines(self):
        lines = [f"$ {self.text}"]
        for mark, some in (("|", self.out), ("!", self.err)):
            lines += [f"{mark} {line}".rstrip() for line in some]
        return lines + ([f"= {self.status}"] if self.status else [])


def read(path):
    """Prose as str, commands as Command, in order."""
    parts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, rest = line[:1], line[2:]
        if mark == "$":
            parts.append(Command(rest))
        elif mark in "|!" and mark and isinstance(parts[-1], Command):
            (parts[-1].out if mark == "|" else parts[-1].err).append(rest)
        elif mark == "=" and isinstance(parts[-1], Command):
            parts[-1].status = int(rest)
        else:
            parts.append(line)
    return parts


def run(command, folder):
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": str(folder), "TERM": "xterm"}
    ran = subprocess.run(["sh", "-c", command.text], cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL,
                         capture_output=True, timeout=60, check=False)
    came = Command(command.text)
    came.out, came.err = (stream.decode().splitlines() for stream in (ran.stdout, ran.stderr))
    came.status = ran.returncode
    return came


def fits(want, came):
    pattern = ".*".join(re.escape(part) for part in want.split("{*}"))
    return re.fullmatch(pattern, came.rstrip()) is not None


def agree(want, came):
    return want.status == came.status and all(
        len(a) == len(b) and all(map(fits, a, b)) for a, b in ((want.out, came.out), (want.err, came.err)))


def too_wide(came):
    """A command to be copied stays one line."""
    return [line for line in came.out
            if len(line) > COLUMNS and not WIDE.search(came.text) and not re.match(r"  (next|) +tare ", line)]


@pytest.fixture
def folder(tare, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tare").symlink_to(find_program())
    (tmp_path / "work").mkdir()
    write_things(tmp_path / "work")
    return tmp_path


def verbs(tare):
    lines = tare("help").out.splitlines()
    return [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]


def test_every_verb_has_cases(tare):
    assert sorted(verbs(tare)) == sorted(path.stem for path in FILES if path.stem != "tare")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path, folder):
    parts, wrong = read(path), []
    for i, part in enumerate(parts):
        if not isinstance(part, Command):
            continue
        came = run(part, folder)
        assert not too_wide(came), f"{part.text}\nprints lines of more than {COLUMNS} columns: {too_wide(came)}"
        if agree(part, came):
            continue
        wrong.append("\n".join(["want", *part.lines(), "came", *came.lines()]))
        parts[i] = came
    if os.environ.get("TARE_UPDATE"):
        lines = [line for part in parts for line in (part.lines() if isinstance(part, Command) else [part])]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "tare"], ids=lambda path: path.stem)
def test_cases_are_complete(path):
    """Of each verb: that it works, and what it says to a misspelled option and to a forgotten operand."""
    commands = [part for part in read(path) if isinstance(part, Command)]
    assert any(each.status == 0 and each.text.startswith(f"tare {path.stem}") for each in commands)
    said = [line for each in commands if each.status == 2 for line in each.err]
    assert any("did you mean '--" in line for line in said)
