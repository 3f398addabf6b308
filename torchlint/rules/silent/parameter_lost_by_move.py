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

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.evidence.leaf_changes import CASTS, MOVES, does_nothing, is_sure
from torchlint.rules.evidence.lost_leaves import LostLeaf, lost_leaf
from torchlint.rules.evidence.primaries import is_primary
from torchlint.rules.evidence.shown_code import brief, in_a_line

_LEAVES = tuple(
    "Variable empty empty_like eye full full_like linspace ones ones_like rand rand_like randn randn_like tensor zeros "
    "zeros_like".split()
)
"""Functions that may be told to make a leaf."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a leaf that is moved, cast or computed with before a module or an optimizer keeps it."""
    if context.spells(node.func, "Parameter"):
        if context.names(node.func) == {"torch.nn.Parameter"} and (wrapped := _wrapped(node)) is not None:
            yield from _parameter(node, wrapped, context)
    elif _asks_for_gradient(node):
        yield from _leaf(node, context)


def _parameter(node: cst.Call, wrapped: cst.Arg, context: FileContext) -> Iterator[Draft]:
    """Report ``nn.Parameter(...)`` of which a module keeps another tensor."""
    data = context.python(wrapped.value)
    if not isinstance(data, ast.expr):
        return
    chain = list(_chain(node, context))
    if not chain or not _is_kept(chain[-1], context):
        leaf = context.python(node)
        lost = lost_leaf(leaf, data, context, is_parameter=True) if isinstance(leaf, ast.Call) else None
        if lost is not None:
            yield _lost(node, lost)
        return
    effective = [each for each in chain if not _changes_nothing(each, data, context)]
    if not effective:
        return
    attribute = cst.ensure_type(effective[0].func, cst.Attribute)
    method = attribute.attr.value
    sure = is_sure(method, data, context)
    yield Draft(
        attribute.attr,
        f"`.{method}()` of an `nn.Parameter` {'gives' if sure else 'may give'} a plain tensor, which the module "
        f"does not register: {'move' if method in MOVES else 'cast'} before wrapping",
        Confidence.CERTAIN if sure else Confidence.LIKELY,
        (f"`{brief(attribute.value, context)}` is made a parameter here, line {context.row(node)}",),
        _fix(node, wrapped, chain[-1], context),
    )


def _changes_nothing(call: cst.Call, data: ast.expr, context: FileContext) -> bool:
    node = context.python(call)
    return isinstance(node, ast.Call) and does_nothing(node, _method(call), data, context)


def _method(call: cst.Call) -> str:
    return cst.ensure_type(call.func, cst.Attribute).attr.value


def _leaf(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a tensor that is made to be trained, and of which an optimizer is given another one."""
    leaf = context.python(node)
    if not isinstance(leaf, ast.Call) or not context.value(leaf).is_tensor:
        return
    is_asked = isinstance(leaf.func, ast.Attribute) and leaf.func.attr == "requires_grad_"
    data = leaf.func.value if is_asked and isinstance(leaf.func, ast.Attribute) else leaf
    lost = lost_leaf(leaf, data, context, is_parameter=False)
    if lost is not None:
        yield _lost(node, lost)


def _lost(node: cst.Call, lost: LostLeaf) -> Draft:
    """Say what makes another tensor of a leaf, and who keeps that."""
    what = f"`.{lost.method}()` of a leaf" if lost.method is not None else "arithmetic with a leaf"
    gives = "gives" if lost.is_sure else "may give"
    if lost.is_given_to_optimizer:
        message = f"{what} {gives} a tensor that is no leaf, which the optimizer refuses: ask for the gradient last"
    else:
        message = f"{what} {gives} a plain tensor, which the module does not register: wrap it last"
    return Draft(
        node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
        message,
        Confidence.CERTAIN if lost.is_sure else Confidence.LIKELY,
        (
            f"`{in_a_line(lost.step)}` is no leaf, line {lost.step.lineno}",
            lost.file.located(f"`{in_a_line(lost.kept)}` keeps it, line {lost.kept.lineno}"),
        ),
    )


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
        if attribute.attr.value not in MOVES and attribute.attr.value not in CASTS:
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
