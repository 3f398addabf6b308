"""Whether the code shows that an expression may be `None`: by a default, an assignment, or what a call is given."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.assumptions import IS_NOT_NONE, Decision
from torchlint.rules.api import FileContext, Function, Kind, functions_handed_none, may_be_none, remembered
from torchlint.rules.evidence.constructor_argument import brief
from torchlint.rules.evidence.local_bindings import is_guarded, places_of

_ANY = "*"
"""Among the attributes that may be `None`: any of them, since a file sets attributes without naming them."""
_NO_FIELDS = frozenset({"NamedTuple", "object", "Protocol", "ABC"})
"""Bases that bring no fields of their own, which would stand before those of a record."""
_MOST_FIELDS = 24
"""So many places of a constructor are asked for where it is not known which one a field has."""
_DEEPEST = 4
"""Names are followed to what they are bound to this far."""


def is_not_none(node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether an expression is not `None`: open where the code shows that it may be."""
    place = context.python(node)
    may_be = isinstance(place, ast.expr) and _may_be(place, context)
    return IS_NOT_NONE.decided("the code shows that it may be" if may_be else None, brief(node, context))


def _may_be(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression may be `None` by what the file shows, and no test around it says otherwise."""
    known = context.value(node)
    if known.may(Kind.NONE):
        return not known.unknown or _shows(node, context, _DEEPEST)
    if isinstance(node, ast.Attribute) and (
        node.attr == "grad" or _may_be_set_out_of_sight(node, context) or _may_be_a_field_of_none(node, context)
    ):
        return not _is_tested(node, node, context)
    return isinstance(node, ast.Name) and _is_annotated_as_more(node, context)


def _is_annotated_as_more(name: ast.Name, context: FileContext) -> bool:
    """Whether a parameter is `None` by default, though its annotation says nothing of it, and no test asks for it."""
    given = [each for each in places_of(name, context) if isinstance(each, ast.arg) and each.annotation is not None]
    if not any(_binds_none(each, context, 0) for each in given):
        return False
    return not _is_tested(name, name, context) and not _is_replaced(name, context)


def _is_tested(node: ast.expr, root: ast.expr, context: FileContext) -> bool:
    """Whether a test for `None` is in force around a name, or around an attribute of one."""
    while isinstance(root, ast.Attribute):
        root = root.value
    code = ast.unparse(node)

    def tells(test: ast.expr, holds: bool) -> bool:
        asked = _asks_for_none(test, code)
        return asked is not None and asked is not holds

    return isinstance(root, ast.Name) and is_guarded(root, tells, context)


def _asks_for_none(test: ast.expr, code: str) -> bool | None:
    """Return how a test comes out where an expression is `None`; None where it does not ask for that."""
    match test:
        case ast.Compare(left=tested, ops=[operator], comparators=[ast.Constant(value=None)]):
            return isinstance(operator, ast.Is | ast.Eq) if ast.unparse(tested) == code else None
        case ast.Call(args=[tested, *_]) | tested if ast.unparse(tested) == code:
            return False
    return None


def _is_replaced(name: ast.Name, context: FileContext) -> bool:
    """Whether an earlier ``if x is None: x = ...`` puts something in the place of `None`."""
    for above in context.ancestors(name):
        for each in getattr(above, "body", []) if isinstance(above, ast.stmt) else []:
            match each:
                case ast.If(test=test, body=[*_, ast.Assign(targets=[ast.Name(id=word)])]) if word == name.id:
                    if _asks_for_none(test, word) and context.span(each)[1] <= context.span(name)[0]:
                        return True
    return False


def _shows(node: ast.expr, context: FileContext, depth: int) -> bool:
    match node:
        case ast.Constant(value=None):
            return True
        case ast.IfExp(body=one, orelse=other):
            return _shows(one, context, depth) or _shows(other, context, depth)
        case ast.BoolOp(values=parts):
            return any(_shows(each, context, depth) for each in parts)
        case ast.NamedExpr(value=value):
            return _shows(value, context, depth)
        case ast.Attribute(attr="grad"):
            return True
        case ast.Attribute(attr=word):
            set_here = word in _attributes_set_to_none(context.tree, context)
            return set_here or _may_be_set_out_of_sight(node, context) or _may_be_a_field_of_none(node, context)
        case ast.Call(func=ast.Attribute(attr="get"), args=[_]):
            return True
        case ast.Call(func=ast.Attribute(attr="get") | ast.Name(id="getattr"), args=[*_, last]):
            return _shows(last, context, depth)
        case ast.Call():
            return may_be_none(node)
        case ast.Subscript(value=inner):
            return depth > 0 and _holds_none(inner, context, depth)
        case ast.Name():
            return depth > 0 and any(_binds_none(each, context, depth - 1) for each in places_of(node, context))
    return False


def _may_be_set_out_of_sight(node: ast.Attribute, context: FileContext) -> bool:
    """Whether an attribute may be set to `None` by another file, or by this one without being named.

    An attribute of a tensor is torch's own, whatever other objects have of that name.
    """
    own = _attributes_set_to_none(context.tree, context)
    if _ANY not in own and context.other_texts.sets_none(node.attr) is None:
        return False
    return not context.value(node.value).is_tensor


def _may_be_a_field_of_none(node: ast.Attribute, context: FileContext) -> bool:
    """Whether an attribute may be a field of a record, a dataclass or `NamedTuple`, that is built with `None`.

    What annotates the field says nothing of it: it holds whatever the constructor is given.
    """
    if context.value(node.value).is_tensor:
        return False
    records = (each for each in context.nodes(ast.ClassDef) if node.attr in _fields(each))
    return any(node.attr in _fields_given_none(each, context) for each in records)


def _fields(record: ast.ClassDef) -> dict[str, ast.expr | None]:
    """Return the annotated names of a class, in order, with their defaults."""
    return {
        each.target.id: each.value
        for each in record.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }


@remembered
def _fields_given_none(record: ast.ClassDef, context: FileContext) -> frozenset[str]:
    """Return the fields of a class that are `None` by default, or in a call of the class, here or in another file."""
    fields = _fields(record)
    found = {word for word, default in fields.items() if default is not None and may_be_none(default)}
    makers = _makers(record, context)
    comes_first = all(_last_word(each) in _NO_FIELDS for each in record.bases)
    for call in context.nodes(ast.Call):
        if isinstance(call.func, ast.Name | ast.Attribute) and _called_by(call.func) in makers:
            found.update(
                each.arg for each in call.keywords if each.arg in fields and _shows(each.value, context, _DEEPEST)
            )
            if comes_first:
                pairs = zip(fields, call.args, strict=False)
                found.update(word for word, value in pairs if _shows(value, context, _DEEPEST))
            elif any(_shows(each, context, _DEEPEST) for each in call.args):
                found.update(fields)
    for at, word in enumerate(fields):
        places = [at] if comes_first else range(_MOST_FIELDS)
        if any(context.other_texts.hands_none(maker, each, word) is not None for maker in makers for each in places):
            found.add(word)
    return frozenset(found)


def _makers(record: ast.ClassDef, context: FileContext) -> set[str]:
    """Return the names of a class and of those of the file that inherit from it."""
    found = {record.name}
    for each in context.nodes(ast.ClassDef):  # a class stands behind those that it inherits from
        if any(_last_word(base) in found for base in each.bases):
            found.add(each.name)
    return found


def _last_word(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _binds_none(place: ast.Name | ast.arg, context: FileContext, depth: int) -> bool:
    if isinstance(place, ast.arg):
        function = context.function_around(place)
        return function is not None and (
            place.arg in _given_none(function, context) or _is_handed_none(place, function, context)
        )
    above = context.parent(place)
    is_member = isinstance(above, ast.Tuple | ast.List)
    while isinstance(above, ast.Tuple | ast.List | ast.Starred):
        above = context.parent(above)
    match above:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            return _holds_none(value, context, depth) if is_member else _shows(value, context, depth)
        case ast.For(iter=source) | ast.comprehension(iter=source):
            return _holds_none(source, context, depth)
    return False


def _holds_none(node: ast.expr, context: FileContext, depth: int) -> bool:
    """Whether a container is shown to hold `None`."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(_shows(each, context, depth) or _holds_none(each, context, depth) for each in elements)
        case ast.Dict(values=values):
            return any(_shows(each, context, depth) for each in values)
        case ast.BinOp(left=left, right=right):
            return _holds_none(left, context, depth) or _holds_none(right, context, depth)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return _shows(element, context, depth)
        case ast.Call(func=ast.Name(), args=given):
            return any(_holds_none(each, context, depth) for each in given)
        case ast.Name() if depth > 0:
            return any(_is_given_such(each, context, depth - 1) for each in places_of(node, context))
    return False


def _is_given_such(place: ast.Name | ast.arg, context: FileContext, depth: int) -> bool:
    match context.parent(place):
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _holds_none(value, context, depth)
    return False


@remembered
def _attributes_set_to_none(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the attributes that a file sets to `None`, or to a parameter that may be."""
    found: set[str] = set()
    for word, attributes in context.attributes_by_word().items():
        stores = (context.parent(each) for each in attributes if isinstance(each.ctx, ast.Store))
        if any(isinstance(each, ast.Assign) and _shows(each.value, context, 1) for each in stores):
            found.add(word)
    if "__dict__" in context.attributes_by_word() or any(_is_called_vars(each) for each in context.nodes(ast.Call)):
        found.add(_ANY)
    return frozenset(found)


def _is_called_vars(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("vars", "setattr") and bool(call.args)


@remembered
def _given_none(function: Function, context: FileContext) -> frozenset[str]:
    """Return the parameters of a function that are `None` by default, or in a call by this name in the file."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    found = {
        each.arg
        for each, default in (
            *zip(positional[::-1], given.defaults[::-1], strict=False),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        )
        if isinstance(default, ast.expr) and may_be_none(default)
    }
    above = context.parent(function)
    is_method = isinstance(above, ast.ClassDef)
    word = above.name if isinstance(above, ast.ClassDef) and function.name == "__init__" else function.name
    for call in context.nodes(ast.Call):
        if isinstance(call.func, ast.Name | ast.Attribute) and _called_by(call.func) == word:
            found.update(each.arg for each in call.keywords if each.arg and may_be_none(each.value))
            shown = positional[1:] if is_method else positional
            pairs = zip(shown, call.args, strict=False)
            found.update(each.arg for each, value in pairs if may_be_none(value))
        if word in functions_handed_none(call, may_be_none):
            found.update(each.arg for each in (*positional, *given.kwonlyargs))
    return frozenset(found)


def _is_handed_none(place: ast.arg, function: Function, context: FileContext) -> bool:
    """Whether a call in another file of the project may hand `None` to a parameter."""
    positional = [*function.args.posonlyargs, *function.args.args]
    is_method = isinstance(context.parent(function), ast.ClassDef)
    at = positional.index(place) - is_method if place in positional else -1
    word = _called_as(function, context)
    return context.other_texts.hands_none(word, at, place.arg) is not None


def _called_as(function: Function, context: FileContext) -> str:
    """Return the name by which a function is called: its class's for a constructor, ``Net()`` for a ``forward``."""
    above = context.parent(function)
    if isinstance(above, ast.ClassDef) and function.name in ("forward", "__call__"):
        return f"{above.name}()"
    return above.name if isinstance(above, ast.ClassDef) and function.name == "__init__" else function.name


def _called_by(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr
