"""tools/run-tests counts what cmocka, pytest and ctest say; tools/proof keeps results and goes on where it stopped."""
import pathlib
import re
import shutil
import subprocess
import xml.sax.saxutils

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def run_tests(directory, cases):
    """Runs run-tests with a ctest that reports these (name, status, output)."""
    rows = "".join(f'<testcase name="{name}" status="{status}"><system-out>{xml.sax.saxutils.escape(output)}</system-out>'
                   "</testcase>" for name, status, output in cases)
    (directory / "report").write_text(f"<testsuite>{rows}</testsuite>")
    ctest = directory / "ctest"
    ctest.write_text(f'#!/bin/sh\nwhile [ "$1" != --output-junit ]; do shift; done\ncp "{directory}/report" "$2"\n')
    ctest.chmod(0o755)
    done = subprocess.run([TOOLS / "run-tests", directory], capture_output=True, text=True, check=False,
                          env={"PATH": f"{directory}:/usr/bin:/bin"})
    return done.returncode, done.stdout.splitlines()[-1]


GOOD = "[==========] 3 test(s) run.\n[  PASSED  ] 3 test(s).\n"
BAD = "[  PASSED  ] 2 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] test_x\n\n 1 FAILED TEST(S)\n"


@pytest.mark.parametrize("cases, wanted", [
    ([("base_map", "run", GOOD)], (0, "3 passed, 0 failed")),
    ([("base_map", "run", GOOD), ("base_text", "fail", BAD)], (1, "5 passed, 1 failed")),
    ([("base_map", "fail", "")], (1, "0 passed, 1 failed")),
    ([("base_map", "fail", GOOD)], (1, "3 passed, 1 failed")),
    ([("fuzz_text", "run", "14 files, 300 runs, 0 leaks")], (0, "1 passed, 0 failed")),
    ([("ops_py", "run", "....\n4 passed in 0.1s\n")], (0, "4 passed, 0 failed")),
    ([("ops_py", "fail", "F.\nFAILED x - 7 passed\n1 failed, 3 passed, 2 errors in 1s\n")], (1, "3 passed, 3 failed")),
])
def test_run_tests_counts(tmp_path, cases, wanted):
    assert run_tests(tmp_path, cases) == wanted


