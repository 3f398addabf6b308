"""The elements of a tensor are read one by one: an accelerator is waited for once for each of them.

## What it does

Flags `.item()`, `int()` and `float()` of each element of one tensor that may be on an accelerator: in a comprehension
or a loop over it (`[t.item() for t in scores]`), in a loop that counts through it (`scores[i].item()`), and in
`map(int, labels)`; also where the element is converted first (`t.long().item()`). Possible is what is a tensor by its
use alone: `sizes[i].item()`.

It asks for evidence that the tensor may be on an accelerator: the code moves it there, or it comes from a module that
may be moved, by what its `forward` is given or by its parameters, or from a network that its class keeps and moves
(`self.net = net.cuda()`). Silent are one number a step (`loss.item()`), a list
of separate scalars, tensors on the host (`torch.linspace(0, 1, n)`, what a data set gives, what comes after `.cpu()`),
arguments of functions of which nobody can tell where they are, and the tests that pytest runs: nobody waits for the
few elements of those.

## Why is this bad?

`.item()` copies one number to the host, and waits until the accelerator has done all that it was given so far. For a
tensor of a thousand elements the loop waits a thousand times, and nothing else can be queued meanwhile; `.tolist()`
waits once. Counted on torchlint's simulated accelerator, of fifty elements: `[each.item() for each in found]` copies
fifty times, and `found.tolist()` once. Timed on an idle NVIDIA H200 with torch 2.11:

| elements | one by one | `.tolist()` |
|---|---|---|
| 50 | 0.59 ms | 0.02 ms |
| 1,000 | 8.9 ms | 0.04 ms |
| 10,000 | 89 ms | 0.18 ms |

## Example

```python
import torch


def best(scores, device):
    found = torch.argmax(scores.to(device), -1).flatten()
    return [each.item() for each in found]
```

Use instead:

```python
import torch


def best(scores, device):
    found = torch.argmax(scores.to(device), -1).flatten()
    return found.tolist()
```

Where a loop does more than that, take the numbers before it: `for each in found.tolist():`.

## Severity

A warning: it is right, and slow by orders of magnitude on an accelerator.

```python
import torch


def numbers(x: torch.Tensor):
    return [each.item() for each in x.cuda().flatten()]  # warning
```

## Fix safety

Offered where a comprehension does nothing else. Safe where the tensor has one dimension beyond doubt; else it is
unsafe: of a tensor with more dimensions, `.tolist()` gives lists of lists, where `.item()` took rows of one element.

## References

- [torch.Tensor.tolist](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html)
- [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
- [Performance Tuning Guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html): avoid unnecessary
  CPU-GPU synchronisation
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import HAS_ONE_DIMENSION
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    RECEIVES,
    SCOPES,
    Draft,
    Dtype,
    FileContext,
    FlowSpecification,
    Kind,
    Loop,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import is_primary
from torchlint.rules.silent.accelerator_places import Place, is_building, place_by_methods
from torchlint.rules.silent.loss_names import is_called_a_loss
from torchlint.rules.wording import brief

_CASTS = {"int": Dtype.INTEGRAL, "float": Dtype.FLOATING}
"""Built-ins that read one element, and what ``tolist()`` must give to be the same."""
_SAME_ELEMENT = frozenset("long int float double bool half detach cpu clone round abs sigmoid exp squeeze".split())
"""Methods that give one element of one element: the host waits for that as it does for the other."""
_LAST = (ast.Return, ast.Raise, ast.Break)
_READING: Final = FlowSpecification(
    changes=(
        NodePattern(ops=frozenset({"element"})),
        NodePattern(ops=frozenset({"index"}), at=frozenset({0})),
    ),
    sinks=(
        NodePattern(methods=frozenset({"item"}), at=RECEIVES),
        NodePattern(functions=tuple(f"builtins.{each}" for each in _CASTS), at=frozenset({0})),
    ),
    is_computed=True,
    computed_by=(NodePattern(methods=_SAME_ELEMENT, at=RECEIVES),),
)


@dataclass(frozen=True, slots=True)
class Site:
    """An element that is read, of a tensor that a loop walks through."""

    tensor: ast.expr
    loop: ast.AST
    """The loop; of a comprehension, its clause."""
    place: Place


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report the first reading of an element in a loop over a tensor."""
    call = context.python(node) if _is_reading(node) else None
    if not isinstance(call, ast.Call) or not context.works_with_torch or context.is_test:
        return
    site = _site(call, context)
    if site is None:
        return
    word = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    code = " ".join(ast.unparse(site.tensor).split())
    spelled = f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else f"{ast.unparse(call.func)}()"
    yield Draft(
        word,
        f"`{'map' if isinstance(site.loop, ast.Call) else spelled}` waits for the accelerator once for each element of "
        f"`{code if len(code) <= 40 else '...'}`: one `.tolist()` waits once",
        site.place.confidence(context) if context.value(site.tensor).is_tensor else Confidence.POSSIBLE,
        site.place.why,
        _fix(node, site, context),
    )


