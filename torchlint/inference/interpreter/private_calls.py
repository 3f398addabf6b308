"""The calls of a function that nobody outside its file calls: together they say what its parameters are."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.inference.interpreter.heuristics import hook_mode
from torchlint.inference.interpreter.project import MARK
from torchlint.inference.lattice import Mode, Reason, Value, claimed_throughout, join_all
from torchlint.inference.models import grad_mode
from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.operations import leaf
from torchlint.inference.program.bindings import bound, declared, imported, spelled, written
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import root_of_name
from torchlint.syntax.signatures import argument_at, decorator_words

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File
    from torchlint.inference.interpreter.statements import Flow


_MOST_CALLS = 20
"""A function that is called more often is taken for a public one."""

_DEEPEST = 5
"""Callers of callers are followed this far up."""

_BY_OTHERS = "others may call the function with something else"

_REACHING_MODULES = re.compile(rb"\bmodules\s*[\[.]|\bimport_module\b|\b__import__\b")
"""How code gets hold of its own module without an import: ``sys.modules[__name__]``."""


@dataclass(frozen=True)
class Called:
    """The calls of one function, as its callers' own walks see them."""

    calls: tuple[ast.Call, ...]
    own: tuple[ast.Call, ...] = ()
    """The calls in its own body, apart from the others."""


