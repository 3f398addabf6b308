"""The only code that changes text: it splices the edits of fixes into a source, byte for byte."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from torchlint.diagnostics.model import Edit, Finding
from torchlint.source.edits import written
from torchlint.source.notebook import as_notebook
from torchlint.source.text import Source


@dataclass(frozen=True, slots=True)
class Spliced:
    """The new bytes, the findings whose fix they hold, and those whose fix has to wait for the next round."""

    raw: bytes
    taken: tuple[Finding, ...]
    held: tuple[Finding, ...]
    edits: tuple[Edit, ...]
    """All that was written."""


class _Taken:
    """Edits in order of place, none touching another; identical ones are held once."""

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self._starts: list[int] = []

    def admits(self, edits: tuple[Edit, ...]) -> bool:
        return all(self._admits(edit) for edit in edits)

    def _admits(self, edit: Edit) -> bool:
        at = bisect.bisect_left(self._starts, edit.start)
        around = self.edits[max(at - 1, 0) : at + 2]
        if edit in around:
            return True
        following = self.edits[at] if at < len(self.edits) else None
        previous = self.edits[at - 1] if at else None
        if previous and previous.end > edit.start:
            return False
        return not (following and (following.start < edit.end or following.start == edit.start))

    def add(self, edits: tuple[Edit, ...]) -> None:
        for edit in edits:
            at = bisect.bisect_left(self._starts, edit.start)
            if edit not in self.edits[at : at + 1]:
                self.edits.insert(at, edit)
                self._starts.insert(at, edit.start)


def splice(source: Source, findings: Iterable[Finding]) -> Spliced:
    """Apply the fixes of findings in the order given.

    A fix that touches text already taken is held, not lost; identical edits are shared; newlines in inserted text
    become the file's own. Every byte outside an edit is kept.

    :raises UnicodeEncodeError: where inserted text has no place in the file's encoding.
    """
    chosen, taken, held = _Taken(), [], []
    for finding in findings:
        if finding.fix is None:
            continue
        if chosen.admits(finding.fix.edits) and apart(finding.fix.edits):
            chosen.add(finding.fix.edits)
            taken.append(finding)
        else:
            held.append(finding)
    edits = tuple(chosen.edits)
    return Spliced(_splice(source, edits), tuple(taken), tuple(held), edits)


def apart(edits: tuple[Edit, ...]) -> bool:
    """Return whether edits leave each other's text alone."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    return all(one == other or (one.end <= other.start and one.start < other.start) for one, other in pairwise(ordered))


def _splice(source: Source, edits: Sequence[Edit]) -> bytes:
    if not edits:
        return source.raw
    notebook = as_notebook(source)
    if notebook is not None:
        from torchlint.source.notebook_edits import rewrite

        return rewrite(notebook, edits)
    parts, last = [], 0
    for edit in edits:
        parts.append(source.slice(last, edit.start))
        parts.append(written(source, edit))
        last = edit.end
    parts.append(source.slice(last, len(source.utf8)))
    return source.encode("".join(parts))
