"""A parameter is moved or cast after it was wrapped: what the module keeps is no parameter.

## What it does

Flags `self.w = nn.Parameter(t).cuda()`, `.to(device)`, `.half()` and their like in a module: where the call makes a new
tensor, `self.w` is a plain tensor, which `parameters()` does not give and no optimizer trains. So it is with what is
computed of the parameter before it is kept (`nn.Parameter(t) * 0.02`, `nn.Parameter(t).unsqueeze(0)`), also by way of
names and of functions that make it, move it or return it. Flags the same of a tensor that asks for its gradient and is
then given to an optimizer, at once, by names or by an attribute: `w = torch.zeros(3, requires_grad=True).cuda()` is no
leaf, and `SGD([w])` refuses it.

Silent are moves that cannot do anything (`.cpu()` of what is on the host, `.float()` of what is float32 as far as can
be seen, `.to(device)` of what was made on that device or with a tensor that is there), parameters that are wrapped
again, names that are used up at once or of which the parameter itself is kept, too, and what goes into an
`nn.ParameterList` or `nn.ParameterDict`, which wrap it again.

## Why is this bad?

On a CPU `.cuda()` is not called or `.to(device)` does nothing, the parameter is registered, and all looks well. On a
GPU the same line registers nothing: the weight keeps its first value for ever, is missing from `state_dict()`, and
stays where it is when the module is moved. Nothing raises, and the loss still falls, since the other layers train.

## Example

```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width)).double()

    def forward(self, x):
        return x * self.scale
```

Use instead:

```python
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width).double())

    def forward(self, x):
        return x * self.scale
```

Better still, leave the device to whoever builds the module: `nn.Parameter(torch.ones(width))`, and
`Scale(3).to(device)`.

## Severity

A warning: it is right on a CPU, and never trains on a GPU.

```python
from torch import nn
import torch


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3)).cuda()  # warning
```

## Fix safety

Never safe: the weight is registered from now on, is trained, and is expected in `state_dict()`. That is what was meant,
but an old checkpoint lacks it, and `load_state_dict` says so.

## References

- [torch.nn.Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html): what is
  assigned to a module's attribute is registered only if it is a `Parameter`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    Device,
    Draft,
    FileContext,
    FlowPlace,
    FlowSpecification,
    Kind,
    KnownPath,
    Mode,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.repairs import is_primary
from torchlint.rules.wording import in_a_line

_LEAVES = tuple(
    "Variable empty empty_like eye full full_like linspace ones ones_like rand rand_like randn randn_like tensor zeros "
    "zeros_like".split()
)
"""Functions that may be told to make a leaf."""
_MOVES = frozenset({"cuda", "cpu", "to", "xpu", "npu", "mps", "type"})
_CASTS = frozenset({"half", "double", "bfloat16", "float"})
_REMAKING = frozenset(
    "unsqueeze squeeze view reshape flatten expand repeat transpose permute t clone mul div add sub pow exp log sqrt "
    "abs neg sigmoid tanh softmax clamp".split()
)
"""Methods that give another tensor of a leaf, whatever that holds."""

_CHANGES: Final = (
    NodePattern(methods=_MOVES | _CASTS, at=RECEIVES, is_conversion=True),
    NodePattern(methods=_REMAKING, at=RECEIVES),
    NodePattern(ops=frozenset({"operation"}), value=lambda value: value.may(Kind.TENSOR)),
)
_LOST_PARAMETER: Final = FlowSpecification(
    changes=_CHANGES,
    computed_by=(*_CHANGES, NodePattern(methods=_MOVES | _CASTS, at=RECEIVES)),
    stops=(
        NodePattern(functions=("torch.nn.Parameter*",)),
        NodePattern(methods=frozenset({"detach"}), at=RECEIVES),
        NodePattern(ops=frozenset({"attr"}), words=frozenset({"data", "grad"})),
    ),
    sinks=(NodePattern(functions=("torch.optim.[A-Z]*",), at=frozenset({0, "params"})),),
    keeper=lambda value: value.must(Kind.MODULE),
    through_callers=True,
)
_KEPT_PARAMETER: Final = replace(_LOST_PARAMETER, changes=(), stops=(*_LOST_PARAMETER.stops, *_CHANGES), sinks=())
_LOST_LEAF: Final = replace(_LOST_PARAMETER, keeper=None)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a leaf that is moved, cast or computed with before a module or an optimizer keeps it."""
    if context.spells(node.func, "Parameter"):
        wrapped = _wrapped(node)
        if wrapped is None or context.names(node.func) != {"torch.nn.Parameter"}:
            return
        lost = _lost(node, _LOST_PARAMETER, context)
        stored = {each.sink.node for each in lost if each.way_out}
        plain = context.paths_from(_KEPT_PARAMETER, node) if stored else ()
        is_kept = any(each.sink.node not in stored for each in plain)
        path = next((each for each in lost if not (each.way_out and is_kept)), None)
        if path is not None:
            yield _told(node, path, context, wrapped)
    elif _asks_for_gradient(node) and context.value(node).is_tensor:
        for path in _lost(node, _LOST_LEAF, context)[:1]:
            yield _told(node, path, context, None)


