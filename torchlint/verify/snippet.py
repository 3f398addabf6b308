"""A piece of code that is ready to run: what it asks for, and how it hands out its local variables."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from torchlint.verify.worlds import Inputs, World, make_inputs

ENTRY = "case"
"""The function that is called, where the code defines one: its parameters name what it is given."""
RESULT = "the result"
"""The name under which the returned value is observed, beside those of the local variables."""
OBJECT = "self"
FILE = "<case>"
"""The name under which the code is compiled."""

_MAKER = "__init__"

_PASSED_OVER = (ModuleType, FunctionType, type)


@dataclass(frozen=True)
class Snippet:
    """A module's text, ready to run: as it stands, or by way of one function or method of it."""

    text: str
    entry: str = field(default=ENTRY, kw_only=True)
    """The function to call, or ``Class.method``: then the object is made first, of what the class asks for.

    ``Class.__init__`` makes the object and observes it."""
    kinds: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """What kind of value each name takes that the code asks for; without one, the name says it (``t``, ``array``)."""

    hands_out: bool = field(default=True, kw_only=True)
    """Whether the function's local variables are observed too."""

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The names that the code asks for: those of a class's constructor come after ``self.``."""
        tree = ast.parse(self.text)
        made, entry = self._maker(tree), self._entry(tree)
        known = {name for name, _ in self.kinds}
        own = [each for each, needed in _asked(entry, 1 if "." in self.entry else 0) if needed or each in known]
        return (*(f"{OBJECT}.{each}" for each, needed in _asked(made, 1) if needed), *own)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The kinds of the values that the code asks for; a name where that says the kind."""
        kinds = dict(self.kinds)
        return tuple(kinds.get(each, each) for each in self.given)

    @cached_property
    def code(self) -> CodeType:
        """The compiled text, in which the function also hands out its local variables."""
        tree = ast.parse(self.text)
        entry = self._entry(tree)
        if entry and self.hands_out and entry.name != _MAKER and not _yields(entry):
            _Returns(entry).visit(entry)
            entry.body.append(_handing_out(ast.Constant(None)))
        return compile(ast.fix_missing_locations(tree), FILE, "exec")

    @cached_property
    def calls(self) -> bool:
        """Whether the code is a function to be called."""
        return self._entry(ast.parse(self.text)) is not None

    @cached_property
    def yields(self) -> bool:
        """Whether what is called is a generator."""
        entry = self._entry(ast.parse(self.text))
        return entry is not None and _yields(entry)

    def inputs(self, world: World) -> Inputs:
        """Make fresh values for the names that the code asks for."""
        return make_inputs(world, self.given, dict(self.kinds))

    def space(self) -> dict[str, Any]:
        """Return the names that the code finds without asking."""
        return {"__name__": "case"}

    def call(self, space: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
        """Call the entry of a module that was run, and give its result and its local variables by name."""
        owner, _, name = self.entry.rpartition(".")
        own = {key: value for key, value in names.items() if "." not in key}
        if name == _MAKER:
            return {RESULT: space[owner](**own)}
        if not owner:
            return self._results(space[name](**own))
        made = space[owner](**{key.partition(".")[2]: value for key, value in names.items() if "." in key})
        return self._results(getattr(made, name)(**own))

    def _results(self, returned: Any) -> dict[str, Any]:
        if self.yields:
            return {RESULT: list(returned)}
        if not self.hands_out:
            return {RESULT: returned}
        result, local = returned
        return {RESULT: result, **values(local)}

    def _entry(self, tree: ast.Module) -> ast.FunctionDef | None:
        owner, _, name = self.entry.rpartition(".")
        body = _class(tree, owner).body if owner else tree.body
        return _function(body, name)

    def _maker(self, tree: ast.Module) -> ast.FunctionDef | None:
        owner, _, name = self.entry.rpartition(".")
        return _function(_class(tree, owner).body, _MAKER) if owner and name != _MAKER else None


def values(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run left in its names: no modules, functions and classes."""
    return {
        name: value
        for name, value in space.items()
        if not name.startswith("__") and not isinstance(value, _PASSED_OVER)
    }


def _function(body: list[ast.stmt], name: str) -> ast.FunctionDef | None:
    return next((each for each in body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name)


def _asked(function: ast.FunctionDef | None, own: int) -> tuple[tuple[str, bool], ...]:
    """Return the parameters of a function, and whether each must be given."""
    if function is None:
        return ()
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    least = len(positional) - len(spec.defaults)
    only = [(each.arg, default is None) for each, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)]
    return (*((each.arg, at < least) for at, each in enumerate(positional[own:], own)), *only)


def _yields(function: ast.FunctionDef) -> bool:
    inner = [*function.body]
    while inner:
        node = inner.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            inner.extend(ast.iter_child_nodes(node))  # type: ignore[arg-type]
    return False


class _Returns(ast.NodeTransformer):
    """Makes each ``return x`` of one function give its local variables too."""

    def __init__(self, entry: ast.FunctionDef) -> None:
        self.entry = entry

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return _handing_out(node.value or ast.Constant(None))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node) if node is self.entry else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _handing_out(value: ast.expr) -> ast.Return:
    call = ast.Call(ast.Name("locals", ast.Load()), [], [])
    return ast.Return(ast.Tuple([value, call], ast.Load()))
