"""What `tare help` makes of the tables for others: man pages, the page of options, completion for shells."""
import re
import shutil
import subprocess

import pytest
from conftest import ROOT
from test_terminal import VERBS


def say(tare, *arguments):
    ran = tare("help", *arguments)
    assert ran.status == 0 and not ran.log
    return ran.out


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_man_page(verb, tare, tmp_path):
    page = tmp_path / "page.1"
    page.write_text(say(tare, *[verb] * bool(verb), "--man"))
    for lint in (["mandoc", "-Tlint", "-Wstyle", page], ["groff", "-man", "-ww", "-Tutf8", "-z", page]):
        if not shutil.which(lint[0]):
            pytest.skip(f"{lint[0]} is not there: man pages are not linted (tools/setup)")
        ran = subprocess.run(lint, capture_output=True, text=True, check=False)
        assert ran.returncode == 0 and not ran.stdout + ran.stderr, ran.stdout + ran.stderr
    text = subprocess.run(["mandoc", "-Tascii", page], capture_output=True, text=True, check=True).stdout
    text = re.sub(".\b", "", text)
    wanted = re.findall(r"--[a-z][a-z0-9-]*", say(tare, verb)) if verb else VERBS
    assert all(word in text for word in wanted)


def test_page_of_options_is_current(tare):
    """To make it anew: tare help --markdown >docs/reference.md"""
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == say(tare, "--markdown")


def test_page_of_options_has_all(tare):
    page = say(tare, "--markdown")
    for verb in VERBS:
        section = page.split(f"\n## tare {verb}\n")[1].split("\n## ")[0]
        titles = re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", section)
        assert all(anchor == title.lower().replace(" ", "-") for title, anchor in titles)
        text = section + "".join(page.split(f"\n## {title}\n")[1].split("\n## ")[0] for title, _ in titles)
        for option in re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", say(tare, verb), re.M):
            assert f"`{option}" in text, (verb, option)


# What is typed, with the cursor at the end, and some of what is offered.
TYPED = [("", VERBS), ("qu", ["quantize"]), ("quantize --ac", ["--act"]), ("quantize --act ", ["u8", "s8", "u16", "s16"]),
         ("quantize net.onnx --act s", ["s8", "s16"]), ("run --backend ", ["float", "qdq"]), ("help me", ["merge"]),
         ("quantize --method m", ["mse", "minmax"]), ("quantize --target ", ["onnx"]),
         ("run --cpu avx", ["avx2", "avx512"]), ("run --target t", ["tflite", "tidl"]), ("run --profile ", ["ort", "ref"]),
         ("help --completion ", ["bash", "zsh", "fish"])]
NOT_OFFERED = [("run --ac", "--act"), ("quantize --threads ", "quantize"), ("ops --da", "--data")]

ASK_BASH = r"""
source "$1"
COMP_LINE="tare $2"; COMP_POINT=${#COMP_LINE}
read -ra COMP_WORDS <<<"$COMP_LINE"
case $COMP_LINE in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
_tare
printf '%s\n' "${COMPREPLY[@]}"
"""


def ask_bash(script, typed):
    ran = subprocess.run(["bash", "-c", ASK_BASH, "ask", script, typed], capture_output=True, text=True, check=True)
    assert not ran.stderr
    return ran.stdout.split()


def ask_fish(script, typed):
    ran = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C "tare $argv[2]"', script, typed],
                         capture_output=True, text=True, check=True)
    assert not ran.stderr
    return [line.split("\t")[0] for line in ran.stdout.splitlines()]


@pytest.mark.parametrize("shell, ask", [("bash", ask_bash), ("fish", ask_fish)])
def test_completion_offers(shell, ask, tare, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not there: its completion is not tried (tools/setup)")
    script = tmp_path / "tare"
    script.write_text(say(tare, "--completion", shell))
    for typed, wanted in TYPED:
        offered = ask(script, typed)
        assert set(wanted) <= set(offered), (typed, offered)
        last = typed.split(" ")[-1]
        assert all(word.startswith(last) for word in offered if last), (typed, offered)
    for typed, unwanted in NOT_OFFERED:
        assert unwanted not in ask(script, typed), typed


def test_bash_completes_behind_an_equals_sign(tare, tmp_path):
    """bash makes words of their own of `=` and of what follows it."""
    script = tmp_path / "tare"
    script.write_text(say(tare, "--completion", "bash"))
    assert {"u8", "u16"} <= set(ask_bash(script, "quantize --act = u"))
    assert {"u8", "s8"} <= set(ask_bash(script, "quantize --act ="))


def test_bash_completion_is_clean(tare, tmp_path):
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not there: the completion is not linted (tools/setup)")
    script = tmp_path / "tare"
    script.write_text(say(tare, "--completion", "bash"))
    ran = subprocess.run(["shellcheck", "-s", "bash", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


ASK_ZSH = r"""
autoload -Uz compinit && compinit -D -u
source "$1"
[[ $_comps[tare] == _tare ]] || { print -u2 no _tare; exit 1 }
# _arguments and _describe show what they were given instead of asking a terminal.
_arguments() { print -l -- "${(@)argv}" }
_describe() { print -l -- "${(@P)2}" }
words=(tare ${=2} '') CURRENT=$(($#words))
_tare
"""


def test_zsh_completion(tare, tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not there: its completion is not tried (tools/setup)")
    script = tmp_path / "_tare"
    script.write_text(say(tare, "--completion", "zsh"))

    def ask(typed):
        ran = subprocess.run(["zsh", "-f", "-c", ASK_ZSH, "ask", script, typed], capture_output=True, text=True, check=False)
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        return ran.stdout

    assert [line.split(":")[0] for line in ask("").splitlines()] == VERBS
    specs = ask("quantize")
    assert re.search(r"^--act=\[.*\]:WORD:\(target u8 s8 u16 s16\)$", specs, re.M)
    assert re.search(r"^\(-o --output\)--output=\[.*\]:.*:_files$", specs, re.M)
