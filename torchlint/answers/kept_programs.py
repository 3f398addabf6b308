"""The programs that were asked about last, with what is known of them: one for the folder of a project."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from torchlint.evaluation.oracles import Oracles
from torchlint.semantic.program import Program

_MOST_PROGRAMS: Final = 2
_programs: OrderedDict[str, Oracles] = OrderedDict()


def look_again() -> None:
    """Let go of what rests on files that have changed."""
    for root, oracles in list(_programs.items()):
        changed = oracles.program.changed()
        if changed is None:
            del _programs[root]
        for path in changed or ():
            oracles.forget(path)


def oracles_of(root: str) -> Oracles:
    """Return what is known of the program in a folder."""
    if root not in _programs:
        _programs[root] = Oracles(Program(root))
        while len(_programs) > _MOST_PROGRAMS:
            _programs.popitem(last=False)
    _programs.move_to_end(root)
    return _programs[root]
