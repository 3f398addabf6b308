"""Whether a model computes in bfloat16, or may: it is loaded in it, cast to it, or on one way alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from torchlint.rules.api import FileContext, Kind, arguments_of, is_called_self, leaves, remembered, seems_device
from torchlint.rules.evidence.bfloat16_settings import ShownBFloat16, shown_bfloat16
from torchlint.rules.evidence.local_bindings import values_of

_GIVING = frozenset("forward encode_image encode_text get_image_features get_text_features".split())
"""Methods of models that give what they computed."""
CASTING = frozenset("float half double type type_as".split())
"""Methods of tensors and models that give another dtype, whatever they are given."""
_HANDING_ON = frozenset("cuda cpu eval train to requires_grad_".split())
"""Methods of a model that give the model."""
_DTYPE_WORDS = frozenset({"torch_dtype", "dtype"})
"""The arguments that load a model in a dtype."""
_MODELS = (ast.Name, ast.Attribute)
"""How code spells a model that it asks for something."""


def model_asked(call: ast.Call) -> ast.expr:
    """Return what a call has compute: ``model`` of ``model(x)`` and of ``model.forward(x)``."""
    function = call.func
    return function.value if isinstance(function, ast.Attribute) and function.attr in _GIVING else function


class _Made(Enum):
    """What is made of a model at one place."""

    BFLOAT16 = "bfloat16"
    PERHAPS = "bfloat16 by a setting, or on one way"
    OTHERWISE = "another dtype, or one that is not known"


_States = dict[str, list[tuple[_Made, ast.expr]]]


def model_dtype(model: ast.expr, context: FileContext) -> ShownBFloat16 | None:
    """Return what makes a model compute in bfloat16, or may; None where nothing does or something else comes after."""
    scope = context.function_around(model) or context.tree
    if not isinstance(model, ast.Name | ast.Attribute):
        return None
    if isinstance(model, ast.Attribute):
        owner = context.nearest(model, ast.ClassDef)
        if owner is None or not is_called_self(model.value):
            return None
        states = _states(owner, context).get(ast.unparse(model), [])
    else:
        inner = _states(scope, context).get(model.id, [])
        states = inner or (_states(context.tree, context).get(model.id, []) if _is_global(model, context) else [])
    kinds = {kind for kind, _ in states}
    if kinds == {_Made.BFLOAT16}:
        return ShownBFloat16(is_sure=True, at=states[0][1])
    perhaps = next((at for kind, at in states if kind is _Made.PERHAPS), None)
    return ShownBFloat16(is_sure=False, at=perhaps) if perhaps is not None else None


def _is_global(name: ast.Name, context: FileContext) -> bool:
    return context.scope_that_binds(name) is context.tree


@remembered
def _states(scope: ast.AST, context: FileContext) -> _States:
    """Return what is made of each model of a scope, of an assignment and of a statement such as ``model.half()``."""
    found: _States = {}
    is_class = isinstance(scope, ast.ClassDef)
    whole = context.inside(scope, ast.Assign) if is_class else context.own(scope, ast.Assign)
    asked = context.inside(scope, ast.Expr) if is_class else context.own(scope, ast.Expr)
    targets = ((made, ast.unparse(each)) for made in whole for each in made.targets if isinstance(each, _MODELS))
    for made, model in targets:
        if (told := _told(made.value, model, made, context)) is not None:
            found.setdefault(model, []).append((told, made.value))
    for each in asked:
        owners = [ast.unparse(owner) for owner in _owners(each.value) if isinstance(owner, _MODELS)]
        model = owners[0] if owners else ""
        told = _told(each.value, model, each, context) if owners else None
        if told is None:
            continue
        is_settled = told is not _Made.PERHAPS and not is_class and not _may_not_run(each, context)
        is_settled |= told is _Made.BFLOAT16  # whatever it was before
        found[model] = [(told, each.value)] if is_settled else [*found.get(model, []), (told, each.value)]
    return found


def _may_not_run(node: ast.stmt, context: FileContext) -> bool:
    return any(isinstance(each, ast.If | ast.For | ast.While | ast.Try) for each in context.ancestors(node))


def _told(value: ast.expr, code: str, statement: ast.stmt, context: FileContext) -> _Made | None:
    """Return what a value makes of the model of that code; None where it is that model, as it was."""
    told = _told_of(value, code, context)
    if told is _Made.BFLOAT16 and _may_not_run(statement, context):
        return None if _goes_no_further(statement, context) else _Made.PERHAPS
    return told


def _goes_no_further(statement: ast.stmt, context: FileContext) -> bool:
    """Whether the branch of a statement leaves the function: what comes behind it has not seen the statement."""
    above = next((each for each in context.ancestors(statement) if isinstance(each, ast.If)), None)
    return above is not None and any(leaves(block) for block in (above.body, above.orelse) if statement in block)


def _told_of(value: ast.expr, code: str, context: FileContext) -> _Made | None:
    if isinstance(value, ast.IfExp):
        arms = {_told_of(value.body, code, context), _told_of(value.orelse, code, context)}
        return _Made.PERHAPS if arms & {_Made.BFLOAT16, _Made.PERHAPS} else arms.pop()
    for call in _chain(value):
        word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if word == "bfloat16":
            return _Made.BFLOAT16
        if word == "from_pretrained":
            return _made_by(_dtypes_given(call, context), context)
        if word in ("float", "half", "double", "type"):
            return _Made.OTHERWISE
        if word == "to":
            given = arguments_of(call)
            if (made := _made_by(given, context)) is not _Made.OTHERWISE:
                return made
            if not all(is_place(each, context) for each in given):
                return _Made.OTHERWISE
        elif word not in _HANDING_ON:
            return _Made.OTHERWISE
    return None if ast.unparse(origin(value)) == code else _Made.OTHERWISE


def _dtypes_given(call: ast.Call, context: FileContext) -> list[ast.expr]:
    """Return what a call hands over as a dtype, by a keyword or in a dictionary: ``**{"torch_dtype": dtype}``."""
    found = [each.value for each in call.keywords if each.arg in _DTYPE_WORDS]
    for unpacked in (each.value for each in call.keywords if each.arg is None):
        for table in values_of(unpacked, context) if isinstance(unpacked, ast.Name) else [unpacked]:
            match table:
                case ast.Dict(keys=keys, values=values):
                    pairs = zip(keys, values, strict=True)
                    found += (one for key, one in pairs if isinstance(key, ast.Constant) and key.value in _DTYPE_WORDS)
                case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
                    found += (each.value for each in keywords if each.arg in _DTYPE_WORDS)
    return found


def _made_by(given: list[ast.expr], context: FileContext) -> _Made:
    """Return what a model becomes that is loaded with, or moved to, one of some arguments."""
    shown = next((found for each in given if (found := shown_bfloat16(each, context)) is not None), None)
    if shown is None:
        return _Made.OTHERWISE
    return _Made.BFLOAT16 if shown.is_sure else _Made.PERHAPS


def is_place(node: ast.expr, context: FileContext) -> bool:
    """Whether an argument of `to` is a device."""
    return context.value(node).must(Kind.DEVICE | Kind.STRING) or seems_device(node)


def _chain(value: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls of methods behind one another, outermost first."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        yield value
        value = value.func.value


def _owners(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the objects whose methods such calls are, outermost first."""
    yield from (each.func.value for each in _chain(value) if isinstance(each.func, ast.Attribute))


def origin(value: ast.expr) -> ast.expr:
    """Return the model before what hands it on."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HANDING_ON:
        value = value.func.value
    return value
