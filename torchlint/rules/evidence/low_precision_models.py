"""Whether a tensor is what a model gives that computes in bfloat16: cast to it, loaded in it, or under autocast.

A model may cast what it gives itself, which is not seen: what is found here is likely, and of what some libraries cast,
such as logits, only possible.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import FileContext, Kind, leaf, remembered, word_of
from torchlint.rules.evidence.autocast_dtypes import autocast_around, is_network_under_autocast, multiplies
from torchlint.rules.evidence.bfloat16_settings import is_tested, shown_bfloat16
from torchlint.rules.evidence.local_bindings import NameBinding, are_of_torch, bindings_of
from torchlint.rules.evidence.model_dtypes import CASTING, is_place, model_asked, model_dtype
from torchlint.rules.evidence.object_attributes import attribute_values

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
_DEEPEST = 12
_MOST_PLACES = 4
"""A name that is bound at more places is not followed."""
_MOST_FORKS = 3
"""How many names with several bindings are followed one behind the other."""


@dataclass(frozen=True, slots=True)
class LowPrecision:
    """A call whose result is bfloat16, or may be by a setting, and what says so."""

    call: ast.Call
    why: str
    confidence: Confidence
    is_setting: bool = False


def given_in_bfloat16(node: ast.expr, context: FileContext) -> LowPrecision | None:
    """Return the call that gives a tensor in bfloat16, or may; None where nothing shows that one does."""
    return _given(node, context, Confidence.LIKELY, 0)


def _given(node: ast.expr, context: FileContext, confidence: Confidence, depth: int) -> LowPrecision | None:
    for _ in range(_DEEPEST):
        match node:
            case ast.Name():
                bound = _bound(node, context)
                if len(bound) != 1 or bound[0].depth or bound[0].is_augmented:
                    return _of_several(bound, context, depth)
                node = bound[0].value
            case ast.Attribute(value=inner, attr=word) if word in _OUTPUTS | _CAST_BY_SOME:
                confidence = Confidence.POSSIBLE if word in _CAST_BY_SOME else confidence
                node = inner
            case ast.Attribute() if held := attribute_values(node, context):
                return _of_several([NameBinding(each) for each in held], context, depth)
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call() if (found := _made_in(node, context)) is not None:
                return found
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


def _bound(name: ast.Name, context: FileContext) -> list[NameBinding]:
    """Return what a name may stand for; nothing where that is bound at many places."""
    scope = context.scope_that_binds(name)
    return bindings_of(name, context) if scope and name.id in _seldom_bound(scope, context) else []


def _of_several(bound: list[NameBinding], context: FileContext, depth: int) -> LowPrecision | None:
    """Return what is given on one of several ways, unless another one names a dtype: that may be the repair."""
    is_repaired = len(bound) > 1 and any(_casts(each.value, context) for each in bound)
    if depth >= _MOST_FORKS or is_repaired:
        return None
    whole = [each.value for each in bound if not each.depth and not each.is_augmented]
    found = [_given(each, context, Confidence.POSSIBLE, depth + 1) for each in whole]
    return next((replace(each, confidence=Confidence.POSSIBLE) for each in found if each is not None), None)


def _casts(value: ast.expr, context: FileContext) -> bool:
    """Whether an expression may cast a tensor."""
    calls = [each for each in ast.walk(value) if isinstance(each, ast.Call)]
    return any(
        word_of(each.func) in CASTING
        or _names_a_dtype(each, context)
        or (word_of(each.func) == "to" and not all(is_place(one, context) for one in each.args))
        for each in calls
    )


def _made_in(call: ast.Call, context: FileContext) -> LowPrecision | None:
    """Return what ``x.to(dtype)`` and ``torch.zeros(n, dtype=dtype)`` give where the dtype is a setting."""
    is_cast = isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "type")
    if not is_cast and not are_of_torch(context.names(call.func)):
        return None
    given = [each.value for each in call.keywords if each.arg == "dtype"] or (call.args[:1] if is_cast else [])
    shown = shown_bfloat16(given[0], context) if given else None
    if shown is None or shown.is_sure or is_tested(given[0], call, context):
        return None
    why = f"`{ast.unparse(given[0])}` may be bfloat16, line {shown.line}"
    return LowPrecision(call, why, Confidence.POSSIBLE, is_setting=True)


@remembered
def _seldom_bound(scope: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the names that a scope gives a value at few places: of others nothing is asked, however many there are."""
    times = Counter(each.id for each in context.own(scope, ast.Name) if isinstance(each.ctx, ast.Store))
    return frozenset(word for word, count in times.items() if count <= _MOST_PLACES)


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
    autocast = autocast_around(call, context)
    if autocast is not None:
        is_network = not multiplies(call, context)
        if is_network and not is_network_under_autocast(call, context):
            return None
        if autocast.is_sure and not is_network:
            why = f"`{ast.unparse(autocast.at)}` has it computed in bfloat16, line {autocast.line}"
            return LowPrecision(call, why, confidence)
        why = f"`{ast.unparse(autocast.at)}` may have it computed in bfloat16, line {autocast.line}"
        return LowPrecision(call, why, Confidence.POSSIBLE, is_setting=not autocast.is_sure)
    model = model_asked(call)
    cast = model_dtype(model, context)
    if cast is None:
        return None
    if cast.is_sure:
        return LowPrecision(call, f"`{ast.unparse(model)}` computes in bfloat16, line {cast.line}", confidence)
    if _is_asked_again(cast.at, call, context):
        return None
    why = f"`{ast.unparse(model)}` may compute in bfloat16, line {cast.line}"
    return LowPrecision(call, why, Confidence.POSSIBLE, is_setting=True)


def _is_asked_again(cast: ast.expr, call: ast.Call, context: FileContext) -> bool:
    """Whether the function of a call asks again for what a model was cast by: it may handle the two ways apart."""
    tests = [each.test for each in context.ancestors(cast) if isinstance(each, ast.If)]
    codes = {ast.unparse(each) for each in tests}
    around = context.function_around(call) or context.tree
    asking: list[ast.If | ast.IfExp] = [*context.own(around, ast.If), *context.own(around, ast.IfExp)]
    others = (each.test for each in asking if each.test not in tests)
    return bool(codes) and any(code in ast.unparse(each) for each in others for code in codes)
