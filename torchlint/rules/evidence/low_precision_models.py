"""Whether a tensor is what a model gives that computes in bfloat16: cast to it, loaded in it, or under autocast.

A model may cast what it gives itself, which is not seen: what is found here is likely, and of what some libraries cast,
such as logits, only possible.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import FileContext, Kind, arguments_of, leaf, remembered, seems_device
from torchlint.rules.evidence.local_bindings import bindings_of, values_of

_BFLOAT16 = "torch.bfloat16"
_KEEPING = frozenset(
    "cpu cuda detach clone contiguous reshape view squeeze unsqueeze flatten transpose permute mean sum expand".split()
)
"""Methods that give bfloat16 of bfloat16."""
_KEEPING_ALONE = frozenset("softmax log_softmax normalize sigmoid relu tanh".split())
"""Methods, and functions of ``torch`` and ``torch.nn.functional``, that do so where no autocast is in force."""
_OUTPUTS = frozenset("last_hidden_state pooler_output hidden_states image_embeds text_embeds".split())
"""Fields in which models of libraries give what they computed last."""
_CAST_BY_SOME = frozenset({"logits"})
"""Fields that some of those models cast to float32."""
_GIVING = frozenset("forward encode_image encode_text get_image_features get_text_features".split())
"""Methods of models that give what they computed."""
_HANDING_ON = frozenset("cuda cpu eval train to requires_grad_".split())
"""Methods of a model that give the model."""
_MULTIPLYING = frozenset(
    f"torch.{place}{word}"
    for place, words in (("", "matmul mm bmm addmm baddbmm"), ("nn.functional.", "linear conv1d conv2d conv3d"))
    for word in words.split()
)
_MULTIPLYING_LAYERS = frozenset("torch.nn.Linear torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d".split())
"""What computes in the dtype of autocast."""
_AUTOCAST = frozenset(f"torch.{place}autocast" for place in ("", "amp.", "cuda.amp.", "cpu.amp."))
_DEEPEST = 12
_MODELS = (ast.Name, ast.Attribute)
"""How code spells a model that it asks for something."""


@dataclass(frozen=True, slots=True)
class LowPrecision:
    """A call whose result is bfloat16, and what says so."""

    call: ast.Call
    why: str
    confidence: Confidence


def given_in_bfloat16(node: ast.expr, context: FileContext) -> LowPrecision | None:
    """Return the call of a model that gives a tensor in bfloat16; None where nothing shows that it does."""
    confidence = Confidence.LIKELY
    for _ in range(_DEEPEST):
        match node:
            case ast.Name(id=word):
                scope = context.scope_that_binds(node)
                values = values_of(node, context) if scope and word in _bound_once(scope, context) else []
                if len(values) != 1:
                    return None
                node = values[0]
            case ast.Attribute(value=inner, attr=word) if word in _OUTPUTS | _CAST_BY_SOME:
                confidence = Confidence.POSSIBLE if word in _CAST_BY_SOME else confidence
                node = inner
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _KEEPING:
                if _names_a_dtype(node, context):
                    return None
                node = inner
            case ast.Call() if (operand := _computed_alike(node, context)) is not None:
                node = operand
            case ast.Call():
                return _of_call(node, confidence, context)
            case _:
                return None
    return None


@remembered
def _bound_once(scope: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names that a scope gives a value at one place: of others nothing is asked, however many there are."""
    times = Counter(each.id for each in context.own(scope, ast.Name) if isinstance(each.ctx, ast.Store))
    return frozenset(word for word, count in times.items() if count == 1)


