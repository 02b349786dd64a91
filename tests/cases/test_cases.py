"""cases.txt names a test, or the reason why there is none, for every case of the book; what it names is there."""
import re

import pytest
from program import SHARED, TESTS

SECTIONS = range(1, 10)
BOOK = SHARED / "reference/cases.md"


def read():
    for line in (TESTS / "cases/cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            case, rest = line.split(" ", 1)
            yield case, rest


def cases_of_the_book():
    section = None
    for line in BOOK.read_text().splitlines():
        if match := re.match(r"## (\d+)\.", line):
            section = int(match.group(1))
        elif section in SECTIONS and (match := re.match(r"\*\*([A-Z]\d+) ", line)):
            yield match.group(1)


def test_every_case_is_named():
    if not BOOK.exists():
        pytest.skip(f"{BOOK} is not there: whether cases.txt is whole is not tried (TARE_SHARED)")
    cases = list(cases_of_the_book())
    assert len(cases) > 60 and set(cases) - {case for case, _ in read()} == set()


def test_what_is_named_is_there():
    for case, rest in read():
        if rest.startswith("other target: "):
            continue
        file, *functions = rest.split()
        text = (TESTS.parent / file).read_text()
        assert functions or case in text
        for function in functions:
            assert f"{function}(" in text, (case, function)
