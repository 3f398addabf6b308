"""Whether a tensor is what is computed in bfloat16: given by a model in it, or under autocast.

A model may cast what it gives itself, which is not seen: what is found here is likely, and of what some libraries cast,
such as logits, only possible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import FileContext, Kind, arguments_of, is_called_self, seems_device, unpacks, word_of
from torchlint.rules.local_bindings import are_of_torch, values_of

_BFLOAT16 = frozenset({"torch.bfloat16"})
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
_AUTOCAST = frozenset(f"torch.{place}autocast" for place in ("", "amp.", "cuda.amp.", "cpu.amp."))
_MULTIPLYING = frozenset(
    f"torch.{place}{word}"
    for place, words in (("", "matmul mm bmm addmm baddbmm"), ("nn.functional.", "linear conv1d conv2d conv3d"))
    for word in words.split()
)
_LAYERS = frozenset("torch.nn.Linear torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d".split())
"""What computes in the dtype of autocast."""
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class LowPrecision:
    """What says that a result is bfloat16, or may be by a setting."""

    why: str
    confidence: Confidence
    is_setting: bool = False


def given_in_bfloat16(node: ast.expr, context: FileContext) -> LowPrecision | None:
    """Return what gives a tensor in bfloat16, or may; None where nothing shows that something does."""
    confidence = Confidence.LIKELY
    for _ in range(_DEEPEST):
        match node:
            case ast.Name() if len(values := values_of(node, context)) == 1:
                node = values[0]
            case ast.Attribute(value=inner, attr=word) if word in _OUTPUTS | _CAST_BY_SOME:
                confidence = Confidence.POSSIBLE if word in _CAST_BY_SOME else confidence
                node = inner
            case ast.Subscript(value=inner):
                node = inner
            case ast.Call() if _asks_for_a_dtype(node, context):
                return None
            case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _KEEPING:
                node = inner
            case ast.Call() if (operand := _computed_alike(node, context)) is not None:
                node = operand
            case ast.Call():
                return _under_autocast(node, confidence, context) or _of_model(node, confidence, context)
            case _:
                return None
    return None


def _asks_for_a_dtype(call: ast.Call, context: FileContext) -> bool:
    """Whether a call says which dtype it gives: ``x.to(dtype)``, ``x.sum(dtype=torch.float32)``."""
    if not are_of_torch(context.names(call.func)) and not isinstance(call.func, ast.Attribute):
        return False
    named = (each.arg == "dtype" for each in call.keywords if word_of(call.func) != "from_pretrained")
    return any(named) or any(context.presumed_value(each).must(Kind.DTYPE) for each in call.args)


def _computed_alike(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return what ``F.softmax(x, -1)`` and ``x.sigmoid()`` compute their result of, in its dtype."""
    if word_of(call.func) not in _KEEPING_ALONE or _autocast_around(call, context) is not None:
        return None
    if are_of_torch(context.names(call.func)):
        return next(iter(call.args), None)
    return call.func.value if isinstance(call.func, ast.Attribute) else None


# ---------------------------------------------------------------------- models
def _model_asked(call: ast.Call) -> ast.expr:
    """Return what a call has compute: ``model`` of ``model(x)`` and of ``model.forward(x)``."""
    function = call.func
    return function.value if isinstance(function, ast.Attribute) and function.attr in _GIVING else function


def _of_model(call: ast.Call, confidence: Confidence, context: FileContext) -> LowPrecision | None:
    model = _model_asked(call)
    cast = _cast_of(model, context)
    if cast is None:
        return None
    return LowPrecision(f"`{ast.unparse(model)}` computes in bfloat16, line {cast.lineno}", confidence)


def _cast_of(model: ast.expr, context: FileContext) -> ast.expr | None:
    """Return what casts a model to bfloat16 in its function, class or module; None where that is not certain."""
    code = ast.unparse(model)
    if isinstance(model, ast.Attribute) and is_called_self(model.value):
        owner = context.nearest(model, ast.ClassDef)
        made = list(_made(code, context.inside(owner, ast.Assign, ast.Expr), context)) if owner is not None else []
        return made[0][0] if made and all(is_cast for _, is_cast in made) else None
    scopes = [context.function_around(model), context.tree] if isinstance(model, ast.Name) else []
    for scope in (each for each in scopes if each is not None):
        made = list(_made(code, context.own(scope, ast.Assign, ast.Expr), context))
        if made:
            return made[-1][0] if made[-1][1] else None
    return None


