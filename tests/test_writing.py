"""Writing: all at once or not at all, and no temporary file left behind."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from torchlint.source.files import NotWritten, check_place, create, replace


def refuse(number: int) -> object:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_the_mode_is_kept_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o640)
    replace(str(file), b"old", b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("call", "number", "reason"),
    [
        ("torchlint.source.files._opened", errno.EACCES, "cannot be written: Permission denied"),
        ("torchlint.source.files.os.fsync", errno.ENOSPC, "cannot be written: No space left on device"),
        ("torchlint.source.files.os.replace", errno.EROFS, "cannot be written: Read-only file system"),
        ("torchlint.source.files.os.chmod", errno.EPERM, "cannot be written: Operation not permitted"),
    ],
)
def test_a_failure_at_any_step_leaves_the_file_as_it_was(
    call: str, number: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(call, refuse(number))
    with pytest.raises(NotWritten) as raised:
        replace(str(file), b"old", b"new")
    assert str(raised.value) == reason
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a.py"])


def test_a_file_that_is_gone_or_changed_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    with pytest.raises(NotWritten, match="cannot be written: No such file or directory"):
        replace(str(file), b"old", b"new")
    file.write_bytes(b"other")
    with pytest.raises(NotWritten, match="changed while it was being checked"):
        replace(str(file), b"old", b"new")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"other", ["a.py"])


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    ("call", "number", "reason"),
    [
        ("torchlint.source.files._opened", errno.EACCES, "cannot be written: Permission denied"),
        ("torchlint.source.files.os.fsync", errno.ENOSPC, "cannot be written: No space left on device"),
        ("torchlint.source.files.os.replace", errno.EROFS, "cannot be written: Read-only file system"),
    ],
)
def test_a_report_that_cannot_be_written_leaves_what_was_there(
    call: str, number: int, reason: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report"
    if there:
        file.write_bytes(b"old")
    monkeypatch.setattr(call, refuse(number))
    with pytest.raises(NotWritten) as raised:
        create(str(file), b"new")
    assert str(raised.value) == reason
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([b"old"] if there else [])


def test_a_report_is_made_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "report"
    for text in (b"one", b"two"):
        check_place(str(file))
        create(str(file), text)
        assert (file.read_bytes(), os.listdir(tmp_path)) == (text, ["report"])


def test_places_that_cannot_be_written_are_told_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").touch()
    monkeypatch.setattr("torchlint.source.files.os.access", lambda *_: False)  # the superuser may write anywhere
    for name, reason in (
        ("old", "read-only"),
        ("new", "its folder may not be written"),
        ("none/new", "its folder does not exist: make it first"),
        ("", "is a folder: give the name of a file in it"),
    ):
        with pytest.raises(NotWritten) as raised:
            check_place(str(tmp_path / name))
        assert str(raised.value) == reason
