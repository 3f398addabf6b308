"""An entry back to a result, with the source that its findings stand in."""

from __future__ import annotations

from torchlint.cache.entries import Entry, Misread, numbers, rows, text, unpack
from torchlint.cache.present import Present, digest
from torchlint.discover import Target
from torchlint.model import FileResult
from torchlint.notebook import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.source import Source


def result_of(entry: Entry, target: Target, present: Present) -> FileResult | None:
    """Give the result; None where the file is no longer the one that it is about, or the entry is none.

    Only a file with findings is read: they are shown with their lines, and never with those of another content.
    """
    try:
        found, suppressed, passed_over, left_out = entry.found
        reads = (*entry.bases, *((path, known) for path, known, _ in entry.files))
        if not rows(found) and not rows(suppressed):
            return FileResult(target.path, None, reads=reads, asked=entry.asked, passed_over=text(passed_over))
        raw = present.read(target.real)
        if raw is None or (present.stamp(target.real) != entry.stamp and digest(raw) != entry.digest):
            return None
        source = _source(target.path, raw, numbers(left_out))
        length = len(source.utf8)
        known = unpack(found, length), unpack(suppressed, length)
        return FileResult(target.path, source, *known, (), reads, entry.asked)
    except (Misread, ValueError):
        return None


def _source(path: str, raw: bytes, left_out: list[int]) -> Source:
    from torchlint.source import SourceError, decode, undecoded  # here: a run without findings needs no text

    try:
        if not path.endswith(SUFFIX):
            return decode(path, raw)
        from torchlint.syntax.reading import reread  # here: few runs meet a notebook with findings

        return reread(path, raw, left_out)
    except SourceError as error:
        return undecoded(path, raw, error.offset)
