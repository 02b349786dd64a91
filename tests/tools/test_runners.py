"""tools/run-tests counts what cmocka, pytest and ctest say; tools/proof keeps results and goes on where it stopped."""
import pathlib
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


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tests" / "proof").mkdir(parents=True)
    shutil.copy(TOOLS / "proof", tmp_path / "tools")
    proofs = {
        "holds": "echo seen; echo x >>runs",
        "breaks": "exit 3",
        "cannot": "exit 77",
        "goes_on": 'echo x >>"$PROOF_DIR/part"; [ "$(wc -l <"$PROOF_DIR/part")" -ge 2 ]',
    }
    for name, script in proofs.items():
        (tmp_path / "tests" / "proof" / f"{name}.sh").write_text(script + "\n")
    (tmp_path / ".gitignore").write_text("/build/\n/runs\n")
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -q -m x"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    return tmp_path


def proof(repository, *names):
    done = subprocess.run([repository / "tools" / "proof", *names], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_proof_keeps_what_holds(repository):
    assert proof(repository, "holds")[0] == 0
    result = (repository / "build" / "proof" / "holds.txt").read_text()
    assert "result: holds\n" in result and result.endswith("\nseen\n")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=repository, capture_output=True, text=True,
                            check=True).stdout
    assert f"commit: {commit}" in result
    assert proof(repository, "holds") == (0, "holds: holds (known)\n")
    assert (repository / "runs").read_text() == "x\n"
    proof(repository, "--again", "holds")
    assert (repository / "runs").read_text() == "x\nx\n"


def test_proof_does_not_trust_what_was_proved_of_other_sources(repository):
    proof(repository, "holds")
    script = repository / "tests" / "proof" / "holds.sh"
    script.write_text(script.read_text() + "true\n")
    proof(repository, "holds")
    assert (repository / "runs").read_text() == "x\nx\n"
    assert "+changes\n" in (repository / "build" / "proof" / "holds.txt").read_text()


def test_proof_tells_what_breaks(repository):
    status, printed = proof(repository)
    assert status == 1
    assert "breaks: fails" in printed and "cannot: not tried" in printed and "holds: holds" in printed
    assert "result: fails\n" in (repository / "build" / "proof" / "breaks.txt").read_text()


def test_proof_goes_on_where_it_stopped(repository):
    assert proof(repository, "goes_on")[0] == 1
    assert proof(repository, "goes_on")[0] == 0
    assert not (repository / "build" / "proof" / "goes_on.d").exists()


def test_proof_of_nothing(repository):
    assert proof(repository, "absent")[0] == 2
