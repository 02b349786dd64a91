"""How the program meets a terminal and a pipe: widths, colour, progress, and what every verb says alike."""
import os
import re

import numpy as np
import pytest
from conftest import DIGITS, IMAGES
from terminal import on_terminal

NEXT = re.compile(r"  (next|) +tare ")  # a command to be copied stays one line
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
VERBS = re.findall(r"^VERB\((\w+)\)", (DIGITS.parent.parent.parent / "src" / "cli" / "verbs.def").read_text(), re.M)
OPERANDS = {"merge": 1, "compare": 2, "convert": 2, "ops": 0, "help": 0}  # the least; 1 for the others


def answers(int8):
    data = ["--data", IMAGES, "--samples", 12]
    return [["info", int8, "--nodes", "--values"], ["check", DIGITS, *data], ["debug", DIGITS, int8, *data],
            ["compare", DIGITS, int8, "--nodes", *data], ["ops"], ["help", "quantize"], ["help"]]


@pytest.mark.parametrize("columns", [80, 132])
def test_no_line_is_wider_than_the_terminal(columns, tare, digits_int8):
    for command in answers(digits_int8):
        seen = on_terminal(*command, "-q", columns=columns) if command[0] != "help" else on_terminal(*command)
        lines = [ESCAPE.sub("", line) for line in seen.splitlines()]
        lines = [line for line in lines if str(digits_int8) not in line and not NEXT.match(line)]
        assert lines and max(map(len, lines)) <= columns, (command, max(lines, key=len))
        assert not any(line.endswith(" ") for line in lines), command


def test_a_pipe_has_80_columns_and_no_escape(tare, digits_int8):
    """Tables have more, where names need it: those of `ops` do."""
    for command in answers(digits_int8):
        ran = tare(*command, env={**os.environ, "COLUMNS": "200"})
        lines = [line for line in ran.out.splitlines() if str(digits_int8) not in line and not NEXT.match(line)]
        assert ran.status == 0 and (command == ["ops"] or max(map(len, lines)) <= 80), (command, max(lines, key=len))
        assert "\x1b" not in ran.out + ran.log and "\r" not in ran.out + ran.log


def test_colour_and_progress_only_where_they_are_wanted(tare, tmp_path):
    """`check` marks what is dangerous, `quantize` shows how far it is."""
    model = tmp_path / "m.onnx"
    write_dangerous(model)
    assert "\x1b[31m" in on_terminal("check", model)
    assert "\x1b[" not in on_terminal("check", model, NO_COLOR="1")
    assert "\x1b[31m" in on_terminal("check", model, NO_COLOR="")  # as no-color.org says
    assert "\x1b[" not in on_terminal("check", model, TERM="dumb")
    quantize = ["quantize", DIGITS, "--data", IMAGES, "-o", tmp_path / "q.onnx"]
    assert "\r" in on_terminal(*quantize).replace("\r\n", "\n")
    assert "\r" not in on_terminal(*quantize, TERM="dumb").replace("\r\n", "\n")
    assert "\r" not in on_terminal(*quantize, "--quiet").replace("\r\n", "\n")


