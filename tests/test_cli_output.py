"""Where the command line puts its report: output files, and the statistics."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]
HIT = "a = w.numpy()\n"
FIXED = "a = w.detach().cpu().numpy()\n"


def test_output_that_cannot_be_written_is_2(tmp_path: Path, stand_in: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    (tmp_path / "a.py").write_text(HIT)
    done = stand_in("--output-file", "/dev/full")
    problem = "torchlint: error: --output-file /dev/full: cannot be written: No space left on device\n"
    assert (done.status, done.stderr) == (2, problem)


def test_output_file_holds_the_report_and_the_terminal_the_summary(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    summary = "Found 1 hazard (1 fixable): fix with --fix.\n"
    done = stand_in("--output-file", "report.json", "--output-format", "json")
    assert (done.status, done.stdout, done.stderr) == (1, summary, "")
    assert json.loads((tmp_path / "report.json").read_text())[0]["code"] == "TNS101"
    done = stand_in("--output-file", "report.txt", "--output-format", "concise", "none.py", "a.py")
    assert (done.status, done.stdout) == (2, summary)
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"
    assert (tmp_path / "report.txt").read_text() == "a.py:1:7: TNS101 [*] may fail [warning, certain]\n"
    assert stand_in("-o", "report.txt", "-q").stdout == ""


def test_output_file_of_standard_input(tmp_path: Path, stand_in: Program) -> None:
    done = stand_in("-", "--fix", "-o", "out", "--output-format", "concise", stdin=b"a = w.numpy(), w.data\n")
    assert (done.status, done.stdout) == (1, "a = w.detach().cpu().numpy(), w.data\n")
    assert done.stderr == "Fixed 1 finding; left: 1 legacy: 1 with --unsafe-fixes.\n"
    assert (tmp_path / "out").read_text() == "-:1:33: TNS201 `.data` hides [legacy, likely]\n"


def test_output_file_takes_the_place_of_the_old_one_at_the_end_or_not_at_all(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT)
    (tmp_path / "real.txt").write_text("old\n")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    assert stand_in("-q", "-o", "link.txt", "--output-format", "concise").status == 1
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "a.py:1:7: TNS101 [*] may fail [warning, certain]\n"
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
    assert (done.status, done.stdout) == (1, "a.py:1:7: TNS101 [*] may fail [warning, certain]\n")


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
torchlint --preset hazards          shows the 10 that may break a run

Found 10 hazards (10 fixable), 2 legacy: fix with --fix, 2 more with --unsafe-fixes.
"""
    )
    told = json.loads(stand_in("--statistics", "--output-format", "json").stdout)
    assert told == {
        "count": 12,
        "fixable_count": 10,
        "severity": {"legacy": 2, "warning": 10},
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
