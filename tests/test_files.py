"""Plain files are read whole, or as far as asked for, however long their status says that they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchlint.source import files


@pytest.mark.parametrize("raw", [b"", b"x", b"x = 1\n" * 50_000])
def test_a_file_is_read_whole(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    found, status = files.read_with_status(str(path))
    assert found == raw
    assert status.st_size == len(raw)
    assert files.read(str(path), 3) == raw[:3]
    assert files.read(str(path), 0) == b""


@pytest.mark.parametrize("said", [0, 1, 7, 8, 9, 1_000])
@pytest.mark.parametrize("most", [0, 1, 7, 8, 9, 1_000])
def test_the_size_is_no_more_than_a_hint(tmp_path: Path, said: int, most: int) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"12345678")
    handle = os.open(path, os.O_RDONLY)
    try:
        assert files._up_to(handle, most, said) == b"12345678"[:most]
    finally:
        os.close(handle)


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        files.read(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        files.read(str(tmp_path / "pipe"))
