"""What is to be told of one open text: checked as its folder wants it, drawn for its editor, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from torchlint.config import ConfigError
from torchlint.inference.project_texts import look_again, still_answered
from torchlint.server.checks import Checked, check
from torchlint.server.diagnostics import Drawn
from torchlint.server.documents import Cells, Open, name_of, named_as_notebook, path_of
from torchlint.server.folders import Folders, Wanted
from torchlint.server.stamps import Stamps, changed, of_module, stamps


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a text; ``checked`` and ``drawn`` are None where it is left out or its options cannot be used.

    ``rests_on`` are the files after whose change it has to be judged again.
    """

    checked: Checked | None = None
    drawn: Drawn | None = None
    rests_on: Stamps = field(default_factory=dict)
    complaints: tuple[str, ...] = ()


def judge(opened: Open, folders: Folders, before: Judged, encoding: str, trail: bool) -> Judged:
    """Check a text, or take the last result where nothing has changed since."""
    if not opened.is_code:
        return Judged()
    path, name, raw = path_of(opened.uri), name_of(opened.uri), opened.raw
    sources = stamps(folders.sources(path))
    try:
        wanted = folders.wanted(path, named_as_notebook(name) if isinstance(opened, Cells) else name)
    except ConfigError as error:
        return Judged(None, None, sources, (str(error),))
    if wanted.left_out:
        return Judged(None, None, sources)
    known = before.checked
    look_again()
    if known is None or (known.raw, known.wanted) != (raw, wanted) or _is_outdated(known, before):
        known = check(raw, wanted)
    rests_on = {**sources, **stamps(_others(known, wanted))}
    return Judged(known, Drawn(opened, known, encoding, trail), rests_on, tuple(known.troubles))


def _is_outdated(known: Checked, before: Judged) -> bool:
    return changed(before.rests_on) or not still_answered(known.result.asked)


def _others(checked: Checked, wanted: Wanted) -> Iterable[str]:
    yield from (path for named, _ in checked.result.reads for path in of_module(named))
    if wanted.baseline is not None:
        yield wanted.baseline