def _is_reading(node: cst.Call) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="item")), args=[]):
            return True
        case cst.Call(func=cst.Name(value="int" | "float"), args=[cst.Arg(value=cst.Name() | cst.Subscript())]):
            return True
        case cst.Call(
            func=cst.Name(value="int" | "float"),
            args=[cst.Arg(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=word)), args=[]))],
        ):
            return word in _SAME_ELEMENT
        case cst.Call(func=cst.Name(value="map"), args=[cst.Arg(value=cst.Name(value="int" | "float")), _]):
            return True
    return False


def _site(call: ast.Call, context: FileContext) -> Site | None:
    """Return what is wrong with a call; None for nothing."""
    if isinstance(call.func, ast.Name) and not context.names(call.func) <= {f"builtins.{call.func.id}"}:
        return None
    if isinstance(call.func, ast.Name) and call.func.id == "map":
        found = _place(call.args[1], call, context)
        return Site(call.args[1], call, found) if found is not None else None
    for loop in _loops_around(call, context):
        for tensor, names in _walked(call, loop, context):
            place = _place(tensor, call, context) if names & _names(call, context) else None
            if place is None or not _reads_each(call, tensor, names, loop, context):
                continue
            return None if _happens_once(call, loop, context) else Site(tensor, loop, place)
    return None


def _names(node: ast.AST, context: FileContext) -> set[str]:
    return {each.id for each in context.within(node) if isinstance(each, ast.Name)}


def _place(node: ast.expr, call: ast.Call, context: FileContext) -> Place | None:
    """Return why a tensor may be on an accelerator: not while its module is made."""
    value = context.value(node)
    is_item = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Subscript)
    is_used = is_item and not is_called_a_loss(node)  # a list of losses has an ``item()`` for each, too
    is_one = value.is_tensor or (value.may(Kind.TENSOR) and (is_used or not value.may(Kind.SEQUENCE)))
    return place_by_methods(node, context) if is_one and not is_building(node, context) else None


def _loops_around(call: ast.Call, context: FileContext) -> Iterator[ast.For | ast.comprehension]:
    """Yield the loops around a call, innermost first."""
    below: ast.AST = call
    for above in context.ancestors(call):
        clauses: list[ast.comprehension] = getattr(above, "generators", [])
        yield from (each for each in reversed(clauses) if below is not each)
        if isinstance(above, ast.For) and below is not above.iter:
            yield above
        if isinstance(above, SCOPES):
            return
        below = above


def _walked(
    call: ast.Call, loop: ast.For | ast.comprehension, context: FileContext
) -> Iterator[tuple[ast.expr, set[str]]]:
    """Yield what a loop takes one element of after the other, and the names by which an element is known."""
    numbers = _names(loop.target, context)
    around = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
    names = context.inside(around, ast.Name) if around is not None else []
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}  # to another tensor in each round
    for each in context.inside(call, ast.Subscript):
        if numbers & _names(each.slice, context) and not bound & _names(each.value, context):
            yield each.value, numbers
    match loop.target, loop.iter:
        case ast.Tuple(elts=[_, element]), ast.Call(func=ast.Name(id="enumerate"), args=[source, *_]):
            yield source, _names(element, context)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources):
            for target, source in zip(targets, sources, strict=False):
                yield source, _names(target, context)
        case _:
            yield loop.iter, numbers


