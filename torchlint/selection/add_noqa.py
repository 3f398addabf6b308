"""Where the comment goes that silences a finding, and what it says, so that flake8 and ruff honour it too."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from torchlint.diagnostics.model import Confidence, Edit, Finding, Fix, Trouble
from torchlint.diagnostics.splice import splice
from torchlint.discovery.walk import Target
from torchlint.linter.runner import Outcome, RunMode, examine
from torchlint.source import files
from torchlint.source.comments import CommentIndex, read
from torchlint.source.text import Source
from torchlint.suppression.apply import ABOUT_SUPPRESSIONS, NEVER_SILENCED
from torchlint.suppression.directives import Directive, Scope, directives

_SEEN_BY_FLAKE8 = re.compile(r"# noqa", re.IGNORECASE)
_NOT_OURS = ABOUT_SUPPRESSIONS | NEVER_SILENCED


@dataclass(frozen=True, slots=True)
class Job:
    """One file to write suppressions into: the outcome of its check holds the findings that are to be silenced.

    A target whose ``real`` is empty is standard input: nothing is written.
    """

    target: Target
    outcome: Outcome
    reason: str

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that a comment can silence."""
        return tuple(each for each in self.outcome.result.findings if each.code not in _NOT_OURS)


def silence(job: Job) -> Outcome:
    """Append the comments and check again; ``fixed`` then holds the silenced findings.

    Where a comment would not do its work, the file is left as it was and a trouble says why.
    """
    before = job.outcome
    source = before.result.source
    if source is None or not job.findings:
        return before
    if not job.target.writable:
        return replace(before, linked_out=True)
    try:
        raw = _commented(source, job.findings, job.reason)
        after = examine(before.path, raw, job.target.config, RunMode.CHECK, before.changed)
        _verify(job, after)
        if job.target.real:
            files.replace(job.target.real, before.before, raw)
    except files.NotWritten as error:
        return _refused(before, str(error).replace("not fixed", "no suppression was added"))
    except UnicodeEncodeError as error:
        return _refused(before, f"no suppression was added: {source.encoding} has no `{error.object[error.start]}`")
    return replace(after, fixed=job.findings, before=before.before, after=raw)


def _commented(source: Source, findings: Sequence[Finding], reason: str) -> bytes:
    if not source.lossless:
        raise files.NotWritten("no suppression was added: the text cannot be written back to the same bytes")
    reading = read(source)
    if not reading.whole:
        raise files.NotWritten("no suppression was added: Python's tokenizer does not read the file to its end")
    edits = tuple(_edits(source, reading, findings, reason))
    whole = Finding("", "", 0, 0, "", Confidence.CERTAIN, (), Fix("", edits))
    return splice(source, [whole]).raw


def _verify(job: Job, after: Outcome) -> None:
    """Hold the comments to their purpose: what they are for must now be silent."""
    if after.result.troubles:
        raise files.NotWritten(f"no suppression was added: {after.result.troubles[0].message}")
    wanted = Counter(each.code for each in (*job.outcome.result.suppressed, *job.findings))
    if wanted - Counter(each.code for each in after.result.suppressed):
        raise files.NotWritten("no suppression was added: a comment would not be honoured here, please report it")


def _refused(outcome: Outcome, message: str) -> Outcome:
    trouble = Trouble(outcome.path, message)
    return replace(outcome, result=replace(outcome.result, troubles=(*outcome.result.troubles, trouble)))


# ---------------------------------------------------------------------- the comments
def _edits(source: Source, reading: CommentIndex, findings: Iterable[Finding], reason: str) -> Iterator[Edit]:
    by_row: dict[int, set[str]] = defaultdict(set)
    first: dict[int, int] = {}
    for finding in findings:
        row = source.position(finding.start)[0]
        at = reading.commented(row)
        by_row[at].add(finding.code)
        first[at] = min(first.get(at, row), row)
    for row, codes in by_row.items():
        yield _edit(source, reading, (_first_joined(reading, first[row]), row), ", ".join(sorted(codes)), reason)


def _first_joined(reading: CommentIndex, row: int) -> int:
    """Return the first row that runs into the same row as this one does."""
    while row > 1 and reading.joined.get(row - 1) == reading.commented(row):
        row -= 1
    return row


def _edit(source: Source, reading: CommentIndex, rows: tuple[int, int], codes: str, reason: str) -> Edit:
    line = source.line(rows[1])
    start = source.line_starts[rows[1] - 1]
    end = start + len(line.encode())
    stop = start + len(line.rstrip(" \t\f").encode())
    if reason:
        return Edit(stop, end, f"  # torchlint: ignore[{codes}] {reason}")
    text = source.slice(source.line_starts[rows[0] - 1], end)
    seen = _SEEN_BY_FLAKE8.search(text)
    if seen is None:
        return Edit(stop, end, f"  # noqa: {codes}")
    # flake8 reads the first such comment that it sees and no other, be it in a string.
    at = source.line_starts[rows[0] - 1] + len(text[: seen.start()].encode())
    for each in _directives(reading, rows[1]):
        if each.start == at and each.shared and each.scope is Scope.ROW and each.codes:
            return Edit(each.end, each.end, f", {codes}")
    return Edit(stop, end, f"  # torchlint: ignore[{codes}]")


def _directives(reading: CommentIndex, row: int) -> Iterator[Directive]:
    return (each for comment in reading.comments if comment.row == row for each in directives(comment))
