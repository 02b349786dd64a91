"""families.txt names a test for every family of malformed input, and what it names is there."""
import re

import malformed
import operators
from program import SHARED, TESTS

ROOT = TESTS.parent
LINE = re.compile(r"(\d+)(?:-(\d+))? (\S+)((?: test_\w+)*)(?: as .*)?$")


def read():
    for line in (TESTS / "safety/families.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            first, last, file, functions = LINE.match(line).groups()
            yield range(int(first), int(last or first) + 1), file, functions.split()


def test_every_family_is_named():
    families = {number for numbers, _, _ in read() for number in numbers}
    text = SHARED / "reference/reliability.md"
    last = int(re.search(r"(\d+) cases\n", text.read_text()).group(1)) if text.exists() else 112
    assert families == set(range(1, last + 1))


def test_what_is_named_is_there():
    for numbers, file, functions in read():
        text = (ROOT / file).read_text()
        for function in functions:
            assert f"{function}(" in text, (file, function)
        if not functions:
            cases = {"malformed": malformed.CASES, "operators": operators.CASES}.get(ROOT.joinpath(file).stem)
            tested = {int(re.match(r"\d+", one.id).group()) for one in cases or ()}
            assert cases is None or set(numbers) - {49} <= tested, (file, set(numbers) - tested)
