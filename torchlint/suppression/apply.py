"""Which findings a comment silences, on its row, in its block or in its file."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from torchlint.config.selectors import codes_of
from torchlint.diagnostics.model import Finding
from torchlint.source.comments import CommentIndex, indentation, read
from torchlint.source.text import Source
from torchlint.suppression.directives import Code, Directive, Scope, directives

NEVER_SILENCED = frozenset({"TNS900", "TNS904"})
"""A file that was not checked cannot be trusted to say which of its findings do not matter."""
ABOUT_SUPPRESSIONS = frozenset({"TNS901", "TNS902", "TNS903"})
"""Findings in comments: on their row only a comment that names them silences them, else none would be seen."""

_TRIGGER = re.compile(rb"#[^\r\n]*(?:noqa|torchlint:)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Order:
    """One code of one directive, and the rows that it reaches; None where that is the whole file."""

    directive: Directive
    code: Code
    rows: tuple[int, int] | None

    def silences(self, finding: Finding) -> bool:
        """Return whether it means the finding's rule, wherever the finding stands."""
        own = self.directive.start <= finding.start < self.directive.end
        if finding.code in ABOUT_SUPPRESSIONS and (own or self.directive.scope is Scope.ROW):
            return codes_of(self.code.text) == {finding.code}
        return finding.code in self.code.meant and finding.code not in NEVER_SILENCED


class Suppressions:
    """All that the comments of one file order.

    A comment for a row counts on the finding's own row, or behind the string or the backslashes that this row runs
    into, and on the first and last row of its logical line. ``noqa=False`` leaves out the ``noqa`` forms, for a host
    that honours them itself.
    """

    def __init__(self, source: Source, noqa: bool = True) -> None:
        self._source = source
        self.reading = read(source)
        self.directives = [each for comment in self.reading.comments for each in directives(comment, noqa)]
        self.closing: set[Code] = set()
        """The codes of ``enable`` comments that end something."""
        self._by_row: dict[int, list[Order]] = defaultdict(list)
        self._ranges: list[Order] = list(_ranges(source, self.reading, self.directives, self.closing))
        for each in self.directives:
            if each.scope is Scope.ROW and each.closed:
                row = each.comment.row
                self._by_row[row] += [Order(each, code, (row, row)) for code in each.every]

    def silencing(self, finding: Finding) -> Iterator[Order]:
        """Yield every order that silences a finding."""
        row = self._source.position(finding.start)[0]
        for at in sorted({row, *self.reading.statement(row), self.reading.commented(row)}):
            yield from (order for order in self._by_row.get(at, ()) if order.silences(finding))
        for order in self._ranges:
            if (order.rows is None or order.rows[0] <= row <= order.rows[1]) and order.silences(finding):
                yield order


def split(
    source: Source, findings: Sequence[Finding], noqa: bool = True
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Part findings into those to report and those that a comment silences, in the order given."""
    if not findings or not _TRIGGER.search(source.utf8):
        return tuple(findings), ()
    orders = Suppressions(source, noqa)
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in findings:
        quiet = next(orders.silencing(finding), None) is not None
        (suppressed if quiet else kept).append(finding)
    return tuple(kept), tuple(suppressed)


def _ranges(source: Source, reading: CommentIndex, every: list[Directive], closing: set[Code]) -> Iterator[Order]:
    """Yield the orders for files and blocks; what an ``enable`` ends is told by putting its codes in ``closing``."""
    begins = sorted({first for first, _ in reading.logical.values()})
    running: list[tuple[Order, int]] = []
    for each in every:
        if each.scope is Scope.ROW or not each.placed or not each.closed:
            continue
        row, column = each.comment.row, indentation(source.line(each.comment.row))
        for code in each.every:
            if each.scope is Scope.FILE:
                yield Order(each, code, None)
            elif each.scope is Scope.OPEN:
                end = _end_of_block(source, begins, row, column)
                running.append((Order(each, code, (row, end)), column))
            else:
                ended = [at for at in running if at[1] == column and _ends(at[0], code, row)]
                running = [at for at in running if at not in ended]
                closing.update([code] * bool(ended))
                yield from (
                    Order(order.directive, order.code, (order.rows[0], row)) for order, _ in ended if order.rows
                )
    yield from (order for order, _ in running)


def _ends(order: Order, code: Code, row: int) -> bool:
    return bool(order.rows and order.rows[1] >= row and order.code.meant and order.code.meant <= code.meant)


def _end_of_block(source: Source, begins: list[int], row: int, column: int) -> int:
    """Return the last row of the block in which a comment stands: the row before the next statement further left."""
    last = len(source.line_starts)
    if column == 0:
        return last
    behind = islice(begins, bisect.bisect_right(begins, row), None)
    return next((each - 1 for each in behind if indentation(source.line(each)) < column), last)
