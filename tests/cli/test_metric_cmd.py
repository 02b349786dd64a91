"""Option --metric-cmd of run, compare and debug: a program of the user's judges outputs."""
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import score
from bench import f32, model, node
from program import SHARED, find_program

# Sums all outputs of a dump, in the order of its list.
SUM = """import pathlib, sys, numpy as np
folder = pathlib.Path(sys.argv[-1])
files = (folder / "list.txt").read_text().split()
print("files", len(files))
print("sum", sum(np.load(folder / name)["y"].sum() for name in files))
"""


@pytest.fixture
def judge(bench):
    path = bench.new(".py")
    path.write_text(SUM)
    return f"{sys.executable} {path}"


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary directories go."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def relu():
    return model([node("Relu", "x", "y")], {"x": [1, 4]}, "y")


def feeds(seed=1):
    return np.random.default_rng(seed).normal(size=(6, 1, 4)).astype(np.float32)


def total(array):
    return pytest.approx(float(array.astype(np.float64).sum()), rel=1e-5)


def run(bench, command):
    return bench.call("run", bench.save(relu()), "--data", bench.samples({"x": feeds()}), "-o", bench.new(""), "--metric-cmd",
                      command, "--json")


def test_run(bench, judge):
    told = json.loads(run(bench, judge).out)
    assert told["metric"] == {"files": 6, "sum": total(np.maximum(feeds(), 0))}


@pytest.mark.parametrize("command, want", [
    ("echo 0.5; :", {"metric": .5}),
    ("echo noise 3; echo; echo -1e-3; :", {"metric": -.001}),
    ("printf 'words\\nmAP 30.5\\nmAP 50 = 51\\nloss: 2\\n'; :", {"mAP": 30.5, "mAP 50": 51, "loss": 2}),
    ("echo '{\"top1\": 76.5, \"n\": 3, \"name\": \"x\"}'; :", {"top1": 76.5, "n": 3}),
    ("echo nan; :", {"metric": None}),
    ("sleep 1000 & echo 5; :", {"metric": 5}),  # what it leaves behind holds the pipes
    ("while sleep .02; do echo 6; done & echo 5; :", {"metric": 6}),
    ("echo 5; exec >&- 2>&-; sleep .1; :", {"metric": 5}),
    ("echo talk >&2; yes | head -c 5000000; yes | head -c 5000000 >&2; echo 7; :", {"metric": 7}),
    ("cat; echo 1; :", {"metric": 1}),  # standard input is empty
])
def test_what_is_printed(bench, command, want):
    ran = run(bench, command)
    assert ran.status == 0, ran.log
    assert json.loads(ran.out)["metric"] == want


@pytest.mark.parametrize("command, status, words", [
    ("echo first >&2; echo 'no such label' >&2; exit 3; :", 5, ["exit code 3", "no such label"]),
    ("no_such_program_here", 5, ["exit code 127", "no_such_program_here"]),
    ("kill -9 $$; :", 5, ["signal 9"]),
    ("echo some words; :", 3, ["printed no figure", "'some words'", "a number"]),
    (":", 3, ["printed no figure"]),
    ("echo '{\"a\": '; :", 3, ["printed no figure"]),
    ("exit 1 # ", 5, ["exit code 1", "said nothing"]),
    ("", 2, ["is given nothing", "CMD"]),
    (" \t", 2, ["is blank", "a program"]),
    ("yes; :", 6, ["printed more than 256 MiB and was stopped"]),
    ("yes >&2 & echo 5; :", 6, ["printed more than 256 MiB and was stopped"]),
    ("trap '' TERM; yes; :", 6, ["printed more than 256 MiB and was stopped"]),
])
def test_what_goes_wrong(bench, command, status, words):
    ran = run(bench, command)
    bench.refuse(status, "run", bench.save(relu()), "--data", bench.samples({"x": feeds()}), "-o", bench.new(""), "--metric-cmd",
                 command, words=["--metric-cmd", *words])
    if "first" in command:
        assert "warning: metric-cmd: first\n" in ran.log


@pytest.mark.parametrize("number", ["nan", "-inf"])
def test_what_is_not_finite_is_told(bench, number):
    ran = run(bench, f"echo loss {number}; :")
    assert ran.status == 0 and f"warning: metric-cmd: 'loss' is {number}: did its outputs hold" in ran.log


def test_what_takes_long_is_told(bench):
    """Not ended: a judge may need an hour."""
    ran = run(bench, "sleep 11; echo 5; :")
    assert ran.status == 0 and json.loads(ran.out)["metric"] == {"metric": 5}
    assert ran.log.count("'sleep 11; echo 5; :' has run for 10 s and is waited for; Ctrl-C ends it") == 1
    assert "has run for" not in run(bench, "echo 5; :").log


def test_children_left_behind_are_ended(bench):
    pids = bench.new(".pids")
    assert run(bench, f"sleep 1000 & echo $! > {pids}; echo 5; :").status == 0
    wait_until(lambda: not is_running(int(pids.read_text())))


