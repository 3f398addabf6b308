"""Which class or function of its own file a call means, and what its parameters stand for there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from torchlint.rules.api import (
    FUNCTIONS,
    FileContext,
    Function,
    Kind,
    defaults_of,
    first_parameter,
    methods_of,
    parameters,
    plain_parameters,
    remembered,
    unpacks,
    written_argument,
)
from torchlint.rules.evidence.layer_arguments import numbers_of_layer

PLAIN = Kind.INTEGER | Kind.SCALAR | Kind.STRING | Kind.NONE | Kind.SIZE | Kind.DEVICE | Kind.DTYPE | Kind.ARRAY
"""What holds no module and no tensor."""
_SIZED = frozenset(f"torch.{word}" for word in ("empty", "ones", "rand", "randn", "zeros"))
"""Functions of torch that take sizes only."""
_LEGACY = frozenset({"torch.Tensor", "torch.FloatTensor"})


def has_plain_default(function: Function, word: str) -> bool:
    """Whether a parameter's default is a number, a text, or a literal of these: not ``None``."""
    return any(each.arg == word and _is_plain(default) for each, default in defaults_of(function).items())


def _is_plain(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not None
        case ast.UnaryOp(operand=inner):
            return _is_plain(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(_is_plain, parts))
    return False


def is_counted_with(code: str, around: ast.AST, context: FileContext) -> bool:
    """Whether code reckons with an expression as only a number allows: a layer's width, ``range(n)``."""
    return code in _counted_in(around, context)


@remembered
def _counted_in(around: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the code of all that is reckoned with as a number."""
    return frozenset(ast.unparse(each) for node in context.within(around) for each in _numbers(node, context))


def _numbers(node: ast.AST, context: FileContext) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args):
            for each in args:
                yield from _terms(each)
        case ast.Call(func=function, args=args):
            for each in _taken_as_numbers(context.names(function), args):
                yield from _terms(each)


def _taken_as_numbers(names: frozenset[str], given: list[ast.expr]) -> Sequence[ast.expr]:
    """Return the arguments that a function of torch takes as numbers."""
    if names_layer(names):
        return numbers_of_layer(names, given)
    sized = bool(names) and (names <= _SIZED or (len(given) > 1 and names <= _LEGACY))
    return given if sized else ()


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from (*_terms(node.left), *_terms(node.right))
    elif isinstance(node, ast.Name | ast.Attribute):
        yield node


_KEEPING = frozenset(
    "Parameter Buffer Sequential ModuleList ModuleDict ParameterList ParameterDict DataParallel Module "
    "DistributedDataParallel TransformerEncoder TransformerDecoder Transformer UninitializedParameter".split()
)


def names_layer(names: frozenset[str]) -> bool:
    """Whether names are those of layers of torch, which make their parts themselves, of numbers for the most part."""
    return bool(names) and all(
        re.fullmatch(r"torch\.nn\.(?:modules\.\w+\.)?[A-Z]\w*", each) and each.rpartition(".")[2] not in _KEEPING
        for each in names
    )


def constructor(owner: ast.ClassDef) -> Function | None:
    """Return the ``__init__`` that a class body defines."""
    return next((each for each in methods_of(owner) if each.name == "__init__"), None)


def named_parameters(function: ast.AST) -> frozenset[str]:
    """Return the names of a function's parameters, those with stars left out."""
    if not isinstance(function, FUNCTIONS):
        return frozenset()
    return frozenset(each.arg for each in plain_parameters(function))


def shared_names(function: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names of other scopes that a function binds: ``global x``."""
    others: tuple[type[ast.Global] | type[ast.Nonlocal], ...] = (ast.Global, ast.Nonlocal)
    return frozenset(word for kind in others for each in context.inside(function, kind) for word in each.names)


def stores(word: str, function: ast.AST, context: FileContext) -> list[ast.expr | None]:
    """Return what a function binds one of its names to; None for what is not understood."""
    names = (each for each in context.own(function, ast.Name) if each.id == word and isinstance(each.ctx, ast.Store))
    return [bound_to(each, context) for each in names]


def bind(call: ast.Call, function: Function, method: bool) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of a function's parameters, as far as they are written one by one."""
    words = [each.arg for each in plain_parameters(function)]
    written = {word: written_argument(call, function, word, method) for word in words}
    found = {word: argument for word, argument in written.items() if argument is not None}
    if unpacks(call):
        return found
    told = {each.arg: default for each, default in defaults_of(function).items() if isinstance(default, ast.Constant)}
    return told | found


def bound_to(name: ast.Name, context: FileContext) -> ast.expr | None:
    """Return what a name is bound to at one place; of a loop, what it walks over."""
    below: ast.AST = name
    while isinstance(above := context.parent(below), ast.Tuple | ast.List | ast.Starred):
        below = above
    match above:
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if target is below:
            return value
    match context.parent(name):
        case ast.Assign(targets=targets, value=value) if name in targets:
            return value
        case (
            ast.AnnAssign(value=ast.expr() as value)
            | ast.AugAssign(value=ast.expr() as value)
            | ast.NamedExpr(value=ast.expr() as value)
        ):
            return value
    return None


def is_kept_by_class(owner: ast.ClassDef, word: str) -> bool:
    """Whether a class body gives an attribute to all objects alike."""
    for each in owner.body:
        if isinstance(each, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.Constant | None):
            continue
        if any(
            isinstance(one, ast.Name) and one.id == word and isinstance(one.ctx, ast.Store) for one in ast.walk(each)
        ):
            return True
    return False


_DEEPEST = 8
"""Names that stand for each other, at most."""


class Building(Protocol):
    """An object while it is built."""

    owner: ast.ClassDef
    line: list[ast.ClassDef]

    @property
    def is_all_new(self) -> bool:
        """Whether nothing in the object was made elsewhere."""

    def owns(self, word: str) -> bool:
        """Whether an attribute holds only what was made for the object."""

    def values(self, word: str) -> Iterator[tuple[ast.expr | None, Frame]]:
        """Return what an attribute is set to, each with the place where it is written."""


class Frame:
    """Where an expression stands: a function, the object that is its ``self``, and what its parameters are given."""

    def __init__(
        self,
        function: ast.AST,
        this: Building | None = None,
        given: Arguments | None = None,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        self.function, self.this, self.given = function, this, given or {}
        self.trusted = trusted
        """Names of what is new."""


Arguments = Mapping[str, tuple[ast.expr, Frame]]
"""Arguments by the names of parameters, each with the place where it is written."""


def is_self(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression is the name of the object that a method is called on."""
    if frame.this is None or not isinstance(node, ast.Name) or not isinstance(frame.function, FUNCTIONS):
        return False
    return first_parameter(frame.function) == node.id


class Definitions:
    """What the classes and functions of one file are called."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self._depth = 0

    def classes(self, node: ast.expr, frame: Frame) -> list[ast.ClassDef | frozenset[str]] | None:
        """Return the classes that a called expression may be: of this file, or torch's by name; None if not known."""
        if self._depth > _DEEPEST:
            return None
        self._depth += 1
        found = self._classes(node, frame)
        self._depth -= 1
        return found

    def _classes(self, node: ast.expr, frame: Frame) -> list[ast.ClassDef | frozenset[str]] | None:
        """Return the classes that a called expression may be, as :meth:`classes` does."""
        names = self.context.names(node)
        if names_layer(names):
            return [names]
        match node:
            case ast.Name(id=word):
                here = self.class_here(node)
                if here is not None:
                    return [here]
                if word in frame.given:
                    return self.classes(*frame.given[word])
                bound = stores(word, frame.function, self.context) if isinstance(frame.function, FUNCTIONS) else []
                if bound:
                    return self._joined([(each, frame) for each in bound])
                return self._joined([(each, Frame(self.context.tree)) for each in self._given(word, frame)])
            case ast.Attribute(value=inner, attr=word) if frame.this is not None and is_self(inner, frame):
                return self._joined(list(frame.this.values(word)))
        return None

    def class_here(self, node: ast.expr) -> ast.ClassDef | None:
        """Return the class of the file that a name stands for, where there is one of that name."""
        found = definition(node, self.context) if isinstance(node, ast.Name) else None
        is_outer = found is not None and self.context.parent(found) is self.context.tree
        return found if isinstance(found, ast.ClassDef) and is_outer else None

    def _joined(self, several: list[tuple[ast.expr | None, Frame]]) -> list[ast.ClassDef | frozenset[str]] | None:
        """Return the classes that all of several expressions may be; None where one of them is not known."""
        found = [self.classes(each, frame) if each is not None else None for each, frame in several]
        return [one for each in found for one in each or ()] if found and all(found) else None

    def are_given_numbers(self, word: str, frame: Frame) -> bool:
        """Whether the file's own calls of a constructor hand numbers or texts to one of its parameters."""
        given = [self.context.value(each) if each else None for each in self._given(word, frame)]
        return bool(given) and all(each is not None and each.must(PLAIN & ~Kind.NONE) for each in given)

    def _given(self, word: str, frame: Frame) -> Iterator[ast.expr | None]:
        """Yield what the file's calls of a class hand to a parameter of its constructor."""
        if frame.this is None or not isinstance(frame.function, FUNCTIONS) or frame.function.name != "__init__":
            return
        for call in self.context.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == frame.this.owner.name:
                yield bind(call, frame.function, method=True).get(word)

    def function(self, node: ast.expr, frame: Frame) -> tuple[Function, Building | None] | None:
        """Return the function or the method of the same object that is called, where the file has it."""
        match node:
            case ast.Name():
                here = definition(node, self.context)
                return (here, None) if isinstance(here, ast.FunctionDef) and self._is_kept(here) else None
            case ast.Attribute(value=inner, attr=word) if frame.this is not None and is_self(inner, frame):
                every = [statement for each in frame.this.line for statement in each.body]
                found = [each for each in every if isinstance(each, ast.FunctionDef) and each.name == word]
                return (found[0], frame.this) if len(found) == 1 and not found[0].decorator_list else None
        return None

    def _is_kept(self, here: ast.FunctionDef | ast.ClassDef) -> bool:
        """Whether nothing may be called in the place of a function or class."""
        return not here.decorator_list


def definition(name: ast.Name, context: FileContext) -> Function | ast.ClassDef | None:
    """Return the function or class that a name stands for: the only thing that its scope binds it to."""
    innermost = context.nearest(name, *FUNCTIONS, ast.Lambda, ast.ClassDef)
    is_in_body = isinstance(innermost, ast.ClassDef) and name.lineno >= innermost.body[0].lineno
    for scope in context.ancestors(name):
        if isinstance(scope, ast.Lambda) and name.id in parameters(scope):
            return None
        # functions do not see the names of a class around them, nor do its bases and decorators
        is_seen = (scope is innermost and is_in_body) or not isinstance(scope, ast.ClassDef)
        if not is_seen or not isinstance(scope, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            continue
        bound = _bound_in(scope, context)
        if found := bound.get(name.id):
            one = found[0]
            if len(found) > 1 or context.parent(one) is not scope or not isinstance(one, (*FUNCTIONS, ast.ClassDef)):
                return None
            stars = (each for each in bound.get("*", ()) if isinstance(each, ast.ImportFrom))
            return None if any(each.lineno > one.lineno for each in stars) else one
    return None


_BINDING = (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.Name, ast.Import, ast.ImportFrom)
_SHARING = (ast.Global, ast.Nonlocal)


@remembered
def _bound_in(scope: ast.AST, context: FileContext) -> dict[str, list[ast.AST]]:
    """Return all that a function or module binds its names by, what ``global`` hands to inner functions among it."""
    found: dict[str, list[ast.AST]] = {}
    if isinstance(scope, FUNCTIONS):
        found = {word: [scope] for word in parameters(scope)}
    nodes: list[ast.AST] = [each for kind in _BINDING for each in context.own(scope, kind)]
    nodes += [each for kind in _SHARING for each in context.inside(scope, kind)]
    for each in nodes:
        for word in _words_bound(each):
            found.setdefault(word, []).append(each)
    return found


def _words_bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=word):
            return [] if isinstance(node.ctx, ast.Load) else [word]
        case ast.Global(names=words) | ast.Nonlocal(names=words):
            return words
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [(each.asname or each.name).partition(".")[0] for each in aliases]
    name = getattr(node, "name", None)
    return [name] if isinstance(name, str) else []
