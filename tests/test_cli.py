"""The command line: flags, exit status, and what is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HEAVY

Program = Callable[..., Any]
HIT = "a = w.numpy()\n"
FIXED = "a = w.detach().cpu().numpy()\n"


def test_clean_findings_and_failure_are_0_1_and_2(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "hit.py").write_text(HIT)
    assert (stand_in("clean.py").status, stand_in("clean.py").stdout) == (0, "All checks passed!\n")
    assert stand_in("hit.py").status == 1
    assert stand_in("check", "hit.py").status == 1
    assert stand_in("none.py").status == 2
    assert stand_in("hit.py", "--exit-zero").status == 0
    assert stand_in("none.py", "--exit-zero").status == 2


def test_a_missing_path_is_named_and_the_others_are_checked(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "hit.py").write_text(HIT)
    done = stand_in("none.py", "hit.py", "--output-format", "concise")
    assert done.status == 2
    assert (
        done.stdout
        == "hit.py:1:7: TNS101 [*] may fail [warning, certain]\nFound 1 hazard (1 fixable): fix with --fix.\n"
    )
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"


def test_no_path_means_here(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "hit.py").write_text(HIT)
    assert stand_in("-q", "--output-format", "concise").stdout == "hit.py:1:7: TNS101 [*] may fail [warning, certain]\n"


def test_a_folder_without_python_passes_with_a_warning(stand_in: Program) -> None:
    done = stand_in()
    assert (done.status, done.stdout) == (0, "All checks passed!\n")
    assert done.stderr == "torchlint: warning: no Python files or notebooks found under the given paths\n"


def test_flags_may_stand_between_paths(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    (tmp_path / "b.py").write_text(HIT)
    done = stand_in("b.py", "-q", "a.py", "--output-format=concise")
    assert (
        done.stdout
        == "a.py:1:7: TNS101 [*] may fail [warning, certain]\nb.py:1:7: TNS101 [*] may fail [warning, certain]\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selct", "TNS1"], "unknown flag `--selct`; did you mean `--select`?"),
        (["--fx"], "unknown flag `--fx`; did you mean `--fix`?"),
        (["--select", "TNS1o1"], "argument --select: unknown rule `TNS1o1`; did you mean `TNS101`?"),
        (["--select", ""], "argument --select: expected rules, got nothing: leave the flag out for the default"),
        (["--ignore", "TNS101,zzz"], "argument --ignore: unknown rule `zzz`: the families are TNS1, TNS2, TNS3, TNS4, "
         "TNS5, TNS9; `torchlint rules` lists all rules"),
        (["--per-file-ignores", "a.py"], "argument --per-file-ignores: expected `GLOB:RULE`, got `a.py`"),
        (["--min-confidence", "likly"], 'argument --min-confidence: expected one of certain, likely, possible, '
         'unproven, got "likly"; did you mean `likely`?'),
        (["--target-torch", "two"], 'argument --target-torch: expected a version such as "1.13", got "two"'),
        (["--jobs", "0"], "argument --jobs/-j: expected a number from 1, got `0`"),
        (["-", "a.py"], "`-` reads standard input and cannot be given beside other paths"),
        (["--isolated", "--config", "a.toml"], "--isolated and --config FILE cannot be used together"),
        (["explain", "TNS1o1"], "unknown rule or assumption `TNS1o1`; did you mean `TNS101`?"),
        (["rules", "x"], "unexpected `x`"),
        (["--output-file", "no/such", "."], "--output-file no/such: its folder does not exist: make it first"),
        (["--output-file", ".", "."], "--output-file .: is a folder: give the name of a file in it"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_2_with_the_remedy(arguments: list[str], message: str, torchlint: Program) -> None:
    done = torchlint(*arguments)
    assert (done.status, done.stderr) == (2, f"torchlint: error: {message}\n")


def test_a_mistyped_subcommand_is_taken_for_a_path_with_a_hint(torchlint: Program) -> None:
    done = torchlint("explian")
    assert done.stderr == "torchlint: error: explian: no such file or folder; did you mean `torchlint explain`?\n"


def test_the_word_of_ruff_for_a_rules_page_is_answered_with_ours(torchlint: Program) -> None:
    done = torchlint("rule", "TNS101")
    assert done.status == 2
    assert "rule: no such file or folder; did you mean `torchlint explain TNS101`?\n" in done.stderr
    assert torchlint("rule").stderr.endswith("; did you mean `torchlint rules`?\n")


def test_a_wrong_variable_and_a_wrong_setting_are_2(torchlint: Program) -> None:
    done = torchlint(TORCHLINT_PRESET="hazard")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("torchlint: error: TORCHLINT_PRESET: expected one of hazards, modernize, all")
    done = torchlint("--config", "strict = 1")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "torchlint: error: argument --config: `strict`: expected true or false, got 1\n"


def test_variables_and_settings_are_heeded(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nw = torch.ones(3, requires_grad=True)\nw.numpy(), w.data\n")
    codes = {"TNS101": torchlint("-q", TORCHLINT_OUTPUT_FORMAT="pylint", TORCHLINT_SELECT="TNS1")}
    codes["TNS201"] = torchlint("-q", "--config", 'select = ["TNS2"]', "--config", 'output-format = "pylint"')
    for code, done in codes.items():
        assert re.fullmatch(rf"a\.py:4: \[{code}\] .*\n", done.stdout)


def test_a_bad_configuration_is_2(tmp_path: Path, torchlint: Program) -> None:
    file = tmp_path / "torchlint.toml"
    file.write_text("stric = true\n")
    done = torchlint()
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == f"torchlint: error: {file}: unknown key `stric`; did you mean `strict`?\n"


def test_a_bad_configuration_further_down_leaves_out_its_folder_only(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "torchlint.toml").write_text("stric = true\n")
    (tmp_path / "sub" / "b.py").write_text(HIT)
    (tmp_path / "a.py").write_text(HIT)
    done = stand_in("-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (2, "a.py:1:7: TNS101 [*] may fail [warning, certain]\n")
    assert done.stderr.startswith("torchlint: error: sub: left out: ")


def test_a_crash_in_one_file_names_it_and_the_rest_goes_on(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("CRASH\n")
    (tmp_path / "b.py").write_text(HIT)
    done = stand_in("-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (2, "b.py:1:7: TNS101 [*] may fail [warning, certain]\n")
    assert done.stderr.startswith("torchlint: error: a.py: internal fault, please report it: RuntimeError: on purpose")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pool's processes inherit the stand-in by fork")
def test_dead_processes_cost_only_the_files_that_killed_them(tmp_path: Path, stand_in: Program) -> None:
    names = [f"f{number:02}.py" for number in range(40)]
    killers = {"f03.py", "f04.py", "f27.py"}
    for name in names:
        (tmp_path / name).write_text(("DIE\n" if name in killers else HIT) + HEAVY)
    done = stand_in("--fork", "-q", "--jobs", "2", "--output-format", "concise")
    assert done.status == 2
    assert done.stdout == "".join(
        f"{name}:1:7: TNS101 [*] may fail [warning, certain]\n" for name in names if name not in killers
    )
    assert [line.split(": ")[2] for line in done.stderr.splitlines()] == sorted(killers)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pool's processes inherit the stand-in by fork")
def test_a_pool_gives_what_one_process_gives(tmp_path: Path, stand_in: Program) -> None:
    for number in range(30):
        (tmp_path / f"f{number:02}.py").write_text(HIT * (number % 3) + HEAVY * (number % 7))
    alone = stand_in("--jobs", "1", "--output-format", "json", "--no-cache")
    pooled = stand_in("--fork", "--jobs", "3", "--output-format", "json", "--no-cache")
    assert len(json.loads(alone.stdout)) == 30
    assert (pooled.status, pooled.stdout, pooled.stderr) == (1, alone.stdout, "")
    assert stand_in("--fork", "--jobs", "3", "--fix").status == 0
    assert (tmp_path / "f29.py").read_text() == FIXED * 2 + HEAVY


def test_show_files_and_show_settings(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "b.py").touch()
    (tmp_path / "a.pyi").touch()
    (tmp_path / "c.txt").touch()
    assert torchlint("--show-files").stdout == "a.pyi\nb.py\n"
    shown = torchlint("--show-settings", "--target-torch", "1.13", "--strict").stdout
    assert "target-torch = 1.13  # a flag or an environment variable\n" in shown
    assert "strict = true  # a flag or an environment variable\n" in shown
    assert "min-severity = legacy\n" in shown
    assert "configuration = none\n" in shown


def test_show_settings_tells_what_holds_for_a_path_and_whence(tmp_path: Path, torchlint: Program) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (below / "a.py").touch()
    top, own = tmp_path / "torchlint.toml", below / "pyproject.toml"
    top.write_text('select = ["TNS1"]\nmin-confidence = "likely"\noutput-format = "json"\n')
    own.write_text('[tool.torchlint]\nextend = "../torchlint.toml"\nignore = ["TNS10"]\noutput-format = "github"\n')
    for path in ("below", "below/a.py"):
        shown = torchlint("--show-settings", path, "--config", "strict = true").stdout.splitlines()
        assert shown[0] == f"configuration = {own}"
        assert f"min-confidence = likely  # {top}" in shown
        assert f"select = none  # {top}, {own}" in shown
        assert "strict = true  # --config" in shown
        assert f"output-format = json  # {top}" in shown
    both = torchlint("--show-settings", ".", "below").stdout
    assert both.startswith(f"configuration = {top}\n")
    assert f"\n\nconfiguration = {own}\n" in both
    done = torchlint("--show-settings", "none.py")
    assert (done.status, done.stderr) == (2, "torchlint: error: none.py: no such file or folder\n")


@pytest.mark.parametrize(
    ("flags", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "0"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colors(
    flags: list[str], environment: dict[str, str], colored: bool, tmp_path: Path, stand_in: Program
) -> None:
    (tmp_path / "a.py").write_text(HIT)
    assert ("\x1b[" in stand_in(*flags, **environment).stdout) is colored


def test_explain_prints_pages_and_rules_lists_them(torchlint: Program) -> None:
    page = torchlint("explain", "TNS900").stdout
    assert page.startswith("# syntax-error (TNS900)\n\nThe file is not Python that torchlint can parse.\n")
    assert torchlint("explain", "syntax-error").stdout == page
    assert "\n## Example\n```python\nimport torch\n" in torchlint("explain", "TNS101").stdout
    every = torchlint("explain", "--all").stdout
    assert every.index("# numpy-on-grad-tensor (TNS101)") < every.index("# syntax-error (TNS900)")
    table = torchlint("rules").stdout.splitlines()
    assert table[0].split() == ["code", "name", "default", "summary"]
    assert any(line.startswith("TNS104  cpu-before-detach") and " off " in line for line in table)


def test_explain_lays_pages_out_on_a_terminal(tmp_path: Path) -> None:
    told = _on_terminal(tmp_path, "explain", "TNS101", "TNS301", "is-scalar", TERM="xterm-256color")
    assert "\x1b[" in told
    plain = re.sub(r"\x1b\[[\d;]*m", "", told)
    assert "\x1b" not in plain
    assert not re.search(r"^ *#+ |```|`|^\|", plain, re.MULTILINE)
    titles = ("numpy-on-grad-tensor (TNS101)", "legacy-constructor-from-data (TNS301)", "is-scalar (assumption)")
    places = [plain.index(each) for each in titles]
    assert places == sorted(places)
    assert max(map(len, plain.splitlines())) <= 90
    assert " array = weight.detach().numpy() " in plain
    assert "(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)" in plain
    told = _on_terminal(tmp_path, "explain", "TNS101", "TNS404", TERM="dumb")
    assert "\x1b" not in told
    assert "variable-import (TNS404)" in " ".join(told.split())
    assert "TNS404  variable-import " in _on_terminal(tmp_path, "explain", "TNS4", TERM="dumb")


def _on_terminal(folder: Path, *arguments: str, **environment: str) -> str:
    """Return what the program writes to a terminal of 90 columns."""
    pty = pytest.importorskip("pty", reason="no terminals of this kind on this system")
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    kept |= {"PYTHONPATH": str(Path(__file__).parents[1]), "COLUMNS": "90", **environment}
    command = [sys.executable, "-m", "torchlint", *arguments]
    written = b""
    with subprocess.Popen(command, cwd=folder, env=kept, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with suppress(OSError):  # what Linux says of a terminal that nobody holds any more
            while read := os.read(ours, 1 << 16):
                written += read
    os.close(ours)
    assert process.returncode == 0
    return written.decode()


def test_explain_says_what_an_assumption_means(torchlint: Program) -> None:
    done = torchlint("explain", "carries-no-gradient")
    assert (done.status, done.stdout.splitlines()) == (
        0,
        [
            "# carries-no-gradient (assumption)",
            "",
            "The value does not require grad, so there is nothing to detach.",
            "",
            "In messages:",
            "",
            "- assumes that `x` is detached already",
            "",
            "Where it is not proven, a fix is unsafe. Rules with fixes that rest on it:",
            "",
            "- TNS401 variable-wrapper",
            "",
            "An example: https://torchlint.readthedocs.io/fix-safety/#carries-no-gradient",
        ],
    )
    both = torchlint("explain", "Is-Torch-Tensor", "TNS900", "author-meant-this").stdout
    assert re.findall(r"^# (.*)$", both, re.MULTILINE) == [
        "syntax-error (TNS900)",
        "is-torch-tensor (assumption)",
        "author-meant-this (assumption)",
    ]
    assert "a fix is unsafe, or only shown where nothing speaks for one reading" in both


def test_version_and_help_import_neither_torch_nor_libcst(tmp_path: Path, program: Program) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert program("--version").stdout == "torchlint 0.1.0\n"
    assert program("--help").stdout.startswith("usage: torchlint [check] [PATH ...] [FLAGS]\n")
    for arguments in (["--version"], ["--help"], ["rules"], ["explain", "--all"], ["a.py"]):
        code = (
            "import sys; from torchlint.cli import main; status = main(sys.argv[1:]);"
            "print({'torch', 'libcst', 'numpy', 'rich'} & {*sys.modules}, status, file=sys.stderr)"
        )
        assert _probe(tmp_path, code, arguments) == "set() 0\n", arguments


def _probe(folder: Path, code: str, arguments: list[str]) -> str:
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": root},
        check=True,
        text=True,
    )
    return done.stderr


def test_per_file_ignores_by_flag(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").write_text(HIT)
    (tmp_path / "b.py").write_text(HIT)
    done = stand_in("-q", "--output-format", "concise", "--per-file-ignores", "tests/*:TNS101,x.py:TNS2")
    assert done.stdout == "b.py:1:7: TNS101 [*] may fail [warning, certain]\n"


def test_min_confidence_by_flag(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("a = w.numpy(), w.data\n")
    done = stand_in("-q", "--output-format", "concise", "--min-confidence", "certain")
    assert done.stdout == "a.py:1:7: TNS101 [*] may fail [warning, certain]\n"
