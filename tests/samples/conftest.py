"""What the tests of samples share: the driver, and where the shared models are."""
import os
import pathlib
import subprocess

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("TARE_SHARED") or ROOT.parent / "shared")
OK, USAGE, MALFORMED, UNSUPPORTED, IO, LIMIT = 0, 2, 3, 4, 5, 6


class Ran:
    """What a run left: exit status, stdout's lines, stderr, and the dump as {id: {input: array}} in the order of its list."""

    def __init__(self, child, folder):
        self.status, self.lines, self.log = child.returncode, child.stdout.splitlines(), child.stderr
        self.dump = {}
        if self.status == OK and folder.is_dir():
            for name in (folder / "list.txt").read_text().split("\n")[:-1]:
                with numpy.load(folder / name) as archive:
                    self.dump[name[:-4]] = {key: archive[key] for key in archive.files}

    @property
    def only(self):
        """The tensor of the only sample's only input."""
        (inputs,) = self.dump.values()
        (array,) = inputs.values()
        return array

    @property
    def all(self):
        """The first input's tensors, stacked."""
        return numpy.stack([next(iter(inputs.values())) for inputs in self.dump.values()])


@pytest.fixture
def read(tmp_path):
    """read("x:f32:1x3x4x4", source, option...) runs the driver for one input; a list of inputs and sources is possible."""
    folder = os.environ.get("TARE_DRIVERS")
    if not folder:
        pytest.skip("TARE_DRIVERS is not set: run by ctest")
    count = 0

    def run(inputs, sources, *options, dump=True):
        nonlocal count
        count += 1
        out = tmp_path / f"dump{count}"
        words = [pathlib.Path(folder) / "driver_samples"]
        for text in [inputs] if isinstance(inputs, str) else inputs:
            words += ["--input", text]
        for source in sources if isinstance(sources, list) else [sources]:
            words += ["--data", source]
        words += list(map(str, options)) + (["-o", out] if dump else [])
        child = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert child.returncode in range(0, 7), child.stderr
        return Ran(child, out)

    return run


@pytest.fixture
def refuse(read):
    """The same, wants this status, and all of these in the error's text."""

    def run(status, parts, *words):
        ran = read(*words)
        assert ran.status == status, ran.log
        errors = [line for line in ran.log.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, ran.log
        for part in [parts] if isinstance(parts, str) else parts:
            assert part in errors[0]

    return run


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "models").is_dir():
        pytest.skip(f"{SHARED}/models is not there")
    return SHARED / "models"
