"""What an editor offers to do about findings: one repair, a comment that silences, all safe repairs at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, Range

from torchlint.model import Applicability, Finding
from torchlint.server import checks
from torchlint.server.checks import Checked, NotDone, can_be_silenced, usable
from torchlint.server.diagnostics import Drawn
from torchlint.server.documents import Edits, Open
from torchlint.server.judging import Judged

FIX_ALL = f"{CodeActionKind.SourceFixAll.value}.torchlint"
FIX_ALL_IN_NOTEBOOK = f"notebook.{FIX_ALL}"
KINDS = (CodeActionKind.QuickFix.value, FIX_ALL, FIX_ALL_IN_NOTEBOOK)

FIX_ALL_TITLE = "Fix all safe torchlint findings"


@dataclass(frozen=True, slots=True)
class Offer:
    """An action: what is shown, and what it would do, which is worked out when it is wanted."""

    title: str
    kind: str
    what: str
    finding: Finding | None = None
    diagnostic: Diagnostic | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells this offer from others of the same check."""
        found = self.finding
        return (self.what, found.start, found.code) if found is not None else (self.what, 0, "")

    def action(self) -> CodeAction:
        """Give it as the protocol has it, without its edits."""
        fix = self.finding.fix if self.finding is not None and self.what == "fix" else None
        preferred = fix is not None and fix.applicability is Applicability.SAFE
        shown = [self.diagnostic] if self.diagnostic is not None else None
        return CodeAction(self.title, self.kind, shown, is_preferred=True if preferred else None)


def offers(judged: Judged, uri: str, where: Range | None = None, only: Sequence[str] | None = None) -> list[Offer]:
    """Give the actions for a range of a document, or for all of it, of the kinds that are asked for."""
    checked, drawn = judged.checked, judged.drawn
    if checked is None or drawn is None:
        return []
    every = [*_quick(checked, drawn, uri, where), *_all(checked, only)]
    return [each for each in every if _asked(each.kind, only)]


def _quick(checked: Checked, drawn: Drawn, uri: str, where: Range | None) -> Iterator[Offer]:
    here = [(each, shown) for at, each, shown in drawn.found if at == uri and _meet(shown.range, where)]
    kind = CodeActionKind.QuickFix.value
    for finding, shown in here:
        if finding.fix is not None and usable(checked, finding):
            unsafe = " (unsafe)" if finding.fix.applicability is Applicability.UNSAFE else ""
            yield Offer(f"{finding.fix.title}{unsafe}", kind, "fix", finding, shown)
    for finding, shown in here:
        if can_be_silenced(finding) and checked.source is not None and checked.source.lossless:
            yield Offer(f"Silence {finding.code} on this line (# noqa)", kind, "silence", finding, shown)


def _all(checked: Checked, only: Sequence[str] | None) -> Iterator[Offer]:
    if checks.safe(checked):
        in_notebook = only is not None and any(each.startswith("notebook") for each in only)
        yield Offer(FIX_ALL_TITLE, FIX_ALL_IN_NOTEBOOK if in_notebook else FIX_ALL, "fix-all")


def _asked(kind: str, only: Sequence[str] | None) -> bool:
    """Tell whether a kind is among those asked for: a kind stands for all that are below it."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _meet(one: Range, other: Range | None) -> bool:
    """Tell whether two ranges have a place in common, their ends included; None stands for everywhere."""
    if other is None:
        return True
    first, last = (one.start.line, one.start.character), (one.end.line, one.end.character)
    begin, end = (other.start.line, other.start.character), (other.end.line, other.end.character)
    return first <= end and begin <= last


def edits(offer: Offer, opened: Open, checked: Checked) -> Edits:
    """Work out what an action does.

    :raises NotDone: where it cannot be done; the text says why.
    """
    finding, source = offer.finding, checked.source
    if offer.what == "fix-all":
        return opened.rewritten(checks.repaired(checked))
    if finding is None or source is None:
        raise NotDone(f"{checked.wanted.name}: there is nothing to do any more")
    if offer.what == "silence":
        return opened.rewritten(checks.silenced(checked, finding))
    return opened.repaired(source, finding)
