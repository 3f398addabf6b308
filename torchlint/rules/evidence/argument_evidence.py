"""What the code shows of an argument: a storage, a sequence, or an annotation alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from enum import Enum

import libcst as cst

from torchlint.rules.api import FUNCTIONS, FileContext, Kind, parameters, remembered
from torchlint.rules.evidence.tensor_uses import uses_around

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)


def bound_once(name: ast.Name, context: FileContext) -> ast.expr | None:
    """Return what a name is bound to where its scope binds it in one assignment only."""
    scope = scope_of(name, context)
    if scope is None:
        return None
    if isinstance(scope, FUNCTIONS) and name.id in parameters(scope):
        return None
    stores = [each for each in context.own(scope, ast.Name) if _binds(each, name.id)]
    if len(stores) != 1:
        return None
    statement = context.parent(stores[0])
    if isinstance(statement, ast.Assign) and stores[0] in statement.targets:
        return statement.value
    return None


def scope_of(name: ast.Name, context: FileContext) -> ast.AST | None:
    """Return the function, class or module in which a name is looked up first; None in a ``lambda``."""
    below: ast.AST = name
    is_inside = False  # of a comprehension, but for what it goes through first: names of a class end there
    for above in context.ancestors(name):
        is_inside = is_inside or (isinstance(above, _COMPREHENSIONS) and below is not above.generators[0])
        if isinstance(above, ast.comprehension) and below is not above.iter:
            is_inside = True
        if isinstance(above, _SCOPES) and not (is_inside and isinstance(above, ast.ClassDef)):
            return None if isinstance(above, ast.Lambda) else above
        below = above
    return None


def _binds(node: ast.Name, word: str) -> bool:
    return node.id == word and not isinstance(node.ctx, ast.Load)


_OF_TENSORS = frozenset({"storage", "untyped_storage", "_typed_storage", "_storage"})
"""Methods of tensors that give their storage."""
_NO_STORAGE = frozenset({"size", "nbytes", "tolist", "data_ptr", "element_size", "get_device", "type", "numpy"})
"""Methods of storages that give something else; the others give the storage or a new one."""
_OTHERS = Kind.INTEGER | Kind.SIZE | Kind.SEQUENCE | Kind.ARRAY | Kind.TENSOR
_WORD = re.compile(r"(?:\w*_)?storage\d*", re.IGNORECASE)


def makes_storage(node: ast.expr | None) -> bool:
    """Whether an expression is a call that gives a storage by its spelling."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="from_buffer" | "from_file")):
            return names_storage(owner)
        case ast.Call(func=ast.Attribute(attr=word), args=[], keywords=[]) if word in _OF_TENSORS:
            return True
        case ast.Call(func=ast.Attribute(attr="_new_shared" | "_new_using_filename_cpu" | "_new_using_fd_cpu")):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word not in _NO_STORAGE and makes_storage(inner):
            return True
        case ast.Call(func=function):
            return names_storage(function)
    return False


def names_storage(node: ast.expr) -> bool:
    """Whether an expression names a class of storages: ``torch.FloatStorage``."""
    match node:
        case ast.Attribute(attr=word) | ast.Name(id=word):
            return word.endswith("Storage")
    return False


def may_hold_storage(name: ast.Name, context: FileContext) -> bool:
    """Whether a name is bound to a storage somewhere in its scope, or is called one and nothing says otherwise."""
    if any(makes_storage(each) for each in _values(name, context)):
        return True
    known = context.value(name).must(_OTHERS)
    return bool(_WORD.fullmatch(name.id)) and not known


def _values(name: ast.Name, context: FileContext) -> list[ast.expr]:
    """Return what assignments in a name's scope bind it to."""
    scope = scope_of(name, context)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        stores: Iterable[ast.Name] = context.stores(scope).get(name.id, ())
    else:
        stores = [each for each in context.own(scope, ast.Name) if _binds(each, name.id)] if scope else []
    bound = (context.parent(each) for each in stores)
    return [each.value for each in bound if isinstance(each, ast.Assign)]


_RECEIVERS = (ast.Name, ast.Attribute, ast.Subscript)
_TAKE_APART = frozenset({"all", "any", "enumerate", "list", "max", "min", "reversed", "set", "sorted", "sum", "tuple"})
_GIVING_ARRAYS = frozenset({"astype", "to_numpy"})
"""Methods of arrays, columns and tables that give arrays, and that tensors and sequences do not have."""
_OF_LISTS = frozenset({"append", "extend", "insert"})


