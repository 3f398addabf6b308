"""A parameter is moved or cast after it is wrapped, so the module does not register it.

## What it does
Reports `self.w = nn.Parameter(t).cuda()`, `.to(device)`, `.half()` and similar calls in a module. If the call makes a
new tensor, `self.w` is a plain tensor: `parameters()` does not return it, and no optimizer trains it. The same holds
for results computed from the parameter before it is assigned (`nn.Parameter(t) * 0.02`,
`nn.Parameter(t).unsqueeze(0)`), also through names and functions that create, move or return it.

Not reported: calls that change nothing (`.cpu()` on a host tensor, `.float()` on a tensor that is float32 as far as
torchlint can see, `.to(device)` on a tensor created on that device or from a tensor on it); parameters that are
wrapped again; names that are used up at once, or whose parameter is also kept; and elements of `nn.ParameterList` or
`nn.ParameterDict`, which wrap them again.

## Why is this bad?
On a CPU, `.cuda()` is not called or `.to(device)` does nothing, so the parameter is registered and all seems well. On
a GPU the same line registers nothing: the weight keeps its initial value, is missing from `state_dict()`, and does not
move with the module. Nothing raises, and the loss still falls because the other layers train.

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

Better still, let the caller choose the device: `nn.Parameter(torch.ones(width))`, and `Scale(3).to(device)`.

## Severity
A warning: the code works on a CPU, and the parameter never trains on a GPU.

```python
from torch import nn
import torch


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3)).cuda()  # warning
```

## Fix safety
Never safe: the weight is now registered, trained and expected in `state_dict()`. That is the intention, but old
checkpoints lack it, and `load_state_dict` raises for them.

## References
- [torch.nn.Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html):
  a module registers an attribute only if it is a `Parameter`
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
from torchlint.rules.wording import flow_step

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
    keeper=lambda value: value.must(Kind.MODULE),
    through_callers=True,
)
_KEPT_PARAMETER: Final = replace(_LOST_PARAMETER, changes=(), stops=(*_LOST_PARAMETER.stops, *_CHANGES))


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a parameter that is moved, cast or computed with before a module keeps it."""
    if not context.spells(node.func, "Parameter") or context.names(node.func) != {"torch.nn.Parameter"}:
        return
    paths = context.paths_from(_LOST_PARAMETER, node)
    lost = [each for each in paths if each.is_sure and each.change and _is_recorded(each.change, context)]
    stored = {each.sink.node for each in lost}
    kept = context.paths_from(_KEPT_PARAMETER, node) if lost else ()
    if lost and all(each.sink.node in stored for each in kept):  # else the parameter itself is kept, too
        yield _told(node, lost[0], context)


def _is_recorded(change: FlowPlace, context: FileContext) -> bool:
    """Whether a change is recorded by autograd: else it gives another leaf."""
    return bool(change.path) or context.mode(change.node) != Mode.OFF


def _told(node: cst.Call, path: KnownPath, context: FileContext) -> Draft:
    """Say what makes another tensor of a parameter, and who keeps that."""
    assert path.change is not None
    change = path.change.node
    method = change.func.attr if isinstance(change, ast.Call) and isinstance(change.func, ast.Attribute) else None
    is_sure = method not in _MOVES | _CASTS  # else it may be there already, and of the dtype
    at = _moved(node, path, context) or node
    what = f"`.{method}()` of an `nn.Parameter`" if method is not None else "arithmetic with an `nn.Parameter`"
    advice = "wrap it last" if at is node else f"{'move' if method in _MOVES else 'cast'} before wrapping"
    return Draft(
        at.func.attr if isinstance(at.func, cst.Attribute) else at.func,
        f"{what} {'gives' if is_sure else 'may give'} a plain tensor, not a parameter: {advice}",
        Confidence.CERTAIN if is_sure else Confidence.LIKELY,
        (flow_step(path.change, "is no leaf"), flow_step(path.sink, "keeps it")),
        _fix(node, at, context) if at is not node else None,
    )


def _moved(node: cst.Call, path: KnownPath, context: FileContext) -> cst.Call | None:
    """Return the one move or cast behind a parameter where what it gives is bound to what keeps it."""
    method = context.parent(node)
    call = context.parent(method) if method is not None else None
    match method, context.parent(call) if call is not None else None:
        case (
            cst.Attribute(attr=cst.Name(value=word)),
            cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target),
        ) if word in _MOVES | _CASTS and context.python(target) is path.sink.node:
            return call if isinstance(call, cst.Call) else None
    return None


def _fix(node: cst.Call, last: cst.Call, context: FileContext) -> Fix | None:
    """Take the calls behind the parameter to what is wrapped."""
    wrapped = node.args[0] if node.args and not any(each.star for each in node.args) else None
    tail = context.source.slice(context.span(node)[1], context.span(last)[1])
    if wrapped is None or wrapped.keyword is not None or "#" in tail or "\n" in tail or node.lpar:
        return None
    needs = not is_primary(wrapped.value) and not bool(wrapped.value.lpar)
    start, end = context.outer_span(wrapped.value)
    edits = (
        *((Edit(start, start, "("),) if needs else ()),
        Edit(end, end, ")" * needs + tail),
        context.delete_between(node, last),
    )
    decided = AUTHOR_MEANT_THIS.open(doubt="the weight is registered and trained from now on", is_likely=True)
    return Fix(f"Call `{tail}` before wrapping", edits, (decided,))


RULE = Rule(
    "TNS502",
    "parameter-lost-by-move",
    Triggers(functions=("Parameter",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
