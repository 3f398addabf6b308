"""Methods that a base class of the project calls: a subclass fills them in, and they run in its grad mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.inference.classes import Class
from torchlint.inference.facts import Mode

if TYPE_CHECKING:
    from torchlint.inference.binding import Function
    from torchlint.inference.scope import File

_SWITCHES = re.compile(rb"no_grad|inference|grad_enabled")
"""What a method has in its text that runs others with grad mode off."""


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
    outline = home.outline
    first: ast.expr | ast.stmt = around.decorator_list[0] if around.decorator_list else around
    if not _SWITCHES.search(outline.source.utf8, outline.start(first), outline.end(around)):
        return None
    return home.flow_of(call).modes.get(call)
