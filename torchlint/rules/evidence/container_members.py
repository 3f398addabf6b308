"""Whether what is inside a container is what the code in sight puts there, for nothing else reaches the container.

Inference joins what the uses of one name put into a list or a dictionary. A second name, a bound method, an attribute,
or a function that is handed the container may put in something else, unseen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import libcst as cst

from torchlint.rules.api import (
    FUNCTIONS,
    FileContext,
    Function,
    Kind,
    leaf,
    parameters,
    remembered,
    shortened,
    word_of,
    written_argument,
)
from torchlint.rules.evidence.aliasing import names_within
from torchlint.rules.evidence.local_bindings import NameBinding, bindings_of, is_instance, names_of
from torchlint.rules.evidence.method_calls import call_of
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.reached_by_text import is_reached_by_text

_MOST = 200
"""So many questions are asked for one expression; what takes more is not looked for."""
_FIXED = Kind.TENSOR | Kind.ARRAY | Kind.SIZE | Kind.STRING | Kind.SCALAR | Kind.INTEGER
"""What has members of one kind whoever writes into it."""
_PICKING = frozenset({"builtins.next", "builtins.max", "builtins.min", "builtins.sum", "random.choice"})
_PASSING = frozenset({"copy.copy", "copy.deepcopy"}) | frozenset(
    f"builtins.{word}" for word in ("list", "tuple", "sorted", "reversed", "iter", "set", "frozenset", "dict")
)
_PAIRING = frozenset({"builtins.enumerate", "builtins.zip"})
_READING_FUNCTIONS = (
    _PICKING
    | _PASSING
    | _PAIRING
    | frozenset(f"builtins.{word}" for word in "len print any all isinstance str repr type map filter bool id".split())
)
_READING_LIBRARIES = ("torch.", "numpy.", "math.")
_TAKING = frozenset("get pop popleft setdefault __getitem__".split())
_VIEWING = frozenset("keys values items index count copy".split())
_SHRINKING = frozenset("pop popleft popitem remove sort reverse clear".split())
_GROWING = frozenset("append insert extend".split())
_CLASSES = frozenset(f"builtins.{word}" for word in ("list", "tuple", "int", "float", "bool", "str"))


def member_doubt(node: cst.BaseExpression, context: FileContext) -> str:
    """Return :func:`doubt_of_taken` for an expression of the concrete syntax."""
    place = context.python(node)
    return doubt_of_taken(place, context) if isinstance(place, ast.expr) else ""


def members_doubt(node: cst.BaseExpression, context: FileContext) -> str:
    """Return who may have changed what is in the container that an expression is; empty for nobody."""
    place = context.python(node)
    return _inside(place, context) if isinstance(place, ast.expr) else ""


@remembered
def doubt_of_taken(node: ast.expr, context: FileContext) -> str:
    """Return who may have changed what an expression takes out of a container, as a clause; empty for nobody."""
    return _Members(context).of(node)


@remembered
def _inside(node: ast.expr, context: FileContext) -> str:
    return _Members(context).inside(node, 1)


class _Members:
    """One question: what is asked a second time on the way is answered where it was asked first."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._asked: set[tuple[ast.AST, int]] = set()

    def of(self, node: ast.expr) -> str:
        """Return the doubt about what an expression itself is: it may be taken out of a container."""
        if (answer := self._begins(node, 0)) is not None:
            return answer
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self.of(inner)
            case ast.Subscript(value=inner):
                return self.inside(inner, 1)
            case ast.BinOp(left=ast.List()) | ast.BinOp(right=ast.List()):
                return ""
            case ast.Call():
                return self._call(node, 0)
            case ast.Attribute():
                return self._first(map(self.of, attribute_values(node, self._context)))
        return self._first(map(self.of, _alternatives(node)))

    def inside(self, node: ast.expr, depth: int) -> str:
        """Return the doubt about what is in a container; ``depth``: how often an element is taken out."""
        if (answer := self._begins(node, depth)) is not None:
            return answer
        known = self._context.value(node)
        if known.kind and known.must(_FIXED):
            return self.of(node)
        match node:
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self._first(self._put(each, depth) for each in _spelled(node))
            case ast.Name():
                return self._held(node, depth)
            case ast.Subscript(value=inner, slice=index):
                return self.inside(inner, depth if isinstance(index, ast.Slice) else depth + 1)
            case ast.Call():
                return self._call(node, depth)
            case ast.Attribute(attr="shape"):  # nobody writes into a shape
                return ""
            case ast.Attribute():
                values = attribute_values(node, self._context)
                return self._tuples(node, values, depth)
        parts = _alternatives(node)
        return self._first(self.inside(each, depth) for each in parts) if parts else self._written(node)

    def _begins(self, node: ast.expr, depth: int) -> str | None:
        """Return what is answered without a look: of what is asked already, and where too much is asked."""
        if (node, depth) in self._asked:
            return ""
        self._asked.add((node, depth))
        return self._written(node) if len(self._asked) > _MOST else None

    def _put(self, node: ast.expr, depth: int) -> str:
        """Return the doubt about one thing that is put into a container of which members are taken."""
        if isinstance(node, ast.Starred):
            return self.inside(node.value, depth)
        return self.of(node) if depth == 1 else self.inside(node, depth - 1)

    def _written(self, node: ast.expr) -> str:
        return f"something else may have put another thing into `{shortened(ast.unparse(node), 40)}`"

    def _first(self, doubts: Iterable[str]) -> str:
        return next((each for each in doubts if each), "")

    # ------------------------------------------------------------------ names
    def _name(self, name: ast.Name) -> str:
        if is_instance(name, lambda classes: classes <= _CLASSES, self._context):
            return ""
        bound = bindings_of(name, self._context)
        if not bound:
            handed = (self.of(each) for each in handed_to(name, self._context))
            return self._first(handed)
        return self._first(self._bound(each, 0) for each in bound)

    def _bound(self, binding: NameBinding, depth: int) -> str:
        depth += binding.depth
        return self.inside(binding.value, depth) if depth else self.of(binding.value)

    def _held(self, name: ast.Name, depth: int) -> str:
        """Return the doubt about what is in the container that a name stands for."""
        bound = bindings_of(name, self._context)
        values = [each.value for each in bound if not each.depth]
        if bound and depth == 1 and len(values) == len(bound) and all(isinstance(each, ast.Tuple) for each in values):
            return self._tuples(name, values, depth)
        if not bound or not self._is_private(name) or not self._uses_are_plain(name, depth):
            return self._written(name)
        return self._first(self._bound(each, depth) for each in bound)

    def _tuples(self, node: ast.expr, values: list[ast.expr], depth: int) -> str:
        """Nobody writes into a tuple, but into what is in it."""
        if depth > 1 or not values or not all(isinstance(each, ast.Tuple) for each in values):
            return self._written(node)
        return self._first(self.inside(each, depth) for each in values)

    def _is_private(self, name: ast.Name) -> bool:
        """Whether no other file and no text reaches what a name stands for."""
        scope = self._context.scope_that_binds(name)
        if is_reached_by_text(self._context.tree, self._context):
            return False
        return not isinstance(scope, ast.Module) or not self._context.other_texts.takes(name.id, by_star=True)

    def _uses_are_plain(self, name: ast.Name, depth: int) -> bool:
        scope = self._context.scope_that_binds(name)
        if scope is None:
            return False
        found = (each for each in names_within(name.id, scope, self._context) if not isinstance(each.ctx, ast.Store))
        return all(self._is_plain(each, depth, scope) for each in found)

    # ------------------------------------------------------------------ uses
    def _is_plain(self, use: ast.expr, depth: int, scope: ast.AST) -> bool:
        """Whether a use of a container gives nobody else a hold of it, nor puts in what inference does not see."""
        above = self._context.parent(use)
        match above:
            case ast.Subscript(value=value) if value is use:
                return self._is_plain_element(above, depth, scope)
            case ast.Attribute(value=value, attr=word) if value is use:
                return self._is_plain_method(above, word, depth, scope)
            case ast.Compare() | ast.FormattedValue() | ast.Expr() | ast.Assert() | ast.UnaryOp():
                return True
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if test is use:
                return True
            case ast.Return():
                return isinstance(scope, FUNCTIONS)
            case ast.Call(func=function) if function is not use:
                return depth == 1 and _only_reads(names_of(function, self._context))
            case ast.For(iter=source) | ast.comprehension(iter=source) | ast.AugAssign(value=source):
                return depth == 1 and source is use
            case ast.Starred(ctx=ast.Load()) | ast.BinOp():
                return depth == 1
        return False

    def _is_plain_element(self, element: ast.Subscript, depth: int, scope: ast.AST) -> bool:
        is_slice = isinstance(element.slice, ast.Slice)
        match element.ctx:
            case ast.Load():
                below = depth if is_slice else depth - 1
                return depth == 1 or self._is_plain(element, below, scope)
            case ast.Store():
                above = self._context.parent(element)
                is_told = isinstance(element.value, ast.Name) and self._is_done_in(scope, element)
                if is_slice or not is_told or not isinstance(above, ast.Assign):
                    return False
                return not self._put(above.value, depth)
        return True

    def _is_plain_method(self, method: ast.Attribute, word: str, depth: int, scope: ast.AST) -> bool:
        call = call_of(method, self._context)
        if call is None:
            return False
        if word in _GROWING:
            is_told = isinstance(method.value, ast.Name) and self._is_done_in(scope, method)
            return is_told and self._grows_plainly(call, word, depth)
        if word in ("setdefault", "__getitem__"):
            return False
        if word in _TAKING and depth > 1:
            return self._is_plain(call, depth - 1, scope)
        return word in _SHRINKING or word in ("keys", "index", "count") or (depth == 1 and word in _VIEWING | _TAKING)

    def _grows_plainly(self, call: ast.Call, word: str, depth: int) -> bool:
        if not isinstance(self._context.parent(call), ast.Expr) or not call.args or call.keywords:
            return False
        put = call.args[-1]
        return not (self.inside(put, depth) if word == "extend" else self._put(put, depth))

    def _is_done_in(self, scope: ast.AST, node: ast.AST) -> bool:
        """Whether something is done in the function that binds a name, and in no function inside it."""
        return (self._context.function_around(node) or self._context.tree) is scope

    # ------------------------------------------------------------------ calls
    def _call(self, call: ast.Call, depth: int) -> str:
        names = names_of(call.func, self._context)
        if not names or any(each.startswith("here.") for each in names):
            return self._own_call(call, depth)
        if names <= _PICKING:
            several = len(call.args) > 1 and names <= {"builtins.max", "builtins.min"}
            given = call.args if several else call.args[:1]
            step = depth if several else depth + 1
            return self._first(self.inside(each, step) if step else self.of(each) for each in given)
        if names <= _PASSING | _PAIRING:
            step = max(depth - 1, 1) if depth and names <= _PAIRING else depth
            return self._first(self.inside(each, step) for each in call.args) if step else self._copied(call, names)
        return ""

    def _copied(self, call: ast.Call, names: frozenset[str]) -> str:
        return self._first(map(self.of, call.args[:1])) if any(each.startswith("copy.") for each in names) else ""

    def _own_call(self, call: ast.Call, depth: int) -> str:
        """Return the doubt about what a method or a function of the project gives."""
        match call.func:
            case ast.Attribute(value=receiver, attr=word) if word in _TAKING:
                return self.inside(receiver, depth + 1) or self._first(self._put(each, 1) for each in call.args[1:])
            case ast.Attribute(value=receiver, attr="copy"):
                return self.inside(receiver, depth) if depth else self.of(receiver)
            case ast.Attribute(value=receiver, attr="keys" | "values" | "items" as word) if depth:
                return self.inside(receiver, max(depth - 1, 1) if word == "items" else depth)
            case ast.Attribute(value=receiver) if (known := self._context.value(receiver)).kind and known.must(_FIXED):
                return ""
        given = list(_returned(call.func, self._context))
        if depth and not given:
            return self._written(call)
        return self._first(self.inside(each, depth) if depth else self.of(each) for each in given)


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """Return the parts of an expression that decide what it is."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return [left, right]
        case ast.BoolOp(values=values):
            return values
        case ast.NamedExpr(value=value) | ast.Starred(value=value) | ast.UnaryOp(operand=value):
            return [value]
    return []


def _spelled(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a display or a comprehension puts into the container that it makes."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            yield from elements
        case ast.Dict(keys=keys, values=values):
            yield from (each for each in keys if each is not None)
            yield from (ast.Starred(each) if key is None else each for key, each in zip(keys, values, strict=True))
        case ast.ListComp(elt=element) | ast.SetComp(elt=element):
            yield element
        case ast.DictComp(key=key, value=value):
            yield from (key, value)


def _only_reads(names: frozenset[str]) -> bool:
    return bool(names) and all(
        each in _READING_FUNCTIONS or (each.startswith(_READING_LIBRARIES) and _keeps_nothing(leaf(each)))
        for each in names
    )


def _keeps_nothing(word: str) -> bool:
    """Whether a function of a library is none that keeps or orders anew what it is given: classes are capitalised."""
    return word != "shuffle" and (word[:1].islower() or word.endswith("Tensor"))


def handed_to(name: ast.Name, context: FileContext) -> Iterator[ast.expr]:
    """Yield what the calls in a file hand to the parameter that a name is, and its default."""
    function = context.scope_that_binds(name)
    if not isinstance(function, FUNCTIONS) or name.id not in parameters(function):
        return
    for reference in (*context.names_by_word().get(function.name, ()), *_methods(function, context)):
        call = call_of(reference, context)
        if call is None:
            continue
        given = written_argument(call, function, name.id, isinstance(reference, ast.Attribute))
        yield from (given,) if given is not None else (each for each in call.args if isinstance(each, ast.Starred))


def _methods(function: Function, context: FileContext) -> list[ast.Attribute]:
    is_method = isinstance(context.parent(function), ast.ClassDef)
    return context.attributes_by_word().get(function.name, []) if is_method else []


def _returned(function: ast.expr, context: FileContext) -> Iterator[ast.expr]:
    """Yield what the plain functions of a file return that a call by a name may be one of."""
    word = word_of(function)
    for each in context.nodes(ast.FunctionDef):
        if each.name == word and not each.decorator_list:
            own = (node for node in context.within(each) if context.function_around(node) is each)
            yield from (node.value for node in own if isinstance(node, ast.Return) and node.value is not None)
