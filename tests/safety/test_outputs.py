"""What is written, through the program: whole or not at all, never over an input, whatever happens meanwhile. The writer's
own tests are in tests/base/test_file_write.c; tests/proof/writer_kills.sh kills it for long."""
import hashlib
import itertools
import os
import resource
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from onnx import helper
from program import check_error, find_program

OLD = b"what was there before"


def write_model(path, numbers=3 * 3 * 64 * 64):
    weight = np.linspace(-1, 1, numbers, dtype=np.float32).reshape(-1, 64, 3, 3)
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], name="n")], "g",
                              [helper.make_tensor_value_info("x", 1, [1, 64, 16, 16])],
                              [helper.make_tensor_value_info("y", 1, None)], [onnx.numpy_helper.from_array(weight, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    write_model(path)
    return path


WRITERS = {"optimize": lambda model, out: ["optimize", model, "-o", out],
           "convert": lambda model, out: ["convert", model, out],
           "cut": lambda model, out: ["cut", model, "--to", "y", "-o", out],
           "quantize": lambda model, out: ["quantize", model, "--data", "random:2", "-o", out],
           "run": lambda model, out: ["run", model, "--data", "random:1", "-o", out.with_suffix(".npz")]}


def digest(path):
    return hashlib.sha256(path.read_bytes()).digest()


@pytest.mark.parametrize("verb", [verb for verb in WRITERS if verb != "run"])
def test_output_is_an_input(verb, tare, model, tmp_path):
    """By the same name, another spelling of it, a hard link and a symbolic link, either way round."""
    before = digest(model)
    (tmp_path / "hard.onnx").hardlink_to(model)
    (tmp_path / "soft.onnx").symlink_to(model.name)
    spellings = [model, tmp_path / "." / ".." / tmp_path.name / model.name, tmp_path / "hard.onnx", tmp_path / "soft.onnx"]
    for source, out in itertools.product(spellings, repeat=2):
        check_error(tare(*WRITERS[verb](source, out)), 2, f"error: {out}: ", "inputs are never touched")
        assert digest(model) == before


def test_external_weights_are_inputs(tare, model, tmp_path):
    loaded = onnx.load(model)
    onnx.save(loaded, tmp_path / "outside.onnx", save_as_external_data=True, location="weights.onnx", size_threshold=0)
    before = digest(tmp_path / "weights.onnx")
    check_error(tare("convert", tmp_path / "outside.onnx", tmp_path / "weights.onnx"), 2, "never touched")
    assert digest(tmp_path / "weights.onnx") == before


def test_samples_are_inputs(tare, model, tmp_path):
    """A dump may not go over the samples that it is made of, be it one file, one of a directory, or their list."""
    x = np.zeros((1, 64, 16, 16), np.float32)
    data = tmp_path / "data"
    data.mkdir()
    np.savez(data / "a.npz", x=x)
    np.savez(data / "b.npz", x=x)
    (data / "list.txt").write_text("../c.npy\n")
    np.save(tmp_path / "c.npy", x)
    (tmp_path / "link.npz").hardlink_to(data / "a.npz")
    before = [digest(data / name) for name in ("a.npz", "b.npz", "list.txt")]
    for source, out in [(data / "a.npz", data / "a.npz"), (data / "a.npz", tmp_path / "link.npz"), (data, data),
                        (data / "list.txt", data)]:
        check_error(tare("run", model, "--data", source, "-o", out), 2, "inputs are never touched")
    assert [digest(data / name) for name in ("a.npz", "b.npz", "list.txt")] == before
    assert sorted(os.listdir(data)) == ["a.npz", "b.npz", "list.txt"]
    assert tare("run", model, "--data", data, "-o", tmp_path / "dump").status == 0
    assert tare("run", model, "--data", data, "-o", tmp_path / "dump").status == 0, "a dump may be made again"


@pytest.mark.parametrize("verb", WRITERS)
def test_places_that_cannot_be_written(verb, tare, model, tmp_path):
    ending = ".npz" if verb == "run" else ".onnx"
    (tmp_path / "other").write_bytes(OLD)
    links = {"link": "other", "dangling": "nowhere", "loop": "loop" + ending}
    for name, target in links.items():
        (tmp_path / (name + ending)).symlink_to(target)
    (tmp_path / ("folder" + ending)).mkdir()
    before = sorted(os.listdir(tmp_path))
    for name in [*links, "folder", "missing/out", "a" * 300]:
        ran = tare(*WRITERS[verb](model, tmp_path / (name + ".onnx")))
        check_error(ran, 5, name)
        assert sorted(os.listdir(tmp_path)) == before and (tmp_path / "other").read_bytes() == OLD


@pytest.mark.parametrize("verb", WRITERS)
def test_read_only_directory(verb, tare, model, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place], capture_output=True).returncode:
        place.chmod(0o555)
        if os.access(place, os.W_OK):
            pytest.skip("no read-only directory can be made here")
        check_error(tare(*WRITERS[verb](model, place / "out.onnx")), 5, str(place))
        return
    try:
        check_error(tare(*WRITERS[verb](model, place / "out.onnx")), 5, str(place), "Read-only")
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("verb", WRITERS)
def test_file_size_limit(verb, tare, model, tmp_path):
    """RLIMIT_FSIZE at several sizes: what was there before stays, and nothing else is left."""
    out = tmp_path / "out"
    out.mkdir()
    target = out / ("out.npz" if verb == "run" else "out.onnx")
    target.write_bytes(OLD)
    for size in (0, 100, 4096, 30000):
        ran = tare(*WRITERS[verb](model, target),
                   setup=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        check_error(ran, 5, f"error: {target}: ")
        assert os.listdir(out) == [target.name] and target.read_bytes() == OLD
    assert tare(*WRITERS[verb](model, target)).status == 0
    assert os.listdir(out) == [target.name] and target.read_bytes() != OLD


@pytest.mark.parametrize("verb", WRITERS)
def test_full_disk(verb, tare, model, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "none", disk], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here (that takes root)")
    try:
        target = disk / ("out.npz" if verb == "run" else "out.onnx")
        target.write_bytes(OLD)
        check_error(tare(*WRITERS[verb](model, target)), 5, f"error: {target}: ", "No space left", "free")
        assert os.listdir(disk) == [target.name] and target.read_bytes() == OLD
    finally:
        subprocess.run(["umount", disk], check=True)


def start(*arguments):
    return subprocess.Popen([find_program(), *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


@pytest.mark.parametrize("verb", ["convert", "quantize"])
def test_killed_at_any_moment(verb, tare, model, tmp_path):
    """The old file or the new one; what a killed run leaves is gone after the next."""
    out = tmp_path / "out"
    out.mkdir()
    target = out / "out.onnx"
    began = time.monotonic()
    assert tare(*WRITERS[verb](model, target)).status == 0
    whole, duration = digest(target), time.monotonic() - began
    for step in range(24):
        target.write_bytes(OLD)
        child = start(*WRITERS[verb](model, target))
        time.sleep(duration * step / 16)
        child.kill()
        child.communicate()
        assert digest(target) in (whole, hashlib.sha256(OLD).digest()), "a torn file"
    assert tare(*WRITERS[verb](model, target)).status == 0
    assert os.listdir(out) == [target.name] and digest(target) == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted(number, tmp_path, tare):
    """At the shell's code for the signal, with whole files only and no temporary."""
    model, out = tmp_path / "model.onnx", tmp_path / "out"
    write_model(model)
    child = start("run", model, "--data", "random:50000", "-o", out)
    while not (out.is_dir() and len(os.listdir(out)) > 20) and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(number)
    log = child.communicate(timeout=30)[1].decode()
    assert child.returncode == 128 + number, log
    names = os.listdir(out)
    assert all(name == "list.txt" or (name.endswith(".npz") and not name.startswith(".")) for name in names)
    check_error(tare("compare", out, out), 3, "list.txt", "cut short")
    for name in set(names) - {"list.txt"}:
        assert np.load(out / name)["y"].shape == (1, 64, 14, 14)
    child = start("quantize", model, "--data", "random:50000", "-o", tmp_path / "q.onnx")
    time.sleep(0.3)
    child.send_signal(number)
    assert child.wait(timeout=30) == 128 + number
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "out"]


def test_many_runs_of_one_name(model, tmp_path, tare):
    out = tmp_path / "out"
    out.mkdir()
    children = [start("convert", model, out / "out.onnx") for _ in range(12)]
    assert [child.wait(timeout=60) for child in children] == [0] * 12
    for child in children:
        child.stderr.close()
    assert os.listdir(out) == ["out.onnx"]
    onnx.checker.check_model(out / "out.onnx")


def test_same_bytes_wherever_it_runs(model, tmp_path, tare):
    """Locale, time zone, home, umask, closed streams, a directory that is gone: none is in the file."""
    results = set()
    bare = {"PATH": os.environ["PATH"]}
    gone = tmp_path / "gone"
    for i, (env, setup) in enumerate([(None, None), ({**bare, "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}, None), ({}, None),
                                      (None, lambda: os.umask(0o077)), (None, lambda: os.closerange(0, 3)),
                                      (None, lambda: (os.mkdir(gone), os.chdir(gone), os.rmdir(gone)))]):
        out = tmp_path / f"{i}.onnx"
        lost = i == 4  # what it says cannot be printed, which is an error; the file is there all the same
        assert tare(*WRITERS["quantize"](model, out), env=env, setup=setup).status == (5 if lost else 0)
        results.add(digest(out))
    assert len(results) == 1
    assert (tmp_path / "3.onnx").stat().st_mode & 0o777 == 0o600


def test_mode_of_the_old_file_is_kept(model, tmp_path, tare):
    (tmp_path / "out.onnx").write_bytes(OLD)
    (tmp_path / "out.onnx").chmod(0o640)
    assert tare("convert", model, tmp_path / "out.onnx").status == 0
    assert (tmp_path / "out.onnx").stat().st_mode & 0o777 == 0o640


def test_standard_output(model, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        ran = subprocess.run([find_program(), "info", str(model)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 5 and "standard output: no space left" in ran.stderr
