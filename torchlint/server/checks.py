"""One check of one open text: its findings as the command line has them, what is known of it, and its repairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from torchlint.diagnostics.model import Applicability, FileResult, Finding, Trouble
from torchlint.discovery.walk import Target
from torchlint.knowledge import Knowledge
from torchlint.linter.runner import Outcome, RunMode, examine
from torchlint.selection.add_noqa import Job, silence
from torchlint.selection.apply_baseline import load, sift
from torchlint.selection.known_findings import BaselineError
from torchlint.server.folders import Wanted
from torchlint.source.text import Source, SourceError
from torchlint.suppression.apply import ABOUT_SUPPRESSIONS, NEVER_SILENCED
from torchlint.syntax.parse import OtherLanguage, read


class NotDone(Exception):
    """A repair or a suppression that could not be made; the text says why."""


@dataclass
class Checked:
    """What came of checking bytes as a file that is wanted so."""

    raw: bytes
    wanted: Wanted
    result: FileResult
    _known: list[Knowledge | None] = field(default_factory=list)

    @property
    def source(self) -> Source | None:
        """The text that the findings speak of; None where there are none."""
        return self.result.source

    @property
    def troubles(self) -> Iterator[str]:
        """What kept the check from doing its work, each with its file."""
        return (f"{each.path}: {each.message}" for each in self.result.troubles)

    @property
    def known(self) -> Knowledge | None:
        """What is known of the expressions; None where the text is no Python. It is found out when first asked for."""
        if not self._known:
            self._known.append(_analysis(self))
        return self._known[0]


def check(raw: bytes, wanted: Wanted) -> Checked:
    """Check bytes; whatever goes wrong is a trouble of the result."""
    outcome = examine(wanted.name, raw, wanted.config, RunMode.CHECK)
    return Checked(raw, wanted, wanted.config.shown(_sifted(outcome, wanted).result))


def _sifted(outcome: Outcome, wanted: Wanted) -> Outcome:
    """Leave out what the baseline knows, as a run in that folder does."""
    if wanted.baseline is None:
        return outcome
    try:
        baseline = load(wanted.baseline, wanted.baseline, missing_ok=False)
    except BaselineError as error:
        trouble = Trouble(wanted.name, str(error))
        return replace(outcome, result=replace(outcome.result, troubles=(*outcome.result.troubles, trouble)))
    return sift([outcome], baseline, wanted.cwd, {wanted.name: wanted.config}).outcomes[0]


def _analysis(checked: Checked) -> Knowledge | None:
    from torchlint.linter.engine import analysis

    try:
        return analysis(read(checked.wanted.name, checked.raw).source, checked.wanted.config)
    except (SourceError, OtherLanguage, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# ---------------------------------------------------------------------- what may be done about it
def usable(checked: Checked, finding: Finding) -> bool:
    """Return whether a finding's fix may be applied: it is more than a thing to look at, and the text is kept whole."""
    fix, source = finding.fix, checked.source
    return fix is not None and fix.applicability > Applicability.DISPLAY and source is not None and source.lossless


def is_choice(checked: Checked, finding: Finding) -> bool:
    """Return whether a finding shows a repair that nothing applies by itself: a choice, for whoever reads the code."""
    fix, source = finding.fix, checked.source
    shown = fix is not None and bool(fix.edits) and fix.applicability is Applicability.DISPLAY
    return shown and source is not None and source.lossless and checked.wanted.config.fixable(finding.code)


def safe(checked: Checked) -> bool:
    """Return whether there is something that a safe repair would change."""
    found = (each for each in checked.result.findings if usable(checked, each))
    return any(each.fix is not None and each.fix.applicability is Applicability.SAFE for each in found)


def can_be_silenced(finding: Finding) -> bool:
    """Return whether a comment on its row silences a finding."""
    return finding.code not in ABOUT_SUPPRESSIONS | NEVER_SILENCED


def repaired(checked: Checked) -> bytes:
    """Return the bytes after all safe fixes, round after round as ``--fix`` has it.

    :raises NotDone: where something went wrong.
    """
    config = replace(checked.wanted.config, unsafe_fixes=False)
    outcome = examine(checked.wanted.name, checked.raw, config, RunMode.FIX)
    return _done(outcome, outcome.result.troubles)


def silenced(checked: Checked, finding: Finding) -> bytes:
    """Return the bytes with a comment that silences a finding and all others of its rule on its row.

    :raises NotDone: where no comment would do that.
    """
    source = checked.source
    assert source is not None
    row = source.position(finding.start)[0]
    chosen = [each for each in checked.result.findings if each.code == finding.code]
    chosen = [each for each in chosen if source.position(each.start)[0] == row]
    result = replace(checked.result, findings=tuple(chosen), troubles=())
    target = Target(checked.wanted.name, "", checked.wanted.config)
    outcome = silence(Job(target, Outcome(result, (), checked.raw, checked.raw), ""))
    return _done(outcome, outcome.result.troubles)


def _done(outcome: Outcome, troubles: Sequence[Trouble]) -> bytes:
    if troubles:
        raise NotDone(f"{troubles[0].path}: {troubles[0].message}")
    return outcome.after
