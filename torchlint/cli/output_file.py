"""The file that a report goes to, whole, once the run has ended."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.config import ConfigError
from torchlint.source import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


@contextmanager
def open_output(path: str, cwd: str) -> Iterator[TextIO]:
    """Return the stream to print to; the file takes the place of an old one only when the run came to its end.

    :raises ConfigError: where the file cannot be written, before the run where that can be told.
    """
    place = os.path.join(cwd, path)
    try:
        files.check_place(place)
        raw = io.BytesIO()
        held = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="")
        yield held
        held.flush()
        files.create(place, raw.getvalue())
    except files.NotWritten as error:
        raise ConfigError(f"--output-file {path}: {error}") from None