class Shape(Enum):
    """What a value is by what is done to it."""

    LIST = "a list"
    ARRAY = "an array"
    SIZED = "a sequence or an array"
    CHECKED = "one of several kinds"
    PARTED = "something that has parts"
    TENSOR = "a tensor"


def shape_by_use(place: ast.expr, context: FileContext) -> Shape | None:
    """Say what the function around an expression takes it for, up to its row; None where nothing or too much speaks."""
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr in _GIVING_ARRAYS:
        return Shape.ARRAY
    found = _found(place, context)
    uses = uses_around(place, context)
    if uses is not None and found is not None and uses.speak_before(ast.unparse(place), place.lineno):
        found.add(Shape.TENSOR)
    found = (found or set()) - {Shape.PARTED}
    if Shape.CHECKED in found or len(found - {Shape.SIZED}) > 1:
        return None
    return next((each for each in (Shape.LIST, Shape.ARRAY, Shape.TENSOR, Shape.SIZED) if each in found), None)


def is_checked(place: ast.expr, context: FileContext) -> bool:
    """Whether the function around asks what kind of thing an expression is, before or on its row."""
    return Shape.CHECKED in (_found(place, context) or ())


def has_parts(place: ast.expr, context: FileContext) -> bool:
    """Whether the function around measures an expression, walks over it or takes parts of it: no number has any."""
    return bool((_found(place, context) or set()) - {Shape.CHECKED, Shape.TENSOR})


def _found(place: ast.expr, context: FileContext) -> set[Shape] | None:
    """Return what the function around does with an expression up to its row; None outside functions."""
    if not isinstance(place, _RECEIVERS):
        return None
    around = context.nearest(place, *FUNCTIONS)
    if around is None:
        return None
    code = ast.unparse(place)
    shapes = _shapes(around, context)
    return {shape for shape, value, row in shapes if value == code and row <= place.lineno}


@remembered
def _shapes(around: ast.AST, context: FileContext) -> tuple[tuple[Shape, str, int], ...]:
    found = ((shape, value) for node in context.within(around) for shape, value in _evidence(node))
    return tuple((shape, ast.unparse(value), value.lineno) for shape, value in found if isinstance(value, _RECEIVERS))


def _evidence(node: ast.AST) -> Iterator[tuple[Shape, ast.expr]]:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            yield Shape.SIZED, value
        case ast.Call(func=ast.Name(id="isinstance" | "type" | "hasattr" | "callable" | "iter"), args=[value, *_]):
            yield Shape.CHECKED, value
        case ast.Call(func=ast.Attribute(attr="is_tensor"), args=[value]):
            yield Shape.CHECKED, value
        case ast.Call(func=ast.Attribute(value=value, attr="astype")):
            yield Shape.ARRAY, value
        case ast.Call(func=ast.Attribute(value=value, attr=word)) if word in _OF_LISTS:
            yield Shape.LIST, value
        case (
            ast.For(iter=value) | ast.comprehension(iter=value) | ast.Subscript(value=value) | ast.Starred(value=value)
        ):
            yield Shape.PARTED, value
        case ast.Call(func=ast.Name(id=word), args=[value]) if word in _TAKE_APART:
            yield Shape.PARTED, value


_WITH_PARAMETERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OF_TENSORS_ALONE = frozenset({"data", "grad", "T", "mT", "H", "mH"})


def is_parameter(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a node is the name of a parameter of a function around it: callers decide what it is."""
    if not isinstance(node, cst.Name):
        return False
    found = context.python(node)
    around = context.ancestors(found) if found is not None else ()
    return any(node.value in parameters(each) for each in around if isinstance(each, _WITH_PARAMETERS))


def rests_on_annotation(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression that passes for a tensor does so by an annotation: a parameter, an attribute, their sum.

    A call does not: what a function of torch gives is a tensor, and so is what has a tensor's method.
    """
    match node:
        case cst.Name():
            return is_parameter(node, context)
        case cst.Call():
            return False
        case cst.Attribute(attr=cst.Name(value=word)):
            return word not in _OF_TENSORS_ALONE
        case cst.Subscript(value=inner) | cst.UnaryOperation(expression=inner):
            return rests_on_annotation(inner, context)
        case cst.BinaryOperation(left=left, right=right):
            return all(rests_on_annotation(each, context) for each in (left, right) if context.value(each).is_tensor)
    return True
