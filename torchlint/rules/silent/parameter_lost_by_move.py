"""A parameter is moved or cast after it was wrapped: what the module keeps is no parameter.

## What it does

Flags `self.w = nn.Parameter(t).cuda()`, `.to(device)`, `.half()` and their like in a module: where the call makes a new
tensor, `self.w` is a plain tensor, which `parameters()` does not give and no optimizer trains.

Silent are moves that cannot do anything (`.cpu()` of what is on the host, `.float()` of what is float32 as far as can
be seen, `.to(device)` of what was made on that device or with a tensor that is there), parameters that are wrapped
again, names that are used up at once, and what goes into an `nn.ParameterList` or `nn.ParameterDict`, which wrap it
again.

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

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Device, Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.evidence.constructor_argument import brief
from torchlint.rules.evidence.local_bindings import bindings_of

_MOVES = frozenset({"cuda", "cpu", "to", "xpu", "npu", "mps", "type"})
_CASTS = {"half": "float16", "double": "float64", "bfloat16": "bfloat16", "float": "float32"}
_DEEPEST = 3
_PRIMARY = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
"""What a method can be called on without parentheses."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``nn.Parameter(...)`` that is moved before a module keeps it."""
    if not context.spells(node.func, "Parameter") or context.names(node.func) != {"torch.nn.Parameter"}:
        return
    wrapped = _wrapped(node)
    chain = list(_chain(node, context))
    if wrapped is None or not chain or not _is_kept(chain[-1], context):
        return
    effective = [each for each in chain if not _does_nothing(each, wrapped.value, context)]
    if not effective:
        return
    call, attribute = effective[0], cst.ensure_type(effective[0].func, cst.Attribute)
    is_sure = _is_sure(call, wrapped.value, context)
    method = attribute.attr.value
    yield Draft(
        attribute.attr,
        f"`.{method}()` of an `nn.Parameter` {'gives' if is_sure else 'may give'} a plain tensor, which the module "
        f"does not register: {'move' if method in _MOVES else 'cast'} before wrapping",
        Confidence.CERTAIN if is_sure else Confidence.LIKELY,
        (f"`{brief(attribute.value, context)}` is made a parameter here, line {context.row(node)}",),
        _fix(node, wrapped, chain[-1], context),
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
        if attribute.attr.value not in _MOVES and attribute.attr.value not in _CASTS:
            return
        if attribute.attr.value == "type" and not call.args:
            return
        yield call
        inner = call


def _is_kept(last: cst.Call, context: FileContext) -> bool:
    """Whether a module keeps a value by an attribute: ``self.w = ...`` in a class of modules, or ``net.w = ...``."""
    match context.parent(last):
        case cst.Assign(targets=targets):
            return any(_is_of_a_module(each.target, context) for each in targets)
        case cst.AnnAssign(target=target):
            return _is_of_a_module(target, context)
    return False


def _is_of_a_module(target: cst.BaseExpression, context: FileContext) -> bool:
    return isinstance(target, cst.Attribute) and context.value(target.value).must(Kind.MODULE)


def _does_nothing(call: cst.Call, wrapped: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a move or cast gives the parameter itself, as far as anything says so."""
    method, value = cst.ensure_type(call.func, cst.Attribute).attr.value, context.value(wrapped)
    if method in _CASTS:
        return value.exact == _CASTS[method] or (method == "float" and value.exact is None)
    if method == "cpu":
        return not value.device & Device.ACCELERATOR
    if method in ("to", "type"):
        return _is_there(call, wrapped, context)
    return value.device == Device.ACCELERATOR


def _is_there(call: cst.Call, wrapped: cst.BaseExpression, context: FileContext) -> bool:
    """Whether what ``.to`` is given is the device, or the dtype, that the tensor has."""
    made_with = {context.code(each.value) for inner in _calls(wrapped) for each in inner.args}
    value = context.value(wrapped)
    node = context.python(wrapped)
    places = _places(node, context) if isinstance(node, ast.expr) else frozenset()
    for each in call.args:
        if each.keyword is not None and each.keyword.value in ("non_blocking", "copy", "memory_format"):
            if each.keyword.value == "copy":
                return False
            continue
        given = context.value(each.value)
        if context.code(each.value) in made_with:
            continue
        if given.must(Kind.DEVICE | Kind.STRING) and context.code(each.value) in places:
            continue
        if given.must(Kind.DTYPE) and value.exact is not None and f"torch.{value.exact}" in given.names:
            continue
        is_host = given.must(Kind.DEVICE | Kind.STRING) and given.device == Device.HOST
        if not (is_host and not value.device & Device.ACCELERATOR):
            return False
    return True


def _places(node: ast.expr, context: FileContext, depth: int = _DEEPEST) -> frozenset[str]:
    """Return the codes of what a tensor, or one that it is computed with, was moved to last: both are on one device."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _places(left, context, depth) | _places(right, context, depth)
        case ast.Call(func=ast.Attribute(attr="to"), args=[place]):
            return frozenset({ast.unparse(place)}) if context.value(place).must(Kind.DEVICE) else frozenset()
        case ast.Name() if depth:
            bound = bindings_of(node, context)
            found = [frozenset() if each.depth else _places(each.value, context, depth - 1) for each in bound]
            return frozenset.intersection(*found) if found else frozenset()
    return frozenset()


def _calls(node: cst.BaseExpression) -> Iterator[cst.Call]:
    """Yield the calls of a chain, outermost first."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner)):
                yield node
                node = inner
            case cst.Call():
                yield node
                return
            case cst.Attribute(value=inner):
                node = inner
            case _:
                return


def _is_sure(call: cst.Call, wrapped: cst.BaseExpression, context: FileContext) -> bool:
    """Whether the call makes a new tensor beyond doubt: from a host that is known, or to another dtype."""
    method, value = cst.ensure_type(call.func, cst.Attribute).attr.value, context.value(wrapped)
    if method in _CASTS:
        return value.exact is not None
    return value.device == Device.HOST and method in ("cuda", "xpu", "npu", "mps")


def _fix(node: cst.Call, wrapped: cst.Arg, last: cst.Call, context: FileContext) -> Fix | None:
    """Take the calls behind the parameter to what is wrapped."""
    tail = context.source.slice(context.span(node)[1], context.span(last)[1])
    if "#" in tail or "\n" in tail or bool(node.lpar):
        return None
    inside = context.outer_span(wrapped.value)
    needs = not isinstance(wrapped.value, _PRIMARY) and not bool(wrapped.value.lpar)
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
    Triggers(functions=("Parameter",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