def write_dangerous(path):
    import onnx
    from bench import f32, model, node

    nodes = [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Add", "b mask", "c"), node("MatMul", "c w", "y")]
    onnx.save(model(nodes, {"x": [2, 3]}, "y", {"w": f32(np.eye(3)), "mask": f32([0, 0, -3.4e38])}), path)


def write_long_names(folder, names):
    """A chain of Relus whose values have these names, and a sample."""
    import numpy as np
    import onnx
    from bench import model, node

    values = ["x", *names]
    nodes = [node("Relu", a, b, f"node of {b}") for a, b in zip(values, names)]
    onnx.save(model(nodes, {"x": [1, 4]}, names[-1], {}), folder / "m.onnx")
    np.save(folder / "x.npy", np.linspace(-1, 1, 4, dtype=np.float32)[None])


@pytest.mark.parametrize("names", [
    [f"backbone/stage_{i}/block/convolution/batch_normalization/activation/output" for i in range(12)],
    [f"a/long/beginning/that/all/of/the/names/of/values/have/{'abcdefghijkl'[i]}/{i}" for i in range(12)],
    [f"{'x' * 60}{i:02}{'y' * 60}" for i in range(12)],
    [f"naïve/größe/{'ä' * 40}/{i:02}/{'ö' * 40}" for i in range(12)],
], ids=["middle", "end", "inside", "not ASCII"])
def test_names_can_be_told_apart_on_a_terminal_and_are_whole_in_a_pipe(names, tare, tmp_path):
    write_long_names(tmp_path, names)
    command = ["compare", tmp_path / "m.onnx", tmp_path / "m.onnx", "--data", tmp_path / "x.npy", "--nodes", "-q"]
    piped = tare(*command).out
    assert all(name in piped for name in names)
    seen = [line for line in on_terminal(*command).splitlines() if re.search(r" Relu ", line)]
    shown = [line.split()[0] for line in seen]
    assert len(shown) == len(set(shown)) >= 11 and max(map(len, seen)) <= 80, shown


def test_progress_tells_no_rate_before_there_is_one(tmp_path):
    seen = on_terminal("quantize", DIGITS, "--data", IMAGES, "-o", tmp_path / "q.onnx")
    bars = re.findall(r"\r(\w+ +[#.]{20} \d+/\d+[^\x1b]*)", seen)
    rates = [float(rate) for rate in re.findall(r"  (\S+)/s", " ".join(bars))]
    assert bars and all(rate < 1e5 for rate in rates), bars


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_alike(verb, tare):
    least = OPERANDS.get(verb, 1)
    for ran in (tare(verb, "--help"), tare("help", verb)):
        assert ran.status == 0 and ran.out.startswith(f"tare {verb} ") and not ran.log
        assert max(map(len, ran.out.splitlines())) <= 80
        assert "\nExamples:\n" in ran.out
    ran = tare(verb, "--jsom")
    assert ran.status == 2 and ran.log == "error: no option '--jsom'; did you mean '--json'?\n" and not ran.out
    ran = tare(verb, "--max-mem")
    assert ran.status == 2 and ran.log == "error: --max-mem needs a value\n"
    ran = tare(verb, "-Z")
    assert ran.status == 2 and f"`tare help {verb}` lists them" in ran.log
    if least:
        ran = tare(verb)
        assert ran.status == 2 and f"usage: tare {verb} " in ran.log
    ran = tare(verb, *["nothing.onnx"] * 9)
    assert ran.status in (2, 5) and ran.log.startswith("error: ") and not ran.out


@pytest.mark.parametrize("verb", VERBS)
def test_examples_of_help_are_real(verb, tare):
    """Each option in them is one of the verb's, each verb is one."""
    text = tare("help", verb).out
    examples = text.split("\nExamples:\n")[1]
    for line in examples.splitlines():
        for command in re.findall(r"tare ([^|)]*)", line):
            name, *words = command.split()
            assert name in VERBS
            own = tare("help", name).out
            for word in words:
                if word.startswith("-") and word != "-":
                    assert re.search(rf"^  (-\w, )?{re.escape(word)}\b|^  {re.escape(word)}, ", own, re.M), (line, word)


def test_long_warnings_and_errors_are_wrapped(tmp_path):
    """On a terminal; in a pipe each is one line, for programs."""
    quantize = ["quantize", DIGITS, "--data", IMAGES, "-o", tmp_path / "q.onnx"]
    lines = on_terminal(*quantize, TERM="dumb").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("warning: input 'image': pixels go in as they are"))
    assert 60 < len(lines[at]) <= 80 and lines[at + 1].startswith("  ") and lines[at + 2].endswith("0...255 is right")
    assert max(map(len, lines[at:at + 3])) <= 80
    wide = on_terminal(*quantize, TERM="dumb", columns=300).splitlines()
    assert " ".join(line.strip() for line in lines[at:at + 3]) == wide[at]
    wrong = on_terminal("quantize", DIGITS, "--data", IMAGES, "-o", "q.onnx", "--method", "kl", "-q",
                        status=2).splitlines()
    assert len(wrong) == 2 and max(map(len, wrong)) <= 80
