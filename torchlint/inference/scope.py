"""One file's scopes: its module, functions and classes, each walked when something in it is asked for."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.inference import modes, modules
from torchlint.inference.annotations import foreign_object
from torchlint.inference.annotations import value_of as annotated_value
from torchlint.inference.arguments import Arguments
from torchlint.inference.binding import Binding, Function, is_static
from torchlint.inference.classes import Class, Classes
from torchlint.inference.devices import last_word
from torchlint.inference.env import Env
from torchlint.inference.facts import (
    ANY_PLACE,
    NOTHING,
    OTHER,
    UNKNOWN,
    Grad,
    Kind,
    Mode,
    Reason,
    Value,
    join,
    of_kind,
)
from torchlint.inference.flow import Flow
from torchlint.inference.names import BUILTINS, named, path_of, star_modules
from torchlint.inference.operations import operations
from torchlint.syntax.outline import Outline

_MOST_DEPTH = 4
"""Calls are followed this deep."""

_MOST_LINES = 40_000
"""Lines walked for calls with known arguments, for one file; after that calls get the general summary."""

_CONVENTIONAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "Variable": "torch.autograd.Variable",
}
"""What names mean that only ``from somewhere import *`` can bind, in a file that speaks of torch."""

_ACCELERATOR_WORD = re.compile(rb"cuda|\.to\(|device|gpu|accelerat|\bmps\b|\bxpu\b|lightning", re.IGNORECASE)

_SETS_DEFAULT_DEVICE = frozenset({"set_default_device", "set_default_tensor_type"})


@dataclass
class File:
    """What is known of one file, on demand."""

    outline: Outline
    definitions: dict[str, ast.AST] = field(default_factory=dict)
    """Functions and classes of this file by the name under which values carry them."""

    def __post_init__(self) -> None:
        self.classes = Classes(self)
        self._flows: dict[ast.AST, Flow] = {}
        self._running: list[ast.AST] = []
        self._closures: dict[ast.AST, dict[str, Value]] = {}
        self._summaries: dict[tuple[object, ...], Value] = {}
        self._spent = 0
        self._live: Env | None = None
        self._globals = _assigned_globals(outline=self.outline)
        self._stars = star_modules(self.outline.nodes(ast.ImportFrom))

    # ------------------------------------------------------------------ names
    def name(self, word: str) -> Value:
        """Give the value of a name that is not local."""
        env = self._live or self.module.env
        found = env.find(word)
        if found is not None:
            return join(found, UNKNOWN) if word in self._globals else found
        if (star := self._from_star(word)) is not None:
            return star
        return named(f"builtins.{word}") if word in BUILTINS else UNKNOWN

    def _from_star(self, word: str) -> Value | None:
        for module in self._stars:
            full = f"{module}.{word}"
            if module.startswith("torch") and (full in operations().functions or word[:1].isupper()):
                return named(full)
        if self._stars and b"torch" in self.outline.source.utf8:
            return named(_CONVENTIONAL[word]) if word in _CONVENTIONAL else None
        return None

    def defined(self, node: Function | ast.ClassDef, env: Env) -> Value:
        """Give the value that a ``def`` or ``class`` binds."""
        name = f"here.{node.name}@{node.lineno}"
        self.definitions[name] = node
        if self._owner(node) is not None:
            self._closures[node] = env.flat()
        return of_kind(Kind.OTHER, names=frozenset((name,)))

    def _owner(self, node: ast.AST) -> Function | None:
        """Give the function around a node."""
        for above in self.outline.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return above
        return None

    @cached_property
    def mentions_accelerators(self) -> bool:
        """Whether the file speaks of a device at all: where it does not, what it makes stays on the host."""
        return bool(_ACCELERATOR_WORD.search(self.outline.source.utf8))

    @cached_property
    def changes_default_device(self) -> bool:
        """Whether the file sets a default device: by call, or by ``with torch.device(...):``."""
        if any(node.attr in _SETS_DEFAULT_DEVICE for node in self.outline.nodes(ast.Attribute)):
            return True
        contexts = (item.context_expr for node in self.outline.nodes(ast.With) for item in node.items)
        return any(isinstance(each, ast.Call) and last_word(each) == "device" for each in contexts)

    # ------------------------------------------------------------------ walks
    @cached_property
    def module(self) -> Flow:
        """The walk of the module's own statements."""
        flow = Flow(self, self.outline.tree.body, self._module_start, None)
        self._running.append(self.outline.tree)
        try:
            return flow.run()
        finally:
            self._running.pop()
            self._live = None

    def _module_start(self, _: Flow) -> Env:
        self._live = Env()
        return self._live

    def flow_of(self, node: ast.AST) -> Flow:
        """Give the walk of the scope that holds a node: with nothing known of its arguments but what they say."""
        function = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else self._owner(node)
        return self.module if function is None else self.general(function)

    def general(self, function: Function) -> Flow:
        """Walk a function with nothing known of its arguments but what its own text says."""
        if function not in self._flows:
            _ = self.module
            if (owner := self._owner(function)) is not None and owner not in self._running:
                self.general(owner)
            flow = Flow(self, function.body, lambda flow: self._start(function, flow, None, None), self._self(function))
            self._flows[function] = flow
            self._running.append(function)
            try:
                flow.run()
            finally:
                self._running.pop()
        return self._flows[function]

    def _self(self, function: Function) -> str | None:
        owner = self.outline.parents.get(function)
        first = [*function.args.posonlyargs, *function.args.args][:1]
        if not isinstance(owner, ast.ClassDef) or not first or is_static(function):
            return None
        return first[0].arg

    def _start(self, function: Function, flow: Flow, given: Arguments | None, receiver: Value | None) -> Env:
        """Bind a function's arguments: to what is given, or to what annotations, defaults and names say."""
        env = Env()
        for word, value in self._closure(function).items():
            env.assign(word, value)
        body = env.layer()
        body.mode = self._entry_mode(function, flow, body)
        Binding(self, function, flow, body, given).bind(receiver, self._self(function))
        return body

    def _closure(self, function: Function) -> dict[str, Value]:
        owner = self._owner(function)
        if owner is None:
            return {}
        flow = self._flows.get(owner)
        if flow is not None and owner not in self._running:
            return flow.env.flat()
        return self._closures.get(function, {})

    def _entry_mode(self, function: Function, flow: Flow, env: Env) -> Mode:
        mode = modes.decorated([flow.evaluate(each, env) for each in function.decorator_list], Mode.ON)
        owner = self.outline.parents.get(function)
        if isinstance(owner, ast.ClassDef):
            known = self.classes.of(owner)
            if known.is_lightning and function.name in modes.LIGHTNING_EVALUATION:
                return Mode.OFF
            if known.is_autograd_function and function.name in ("forward", "backward", "setup_context"):
                return Mode.OFF
        return mode

    def annotated(self, annotation: ast.expr | None, env: Env, flow: Flow) -> Value | None:
        """Give the value that an annotation describes; None where it says nothing."""

        def resolve(node: ast.expr) -> frozenset[str]:
            if path_of(node) is None:
                return frozenset()
            value = flow.evaluate(node, env)
            return value.names

        said = annotated_value(annotation, resolve)
        if said is None and annotation is not None:
            names = resolve(annotation)
            return self.classes.instance_of(names) or foreign_object(names)
        return said

    # ------------------------------------------------------------------ calls
    def call(self, name: str, callee: Value, given: Arguments, mode: Mode) -> Value | None:
        """Give the result of calling a function or class of this file by name; None for others."""
        node = self.definitions.get(name)
        if isinstance(node, ast.ClassDef):
            return self.classes.made(node, given)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return self.summary(node, given, callee.self_value, mode)
        return None

    def call_method(self, receiver: Value, word: str, given: Arguments, mode: Mode) -> Value | None:
        """Give the result of a method of an object of this file's classes; None for others."""
        found = [self.classes.method(name, word) for name in receiver.instance]
        if not found or any(method is None for method in found):
            return None
        results = [self.summary(method, given, receiver, mode) for method in found if method is not None]
        joined = results[0]
        for each in results[1:]:
            joined = join(joined, each)
        return joined

    def summary(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> Value:
        """Give what a function returns for some arguments."""
        if function in self._running:
            return NOTHING if len(self._running) < _MOST_DEPTH + 2 else UNKNOWN
        if len(self._running) > _MOST_DEPTH or self._spent > _MOST_LINES:
            return UNKNOWN.having(grad=UNKNOWN.grad if mode & Mode.ON else Grad.DETACHED)
        key = (
            function,
            mode,
            _fingerprint(receiver),
            tuple(map(_fingerprint, given.positional)),
            given.starred,
            tuple((word, _fingerprint(value)) for word, value in sorted(given.keywords.items())),
        )
        if key not in self._summaries:
            self._summaries[key] = self._returned(function, given, receiver, mode)
        return _through(self._summaries[key], given)

    def _returned(self, function: Function, given: Arguments, receiver: Value | None, mode: Mode) -> Value:
        def start(flow: Flow) -> Env:
            env = self._start(function, flow, given, receiver)
            if not mode & Mode.ON and not function.decorator_list:
                env.mode = mode
            return env

        flow = Flow(self, function.body, start, self._self(function))
        self._spent += (function.end_lineno or function.lineno) - function.lineno + 1
        self._running.append(function)
        try:
            flow.run()
        finally:
            self._running.pop()
        if flow.yielded:
            return of_kind(Kind.SEQUENCE, member=_joined(flow.yielded))
        if not flow.returns and not _is_abstract(function):
            return of_kind(Kind.NONE)
        if flow.returned.kind and not flow.returned.unknown:
            return flow.returned
        said = self.annotated(function.returns, flow.env, flow)
        if said is not None:
            return said
        return flow.returned if flow.returned.kind else UNKNOWN

    # ------------------------------------------------------------------ classes
    def class_member(self, name: str, word: str) -> Value | None:
        """Give ``Class.word``; None where the name is no class of this file."""
        node = self.definitions.get(name)
        return self.classes.member(node, word) if isinstance(node, ast.ClassDef) else None

    def instance_attribute(self, base: Value, word: str) -> Value | None:
        """Give an attribute of an object of this file's classes; None where nothing is known of it."""
        return self.classes.attribute(base, word)

    def note_attribute(self, path: str, value: Value) -> None:
        """Remember a change of an attribute of ``self`` for the walk that is running."""
        running = self._running[-1] if self._running else None
        flow = self._flows.get(running) if running is not None else None
        if flow is not None:
            flow.note_attribute(path, value)

    def entered(self, context: Value, mode: Mode) -> Mode:
        """Give the grad mode inside ``with context:``."""
        return modes.entered(context, mode)

    def is_running(self, node: ast.AST) -> bool:
        """Whether a function is being walked at this moment."""
        return node in self._running

    def module_self(self, known: Class, name: str) -> Value:
        """Give ``self`` in a class's own methods."""
        if known.is_module:
            return Value(Kind.MODULE, Grad.ATTACHED, ANY_PLACE, OTHER.dtype, instance=frozenset((name,)))
        return of_kind(Kind.OTHER, instance=frozenset((name,)))


def _assigned_globals(outline: Outline) -> frozenset[str]:
    return frozenset(word for node in outline.nodes(ast.Global) for word in node.names)


def _is_abstract(function: Function) -> bool:
    """Whether a body only raises or passes: subclasses say what it returns."""
    last = function.body[-1]
    return isinstance(last, ast.Raise | ast.Pass) or (
        isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)
    )


def _fingerprint(value: Value | None, depth: int = 2) -> object:
    if value is None:
        return None
    inner: tuple[object, ...] = ()
    if depth:
        items = value.items if value.items is not None else (value.member,)
        inner = tuple(_fingerprint(each, depth - 1) for each in items)
    return (value.plain(), inner, tuple((key, _fingerprint(each, 0)) for key, each in value.keys))


def _joined(values: list[Value]) -> Value:
    joined = NOTHING
    for value in values:
        joined = join(joined, value)
    return joined


def _through(value: Value, given: Arguments) -> Value:
    """Say that what is known comes from another function's text."""

    def step(reason: Reason | None) -> Reason | None:
        return Reason("{code} returns it", given.node, reason, weak=True) if reason is not None else None

    return value.having(why_grad=step(value.why_grad), why_place=step(value.why_place))


__all__ = ["File", "Function", "modules"]
