"""What a newcomer meets first: help on one screen, suggestions for slips of the pen, completion in the shell."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint.cli.arguments import COMMANDS, parser_of
from torchlint.config.options import OUTPUT_FORMATS
from torchlint.diagnostics.registry import BY_CODE, BY_NAME

Program = Callable[..., Any]
FLAGS = {flag for action in parser_of("check")._actions for flag in action.option_strings}


def test_the_first_help_fits_on_a_screen_and_every_word_of_it_is_true(tmp_path: Path, torchlint: Program) -> None:
    done = torchlint("--help")
    assert (done.status, done.stderr) == (0, "")
    assert torchlint("-h").stdout == done.stdout == torchlint("src", "--help").stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout)) <= {*FLAGS, "--all"}
    assert {line.split()[-2:][0] for line in lines if "|" in line} <= {"explain"}
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    examples = [re.split(r" {2,}", line.strip())[0] for line in lines if line.startswith("  torchlint")]
    assert len(examples) == 6
    for example in examples:
        assert torchlint(*example.split()[1:]).status == 0, example


def test_the_long_help_lists_every_flag(torchlint: Program) -> None:
    text = torchlint("check", "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    shown = {
        flag
        for action in parser_of("check")._actions
        if action.help != "==SUPPRESS=="
        for flag in action.option_strings
    }
    assert {flag for flag in shown if not re.search(rf"(?<![\w-]){flag}(?![\w-])", text)} == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output-format", "jsn"],
         f'argument --output-format: expected one of {", ".join(OUTPUT_FORMATS)}, got "jsn"; did you mean `json`?'),
        (["--color", "alway"],
         'argument --color: expected one of auto, always, never, got "alway"; did you mean `always`?'),
        (["--numpy-style", "force-it"], 'argument --numpy-style: expected one of chain, force, got "force-it"; '
         "did you mean `force`?"),
        (["--basline", "x"], "unknown flag `--basline`; did you mean `--baseline`?"),
        (["--add-nqa"], "unknown flag `--add-nqa`; did you mean `--add-noqa`?"),
        (["--select", "unused-supression"],
         "argument --select: unknown rule `unused-supression`; did you mean `unused-suppression`?"),
        (["explain", "--al"], "unknown flag `--al`; did you mean `--all`?"),
        (["explain", "data-reed"], "unknown rule or assumption `data-reed`; did you mean `data-read`?"),
        (["explain", "is-tensor"], "unknown rule or assumption `is-tensor`; did you mean `is-torch-tensor`?"),
        (["completion", "bsh"],
         "completion: expected one of bash, zsh, tcsh, fish, powershell, got `bsh`; did you mean `bash`?"),
        (["completion"], "say for which shell, for example `torchlint completion bash`"),
    ],
)  # fmt: skip
def test_a_slip_of_the_pen_is_answered_with_the_nearest_word(
    arguments: list[str], message: str, torchlint: Program
) -> None:
    if "completion" in arguments:
        pytest.importorskip("shtab", reason="shtab is not installed")
    done = torchlint(*arguments)
    assert (done.status, done.stderr) == (2, f"torchlint: error: {message}\n")


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (["--basel"], {"--baseline"}),
        (["explain", "is-s"], {"is-scalar"}),
        (["--write"], {"--write-baseline"}),
        (["exp"], {"explain"}),
        (["--select", "TNS90"], {"TNS900", "TNS901", "TNS902", "TNS903", "TNS904"}),
        (["check", "--ignore", "variable-"], {name for name in BY_NAME if name.startswith("variable-")}),
        (["--numpy-style", ""], {"chain", "force"}),
        (["explain", "TNS4"], {code for code in BY_CODE if code.startswith("TNS4")}),
        (["completion", ""], {"bash", "zsh", "fish", "tcsh", "powershell"}),
        (["check", "tra"], {"train.py"}),
        (["--baseline", "kno"], {"known.jsonl"}),
        (["train.p"], set()),  # left to the shell, which completes paths
    ],
)
def test_bash_completes(words: list[str], offers: set[str], tmp_path: Path, torchlint: Program) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed")
    if not shutil.which("bash"):
        pytest.skip("bash is not installed")
    for name in ("train.py", "known.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "script").write_bytes(torchlint("completion", "bash").raw)
    code = (
        'source ./script; COMP_WORDS=(torchlint "$@"); COMP_CWORD=$#; COMPREPLY=(); _shtab_torchlint;'
        'printf "%s\\n" "${COMPREPLY[@]}"; complete -p torchlint'
    )
    done = subprocess.run(
        ["bash", "-c", code, "bash", *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *found, declared = done.stdout.splitlines()
    assert {each.strip() for each in found} - {""} == offers
    assert " -o default " in declared


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh", "powershell"])
def test_every_shell_gets_a_script_with_commands_and_flags(shell: str, torchlint: Program) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed")
    done = torchlint("completion", shell)
    assert (done.status, done.stderr) == (0, "")
    assert all(word in done.stdout for word in (*COMMANDS, "diff-base", "write-baseline", "TNS101"))


def test_without_the_package_completion_says_what_to_install(tmp_path: Path, program: Program) -> None:
    (tmp_path / "shtab.py").write_text("raise ImportError\n")
    done = program("completion", "bash")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "torchlint: error: completion needs shtab: pip install shtab\n"
