"""Whether a tensor belongs to a module that is just being built, so that no graph can hold it yet."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import cached_property

from torchlint.rules.api import (
    FUNCTIONS,
    GRAD_MODES,
    FileContext,
    Kind,
    Value,
    decorators_of,
    plain_parameters,
    remembered,
    runs_later,
)
from torchlint.rules.data.building_methods import is_of_another_class, redefined
from torchlint.rules.data.computing_with_parts import (
    computes_when_made,
    computes_while_building,
    computes_with_its_argument,
)
from torchlint.rules.data.constructor_calls import may_reinitialise
from torchlint.rules.data.just_made import is_of_new_layer, made_before
from torchlint.rules.evidence.called_definitions import Frame
from torchlint.rules.evidence.local_bindings import are_of_torch
from torchlint.rules.evidence.made_here import Judge, Made
from torchlint.rules.evidence.methods_by_text import may_be_taken_by_text
from torchlint.rules.evidence.object_attributes import path_word
from torchlint.rules.evidence.reached_by_text import is_reached_by_text

Function = ast.FunctionDef | ast.AsyncFunctionDef

_INITIALISER = re.compile(r"^_*(re)?(init|initiali[sz]e|reset)_*\w*$")
"""Methods that initialise: believed only where the constructor calls them and nothing else does."""


def is_being_built(node: ast.expr, context: FileContext) -> bool:
    """Whether the tensor that an expression gives is of a module that has not been called yet.

    True in ``__init__`` of a module for what was made there, in methods such as ``reset_parameters`` that only its
    constructor calls, in a function given to nothing but ``.apply`` of a module just made, and for one of torch's
    layers right behind where it is made. False where a file of the project has something run while modules are built.
    """
    building = _around(node, context)
    return (building is not None and building.holds(node)) or is_of_new_layer(node, context)


def made_elsewhere(node: ast.expr, context: FileContext) -> str | None:
    """Return that what a module is built of may be in use, as a clause, where that alone keeps a write from being safe.

    None where no module is built.
    """
    building = _around(node, context)
    if building is None or not (building.reached or building.initialises):
        return None
    if building.reached or building.redefined:
        return building.reached or building.redefined
    if building.holds(node):
        return None
    return f"`{building.brief(node)}` may be made elsewhere, so a graph may hold it"


def _around(node: ast.expr, context: FileContext) -> _Building | None:
    inside = context.function_around(node)
    return _building(inside, context) if inside is not None and not _runs_later(node, context) else None


def _runs_later(node: ast.AST, context: FileContext) -> bool:
    return runs_later(node, context.parent, context.bound_otherwise)


@remembered
def _mentions(_: ast.Module, context: FileContext) -> dict[str, list[ast.Name | ast.Attribute]]:
    """Return where a file reads each word, as a name or as an attribute."""
    found: dict[str, list[ast.Name | ast.Attribute]] = defaultdict(list)
    for node in (*context.nodes(ast.Name), *context.nodes(ast.Attribute)):
        match node:
            case ast.Name(id=word, ctx=ast.Load()) | ast.Attribute(attr=word):
                found[word].append(node)
    return dict(found)


@remembered
def _building(function: Function, context: FileContext) -> _Building:
    return _Building(context, function)


class _Building:
    """What is asked about one function."""

    def __init__(self, context: FileContext, function: Function) -> None:
        self._context, self._function = context, function
        above = self._context.parent(function)
        self._owner = above if isinstance(above, ast.ClassDef) else None

    def holds(self, node: ast.expr) -> bool:
        """Whether the expression's value is made where nothing has called the module yet."""
        if (self.initialises or self._is_applied) and (self.reached or self.redefined):
            return False
        if self.initialises:
            assert self._owner is not None
            if self._is_new(node, None) or self._is_new(node, node):
                return True
        given = plain_parameters(self._function)[1 if self._owner is not None else 0 :]
        if not given or not self._is_applied or computes_with_its_argument(self._function, self._context):
            return False
        frame = Frame(self._function, trusted=frozenset({given[0].arg}))
        return self._asked(lambda judge: judge.is_new(node, frame))

    def _is_new(self, node: ast.expr, until: ast.expr | None) -> bool:
        """Whether an expression gives what the module made; with all that is done to it, or up to a write."""
        owner = self._owner
        assert owner is not None
        return self._asked(lambda judge: judge.is_new(node, Frame(self._function, Made(judge, owner, {}, until))))

    def _is_new_in(self, node: ast.expr, function: ast.AST) -> bool:
        return self._asked(lambda judge: judge.is_new(node, Frame(function)))

    def _is_all_new(self, owner: ast.ClassDef, until: ast.expr | None) -> bool:
        """Whether an object of a class holds nothing but what it made itself; in the end, or up to a call."""
        return self._asked(lambda judge: Made(judge, owner, {}, until).is_all_new)

    def _asked(self, question: Callable[[Judge], bool]) -> bool:
        """Put one question to a judge of its own, and let go of all that it followed."""
        with closing(Judge(self._context)) as judge:
            return question(judge)

    @cached_property
    def initialises(self) -> bool:
        """Whether the function builds a module: it is the constructor, or an initialiser that only that one calls."""
        owner = self._owner
        return owner is not None and self._is_module(owner) and self._initialises(owner)

    @cached_property
    def reached(self) -> str | None:
        """Who may call an initialiser from another file, when a graph may hold what it writes; nobody a constructor."""
        if self._function.name == "__init__" or not (self.initialises or self._is_applied):
            return None
        return None

    @cached_property
    def redefined(self) -> str | None:
        """Who has a class below whose objects answer the constructor in their own way."""
        return redefined(self._function, self._context) if self.initialises else None

    def brief(self, node: ast.expr) -> str:
        """Return the part of a module that a path goes through, for a message.

        ``self.net`` of ``self.net[0].weight``.
        """
        word = path_word(node, self._self)
        return f"{self._self}.{word}" if word else ast.unparse(node)[:40]

    # ------------------------------------------------------------------ a module's own methods
    def _initialises(self, owner: ast.ClassDef) -> bool:
        name = self._function.name
        if computes_while_building(self._function, self._context) or self._is_begun_again:
            return False
        if name == "__init__":
            return True
        if not _is_bare(self._function, self._context) or not _runs_when_called(self._function, self._context):
            return False
        named = name == "reset_parameters" or _INITIALISER.match(name) is not None
        return named and self._is_called_by_constructor_alone(name, owner)

    def _is_called_by_constructor_alone(self, name: str, owner: ast.ClassDef) -> bool:
        uses = []
        for each in _mentions(self._context.tree, self._context).get(name, ()):
            if isinstance(each, ast.Attribute):
                if not is_of_another_class(each, owner, self._context):
                    uses.append(each)
            elif _is_in_class_body(each, owner, self._context):
                return False  # another name for it: `reset = reset_parameters`
        called = bool(uses) and all(self._is_run_by_constructor(each, owner) for each in uses)
        return called and not may_be_taken_by_text(name, self._context)

    def _is_run_by_constructor(self, method: ast.Attribute, owner: ast.ClassDef) -> bool:
        around = self._context.function_around(method)
        if around is None or around.name != "__init__" or self._context.parent(around) is not owner:
            return False
        return self._is_run_there(method)

    def _is_run_there(self, method: ast.Attribute) -> bool:
        """Whether a method is called where it is written, or applied to parts there, and kept by nobody."""
        if _runs_later(method, self._context):
            return False
        match self._context.parent(method):
            case ast.Call(func=function) if function is method:
                return True
            case ast.Call(func=ast.Attribute(attr="apply"), args=[argument]) if argument is method:
                return True
        return False

    @property
    def _is_begun_again(self) -> bool:
        return may_reinitialise(self._context.tree, self._context)

    # ------------------------------------------------------------------ functions given to apply
    @cached_property
    def _is_applied(self) -> bool:
        """Whether all that the file does with the function is to apply it to modules that were just made."""
        uses = _mentions(self._context.tree, self._context).get(self._function.name, [])
        uses = [each for each in uses if not (isinstance(each, ast.Attribute) and self._is_of_others(each))]
        if not uses or self._may_be_reached_by_text or not _is_bare(self._function, self._context):
            return False
        if not _runs_when_called(self._function, self._context):
            return False
        return all(self._applies_to_new(use) for use in uses)

    def _is_of_others(self, node: ast.Attribute) -> bool:
        """Whether an attribute is another class's method, or one of torch's modules or functions: ``nn.init``."""
        if self._owner is not None and is_of_another_class(node, self._owner, self._context):
            return True
        return are_of_torch(self._context.qualified_names(node))

    @property
    def _may_be_reached_by_text(self) -> bool:
        """Whether the file may call the function without writing its name as one."""
        context = self._context
        if self._owner is not None:
            return may_be_taken_by_text(self._function.name, context)
        return is_reached_by_text(context.tree, context)

    def _applies_to_new(self, use: ast.AST) -> bool:
        """Whether a function is applied to a module that was just made, or called with one: ``init(self)``."""
        match call := self._context.parent(use):
            case ast.Call(func=ast.Attribute(value=ast.Name() as module, attr="apply"), args=[argument]) if (
                argument is use
            ):
                return self._is_just_made(module, call)
            case ast.Call(func=function, args=[ast.Name() as module, *_]) if function is use and self._owner is None:
                return self._is_just_made(module, call)
            case ast.Call(func=function, args=[ast.Call() as made, *_]) if function is use and self._owner is None:
                around = self._scope_around(call)
                return around is not None and self._is_new_module(made, around)
        return False

    def _is_just_made(self, module: ast.Name, call: ast.Call) -> bool:
        if _runs_later(call, self._context):
            return False
        around = self._scope_around(call)
        if isinstance(around, FUNCTIONS) and around.name == "__init__" and module.id == "self":
            owner = self._context.parent(around)
            if not isinstance(owner, ast.ClassDef) or not self._is_module(owner):
                return False
            if computes_while_building(around, self._context) or redefined(around, self._context):
                return False
            if self._is_begun_again:
                return False
            return self._is_all_new(owner, None) or self._is_all_new(owner, call)
        return around is not None and self._was_just_made(module, around)

    def _scope_around(self, node: ast.AST) -> ast.AST | None:
        return self._context.nearest(node, *FUNCTIONS, ast.Module)

    def _was_just_made(self, module: ast.Name, around: ast.AST) -> bool:
        """Whether ``net = Net(...)`` stands before and nothing ran the module in between."""
        made = made_before(module, self._context)
        return made is not None and self._is_new_module(made, around)

    def _is_new_module(self, made: ast.Call, around: ast.AST) -> bool:
        """Whether a call makes a module that no graph holds."""
        is_module = self._value(made).must(Kind.MODULE)
        return is_module and self._is_new_in(made, around) and not computes_when_made(made, self._context)

    @property
    def _self(self) -> str | None:
        parameters = plain_parameters(self._function)
        return parameters[0].arg if parameters else None

    def _is_module(self, owner: ast.ClassDef) -> bool:
        return any(
            "torch.nn." in name or name.endswith("Module") for base in owner.bases for name in self._value(base).names
        )

    def _value(self, node: ast.expr) -> Value:
        return self._context.value(node)


def _is_in_class_body(name: ast.Name, owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether a name stands in a class's own body, where a method's name is the function, and not in a method's."""
    below: ast.AST = name
    for above in context.ancestors(name):
        if above is owner:
            return True
        if isinstance(above, FUNCTIONS) and below in above.body:
            return False
        if isinstance(above, ast.Lambda) and below is above.body:
            return False
        below = above
    return False


def _is_bare(function: Function, context: FileContext) -> bool:
    """Whether no decorator is handed a function, and may keep it, but torch's own that turn grad mode off."""
    calls = decorators_of(function)
    return all((names := context.names(each)) and names <= GRAD_MODES | _PLAIN_DECORATORS for each in calls)


def _runs_when_called(function: Function, context: FileContext) -> bool:
    """Whether a call runs a function to its end: one of a generator or of a coroutine runs nothing of it."""
    return isinstance(function, ast.FunctionDef) and not context.own(function, ast.Yield, ast.YieldFrom)


_PLAIN_DECORATORS = frozenset({"builtins.staticmethod", "builtins.classmethod", "staticmethod", "classmethod"})
