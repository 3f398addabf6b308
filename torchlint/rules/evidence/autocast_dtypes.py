"""Whether a call is computed in bfloat16 because of the autocast around it, or may be."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.rules.api import FileContext, Kind, unpacks, word_of
from torchlint.rules.evidence.bfloat16_settings import ShownBFloat16, shown_bfloat16
from torchlint.rules.evidence.calls_in_sight import called_in_sight
from torchlint.rules.evidence.local_bindings import bindings_of, values_of
from torchlint.rules.evidence.model_dtypes import CASTING, is_place, model_asked, origin
from torchlint.rules.evidence.object_attributes import attribute_values
from torchlint.rules.evidence.used_modules import used_as_modules

_AUTOCAST = frozenset(f"torch.{place}autocast" for place in ("", "amp.", "cuda.amp.", "cpu.amp."))
_OF_THE_HOST = "torch.cpu.amp.autocast"
_MULTIPLYING = frozenset(
    f"torch.{place}{word}"
    for place, words in (("", "matmul mm bmm addmm baddbmm"), ("nn.functional.", "linear conv1d conv2d conv3d"))
    for word in words.split()
)
_MULTIPLYING_LAYERS = frozenset("torch.nn.Linear torch.nn.Conv1d torch.nn.Conv2d torch.nn.Conv3d".split())
"""What computes in the dtype of autocast."""
_HOLDING = frozenset({"torch.nn.Sequential", "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel"})
"""Modules of torch that are what they hold."""
_IN_FLOAT32 = frozenset("softmax log_softmax cross_entropy mse_loss l1_loss nll_loss sum prod norm exp log pow".split())
"""Functions and methods that autocast of CUDA has computed in float32; that of the CPU only the losses."""
_MOST_FORKS = 3
"""How many names and choices are followed one behind the other."""


def autocast_around(call: ast.Call, context: FileContext) -> ShownBFloat16 | None:
    """Return the innermost autocast in force, if it is one to bfloat16 or may be."""
    for above in context.ancestors(call):
        if isinstance(above, ast.With | ast.AsyncWith):
            for item in reversed(above.items):
                entered = _entered(item.context_expr, context, 0)
                if entered:
                    shown = [_to_bfloat16(each, context) for each in entered]
                    return _all_of(shown, len(entered) == 1 and isinstance(item.context_expr, ast.Call))
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return None
    return None


def _all_of(shown: list[ShownBFloat16 | None], is_only: bool) -> ShownBFloat16 | None:
    """Return the first of what is shown of the autocasts that may be in force: sure where it is the only one."""
    found = next((each for each in shown if each is not None), None)
    return found and replace(found, is_sure=found.is_sure and is_only)


def _entered(node: ast.expr, context: FileContext, depth: int) -> list[ast.Call]:
    """Return the calls that make what a block enters, as far as they make autocasts: behind names and choices, too."""
    if depth > _MOST_FORKS:
        return []
    match node:
        case ast.Call(func=function) if context.names(function) & _AUTOCAST:
            return [node]
        case ast.Call(func=function, args=[first, *_]) if context.names(function) == {"functools.partial"}:
            return [node] if context.names(first) & _AUTOCAST else []
        case ast.Call(func=ast.Name() | ast.Attribute() as made, args=[], keywords=[]):
            return _entered(made, context, depth + 1)
        case ast.IfExp(body=one, orelse=other):
            several = [one, other]
        case ast.Name():
            several = values_of(node, context)
        case ast.Attribute():
            several = attribute_values(node, context)
        case _:
            return []
    return [each for one in several for each in _entered(one, context, depth + 1)]


def _to_bfloat16(made: ast.Call, context: FileContext) -> ShownBFloat16 | None:
    """Return what shows that an autocast computes in bfloat16: its dtype, or the CPU, where that is the default."""
    named = {each.arg: each.value for each in made.keywords}
    enabled = named.get("enabled")
    if isinstance(enabled, ast.Constant) and enabled.value is False:
        return None
    is_on = enabled is None or isinstance(enabled, ast.Constant)
    positional = [each for each in made.args if not context.names(each) & _AUTOCAST]
    device = named.get("device_type") or next(iter(positional), None)
    dtype = named.get("dtype") or next(iter(positional[1:]), None)
    if dtype is not None:
        shown = shown_bfloat16(dtype, context)
    else:
        shown = ShownBFloat16(is_sure=True, at=made) if _is_on_host(made, device, context) else None
    return shown and ShownBFloat16(shown.is_sure and is_on, made)


def _is_on_host(made: ast.Call, device: ast.expr | None, context: FileContext) -> bool:
    """Whether an autocast is the CPU's, which computes in bfloat16 unless it is told another dtype."""
    if context.names(made.func) == {_OF_THE_HOST}:
        return not made.args and not unpacks(made)
    return isinstance(device, ast.Constant) and device.value == "cpu" and not unpacks(made)


def is_network_under_autocast(call: ast.Call, context: FileContext) -> bool:
    """Whether a call runs a network that is not known to end in another dtype than that of autocast."""
    function = model_asked(call)
    value = context.value(function)
    is_module = value.must(Kind.MODULE) or (value.may(Kind.MODULE) and _is_used_as_module(function, context))
    fitting = {
        each for each in value.instance if not each.startswith("torch.") or each in _HOLDING | _MULTIPLYING_LAYERS
    }
    if not is_module or value.names or (value.instance and not fitting):
        return False
    forward = called_in_sight(call, context)
    results = [each.value for each in context.own(forward, ast.Return)] if forward is not None else []
    return not any(isinstance(each, ast.Call) and _leaves_bfloat16(each, context) for each in results)


def _is_used_as_module(function: ast.expr, context: FileContext) -> bool:
    """Whether what is called, or the model that an attribute holds, is used as a module somewhere in the file."""
    held = attribute_values(function, context) if isinstance(function, ast.Attribute) else []
    codes = {ast.unparse(each) for each in (function, *map(origin, held))}
    return not codes.isdisjoint(used_as_modules(context.tree, context))


def _leaves_bfloat16(call: ast.Call, context: FileContext) -> bool:
    """Whether a call gives another dtype under autocast: ``softmax(x, -1)``, ``x.float()``, ``x.to(torch.float32)``."""
    word = word_of(call.func)
    return word in _IN_FLOAT32 | CASTING or (word == "to" and not all(is_place(each, context) for each in call.args))


def multiplies(call: ast.Call, context: FileContext) -> bool:
    """Whether a call is a multiplication of matrices, or a layer that ends with one."""
    names = context.names(call.func)
    if names:
        return names <= _MULTIPLYING
    bound = bindings_of(call.func, context) if isinstance(call.func, ast.Name) else []
    made = [origin(each.value) for each in bound if not each.depth]
    layers = [context.names(each.func) for each in made if isinstance(each, ast.Call)]
    return bool(layers) and len(layers) == len(bound) and all(each and each <= _MULTIPLYING_LAYERS for each in layers)
