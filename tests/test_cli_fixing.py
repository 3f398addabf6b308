"""The command line where it changes files: --fix, --diff, standard input, and what is left alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

Program = Callable[..., Any]
HIT = "a = w.numpy()\n"
FIXED = "a = w.detach().cpu().numpy()\n"


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
        "a.py:2:7: TNS201 `.data` hides [legacy, likely]\nFixed 1 finding; left: 1 legacy: 1 with --unsafe-fixes.\n"
    )
    done = stand_in("--fix", "--unsafe-fixes")
    assert file.read_bytes() == b"\xef\xbb\xbfa = w.detach().cpu().numpy()\r\nb = w.detach()\r\n"
    assert (done.status, done.stdout) == (0, "Fixed 1 finding, nothing is left.\n")


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
    assert (done.status, done.stdout) == (0, "Fixed 1 finding.\n")


def test_fixable_and_unfixable_hide_fixes(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    done = stand_in("--fix", "--unfixable", "TNS101", "--output-format", "json")
    assert (done.status, file.read_text(), json.loads(done.stdout)[0]["fix"]) == (1, HIT, None)


def test_show_fixes_lists_what_was_fixed(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text(HIT * 2)
    assert stand_in("--fix", "--show-fixes").stdout == (
        "Fixed 2 findings:\n- a.py:\n    2 × TNS101 (numpy-on-grad-tensor)\n\nFixed 2 findings, nothing is left.\n"
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
    assert done.stderr == "Would fix 1 finding in 1 file.\n"
    assert file.read_bytes() == before


def test_diff_is_0_where_nothing_would_change(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("a = w.data\n")
    done = stand_in("--diff")
    assert (done.status, done.stdout, done.stderr) == (0, "", "No fix to apply.\n")
    assert stand_in("--diff", "none.py").status == 2


def test_diff_and_fix_only_do_not_pass_over_a_syntax_error_in_silence(tmp_path: Path, stand_in: Program) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    for flag in ("--diff", "--fix-only"):
        assert "torchlint: warning: a.py:1:1: TNS900 invalid syntax [warning, certain]\n" in stand_in(flag).stderr


def test_standard_input_is_checked_fixed_and_compared(stand_in: Program) -> None:
    source = b"\xef\xbb\xbfa = w.numpy()\r\nb = w.data\r\n"
    done = stand_in("-", "--output-format", "concise", stdin=source)
    assert (done.status, done.stdout.splitlines()[0]) == (1, "-:1:7: TNS101 [*] may fail [warning, certain]")
    done = stand_in("-", "--fix", "--output-format", "concise", "--stdin-filename", "x/y.py", stdin=source)
    assert done.raw == b"\xef\xbb\xbfa = w.detach().cpu().numpy()\r\nb = w.data\r\n"
    assert (done.status, done.stderr.splitlines()[0]) == (1, "x/y.py:2:7: TNS201 `.data` hides [legacy, likely]")
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
    assert (done.status, done.stdout) == (1, "in/link.py:1:7: TNS101 [*] may fail [warning, certain]\n")
    assert (tmp_path / "out.py").read_text() == HIT
    assert stand_in("in", "--diff").status == 0
    assert stand_in("--fix", "in/link.py").status == 0
    assert (tmp_path / "out.py").read_text() == FIXED


def test_a_read_only_file_is_left_alone_and_named(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    file.chmod(0o444)
    done = stand_in("--fix", "-q", "--output-format", "concise")
    assert (done.status, done.stdout) == (2, "a.py:1:7: TNS101 [*] may fail [warning, certain]\n")
    assert done.stderr == "torchlint: error: a.py: read-only, so not fixed\n"
    assert (file.read_text(), os.listdir(tmp_path)) == (HIT, ["a.py"])


def test_a_file_that_changed_meanwhile_is_left_alone_and_named(tmp_path: Path, stand_in: Program) -> None:
    file = tmp_path / "a.py"
    file.write_text(HIT)
    done = stand_in("--fix", STAND_IN_TOUCH=str(file))
    assert done.status == 2
    assert done.stderr == "torchlint: error: a.py: changed while it was being checked, so not fixed: run again\n"
    assert (file.read_text(), os.listdir(tmp_path)) == (HIT + "# changed meanwhile\n", ["a.py"])
