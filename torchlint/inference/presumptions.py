"""What is presumed of a method's calls, since anybody may call it otherwise: enough to stay silent, never for a fix."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.inference.classes import Class
from torchlint.inference.devices import last_word
from torchlint.inference.facts import Mode
from torchlint.syntax.outline import Function, parameters

if TYPE_CHECKING:
    from torchlint.inference.scope import File

_SWITCHES = re.compile(rb"no_grad|inference|grad_enabled")
"""What a method has in its text that runs others with grad mode off."""

_STEPPING = frozenset(["step", "step_async"])
_ACTIONS = frozenset(["action", "actions"])


class Presumptions:
    """What is presumed of the calls of one file's functions."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._modes: dict[Function, Mode | None] = {}
        self._any: dict[Function, bool] = {}

    def mode(self, function: Function) -> Mode | None:
        """Give the grad mode in which base classes call a method; None where that is not known."""
        if function not in self._modes:
            self._modes[function] = hook_mode(self._file, function)
        return self._modes[function]

    def any(self, function: Function) -> bool:
        """Whether anything is presumed of a function's calls, or of its callers' where all of them are known."""
        if function not in self._any:
            self._any[function] = False  # for functions that call each other
            called = self._file.callers.of(function)
            owners = [self._file.owner(call) for call in called.calls] if called is not None else []
            self._any[function] = (
                any(owner is not None and self.any(owner) for owner in owners)
                if called is not None
                else bool(drawn(self._file, function)) or self.mode(function) is not None
            )
        return self._any[function]


def drawn(file: File, function: Function) -> frozenset[str]:
    """Give the arguments that are the action an environment is stepped with: what is drawn has no graph."""
    owner = file.outline.parents.get(function)
    if function.name not in _STEPPING or not isinstance(owner, ast.ClassDef):
        return frozenset()
    bases = (last_word(each) for each in owner.bases)
    return parameters(function) & _ACTIONS if any(each.endswith(("Env", "Wrapper")) for each in bases) else frozenset()


def hook_mode(file: File, method: Function) -> Mode | None:
    """Give the grad mode in which base classes call a method; None where none does, or where somebody else may.

    A validator's ``__call__`` under ``inference_mode`` calls ``self.update_metrics(...)``, which its subclasses define.
    """
    owner = file.outline.parents.get(method)
    if not isinstance(owner, ast.ClassDef) or method.name.startswith("__"):
        return None
    known = file.classes.of(owner)
    if not known.above or _is_called_by_others(file, method.name):
        return None
    joined, from_above = Mode(0), False
    for each in known.line():
        for call in _calls(each, method.name):
            mode = _mode_at(each, call)
            if mode is None or mode & Mode.ON:
                return None
            joined, from_above = joined | mode, from_above or each is not known
    return joined if from_above else None


def _is_called_by_others(file: File, word: str) -> bool:
    """Whether a method is asked for of anything but ``self`` or ``super()`` in its own file."""
    holders = [each.value for each in file.outline.nodes(ast.Attribute) if each.attr == word]
    return not all(
        (isinstance(each, ast.Name) and each.id == "self")
        or (isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "super")
        for each in holders
    )


def _calls(known: Class, word: str) -> Iterator[ast.Call]:
    """Give the calls ``self.word(...)`` in a class's own body."""
    outline = known.home.outline
    for node in outline.within(known.node):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attribute)) if attribute == word:
                yield node


def _mode_at(known: Class, call: ast.Call) -> Mode | None:
    """Give the grad mode at a call in a class; None where its text says that it is on, or where that is not known."""
    home, project = known.home, known.home.project
    around = home.owner(call)
    if around is None or around in project.running or not project.affords(home):
        return None
    if not _SWITCHES.search(home.outline.text(around)):
        return None
    return home.flow_of(call).modes.get(call)
