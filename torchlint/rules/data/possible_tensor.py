"""Whether the owner of a `.data` may well be a tensor: nothing shows another object, and it is asked as tensors are.

Of what is done with the `data` only a method counts that tensors have: a record may hold a tensor there, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import libcst as cst

from torchlint.rules.api import SETTINGS, FileContext, Kind, Value, elements_of, last_word_of_name
from torchlint.rules.data.data_owners import bound_to, is_tensor_word, root_of
from torchlint.rules.data.data_use import DataUse, Use
from torchlint.rules.data.own_data import RECORDS, has_own_data, is_annotated_otherwise
from torchlint.rules.data.tensor_uses import MAKERS, TENSOR_ONLY
from torchlint.rules.method_calls import call_of, method_call

_SETTINGS = re.compile(rf"^_?({SETTINGS}|params?_dict|kwargs)$", re.IGNORECASE)
"""Names of what a program is told: never tensors, whatever is done with their ``data``."""
_CLASS = re.compile(r"_*[A-Z]\w*[a-z]\w*$")
"""Names of classes."""
_TENSOR_CLASSES = frozenset({"Variable", "Parameter", "Tensor"})
_PLAIN = frozenset({"int", "float", "bool", "list", "tuple", "dict", "str", "NoneType", "ndarray", "Number"})
"""Classes that a tensor is told from by ``isinstance``, and which such code does not ask for ``data``."""
_READING = TENSOR_ONLY | MAKERS | {"cpu", "detach"}
_MEASURING = _READING | {"size", "dim", "to"}
"""Methods that say of the object on which they are called that it is a tensor, in a file that works with torch."""


def may_well_be_tensor(node: cst.Attribute, use: DataUse, is_record: bool, context: FileContext) -> bool:
    """Whether the object under a ``.data`` of which too little is known is more likely a tensor than a record.

    ``is_record`` says that records have such names: only what is asked of one itself says that it is a tensor.
    """
    place = context.python(node)
    if not isinstance(place, ast.Attribute) or context.matches(RECORDS) or use.use is Use.REBINDING:
        return False
    owner, root = place.value, root_of(place.value)
    if any(map(_SETTINGS.search, _links(owner))):
        return False
    if not all(_may_be_tensor(context.value(each)) for each in (owner, root)):
        return False
    if is_annotated_otherwise(node.value, context) or _is_other_object(root, context):
        return False
    if has_own_data(context):
        return False
    called = None if is_record or _is_part_of_another(root) else method_call(node, context)
    return _is_asked_as_tensor(owner, root, context) or (called is not None and called[1] in _READING | {"numpy"})


def _may_be_tensor(known: Value) -> bool:
    others = [name for name in known.instance if name.rpartition(".")[2] not in _TENSOR_CLASSES]
    return known.may(Kind.TENSOR) and not known.names and not others


def _links(node: ast.expr) -> Iterator[str]:
    """Yield the words of a chain: those of ``self.opt.x[0]`` are ``x``, ``opt`` and ``self``."""
    while True:
        match node:
            case ast.Attribute(value=inner, attr=word):
                yield word
                node = inner
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.Name(id=word):
                yield word
                return
            case _:
                return


# ---------------------------------------------------------------------- against
def _is_part_of_another(root: ast.expr) -> bool:
    """Whether an object is an attribute of an unknown one, or what its method gives: records are found there."""
    match root.func if isinstance(root, ast.Call) else root:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute():
            return True
    return False


def _is_other_object(root: ast.expr, context: FileContext) -> bool:
    """Whether an object is told from a tensor by a test, is asked for what no tensor has, or made by a class."""
    if isinstance(root, ast.Name):
        if root.id in ("self", "cls") or context.scope_that_binds(root) is None:
            return True
        if any(_makes_an_object(place, context) for place in context.reaching(root)):
            return True
    if isinstance(root, ast.Call):
        return _is_class(root.func, context)
    return is_asked_as_another(root, context)


def is_asked_as_another(root: ast.expr, context: FileContext) -> bool:
    """Whether the same object is asked for what no tensor has, or tested for another class: ``found.window``."""
    return _is_asked(root, context, _says_other)


def _makes_an_object(place: ast.Name | ast.arg, context: FileContext) -> bool:
    """Whether a binding gives a name an object of a class, or what a ``with`` hands out."""
    value = bound_to(place, context) if isinstance(place, ast.Name) else None
    if isinstance(value, ast.Call):
        return _is_class(value.func, context)
    return isinstance(context.parent(place), ast.withitem)


def _is_class(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is a class by its name, and neither one of tensors nor a network that is called."""
    word = last_word_of_name(function)
    if not _CLASS.match(word) or word in _TENSOR_CLASSES or word.endswith("Tensor"):
        return False
    called = context.value(function)
    return called.unknown or not called.may(Kind.MODULE)


