"""tools/check-layers finds each breach that it is there for, and passes a clean house."""
import pathlib
import shutil
import subprocess

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CHECK = REPOSITORY / "tools" / "check-layers"

CLEAN = {
    "base/memory.h": "/* Memory. */\n",
    "base/hidden.h": "/* Inside base only. */\n",
    "base/memory.c": '/* Memory. */\n#include "base/hidden.h"\n\nvoid *take(int n) { return malloc(n); }\n',
    "ops/op.h": '/* Ops. */\n#include "base/memory.h"\n',
    "passes/fold.c": '/* Folds. Says "malloc(3)" and free() only in words. */\n#include "ops/op.h"\n\n'
    "static const char *text = \"printf(\\\"x\\\")\";\nvoid fold(struct pass *p) { p->free(p); }\n",
    "cli/main.c": '/* The program. */\n#include "options.h"\n#include <stdio.h>\n#include <tare/error.h>\n\n'
    'int main(void) { return printf("x"); }\n',
    "cli/options.h": "/* Options. */\n",
}


def check(root, files):
    for name, text in files.items():
        path = root / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "tools").mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / "tools" / "layers.conf", root / "tools")
    done = subprocess.run([CHECK, root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_clean_house_passes(tmp_path):
    assert check(tmp_path, CLEAN) == (0, [])


def test_this_house_passes():
    done = subprocess.run([CHECK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


FUNCTION = "/* Long. */\nint add(int a,\n        int b) {\n" + "    a += b;\n" * 60 + "    return a;\n}\n"

BREACHES = {
    "room below": ("base/x.c", '/* . */\n#include "ops/op.h"\n', "base must not include ops"),
    "not a door": ("ops/x.c", '/* . */\n#include "base/hidden.h"\n', "private to base"),
    "no room": ("ops/x.c", '/* . */\n#include "op.h"\n', "names no room"),
    "missing": ("ops/x.c", '/* . */\n#include "base/nothing.h"\n', "does not exist"),
    "angle brackets": ("ops/x.c", "/* . */\n#include <base/memory.h>\n", "is a header of the house"),
    "cli reaches inside": ("cli/x.c", '/* . */\n#include "base/memory.h"\n', "cli includes nothing of the house"),
    "unknown room": ("attic/x.c", "/* . */\n", "'attic' is no room"),
    "malloc": ("ops/x.c", "/* . */\nvoid f(void) { g(malloc(3)); }\n", "malloc is not to be called in ops"),
    "free": ("ops/x.c", "/* . */\nvoid f(void *p) { free (p); }\n", "free is not to be called in ops"),
    "printf": ("base/x.c", '/* . */\nvoid f(void) { printf("x"); }\n', "printf is not to be called in base"),
    "exit": ("run/x.c", "/* . */\nvoid f(void) { exit(1); }\n", "exit is not to be called in run"),
    "abort": ("api/x.c", "/* . */\nvoid f(void) { abort(); }\n", "abort is not to be called in api"),
    "fopen": ("samples/x.c", '/* . */\nvoid f(void) { fopen("x", "r"); }\n', "fopen is not to be called in samples"),
    "banned everywhere": ("cli/x.c", "/* . */\nvoid f(char *a) { strcpy(a, a); }\n", "strcpy is not to be called in cli"),
    "libm": ("ops/x.c", "/* . */\nfloat f(float x) { return expf(x); }\n", "expf is not to be called in ops"),
    "long file": ("ops/x.c", "/* . */\n" + "int a;\n" * 600, "601 lines, at most 600"),
    "long function": ("ops/x.c", FUNCTION, "a function of 64 lines"),
    "no head": ("ops/x.c", "int a;\n", "begins with a comment"),
    "left-over": ("ops/x.c", "/* . */\n/* TO" "DO: more */\n", "a left-over"),
}


@pytest.mark.parametrize("name", BREACHES)
def test_breach_is_found(tmp_path, name):
    path, text, wanted = BREACHES[name]
    status, lines = check(tmp_path, CLEAN | {path: text})
    assert status == 1
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"src/{path}:") and wanted in lines[0]