def _lost(node: cst.Call, specification: FlowSpecification, context: FileContext) -> list[KnownPath]:
    """Return the ways on which something else than a leaf is kept; where nothing is recorded, it is another leaf."""
    return [
        each
        for each in context.paths_from(specification, node)
        if each.is_sure and each.change is not None and _is_recorded(each.change, context)
    ]


def _is_recorded(change: FlowPlace, context: FileContext) -> bool:
    return bool(change.path) or context.mode(change.node) != Mode.OFF


def _told(node: cst.Call, path: KnownPath, context: FileContext, wrapped: cst.Arg | None) -> Draft:
    """Say what makes another tensor of a leaf, and who keeps that."""
    assert path.change is not None
    change = path.change.node
    method = change.func.attr if isinstance(change, ast.Call) and isinstance(change.func, ast.Attribute) else None
    is_sure = not path.change.path and _makes_another(change, context)
    gives = "gives" if is_sure else "may give"
    what = f"`.{method}()` of a leaf" if method is not None else "arithmetic with a leaf"
    chain = list(_chain(node, context)) if wrapped is not None else []
    at = next((each for each in chain if context.python(each) is change), None)
    if at is not None and path.sink.node not in _targets(chain[-1], context):
        at = None
    if not path.way_out:
        message = f"{what} {gives} a tensor that is no leaf, which the optimizer refuses: ask for the gradient last"
    else:
        what = f"`.{method}()` of an `nn.Parameter`" if at is not None else what
        advice = ("move" if method in _MOVES else "cast") + " before wrapping" if at is not None else "wrap it last"
        message = f"{what} {gives} a plain tensor, which the module does not register: {advice}"
    anchor = at.func if at is not None else node.func
    return Draft(
        anchor.attr if isinstance(anchor, cst.Attribute) else anchor,
        message,
        Confidence.CERTAIN if is_sure else Confidence.LIKELY,
        (_spelled(path.change, "is no leaf"), _spelled(path.sink, "keeps it")),
        _fix(node, wrapped, chain[-1], context) if at is not None and wrapped is not None else None,
    )


def _targets(value: cst.Call, context: FileContext) -> list[ast.AST | None]:
    """Return what a statement binds to a value."""
    match context.parent(value):
        case cst.Assign(targets=targets):
            return [context.python(each.target) for each in targets]
        case cst.AnnAssign(target=target):
            return [context.python(target)]
    return []


def _spelled(place: FlowPlace, said: str) -> str:
    assert isinstance(place.node, ast.expr)
    return f"`{in_a_line(place.node)}` {said}, {place.path}{' ' if place.path else ''}line {place.row}"


def _makes_another(change: ast.AST, context: FileContext) -> bool:
    """Whether a change makes a new tensor beyond doubt: from a host that is known, to another dtype, by arithmetic."""
    match change:
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _CASTS:
            return context.value(inner).exact is not None
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _MOVES:
            return context.value(inner).device == Device.HOST and context.value(change).device == Device.ACCELERATOR
    return True


def _asks_for_gradient(node: cst.Call) -> bool:
    """Whether a call makes a leaf that is to be trained: ``requires_grad=True``, ``.requires_grad_()``."""
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "requires_grad_":
        return all(isinstance(each.value, cst.Name) and each.value.value == "True" for each in node.args)
    return any(
        each.keyword is not None
        and each.keyword.value == "requires_grad"
        and isinstance(each.value, cst.Name)
        and each.value.value == "True"
        for each in node.args
    )


def _wrapped(node: cst.Call) -> cst.Arg | None:
    """Return the argument that becomes the parameter."""
    if not node.args or any(each.star for each in node.args):
        return None
    named = (each for each in node.args if each.keyword is not None and each.keyword.value == "data")
    return node.args[0] if node.args[0].keyword is None else next(named, None)


def _chain(node: cst.Call, context: FileContext) -> Iterator[cst.Call]:
    """Yield the moves and casts behind a call, innermost first."""
    inner: cst.CSTNode = node
    while True:
        attribute = context.parent(inner)
        if not isinstance(attribute, cst.Attribute) or attribute.value is not inner:
            return
        call = context.parent(attribute)
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return
        if attribute.attr.value not in _MOVES | _CASTS:
            return
        if attribute.attr.value == "type" and not call.args:
            return
        yield call
        inner = call


def _fix(node: cst.Call, wrapped: cst.Arg, last: cst.Call, context: FileContext) -> Fix | None:
    """Take the calls behind the parameter to what is wrapped."""
    tail = context.source.slice(context.span(node)[1], context.span(last)[1])
    if "#" in tail or "\n" in tail or bool(node.lpar):
        return None
    inside = context.outer_span(wrapped.value)
    needs = not is_primary(wrapped.value) and not bool(wrapped.value.lpar)
    opening, closing = ("(", ")") if needs else ("", "")
    edits = (
        *((Edit(inside[0], inside[0], opening),) if opening else ()),
        Edit(inside[1], inside[1], closing + tail),
        context.delete_between(node, last),
    )
    doubt = "the weight is registered and trained from now on"
    return Fix(f"Call `{tail}` before wrapping", edits, (AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True),))


RULE = Rule(
    "TNS502",
    "parameter-lost-by-move",
    Triggers(methods=("requires_grad_",), functions=("Parameter", *_LEAVES)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