def test_compare_judges_each_side_once(bench, judge, scratch):
    matmul = model([node("MatMul", "x w", "y")], {"x": [1, 4]}, "y", {"w": f32(np.eye(4) / 3)})
    net, data, log = bench.save(matmul), bench.samples({"x": feeds()}), bench.new(".log")
    int8 = bench.quantize(net, data).path
    ran = bench.call("compare", net, int8, net, "--data", data, "--json", "--metric-cmd", f"echo >> {log}; {judge}")
    assert ran.status == 0, ran.log
    first, second = (comparison["metric"] for comparison in json.loads(ran.out)["comparisons"])
    assert first["reference"] == second["reference"] == second["other"] == {"files": 6, "sum": total(feeds() / 3)}
    assert first["other"]["files"] == 6 and first["other"]["sum"] != first["reference"]["sum"]
    assert len(log.read_text().splitlines()) == 3
    text = bench.call("compare", net, int8, "--data", data, "--metric-cmd", judge).out
    assert "metric-cmd" in text and "sum" in text
    debug = json.loads(bench.call("debug", net, int8, "--data", data, "--json", "--metric-cmd", judge).out)["metric"]
    assert debug == first
    assert not list(scratch.iterdir())


def test_dumps_are_given_as_they_are(bench, judge):
    a, b = bench.samples({"y": feeds(1)}), bench.samples({"y": feeds(2)})
    for folder in (a, b):
        (folder / "list.txt").write_text("".join(f"{path.name}\n" for path in sorted(folder.glob("*.npz"))))
    told = json.loads(bench.call("compare", a, b, "--metric-cmd", judge, "--json").out)["comparisons"][0]["metric"]
    assert told["reference"]["sum"] == total(feeds(1)) and told["other"]["sum"] == total(feeds(2))


def test_one_archive_is_no_directory(bench):
    data, out = bench.data({"x": feeds()[0]}), bench.new(".npz")
    bench.refuse(2, "run", bench.save(relu()), "--data", data, "-o", out, "--metric-cmd", "echo 1", words=["directory"])
    assert not out.exists()
    bench.refuse(2, "compare", data, data, "--metric-cmd", "echo 1", words=["is given a directory"])


def start(bench, pid_file):
    """compare, as far as that the user's program runs."""
    path, data = bench.save(relu()), bench.samples({"x": feeds()})
    program = subprocess.Popen([find_program(), "compare", path, path, "--data", data, "--metric-cmd",
                                f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 60; :"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(.01)
    return program, int(pid_file.read_text())


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(") ")[-1][0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(.01)
    assert condition()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_when_it_is_stopped(bench, scratch, number):
    program, pid = start(bench, bench.new(".pid"))
    assert is_running(pid) and len(list(scratch.iterdir())) == 1
    program.send_signal(number)
    program.communicate(timeout=30)
    assert program.returncode == 128 + number
    assert not list(scratch.iterdir())
    wait_until(lambda: not is_running(pid))


def test_what_was_killed_is_removed_by_the_next(bench, scratch):
    program, pid = start(bench, bench.new(".pid"))
    program.kill()
    os.killpg(pid, signal.SIGKILL)
    program.communicate(timeout=30)
    (left,) = scratch.iterdir()
    (left / "deeper").mkdir()
    (left / "deeper" / "file").write_text("x")
    (scratch / "tare-scratch-not-one-of-ours").mkdir()
    path, data = bench.save(relu()), bench.samples({"x": feeds()})
    assert bench.call("compare", path, path, "--data", data, "--metric-cmd", "ls $1/*; echo 1; :").status == 0
    assert [entry.name for entry in scratch.iterdir()] == ["tare-scratch-not-one-of-ours"]


def test_no_place_for_it(bench, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/no/such/place")
    path, data = bench.save(relu()), bench.samples({"x": feeds()})
    bench.refuse(5, "compare", path, path, "--data", data, "--metric-cmd", "echo 1", words=["/no/such/place", "TMPDIR"])


def test_score_is_such_a_program(tmp_path, scratch, bench):
    """score.py as it stands: its JSON is read, of a run and of both sides of a comparison."""
    score.need_models()
    name = "vww_mobilenet025"
    net, feeds_ = SHARED / "models" / name / "model.onnx", score.feed(name, tmp_path / "feeds")
    command = f"{sys.executable} {score.SCORE} score {name} --outputs"
    ran = bench.call("run", net, "--data", feeds_, "-o", tmp_path / "out", "--metric-cmd", command, "--json")
    assert ran.status == 0, ran.log
    judged = score.judge(name, tmp_path / "out")
    assert json.loads(ran.out)["metric"] == pytest.approx(judged)
    int8 = bench.quantize(net, feeds_).path
    ran = bench.call("compare", net, int8, "--data", feeds_, "--metric-cmd", command, "--json")
    assert ran.status == 0, ran.log
    told = json.loads(ran.out)["comparisons"][0]["metric"]
    assert told["reference"] == pytest.approx(judged) and told["other"]["n"] == judged["n"]
    assert not list(scratch.glob("tare*"))
