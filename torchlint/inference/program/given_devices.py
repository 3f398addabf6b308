"""Who hands a device to functions that enter what they are given: ``at(torch.device("meta"))`` for ``with place:``."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchlint.inference.program.bindings import binder
from torchlint.syntax.ast_index import AstIndex, Function, parameters

_SPEAKS = re.compile("device", re.IGNORECASE)
_CONSTRUCTOR = "__init__"
_PLAIN_DECORATORS = frozenset(
    "contextmanager asynccontextmanager staticmethod classmethod abstractmethod override fixture parametrize skipif "
    "skip xfail usefixtures no_grad inference_mode".split()
)
"""Decorators under which a function is called by its own name, or by pytest."""


@dataclass(frozen=True)
class GivenDevices:
    """What a text hands to some functions."""

    is_device: bool
    """Whether it may be a device, by its words."""
    passed_on_by: frozenset[str]
    """The functions that hand on what they are given themselves, and the classes below."""


def given_to(index: AstIndex, names: Collection[str], holders: Collection[str]) -> GivenDevices:
    """Return what a text hands to functions of some names.

    :param holders: the names that hold devices without saying so
    """
    passing: set[str] = set()
    for each in _loads(index):
        if _word(each) not in names:
            continue
        above = index.parents.get(each)
        if isinstance(above, ast.ClassDef):  # its constructor is that of the class below, too
            passing.add(above.name)
        elif _is_renamed(each, index):
            return GivenDevices(True, frozenset())
    for call in index.nodes(ast.Call):
        values = [*call.args, *(each.value for each in call.keywords)]
        if not any(_word(each) in names for each in (call.func, *values)):
            continue
        for inner in (inner for value in values for inner in _names(value)):
            word = _word(inner)
            if word in holders or _SPEAKS.search(word) is not None:
                return GivenDevices(True, frozenset())
            owner = binder(index, index.owner(inner), word) if isinstance(inner, ast.Name) else None
            if owner is not None and word in parameters(owner):
                passing.add(called_by(owner, index))
    return GivenDevices(False, frozenset(passing) - {""})


def gives_own(index: AstIndex, name: str, holders: Collection[str]) -> bool:
    """Whether a text hands a device to one of its functions, at first or second hand."""
    waiting, seen = [name], {name}
    while waiting:
        found = given_to(index, {waiting.pop()}, holders)
        if found.is_device:
            return True
        waiting += found.passed_on_by - seen
        seen |= found.passed_on_by
    return False


def called_by(function: Function, index: AstIndex) -> str:
    """Return the name that calls of a function have: its class's for a constructor; empty for other special methods."""
    above = index.parents.get(function)
    if isinstance(above, ast.ClassDef) and function.name.startswith("__"):
        return above.name if function.name == _CONSTRUCTOR else ""
    return function.name


def is_called_by_name(function: Function) -> bool:
    """Whether no decorator may keep a function for others to call."""
    words = (_word(each.func if isinstance(each, ast.Call) else each) for each in function.decorator_list)
    return all(each in _PLAIN_DECORATORS for each in words)


def _loads(index: AstIndex) -> Iterator[ast.Name | ast.Attribute]:
    nodes: list[ast.Name | ast.Attribute] = [*index.nodes(ast.Name), *index.nodes(ast.Attribute)]
    return (each for each in nodes if isinstance(each.ctx, ast.Load))


def _is_renamed(node: ast.expr, index: AstIndex) -> bool:
    """Whether a function may be called by another name: neither is it called here, nor handed to a call."""
    if isinstance(node, ast.Name) and binder(index, index.owner(node), node.id) is not None:
        return False
    return not isinstance(index.parents.get(node), ast.Call | ast.keyword | ast.Attribute | ast.Starred)


def _names(value: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    return (each for each in ast.walk(value) if isinstance(each, ast.Name | ast.Attribute))


def _word(node: ast.expr) -> str:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
    return ""