class Callers:
    """The functions of one file that nobody else calls."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._known: dict[ast.AST, Called | None] = {}

    def of(self, function: Function) -> Called | None:
        """Return all calls of a function; None where others may call it, or where it is handed around."""
        if function not in self._known:
            self._known[function] = self._look(function)
        return self._known[function]

    def argument(self, function: Function, index: int, word: str, default: Value | None) -> Value | None:
        """Return the join of what the calls give for an argument, or leave to its default.

        None where it is not known.
        """
        called = self.of(function)
        if called is None or not all(self._hands_on(each, function, index, word) for each in called.own):
            return None
        values = []
        for call in called.calls:
            node = argument_at(call, index, word)
            value = self._value(call, node) if node is not None else default
            if value is None:
                return None
            values.append(value)
        known = join_all(values)
        is_open = self._file.owner(function) is None and not self._file.is_program
        return claimed_throughout(known, _BY_OTHERS) if is_open else known

    def mode(self, function: Function) -> Mode | None:
        """Return the join of the grad modes at the calls; None where they are not known."""
        called = self.of(function)
        if called is None or called.own:
            return hook_mode(self._file, function) if self._file.project.presuming else None
        joined = Mode(0)
        for call in called.calls:
            flow = self._flow(call)
            if flow is None or call not in flow.modes:
                return None
            joined |= flow.modes[call]
        return joined

    def _value(self, call: ast.Call, node: ast.expr) -> Value | None:
        flow = self._flow(call)
        value = flow.values.get(node) if flow is not None else None
        if value is None or not value.kind:
            return None
        return value.having(why_grad=_passed(value.why_grad, call), why_device=_passed(value.why_device, call))

    def _flow(self, call: ast.Call) -> Flow | None:
        owner = self._file.owner(call)
        project = self._file.project
        if owner is not None and (owner in project.running or project.nested > _DEEPEST):
            return None
        return self._file.flow_of(call)

    # ------------------------------------------------------------------ who calls
    def _look(self, function: Function) -> Called | None:
        """Collect all calls of a private function; None where one may not be seen, or unpacks what it is given."""
        if function.name.startswith("__") or function.args.vararg or not self._is_private(function):
            return None
        index = self._file.index
        method = isinstance(index.parents.get(function), ast.ClassDef)
        if not decorator_words(function) <= _PLAIN_DECORATORS:
            return None
        found: list[ast.Call] = []
        for each in self._references(function.name, method):
            calls = self._calls_by(each)
            if calls is None:
                return None
            found.extend(calls)
        if not 0 < len(found) <= _MOST_CALLS:
            return None
        starred = any(isinstance(each, ast.Starred) for call in found for each in call.args)
        if starred or any(keyword.arg is None for call in found for keyword in call.keywords):
            return None
        own = tuple(call for call in found if self._file.owner(call) is function)
        return Called(tuple(call for call in found if call not in own), own) if len(own) < len(found) else None

    def _hands_on(self, call: ast.Call, function: Function, index: int, word: str) -> bool:
        """Whether a function hands an argument that it never changes on to itself: that call says nothing new of it."""
        given, known = argument_at(call, index, word), self._file.index
        if not isinstance(given, ast.Name) or given.id != word or word in known.told(bound, function):
            return False
        return word not in known.told(declared, known.tree) and word not in {
            each.id for each in known.told(written, function)
        }

    def _calls_by(self, reference: ast.expr) -> list[ast.Call] | None:
        """Return the calls of a function where it is named; None where it is handed around.

        It may be kept under a local name or in a private attribute of ``self`` first, by itself or as one of two.
        """
        parents = self._file.index.parents
        if (call := _call_of(reference, parents.get(reference))) is not None:
            return [call]
        kept = [_call_of(each, parents.get(each)) for each in self._kept_as(reference)]
        calls = [each for each in kept if each is not None]
        return calls if calls and len(calls) == len(kept) else None

    def _kept_as(self, reference: ast.expr) -> list[ast.expr]:
        """Return where it is loaded what a statement binds a function to; nothing for other uses of one."""
        index = self._file.index
        node: ast.expr = reference
        while isinstance(above := index.parents.get(node), ast.IfExp) and node is not above.test:
            node = above
        owner = index.owner(node)
        if not isinstance(above, ast.Assign) or above.value is not node or owner is None:
            return []
        if isinstance(index.parents.get(above), ast.ClassDef):
            return []  # a method under another name
        match above.targets:
            case [ast.Name(id=word)] if word not in index.told(declared, index.tree):
                named = [each for each in index.inside(owner, ast.Name) if each.id == word]
                return [each for each in named if isinstance(each.ctx, ast.Load)]
            case [ast.Attribute(value=ast.Name(id=root), attr=word)] if word.startswith("_"):
                held = index.told(spelled, index.tree)[0].get(word, ()) if root == self._file.self_name(owner) else ()
                return [each for each in held if isinstance(each.ctx, ast.Load)]
        return []

    def _references(self, word: str, method: bool) -> list[ast.expr]:
        """Return where a method or function of the file may be named.

        A function becomes an attribute of an object by its own name; what else has it as an attribute is its module.
        """
        index = self._file.index
        attributes, names = index.told(spelled, index.tree)
        if method:
            return [*attributes.get(word, ())]
        return [*(each for each in attributes.get(word, ()) if self._may_be_module(each.value)), *names.get(word, ())]

    def _may_be_module(self, node: ast.expr) -> bool:
        """Whether an object may be this file's own module: ``plt`` and what code makes itself are not."""
        index = self._file.index
        root = root_of_name(node)
        if not isinstance(root, ast.Name) or root.id not in index.told(imported, index.tree):
            return index.told(_reaches_modules, index.tree)
        known = self._file.imported(node)
        return known is None or not known.names or any(each.startswith((MARK, "__main__")) for each in known.names)

    def _is_private(self, function: Function) -> bool:
        """Whether nobody outside the file calls a function, by its name, its place or what the file is."""
        index, word = self._file.index, function.name
        if isinstance(index.parents.get(function), ast.ClassDef):
            return word.startswith("_")
        if self._file.owner(function) is not None or word.startswith("_"):
            return True
        return self._file.is_program and not (word.startswith("test") and self._file.is_tested_by_pytest)


def _reaches_modules(index: AstIndex, _: ast.Module) -> bool:
    return _REACHING_MODULES.search(index.source.utf8) is not None


_PLAIN_DECORATORS = frozenset({"lru_cache", "cache", "staticmethod", *map(leaf, grad_mode.GRAD_MODE_DECORATORS)})
"""Those that leave the calls of a function as they are."""


def _call_of(function: ast.expr, above: ast.AST | None) -> ast.Call | None:
    """Return the call of a function where that is all that is done with its name."""
    if not isinstance(above, ast.Call) or above.func is not function:
        return None
    if isinstance(function, ast.Attribute) and last_word_of_name(function.value)[:1].isupper():
        return None  # `Class.method(self, x)`
    return above


def _passed(reason: Reason | None, call: ast.Call) -> Reason | None:
    return Reason("{code} passes it", call, reason, weak=True, passed=True) if reason is not None else None