def _made(code: str, statements: list[ast.Assign | ast.Expr], context: FileContext) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the statements that make or cast a model, and whether it computes in bfloat16 behind each."""
    for each in sorted(statements, key=lambda each: each.lineno):
        targets = each.targets if isinstance(each, ast.Assign) else []
        if code not in map(ast.unparse, targets) and (targets or ast.unparse(_chain(each.value)[-1]) != code):
            continue
        is_cast = _casts(each.value, code, context)
        if is_cast is not None:
            is_sure = not any(
                isinstance(one, ast.If | ast.For | ast.While | ast.Try) for one in context.ancestors(each)
            )
            yield each.value, is_cast and is_sure


def _casts(value: ast.expr, code: str, context: FileContext) -> bool | None:
    """Whether methods behind one another give a model in bfloat16; None where they give the model as it was."""
    *calls, first = _chain(value)
    for call in calls:
        word = word_of(call.func) if isinstance(call, ast.Call) else ""
        given = arguments_of(call) if isinstance(call, ast.Call) else []
        if word == "bfloat16" or any(context.names(each) == _BFLOAT16 for each in given):
            return True
        if word not in _HANDING_ON or (word == "to" and not all(_is_place(each, context) for each in given)):
            return False
    return None if ast.unparse(first) == code else False


def _chain(value: ast.expr) -> list[ast.expr]:
    """Return the calls of methods behind one another, outermost first, and what they begin with."""
    found = [value]
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
        found.append(value)
    return found


def _is_place(node: ast.expr, context: FileContext) -> bool:
    """Whether an argument of `to` is a device."""
    return context.value(node).must(Kind.DEVICE | Kind.STRING) or seems_device(node)


# ---------------------------------------------------------------------- autocast
def _autocast_around(call: ast.Call, context: FileContext) -> ast.Call | None:
    """Return the call that makes the innermost autocast in force."""
    for above in context.ancestors(call):
        if isinstance(above, ast.With | ast.AsyncWith):
            for item in reversed(above.items):
                made = item.context_expr
                if isinstance(made, ast.Call) and context.names(made.func) & _AUTOCAST:
                    return made
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return None
    return None


def _under_autocast(call: ast.Call, confidence: Confidence, context: FileContext) -> LowPrecision | None:
    made = _autocast_around(call, context)
    if made is None or not _is_to_bfloat16(made, context):
        return None
    enabled = next((each.value for each in made.keywords if each.arg == "enabled"), None)
    is_on = enabled is None or isinstance(enabled, ast.Constant)
    if not _multiplies(call, context):
        return None
    why = f"`{ast.unparse(made)}` {'has' if is_on else 'may have'} it computed in bfloat16, line {made.lineno}"
    return LowPrecision(why, confidence if is_on else Confidence.POSSIBLE, is_setting=not is_on)


def _is_to_bfloat16(made: ast.Call, context: FileContext) -> bool:
    """Whether an autocast computes in bfloat16, if it is enabled: by its dtype, or on the CPU, where that is usual."""
    named = {each.arg: each.value for each in made.keywords}
    enabled = named.get("enabled")
    if isinstance(enabled, ast.Constant) and enabled.value is False:
        return False
    device = named.get("device_type") or next(iter(made.args), None)
    dtype = named.get("dtype") or next(iter(made.args[1:]), None)
    if dtype is not None:
        return context.names(dtype) == _BFLOAT16
    is_of_host = context.names(made.func) == {"torch.cpu.amp.autocast"} and not made.args
    return not unpacks(made) and (is_of_host or (isinstance(device, ast.Constant) and device.value == "cpu"))


def _multiplies(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is a multiplication of matrices, or a layer that ends with one."""
    names, layers = context.names(call.func), context.value(call.func).instance
    return (bool(names) and names <= _MULTIPLYING) or (bool(layers) and layers <= _LAYERS)