def test_run_tests_without_a_report_fails(tmp_path):
    (tmp_path / "ctest").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "ctest").chmod(0o755)
    done = subprocess.run([TOOLS / "run-tests", tmp_path], capture_output=True, text=True, check=False,
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert done.returncode == 1
    assert done.stdout.endswith("0 passed, 1 failed\n")


GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")


def commit(repository):
    subprocess.run([*GIT, "add", "-A"], cwd=repository, check=True)
    subprocess.run([*GIT, "commit", "-q", "-m", "x"], cwd=repository, check=True)


@pytest.fixture
def repository(tmp_path):
    for directory in ("tools", "tests/proof", "src/a", "src/b"):
        (tmp_path / directory).mkdir(parents=True)
    shutil.copy(TOOLS / "proof", tmp_path / "tools")
    proofs = {
        "holds": "# proves: src/a\necho seen; echo x >>runs",
        "breaks": "# proves: src\nexit 3",
        "cannot": "# proves: src\nexit 77",
        "goes_on": '# proves: src\necho x >>"$PROOF_DIR/part"; [ "$(wc -l <"$PROOF_DIR/part")" -ge 2 ]',
        "parted": '# part one: src/a\n# part two: src/a/x\n# part two: src/b\necho "$1" >>runs',
    }
    for name, script in proofs.items():
        (tmp_path / "tests" / "proof" / f"{name}.sh").write_text(script + "\n")
    for room in "ab":
        (tmp_path / "src" / room / "x").write_text(room)
    (tmp_path / ".gitignore").write_text("/build/\n/runs\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def proof(repository, *names):
    done = subprocess.run([repository / "tools" / "proof", *names], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def runs(repository):
    return (repository / "runs").read_text().split()


def test_proof_keeps_what_holds(repository):
    assert proof(repository, "holds")[0] == 0
    result = (repository / "build" / "proof" / "holds.txt").read_text()
    assert "result: holds\n" in result and result.endswith("\nseen\n")
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=repository, capture_output=True, text=True,
                          check=True).stdout
    assert f"commit: {head}" in result
    status, printed = proof(repository, "holds")
    assert status == 0 and printed.startswith("holds: holds (known)\n")
    assert runs(repository) == ["x"]
    proof(repository, "--again", "holds")
    assert runs(repository) == ["x", "x"]


def test_proof_holds_until_what_it_proves_changes(repository):
    proof(repository, "holds")
    (repository / "src" / "b" / "x").write_text("other")
    proof(repository, "holds")
    commit(repository)
    proof(repository, "holds")
    assert runs(repository) == ["x"]
    (repository / "src" / "a" / "x").write_text("other")
    commit(repository)
    assert "held, then changed" in proof(repository, "--list", "holds")[1]
    proof(repository, "holds")
    assert runs(repository) == ["x", "x"]
    script = repository / "tests" / "proof" / "holds.sh"
    script.write_text(script.read_text() + "true\n")
    commit(repository)
    proof(repository, "holds")
    assert runs(repository) == ["x", "x", "x"]


@pytest.mark.parametrize("path", ["src/a/x", "src/a/new", "tests/proof/holds.sh"])
def test_proof_does_not_trust_what_is_not_committed(repository, path):
    proof(repository, "holds")
    with (repository / path).open("a") as file:
        file.write("true\n")
    for _ in range(2):
        proof(repository, "holds")
    assert runs(repository) == ["x", "x", "x"]
    assert "+changes\n" in (repository / "build" / "proof" / "holds.txt").read_text()


def test_proof_keeps_each_part(repository):
    proof(repository, "parted")
    assert runs(repository) == ["one", "two"]
    (repository / "src" / "b" / "x").write_text("other")
    commit(repository)
    printed = proof(repository, "parted")[1]
    assert runs(repository) == ["one", "two", "two"] and "parted.one: holds (known)" in printed
    proof(repository, "--again", "parted.one")
    assert runs(repository) == ["one", "two", "two", "one"]


def test_proof_begins_anew_when_a_source_changes(repository):
    """What was done before the change proves nothing; uncommitted changes are never told apart."""
    assert proof(repository, "goes_on")[0] == 1
    (repository / "src" / "b" / "x").write_text("other")
    commit(repository)
    assert proof(repository, "goes_on")[0] == 1
    with (repository / "src" / "b" / "x").open("a") as file:
        file.write("more")
    assert proof(repository, "goes_on")[0] == 1
    assert proof(repository, "goes_on")[0] == 1
    commit(repository)
    assert [proof(repository, "goes_on")[0] for _ in range(2)] == [1, 0]
    assert not list((repository / "build" / "proof").glob("*d"))


def test_proof_tells_what_breaks(repository):
    status, printed = proof(repository)
    assert status == 1
    rows = {line.split()[0]: line.split()[1] for line in printed.splitlines()[-6:]}
    assert rows == {"breaks": "fails", "cannot": "not", "goes_on": "fails", "holds": "holds", "parted.one": "holds",
                    "parted.two": "holds"}
    assert "result: fails\n" in (repository / "build" / "proof" / "breaks.txt").read_text()


def test_proof_goes_on_where_it_stopped(repository):
    assert proof(repository, "goes_on")[0] == 1
    assert proof(repository, "goes_on")[0] == 0
    assert not list((repository / "build" / "proof").glob("goes_on*d"))


@pytest.mark.parametrize("script", ["true", "# proves: src/absent\ntrue"])
def test_proof_of_nothing(repository, script):
    assert proof(repository, "absent")[0] == 2
    (repository / "tests" / "proof" / "empty.sh").write_text(script + "\n")
    assert proof(repository, "empty")[0] == 1


def test_every_fuzz_target_is_proved():
    root = TOOLS.parent
    parts = set(re.findall(r"^# part (\w+):", (root / "tests" / "proof" / "fuzz.sh").read_text(), re.M))
    assert parts == {path.stem.removeprefix("fuzz_") for path in (root / "tests" / "fuzz").glob("fuzz_*.c")}
