"""The command line: flags, exit status, what is printed where, and what is written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
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
    assert done.stdout == "hit.py:1:7: TNS101 may fail\nFound 1 error. 1 fixable with --fix.\n"
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"


def test_no_path_means_here(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "hit.py").write_text(HIT)
    assert stand_in("-q", "--output-format", "concise").stdout == "hit.py:1:7: TNS101 may fail\n"


def test_a_folder_without_python_passes_with_a_warning(stand_in: Program) -> None:
    done = stand_in()
    assert (done.status, done.stdout) == (0, "All checks passed!\n")
    assert done.stderr == "torchlint: warning: no Python files or notebooks found under the given paths\n"


def test_flags_may_stand_between_paths(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    (tmp_path / "b.py").write_text(HIT)
    done = stand_in("b.py", "-q", "a.py", "--output-format=concise")
    assert done.stdout == "a.py:1:7: TNS101 may fail\nb.py:1:7: TNS101 may fail\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--selct", "TNS1"], "unknown flag `--selct`; did you mean `--select`?"),
        (["--fx"], "unknown flag `--fx`; did you mean `--fix`?"),
        (["--select", "TNS1o1"], "argument --select: unknown rule `TNS1o1`; did you mean `TNS101`?"),
        (["--ignore", "TNS101,zzz"], "argument --ignore: unknown rule `zzz`"),
        (["--per-file-ignores", "a.py"], "argument --per-file-ignores: expected `GLOB:RULE`, got `a.py`"),
        (["--min-confidence", "likly"], 'argument --min-confidence: expected one of certain, likely, possible, '
         'got "likly"; did you mean `likely`?'),
        (["--target-torch", "two"], 'argument --target-torch: expected a version such as "1.13", got "two"'),
        (["--jobs", "0"], "argument --jobs/-j: expected a number from 1, got `0`"),
        (["-", "a.py"], "`-` reads standard input and cannot be given beside other paths"),
        (["--isolated", "--config", "a.toml"], "--isolated and --config cannot be used together"),
        (["explain", "TNS1o1"], "unknown rule `TNS1o1`; did you mean `TNS101`?"),
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
    assert (done.status, done.stdout) == (2, "a.py:1:7: TNS101 may fail\n")
    assert done.stderr.startswith("torchlint: error: sub: left out: ")


def test_fix_writes_keeps_the_mode_and_reports_what_remains(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbfa = w.numpy()\r\nb = w.data\r\n")
    file.chmod(0o750)
    done = stand_in("--fix", "--output-format", "concise")
    assert file.read_bytes() == b"\xef\xbb\xbfa = w.detach().cpu().numpy()\r\nb = w.data\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["a.py"]
    assert done.status == 1
    assert done.stdout == (
        "a.py:2:7: TNS201 `.data` hides\nFound 2 errors (1 fixed, 1 remaining). 1 fixable with --unsafe-fixes.\n"
    )
    done = stand_in("--fix", "--unsafe-fixes")
    assert file.read_bytes() == b"\xef\xbb\xbfa = w.detach().cpu().numpy()\r\nb = w.detach()\r\n"
    assert (done.status, done.stdout) == (0, "Found 1 error (1 fixed, 0 remaining).\n")


def test_a_file_with_nothing_to_fix_is_not_touched(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    before = file.stat()
    assert stand_in("--fix").status == 0
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_exit_status_after_fixes(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    for flags, status in (
        (["--fix"], 0),
        (["--fix", "--exit-non-zero-on-fix"], 1),
        (["--fix-only"], 0),
        (["--fix-only", "--exit-non-zero-on-fix"], 1),
    ):
        file.write_text(HIT)
        assert stand_in(*flags).status == status, flags
        assert file.read_text() == FIXED


def test_fix_only_reports_nothing_but_the_count(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("a = w.numpy(), w.data\n")
    done = stand_in("--fix-only")
    assert (done.status, done.stdout) == (0, "Fixed 1 error.\n")


def test_fixable_and_unfixable_hide_fixes(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    done = stand_in("--fix", "--unfixable", "TNS101", "--output-format", "json")
    assert (done.status, file.read_text(), json.loads(done.stdout)[0]["fix"]) == (1, HIT, None)


def test_show_fixes_lists_what_was_fixed(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT * 2)
    assert stand_in("--fix", "--show-fixes").stdout == (
        "Fixed 2 errors:\n- a.py:\n    2 × TNS101 (numpy-on-grad-tensor)\n\nFound 2 errors (2 fixed, 0 remaining).\n"
    )


def test_diff_prints_a_patch_and_writes_nothing(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"# coding: latin-1\r\n# \xe9\r\na = w.numpy()")
    before = file.read_bytes()
    done = stand_in("--diff")
    assert done.status == 1
    assert done.raw == (
        b"--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n # coding: latin-1\r\n # \xe9\r\n"
        b"-a = w.numpy()\n\\ No newline at end of file\n"
        b"+a = w.detach().cpu().numpy()\n\\ No newline at end of file\n"
    )
    assert done.stderr == "Would fix 1 error in 1 file.\n"
    assert file.read_bytes() == before


def test_diff_is_0_where_nothing_would_change(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("a = w.data\n")
    done = stand_in("--diff")
    assert (done.status, done.stdout, done.stderr) == (0, "", "No fix to apply.\n")
    assert stand_in("--diff", "none.py").status == 2


def test_diff_and_fix_only_do_not_pass_over_a_syntax_error_in_silence(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    for flag in ("--diff", "--fix-only"):
        assert "torchlint: warning: a.py:1:1: TNS900 invalid syntax\n" in stand_in(flag).stderr


def test_standard_input_is_checked_fixed_and_compared(stand_in: Program) -> None:
    source = b"\xef\xbb\xbfa = w.numpy()\r\nb = w.data\r\n"
    done = stand_in("-", "--output-format", "concise", stdin=source)
    assert (done.status, done.stdout.splitlines()[0]) == (1, "-:1:7: TNS101 may fail")
    done = stand_in("-", "--fix", "--output-format", "concise", "--stdin-filename", "x/y.py", stdin=source)
    assert done.raw == b"\xef\xbb\xbfa = w.detach().cpu().numpy()\r\nb = w.data\r\n"
    assert (done.status, done.stderr.splitlines()[0]) == (1, "x/y.py:2:7: TNS201 `.data` hides")
    done = stand_in("-", "--diff", stdin=b"a = w.numpy()\n")
    assert done.stdout == "--- -\n+++ -\n@@ -1 +1 @@\n-a = w.numpy()\n+a = w.detach().cpu().numpy()\n"


def test_standard_input_that_cannot_be_fixed_comes_back_as_it_was(stand_in: Program) -> None:
    done = stand_in("-", "--fix", stdin=b"CRASH\r\n")
    assert (done.status, done.raw) == (2, b"CRASH\r\n")
    done = stand_in("-", "--fix", stdin=b"")
    assert (done.status, done.raw) == (0, b"")


def test_standard_input_follows_the_configuration_of_its_name(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "torchlint.toml").write_text('ignore = ["TNS101"]\nexclude = ["gone.py"]\n')
    assert stand_in("-", "--stdin-filename", "sub/a.py", stdin=HIT.encode()).status == 0
    assert stand_in("-", "--stdin-filename", "a.py", stdin=HIT.encode()).status == 1
    hit = b"a = w.data\n"
    assert stand_in("-", "--stdin-filename", "sub/gone.py", stdin=hit).status == 1
    assert stand_in("-", "--stdin-filename", "sub/gone.py", "--force-exclude", stdin=hit).status == 0


def test_a_crash_in_one_file_names_it_and_the_rest_goes_on(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("CRASH\n")
    (tmp_path / "b.py").write_text(HIT)
    done = stand_in("-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (2, "b.py:1:7: TNS101 may fail\n")
    assert done.stderr.startswith("torchlint: error: a.py: internal fault, please report it: RuntimeError: on purpose")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pool's processes inherit the stand-in by fork")
def test_dead_processes_cost_only_the_files_that_killed_them(tmp_path: Path, stand_in: Program) -> None:
    names = [f"f{number:02}.py" for number in range(40)]
    killers = {"f03.py", "f04.py", "f27.py"}
    for name in names:
        (tmp_path / name).write_text(("DIE\n" if name in killers else HIT) + HEAVY)
    done = stand_in("--fork", "-q", "--jobs", "2", "--output-format", "concise")
    assert done.status == 2
    assert done.stdout == "".join(f"{name}:1:7: TNS101 may fail\n" for name in names if name not in killers)
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


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "real.txt").write_text(HIT)
    (tmp_path / "link.py").symlink_to("real.txt")
    assert stand_in("--fix").status == 0
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.txt").read_text() == FIXED


def test_a_link_out_of_the_folder_is_checked_and_not_fixed_unless_named(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out.py").write_text(HIT)
    (tmp_path / "in" / "link.py").symlink_to("../out.py")
    done = stand_in("--fix", "in", "-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (1, "in/link.py:1:7: TNS101 may fail\n")
    assert (tmp_path / "out.py").read_text() == HIT
    assert stand_in("in", "--diff").status == 0
    assert stand_in("--fix", "in/link.py").status == 0
    assert (tmp_path / "out.py").read_text() == FIXED


def test_a_read_only_file_is_left_alone_and_named(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    file.chmod(0o444)
    done = stand_in("--fix", "-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (2, "a.py:1:7: TNS101 may fail\n")
    assert done.stderr == "torchlint: error: a.py: read-only, so not fixed\n"
    assert (file.read_text(), os.listdir(tmp_path)) == (HIT, ["a.py"])


def test_a_file_that_changed_meanwhile_is_left_alone_and_named(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    done = stand_in("--fix", STAND_IN_TOUCH=str(file))
    assert done.status == 2
    assert done.stderr == "torchlint: error: a.py: changed while it was being checked, so not fixed: run again\n"
    assert (file.read_text(), os.listdir(tmp_path)) == (HIT + "# changed meanwhile\n", ["a.py"])


def test_output_that_cannot_be_written_is_2(tmp_path: Path, stand_in: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    (tmp_path / "a.py").write_text(HIT)
    done = stand_in("--output-file", "/dev/full")
    problem = "torchlint: error: --output-file /dev/full: cannot be written: No space left on device\n"
    assert (done.status, done.stderr) == (2, problem)


def test_output_file_holds_the_report_and_the_terminal_the_summary(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    summary = "Found 1 error. 1 fixable with --fix.\n"
    done = stand_in("--output-file", "report.json", "--output-format", "json")
    assert (done.status, done.stdout, done.stderr) == (1, summary, "")
    assert json.loads((tmp_path / "report.json").read_text())[0]["code"] == "TNS101"
    done = stand_in("--output-file", "report.txt", "--output-format", "concise", "none.py", "a.py")
    assert (done.status, done.stdout) == (2, summary)
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"
    assert (tmp_path / "report.txt").read_text() == "a.py:1:7: TNS101 may fail\n"
    assert stand_in("-o", "report.txt", "-q").stdout == ""


def test_output_file_of_standard_input(tmp_path: Path, stand_in: Program) -> None:
    done = stand_in("-", "--fix", "-o", "out", "--output-format", "concise", stdin=b"a = w.numpy(), w.data\n")
    assert (done.status, done.stdout) == (1, "a = w.detach().cpu().numpy(), w.data\n")
    assert done.stderr == "Found 2 errors (1 fixed, 1 remaining). 1 fixable with --unsafe-fixes.\n"
    assert (tmp_path / "out").read_text() == "-:1:33: TNS201 `.data` hides\n"


def test_output_file_takes_the_place_of_the_old_one_at_the_end_or_not_at_all(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    (tmp_path / "real.txt").write_text("old\n")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert stand_in("-q", "-o", "link.txt", "--output-format", "concise").status == 1
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "a.py:1:7: TNS101 may fail\n"
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == 0o640
    (tmp_path / "torchlint.toml").write_text("stric = true\n")
    assert stand_in("-o", "real.txt").status == 2
    assert stand_in("-o", "new.txt", "--isolated").status == 1
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o666 & ~_mask()
    assert sorted(os.listdir(tmp_path)) == ["a.py", "link.txt", "new.txt", "real.txt", "torchlint.toml"]


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_output_file_may_be_a_pipe(tmp_path: Path, stand_in: Program) -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("no /dev/stdout on this system")
    (tmp_path / "a.py").write_text(HIT)
    done = stand_in("-q", "-o", "/dev/stdout", "--output-format", "concise")
    assert (done.status, done.stdout) == (1, "a.py:1:7: TNS101 may fail\n")


def test_statistics_are_a_report_of_where_to_begin(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text("b = w.data\n")
    (tmp_path / "sub" / "b.py").write_text(HIT * 2 + "b = w.data\n")
    (tmp_path / "sub" / "c.py").write_text(HIT * 8)
    (tmp_path / "sub" / "clean.py").write_text("x = 1\n")
    done = stand_in("--statistics")
    assert done.status == 1
    assert (
        done.stdout
        == """\
