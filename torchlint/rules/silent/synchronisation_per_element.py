"""The elements of a tensor are read one by one: an accelerator is waited for once for each of them.

## What it does

Flags `.item()`, `int()` and `float()` of each element of one tensor that may be on an accelerator: in a comprehension
or a loop over it (`[t.item() for t in scores]`), in a loop that counts through it (`scores[i].item()`), and in
`map(int, labels)`; also where the element is converted first (`t.long().item()`).

It asks for evidence that the tensor may be on an accelerator: the code moves it there, or it comes where a module is,
as the module's parameters, what its `forward` is given, and what is computed of these do; or a call in the project
hands it over. Silent are one number a step (`loss.item()`), a list of separate scalars, tensors on the host
(`torch.linspace(0, 1, n)`, what a data set gives, what comes after `.cpu()`), arguments of functions of which nobody
can tell where they are, readings that end the loop, and the tests that pytest runs: nobody waits for the few elements
of those.

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
    JudgedConversion,
    Kind,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import is_primary
from torchlint.rules.wording import brief

_CASTS: Final = {"int": Dtype.INTEGRAL, "float": Dtype.FLOATING}
"""Built-ins that read one element, and what ``tolist()`` must give to be the same."""
_COMPLEX: Final = frozenset({"complex32", "complex64", "complex128"})
_READ: Final = frozenset({0})
_READING: Final = FlowSpecification(
    changes=(NodePattern(ops=frozenset({"element"})), NodePattern(ops=frozenset({"index"}), at=_READ)),
    sinks=(
        NodePattern(methods=frozenset({"item"}), at=RECEIVES),
        NodePattern(functions=tuple(f"builtins.{each}" for each in _CASTS), at=_READ),
    ),
    is_computed=True,
    computed_by=(
        NodePattern(
            methods=frozenset("long int double bool half detach cpu clone round abs sigmoid exp squeeze float".split()),
            at=RECEIVES,
        ),
    ),
)
"""From a tensor over one of its elements, or one that is computed of it, to where the host reads that."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report the first reading of an element in a loop over a tensor."""
    call = context.python(node)
    if not isinstance(call, ast.Call) or not context.works_with_torch or context.is_test:
        return
    is_map = _is_map(call, context)
    read = [call.args[1]] if is_map else _read(call, context) if _is_reading(call) else ()
    for tensor in read:
        judged = _judged(tensor, call, context)
        if judged is None or judged.of_device is None:
            continue
        word = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        spelled = "map" if is_map else f".{call.func.attr}()" if isinstance(call.func, ast.Attribute) else "int()"
        code = " ".join(ast.unparse(tensor).split())
        yield Draft(
            word,
            f"`{spelled}` waits for the accelerator once for each element of `{code if len(code) <= 40 else '...'}`: "
            "one `.tolist()` waits once",
            judged.of_device if judged.is_tensor else min(judged.of_device, Confidence.POSSIBLE),
            judged.why or ("it comes where its module is, which may be moved",),
            _fix(node, tensor, context),
        )
        return


def _is_reading(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="item"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="int" | "float"), args=[ast.Name() | ast.Subscript() | ast.Call()]):
            return True
    return False


def _is_map(call: ast.Call, context: FileContext) -> bool:
    match call:
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int" | "float"), _]):
            return context.names(call.func) == {"builtins.map"}
    return False


