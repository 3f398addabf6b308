"""What no Python file should be: each is a finding with its place or a trouble, never a crash, never silence."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Program = Callable[..., Any]


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"def f(:\n", "1:7"),
        (b"x = 1\ny = = 2\n", "2:5"),
        (b"x = '\xff'\n", "1:6"),
        (b"# \xc3\xa9 \xff\n", "1:5"),
        (b"# coding: no-such-codec\nx = 1\n", "1:1"),
        (b"x = 1\n\x00y = 2\n", "2:1"),
        (b"\xef\xbb\xbfx = = 1\n", "1:5"),
        (b"if 1:\nx = 1\n", "2:1"),
        (b"x = '''\n", "1:5"),
        (b"print 'old'\n", "1:1"),
        (b"\xff\xfex\x00", "1:1"),
        (b"\xfe\xff\x00x", "1:1"),
    ],
)
def test_a_file_that_does_not_parse_is_a_finding_with_its_place(
    raw: bytes, place: str, tmp_path: Path, torchlint: Program
) -> None:
    (tmp_path / "bad.py").write_bytes(raw)
    (tmp_path / "good.py").write_bytes(b"x = 1\n")
    for flags in ([], ["--fix"]):
        done = torchlint("-q", "--output-format", "concise", *flags)
        assert (done.status, done.stderr) == (1, "")
        (line,) = done.stdout.splitlines()
        assert line.startswith("bad.py:")
        assert " TNS900 " in line
        assert line.startswith(f"bad.py:{place}: ")
        assert ("UTF-16" in line) == (raw[:2] in (b"\xff\xfe", b"\xfe\xff"))
        assert (tmp_path / "bad.py").read_bytes() == raw


@pytest.mark.parametrize(
    "raw",
    [b"", b"\n", b"\r", b"\xef\xbb\xbf", b"x = 1", b"\x0c\n", b"# only\r", b"x = (\n" + b"(" * 80 + b")" * 80 + b")\n"],
)
def test_odd_but_good_files_pass(raw: bytes, tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "odd.py").write_bytes(raw)
    done = torchlint("--fix")
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed!\n", "")
    assert (tmp_path / "odd.py").read_bytes() == raw


NEWER = "import torch\n\n\ndef f[T](x: T):\n    return torch.ones(2, requires_grad=True).numpy()\n"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_code_that_this_python_cannot_read_is_told_of(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "new.py").write_text(NEWER)
    for _ in range(2):  # looked at, and remembered
        done = torchlint()
        assert (done.status, done.stdout) == (0, "All checks passed!\n")
        python = f"Python 3.{sys.version_info[1]}"
        assert done.stderr == (
            f"torchlint: warning: new.py, line 4: {python} cannot read this syntax; little is known of such code, "
            "so findings are missing: run torchlint with a newer Python\n"
        )
    assert torchlint("-q").stderr == ""
    (tmp_path / "also.py").write_text("# without a tensor\n" + NEWER.replace("torch", "numpy"))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": NEWER}
    first = {**cell, "source": "x = 1"}
    kernel = {"kernelspec": {"language": "python", "name": "python3", "display_name": "Python 3"}}
    book = {"cells": [first, cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    said = torchlint().stderr
    assert "book.ipynb, cell 2, line 4: " in said
    assert "syntax, nor that of 1 other file; " in said


def test_nesting_beyond_any_parser_is_a_finding(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "deep.py").write_bytes(b"x = " + b"(" * 5000 + b")" * 5000 + b"\n")
    (tmp_path / "long.py").write_bytes(b"x = " + b"-" * 100_000 + b"1\n")
    done = torchlint("-q", "--output-format", "concise")
    assert (done.status, done.stderr) == (1, "")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["deep.py", "long.py"]


def test_an_odd_name_is_shown_escaped(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a\x1b[2J\nb.py").write_text("def f(:\n")
    done = torchlint("-q", "--output-format", "concise")
    assert done.stdout.startswith("a\\x1b[2J\\x0ab.py:1:7: TNS900 ")


def test_a_terminal_of_another_encoding_is_no_crash(tmp_path: Path, program: Program) -> None:
    (tmp_path / "é.py").write_text("def f(:  # ü\n", encoding="utf-8")
    done = program("-q", PYTHONIOENCODING="ascii")
    assert done.status == 1
    assert b"\\xe9.py:1:7" in done.raw