def _reads_each(call: ast.Call, tensor: ast.expr, names: set[str], loop: ast.AST, context: FileContext) -> bool:
    """Whether a call reads elements of a tensor, and none above it does so in the same loop."""
    around = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
    readings = [each.sink.node for each in context.paths_from(_READING, tensor)]
    calls = context.inside(around, ast.Call) if around is not None else []
    inside = [each for each in calls if each in readings and names & _names(each, context)]
    return bool(inside) and min(inside, key=lambda each: (each.lineno, each.col_offset)) is call


def _happens_once(call: ast.Call, loop: ast.AST, context: FileContext) -> bool:
    """Whether the loop is left behind the reading, or an error is told with it."""
    below: ast.AST = call
    end = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
    for above in context.ancestors(call):
        if below is end:
            return False
        if isinstance(above, ast.Raise | ast.Assert | Loop) and above is not loop:
            return isinstance(above, ast.Raise | ast.Assert)
        for block in (getattr(above, word, None) for word in ("body", "orelse")):
            if isinstance(block, list) and below in block and isinstance(block[-1], _LAST):
                return True
        below = above
    return False


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, site: Site, context: FileContext) -> Fix | None:
    """Put one ``tolist()`` in the place of a comprehension that does nothing else, and of ``list(map(int, x))``."""
    call = context.python(node)
    is_plain = isinstance(call, ast.Call) and not isinstance(_argument(call), ast.Call | ast.Attribute)
    found = _whole(node, site, context) if is_plain else None
    if found is None:
        return None
    whole, tensor, casts = found
    value = context.value(tensor)
    same = all(value.dtype == _CASTS[each] and value.exact not in _COMPLEX for each in casts)
    if not same or "#" in context.code(whole) or "\n" in context.code(whole):
        return None
    code = context.code_with_parentheses(tensor)
    if not is_primary(tensor) and not tensor.lpar:
        code = f"({code})"
    one = HAS_ONE_DIMENSION.decided(None if context.value(site.tensor).rank == 1 else "", brief(tensor, context))
    return Fix(
        "Take all of them at once", (context.replace(whole, f"{code}.tolist()"),), (one, is_tensor(tensor, context))
    )


def _argument(call: ast.Call) -> ast.expr | None:
    """Return what is written as the element; of ``map`` nothing."""
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if len(call.args) == 1 else None


_COMPLEX = frozenset({"complex32", "complex64", "complex128"})


def _whole(
    node: cst.Call, site: Site, context: FileContext
) -> tuple[cst.BaseExpression, cst.BaseExpression, list[str]] | None:
    """Return what reads all elements and does nothing else, the tensor, and the built-ins around each."""
    casts = []
    if isinstance(node.func, cst.Name):
        casts.append(cst.ensure_type(node.args[0].value, cst.Name).value if len(node.args) > 1 else node.func.value)
    above: cst.CSTNode = node
    while True:
        below, above = above, context.parent(above) or above
        match above:
            case cst.Arg(keyword=None, star=""):
                continue
            case cst.Call(func=cst.Name(value="int" | "float" as word), args=[_]) if len(node.args) < 2:
                casts.append(word)
            case cst.Call(func=cst.Name(value="list"), args=[_]) if len(node.args) == 2:
                return above, node.args[1].value, casts
            case cst.ListComp(elt=elt, for_in=clause) if elt is below:
                is_plain = isinstance(clause.target, cst.Name) and not clause.ifs and clause.inner_for_in is None
                is_walked = is_plain and context.python(clause.iter) is site.tensor
                return (above, clause.iter, casts) if is_walked else None
            case _:
                return None


RULE = Rule(
    "TNS504",
    "synchronisation-per-element",
    Triggers(methods=("item",), builtins=("int", "float", "map")),
    assumes=("is-torch-tensor", "is-scalar"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