def _read(call: ast.Call, context: FileContext) -> Iterator[ast.expr]:
    """Yield the tensors of which a call reads one element after the other in a loop, and nothing before it does."""
    for loop in _loops_around(call, context):
        around = context.parent(loop) if isinstance(loop, ast.comprehension) else loop
        within = context.within(around) if around is not None else []
        bound = {each.id for each in within if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        walked = [(tensor, _names(target, context)) for tensor, target in _iterated(loop)]
        walked += [
            (part.value, bound & _names(part.slice, context))
            for part in context.inside(call, ast.Subscript)
            if not bound & _names(part.value, context)  # it is the same in each round
        ]
        for tensor, names in walked:
            sinks = [each.sink.node for each in context.paths_from(_READING, tensor)] if names else []
            inside = [each for each in within if each in sinks and names & _names(each, context)]
            first = min(
                inside, key=lambda each: context.span(each)[0] if isinstance(each, ast.expr) else 0, default=None
            )
            if first is call and not _happens_once(call, around, context):
                yield tensor


def _iterated(loop: ast.For | ast.While | ast.comprehension) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a loop takes elements of, each with what is bound to them."""
    if isinstance(loop, ast.While):
        return
    match loop.iter, loop.target:
        case ast.Call(func=ast.Name(id="zip"), args=given), ast.Tuple(elts=targets):
            yield from zip(given, targets, strict=False)
        case ast.Call(func=ast.Name(id="enumerate"), args=[given, *_]), ast.Tuple(elts=[_, target]):
            yield given, target
        case _:
            yield loop.iter, loop.target


def _names(node: ast.AST, context: FileContext) -> set[str]:
    return {each.id for each in context.within(node) if isinstance(each, ast.Name)}


def _loops_around(call: ast.Call, context: FileContext) -> Iterator[ast.For | ast.While | ast.comprehension]:
    """Yield the loops around a call, innermost first."""
    below: ast.AST = call
    for above in context.ancestors(call):
        if isinstance(above, ast.For | ast.While) and below in above.body:
            yield above
        clauses: list[ast.comprehension] = getattr(above, "generators", [])
        yield from (each for each in reversed(clauses) if below is not each)
        if isinstance(above, SCOPES):
            return
        below = above


def _happens_once(call: ast.Call, loop: ast.AST | None, context: FileContext) -> bool:
    """Whether the loop is left behind the reading, or an error is told with it."""
    below: ast.AST = call
    for above in context.ancestors(call):
        body = getattr(above, "body", None)
        if isinstance(above, ast.Raise | ast.Assert):
            return True
        if isinstance(body, list) and below in body:
            return isinstance(body[-1], ast.Return | ast.Raise | ast.Break)
        if above is loop:
            break
        below = above
    return False


def _judged(tensor: ast.expr, call: ast.Call, context: FileContext) -> JudgedConversion | None:
    """Judge where a tensor may be; None for what need be none, as a list of losses, and where nothing says it."""
    judged = context.placed(tensor)
    if judged is None or not judged.is_placed or judged.of_device in (None, Confidence.UNPROVEN):
        return None
    value = context.presumed_value(tensor)
    is_part = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Subscript)
    may_be_list = value.may(Kind.SEQUENCE) and (not is_part or "loss" in ast.unparse(tensor).lower())
    return judged if judged.is_tensor or (value.may(Kind.TENSOR) and not may_be_list) else None


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, tensor: ast.expr, context: FileContext) -> Fix | None:
    """Put one ``tolist()`` in the place of a comprehension that does nothing else, and of ``list(map(int, x))``."""
    found = _whole(node, context)
    if found is None or context.python(found[1]) is not tensor:
        return None
    whole, read, casts = found
    value = context.value(tensor)
    same = all(value.dtype == _CASTS[each] and value.exact not in _COMPLEX for each in casts)
    if not same or "#" in context.code(whole) or "\n" in context.code(whole):
        return None
    code = context.code_with_parentheses(read)
    code = code if is_primary(read) or read.lpar else f"({code})"
    one = HAS_ONE_DIMENSION.decided(None if value.rank == 1 else "", brief(read, context))
    edit = context.replace(whole, f"{code}.tolist()")
    return Fix("Take all of them at once", (edit,), (one, is_tensor(read, context)))


def _whole(node: cst.Call, context: FileContext) -> tuple[cst.BaseExpression, cst.BaseExpression, list[str]] | None:
    """Return what reads all elements and does nothing else, the tensor, and the built-ins around each."""
    match node, context.parent(context.parent(node) or node):
        case cst.Call(func=cst.Name(value="map"), args=[cst.Arg(value=cst.Name(value=cast)), cst.Arg(value=read)]), (
            cst.Call(func=cst.Name(value="list"), args=[_]) as called
        ):
            return called, read, [cast]
    above: cst.CSTNode = node
    casts: list[str] = []
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=element))):
            outer = context.parent(context.parent(node) or node)
            if isinstance(outer, cst.Call) and isinstance(outer.func, cst.Name) and outer.func.value in _CASTS:
                above, casts = outer, [outer.func.value]
        case cst.Call(func=cst.Name(value="int" | "float" as cast), args=[cst.Arg(value=cst.Name(value=element))]):
            casts = [cast]
        case _:
            return None
    match context.parent(above):
        case (
            cst.ListComp(
                elt=elt, for_in=cst.CompFor(target=cst.Name(value=name), iter=read, ifs=[], inner_for_in=None)
            ) as whole
        ) if elt is above and name == element:
            return whole, read, casts
    return None


RULE = Rule(
    "TNS504",
    "synchronisation-per-element",
    Triggers(methods=("item",), builtins=("int", "float", "map")),
    assumes=("is-torch-tensor", "is-scalar"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