def _is_asked(root: ast.expr, context: FileContext, tells: Callable[[ast.AST, FileContext], bool]) -> bool:
    """Whether the scope asks the same object for an attribute, or tests its class, in a way that tells something."""
    code = _dotted(root)
    around: ast.AST = context.function_around(root) or context.tree
    if code.startswith("self."):
        around = context.nearest(root, ast.ClassDef) or around
    asked = context.answer((tells, around), lambda: _asked(around, context, tells)).get(code, ())
    if not asked or not isinstance(root, ast.Name):
        return bool(asked)
    bound = {id(each) for each in context.reaching(root)}
    return any(id(each) in bound for other in asked if isinstance(other, ast.Name) for each in context.reaching(other))


def _asked(
    around: ast.AST, context: FileContext, tells: Callable[[ast.AST, FileContext], bool]
) -> dict[str, list[ast.expr]]:
    """Return the names and dotted names of a scope where they are asked for what tells something, by their code."""
    found: dict[str, list[ast.expr]] = {}
    for node in context.inside(around, ast.Attribute):
        if (code := _dotted(node.value)) and tells(node, context):
            found.setdefault(code, []).append(node.value)
    for call in context.inside(around, ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[given, _]) if code := _dotted(given):
                if tells(call, context):
                    found.setdefault(code, []).append(given)
    return found


def _dotted(node: ast.expr) -> str:
    """Return a name or a dotted name as it is spelled; nothing for other expressions."""
    match node:
        case ast.Name(id=word):
            return word
        case ast.Attribute(value=inner, attr=word):
            outer = _dotted(inner)
            return f"{outer}.{word}" if outer else ""
    return ""


def _says_other(question: ast.AST, _: FileContext) -> bool:
    match question:
        case ast.Attribute(attr=word):
            return not is_tensor_word(word)
        case ast.Call(args=[_, classes]):
            tested = elements_of(classes)
            words = {last_word_of_name(each) for each in tested}
            return not any("Tensor" in each or each in _TENSOR_CLASSES for each in words) and not words <= _PLAIN
    return False


# ---------------------------------------------------------------------- for
def _is_asked_as_tensor(owner: ast.expr, root: ast.expr, context: FileContext) -> bool:
    """Whether the object comes from a tensor, or is asked itself for what tensors give."""
    if any(map(_is_tensor_step, _steps(owner))):
        return True
    return _is_asked(root, context, _measures)


def _steps(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and what it is made of, up to its root."""
    root = root_of(node)
    while node is not root:
        yield node
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case _:
                return


def _is_tensor_step(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=word), args=given):
            shaped = word in ("view", "expand") and any(not isinstance(each, ast.Name) for each in given)
            return word in _READING or shaped
        case ast.Subscript(slice=index):
            return _is_cut(index)
    return False


def _is_cut(index: ast.expr) -> bool:
    """Whether an index cuts several dimensions: ``x[:, 1]``."""
    return isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in index.elts)


def _measures(question: ast.AST, context: FileContext) -> bool:
    """Whether a method is called on the object itself that tensors have: ``x.size()``, ``x.to(device)``."""
    if not isinstance(question, ast.Attribute) or question.attr not in _MEASURING:
        return False
    return call_of(question, context) is not None