def _computed_alike(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return what ``F.softmax(x, -1)`` and ``x.sigmoid()`` compute their result of, in its dtype."""
    if any(
        isinstance(each, ast.With) and "autocast" in ast.unparse(each.items[-1]) for each in context.ancestors(call)
    ):
        return None
    names = context.names(call.func)
    if names and all(each.startswith("torch.") and leaf(each) in _KEEPING_ALONE for each in names):
        return None if _names_a_dtype(call, context) or not call.args else call.args[0]
    match call.func:
        case ast.Attribute(value=inner, attr=word) if word in _KEEPING_ALONE and not names:
            return None if _names_a_dtype(call, context) else inner
    return None


def _names_a_dtype(call: ast.Call, context: FileContext) -> bool:
    """Whether a call asks for a dtype: ``x.view(torch.int16)``, ``x.sum(dtype=torch.float32)``."""
    return any(each.arg == "dtype" for each in call.keywords) or any(
        context.value(each).must(Kind.DTYPE) for each in call.args
    )


def _of_call(call: ast.Call, confidence: Confidence, context: FileContext) -> LowPrecision | None:
    autocast = _autocast(call, context)
    if autocast is not None:
        why = f"`{ast.unparse(autocast)}` has it computed in bfloat16, line {autocast.lineno}"
        return LowPrecision(call, why, confidence) if _multiplies(call, context) else None
    model = call.func
    if isinstance(model, ast.Attribute) and model.attr in _GIVING:
        model = model.value
    cast = _cast(model, context) if isinstance(model, ast.Name | ast.Attribute) else None
    if cast is None:
        return None
    return LowPrecision(call, f"`{ast.unparse(model)}` computes in bfloat16, line {cast.lineno}", confidence)


# ---------------------------------------------------------------------- autocast
def _autocast(call: ast.Call, context: FileContext) -> ast.Call | None:
    """Return the innermost autocast in force, if it is one to bfloat16 beyond doubt."""
    for above in context.ancestors(call):
        if isinstance(above, ast.With | ast.AsyncWith):
            for item in reversed(above.items):
                made = item.context_expr
                if isinstance(made, ast.Call) and context.names(made.func) & _AUTOCAST:
                    return made if _is_to_bfloat16(made, context) else None
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return None
    return None


def _is_to_bfloat16(made: ast.Call, context: FileContext) -> bool:
    named = {each.arg: each.value for each in made.keywords}
    enabled = named.get("enabled")
    is_on = enabled is None or (isinstance(enabled, ast.Constant) and enabled.value is True)
    return is_on and _is_bfloat16(named.get("dtype"), context)


def _multiplies(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is a multiplication of matrices, or a layer that ends with one."""
    names = context.names(call.func)
    if names:
        return names <= _MULTIPLYING
    bound = bindings_of(call.func, context) if isinstance(call.func, ast.Name) else []
    made = [_origin(each.value) for each in bound if not each.depth]
    layers = [context.names(each.func) for each in made if isinstance(each, ast.Call)]
    return bool(layers) and len(layers) == len(bound) and all(each and each <= _MULTIPLYING_LAYERS for each in layers)


# ---------------------------------------------------------------------- models
def _cast(model: ast.Name | ast.Attribute, context: FileContext) -> ast.expr | None:
    """Return what makes a model compute in bfloat16; None where something else may be made of it, too."""
    scope = context.function_around(model) or context.tree
    if isinstance(model, ast.Attribute):
        owner = context.nearest(model, ast.ClassDef)
        if owner is None or not isinstance(model.value, ast.Name) or model.value.id != "self":
            return None
        states = _states(owner, context).get(ast.unparse(model), [])
    else:
        inner = _states(scope, context).get(model.id, [])
        states = inner or (_states(context.tree, context).get(model.id, []) if _is_global(model, context) else [])
    kinds = {kind for kind, _ in states}
    if kinds != {True}:
        return None
    return states[0][1]


def _is_global(name: ast.Name, context: FileContext) -> bool:
    return context.scope_that_binds(name) is context.tree


@remembered
def _states(scope: ast.AST, context: FileContext) -> dict[str, list[tuple[bool, ast.expr]]]:
    """Return what is made of each model of a scope: whether that is surely bfloat16, else another dtype or unknown."""
    found: dict[str, list[tuple[bool, ast.expr]]] = {}
    whole = context.inside(scope, ast.Assign) if isinstance(scope, ast.ClassDef) else context.own(scope, ast.Assign)
    asked = context.inside(scope, ast.Expr) if isinstance(scope, ast.ClassDef) else context.own(scope, ast.Expr)
    targets = ((made, ast.unparse(each)) for made in whole for each in made.targets if isinstance(each, _MODELS))
    for made, model in targets:
        if (told := _told(made.value, model, context)) is not None:
            found.setdefault(model, []).append((told and not _may_not_run(made, context), made.value))
    for each in asked:
        match each.value:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as owner)) as call:
                model = ast.unparse(owner)
                if (told := _told(call, model, context)) is None:
                    continue
                is_sure = told and not _may_not_run(each, context)  # whatever it was before
                found[model] = [(True, call)] if is_sure else [*found.get(model, []), (False, call)]
    return found


def _may_not_run(node: ast.stmt, context: FileContext) -> bool:
    return any(isinstance(each, ast.If | ast.For | ast.While | ast.Try) for each in context.ancestors(node))


def _told(value: ast.expr, code: str, context: FileContext) -> bool | None:
    """Whether a value is a model in bfloat16; None where it is the model of that code, as it was."""
    for call in _chain(value):
        word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if word in ("bfloat16", "from_pretrained"):
            return word == "bfloat16" or any(
                each.arg in ("torch_dtype", "dtype") and _is_bfloat16(each.value, context) for each in call.keywords
            )
        if word in ("float", "half", "double", "type"):
            return False
        if word == "to":
            given = arguments_of(call)
            if any(_is_bfloat16(each, context) for each in given):
                return True
            if any(
                not context.value(each).must(Kind.DEVICE | Kind.STRING) and not seems_device(each) for each in given
            ):
                return False
        elif word not in _HANDING_ON:
            return False
    return None if ast.unparse(_origin(value)) == code else False


def _chain(value: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls of methods behind one another, outermost first."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        yield value
        value = value.func.value


def _origin(value: ast.expr) -> ast.expr:
    """Return the model before what hands it on."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HANDING_ON:
        value = value.func.value
    return value


def _is_bfloat16(node: ast.expr | None, context: FileContext) -> bool:
    return isinstance(node, ast.Attribute) and context.names(node) == {_BFLOAT16}