10  TNS101  [*] numpy-on-grad-tensor
 2  TNS201  [ ] data-read

Folders with most findings
11  sub (10 fixable)
 1  .

Files with most findings
 8  sub/c.py (8 fixable)
 3  sub/b.py (2 fixable)
 1  a.py

Where to begin
torchlint --fix                     repairs 10 of 12
torchlint --min-confidence certain  shows the 10 that nothing speaks against

Found 12 errors. 10 fixable with --fix, 2 with --unsafe-fixes.
"""
    )
    told = json.loads(stand_in("--statistics", "--output-format", "json").stdout)
    assert told == {
        "count": 12,
        "fixable_count": 10,
        "confidence": {"certain": 10, "likely": 2},
        "rules": [
            {"code": "TNS101", "name": "numpy-on-grad-tensor", "count": 10, "fixable_count": 10},
            {"code": "TNS201", "name": "data-read", "count": 2, "fixable_count": 0},
        ],
        "folders": [
            {"folder": "sub", "count": 11, "fixable_count": 10},
            {"folder": ".", "count": 1, "fixable_count": 0},
        ],
        "files": [
            {"file": "sub/c.py", "count": 8, "fixable_count": 8},
            {"file": "sub/b.py", "count": 3, "fixable_count": 2},
            {"file": "a.py", "count": 1, "fixable_count": 0},
        ],
    }
    assert "repairs 12 of 12" in stand_in("--statistics", "--unsafe-fixes").stdout
    assert stand_in("--statistics", "sub/clean.py").stdout == "All checks passed!\n"


def test_statistics_list_ten_places_and_say_how_many_more(tmp_path: Path, stand_in: Program) -> None:
    for number in range(13):
        (tmp_path / f"f{number:02}.py").write_text(HIT * (number + 1))
    lines = stand_in("--statistics").stdout.splitlines()
    assert lines[:4] == ["91  TNS101  [*] numpy-on-grad-tensor", "", "Folders with most findings", "91  . (91 fixable)"]
    assert lines[6] == "13  f12.py (13 fixable)"
    assert lines[15:18] == [" 4  f03.py (4 fixable)", " 6  in 3 more files", ""]


def test_statistics_have_no_other_formats(stand_in: Program) -> None:
    done = stand_in("--statistics", "--output-format", "sarif")
    message = "--statistics are text or json, not sarif: leave out one of the two"
    assert (done.status, done.stderr) == (2, f"torchlint: error: {message}\n")


def test_show_files_and_show_settings(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "b.py").touch()
    (tmp_path / "a.pyi").touch()
    (tmp_path / "c.txt").touch()
    assert torchlint("--show-files").stdout == "a.pyi\nb.py\n"
    shown = torchlint("--show-settings", "--target-torch", "1.13", "--strict").stdout
    assert "target-torch = 1.13\n" in shown
    assert "strict = true\n" in shown
    assert "configuration = none\n" in shown


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
    assert page.startswith("# syntax-error (TNS900)\n\nThe file is no Python that torchlint can read.\n")
    assert torchlint("explain", "syntax-error").stdout == page
    every = torchlint("explain", "--all").stdout
    assert every.index("# numpy-on-grad-tensor (TNS101)") < every.index("# syntax-error (TNS900)")
    table = torchlint("rules").stdout.splitlines()
    assert table[0].split() == ["code", "name", "default", "summary"]
    assert any(line.startswith("TNS104  cpu-before-detach") and " off " in line for line in table)


def test_version_and_help_import_neither_torch_nor_libcst(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert torchlint("--version").stdout == "torchlint 0.1.0\n"
    assert torchlint("--help").stdout.startswith("usage: torchlint [check] [PATH ...] [FLAGS]\n")
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
    assert done.stdout == "b.py:1:7: TNS101 may fail\n"


def test_min_confidence_by_flag(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("a = w.numpy(), w.data\n")
    done = stand_in("-q", "--output-format", "concise", "--min-confidence", "certain")
    assert done.stdout == "a.py:1:7: TNS101 may fail\n"
