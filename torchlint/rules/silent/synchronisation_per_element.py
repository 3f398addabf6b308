"""The elements of a tensor are read one by one, and each read waits for the accelerator.

## What it does
Reports `.item()`, `int()` and `float()` on each element of a tensor that may be on an accelerator: in a comprehension
or loop over it (`[t.item() for t in scores]`) and in a loop over its indices (`scores[i].item()`), also if the element
is converted first (`t.long().item()`).

There must be evidence that the tensor may be on an accelerator: the code moves it there; it is on a module's device,
as the module's parameters, the arguments of its `forward` and results computed from these are; or a call in the
project passes such a tensor.

Not reported: one number per step (`loss.item()`); a list of separate scalars; tensors on the host
(`torch.linspace(0, 1, n)`, the output of a data set, the result of `.cpu()`); function arguments whose device nothing
shows; a read that ends the loop; and tests run by pytest, where the few elements do not matter.

## Why is this bad?
`.item()` copies one number to the host, and waits until the accelerator has finished all work queued so far. For a
tensor of a thousand elements, the loop waits a thousand times, and nothing else can be queued in the meantime;
`.tolist()` waits once. On torchlint's simulated accelerator, `[each.item() for each in found]` copies fifty times for
fifty elements, and `found.tolist()` once. Timed on an idle NVIDIA H200 with torch 2.11:

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

If the loop does more, get the numbers before it: `for each in found.tolist():`.

## Severity
A warning: the result is right, but the loop is slower by orders of magnitude on an accelerator.

```python
import torch


def numbers(x: torch.Tensor):
    return [each.item() for each in x.cuda().flatten()]  # warning
```

## Fix safety
Offered if a comprehension does nothing else. Safe if the tensor certainly has one dimension; otherwise unsafe, because
for a tensor with more dimensions `.tolist()` gives nested lists, while `.item()` accepted rows of one element.

## References
- [torch.Tensor.tolist](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.tolist.html)
- [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
- [Performance Tuning Guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html): avoid unnecessary
  CPU-GPU synchronisation
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

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
    NodePattern,
    Rule,
    Triggers,
    block_with,
    leaves,
    word_of,
)
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import is_primary
from torchlint.rules.silent.device_words import BY_MODULE
from torchlint.rules.wording import brief, in_a_line

_CASTS: Final = {"int": Dtype.INTEGRAL, "float": Dtype.FLOATING}
"""Built-ins that read one element, and what ``tolist()`` must give to be the same."""
_COMPLEX: Final = frozenset({"complex32", "complex64", "complex128"})
_PAIRING: Final = ("zip", "enumerate")
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
    if not context.works_with_torch or context.is_test:
        return
    match call := context.python(node):
        case ast.Call(func=ast.Attribute(attr="item"), args=[]) | ast.Call(func=ast.Name(id="int" | "float"), args=[_]):
            tensors = _read(call, context)
        case _:
            return
    for tensor in tensors:
        judged = context.placed(tensor)
        if judged is None or not (judged.is_tensor or _may_be_tensor(tensor, call, context)):
            continue
        yield Draft(
            node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
            f"one GPU sync for each element of `{in_a_line(tensor)}`: call `.tolist()` once",
            judged.confidence if judged.is_tensor else min(judged.confidence, Confidence.POSSIBLE),
            judged.why or BY_MODULE,
            _fix(node, tensor, context),
        )
        return


def _read(call: ast.Call, context: FileContext) -> Iterator[ast.expr]:
    """Yield the tensors of which a call reads one element after the other in a loop, and nothing before it does."""
    for loop in _loops_around(call, context):
        bound = {each.id for each in context.inside(loop, ast.Name) if isinstance(each.ctx, ast.Store)}
        tensors = [each.iter for each in getattr(loop, "generators", [loop]) if not isinstance(each, ast.While)]
        pairing = [each for each in tensors if isinstance(each, ast.Call) and word_of(each.func) in _PAIRING]
        tensors += [given for each in pairing for given in each.args]
        tensors += [
            part.value
            for part in context.inside(call, ast.Subscript)
            if bound & _names(part.slice, context) and not bound & _names(part.value, context)
        ]
        for tensor in tensors:
            sinks = context.answer((_READING, tensor), partial(_readings, tensor, context))
            read = (each for each in context.inside(loop, ast.Call) if each in sinks and bound & _names(each, context))
            first = min(read, key=lambda each: context.span(each)[0], default=None)
            if first is call:
                yield tensor


def _readings(tensor: ast.expr, context: FileContext) -> set[ast.AST]:
    """Return the calls that read what a value gives, each value followed once; of what is no tensor none."""
    if not context.value(tensor).may(Kind.TENSOR):
        return set()
    return {each.sink.node for each in context.paths_from(_READING, tensor)}


def _loops_around(call: ast.Call, context: FileContext) -> Iterator[Any]:
    """Yield the loops that run a call again and again, innermost first; none where it is the last to happen."""
    below: ast.AST = call
    for above in context.ancestors(call):
        if isinstance(above, (ast.Raise, ast.Assert, *SCOPES)) or leaves(block_with(below, above)):
            return
        is_comprehension = any(each is not below for each in getattr(above, "generators", ()))
        if is_comprehension or (isinstance(above, ast.For | ast.While) and below in above.body):
            yield above
        below = above


def _names(node: ast.AST, context: FileContext) -> set[str]:
    return {each.id for each in context.within(node) if isinstance(each, ast.Name)}


def _may_be_tensor(node: ast.expr, call: ast.Call, context: FileContext) -> bool:
    """Whether what is read by members may be one tensor: a list, as of losses, has tensors for members."""
    value = context.presumed_value(node)
    is_part = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Subscript)
    may_be_list = value.may(Kind.SEQUENCE) and (not is_part or "loss" in ast.unparse(node).lower())
    return value.may(Kind.TENSOR) and not may_be_list


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, tensor: ast.expr, context: FileContext) -> Fix | None:
    """Put one ``tolist()`` in the place of a list comprehension that does nothing else."""
    whole = context.parent(node)
    read = node.func.value if isinstance(node.func, cst.Attribute) else node.args[0].value
    match whole:
        case cst.ListComp(for_in=cst.CompFor(target=cst.Name(value=name), iter=source, ifs=[], inner_for_in=None)) if (
            isinstance(read, cst.Name) and read.value == name and context.python(source) is tensor
        ):
            value, code = context.value(tensor), context.code_with_parentheses(source)
        case _:
            return None
    if isinstance(node.func, cst.Name) and (value.dtype != _CASTS[node.func.value] or value.exact in _COMPLEX):
        return None
    if "#" in context.code(whole) or "\n" in context.code(whole):
        return None
    code = code if is_primary(source) or source.lpar else f"({code})"
    one = HAS_ONE_DIMENSION.decided(None if value.rank == 1 else "", brief(source, context))
    edit = context.replace(whole, f"{code}.tolist()")
    return Fix("Take all of them at once", (edit,), (one, is_tensor(source, context)))


RULE = Rule(
    "TNS504",
    "synchronisation-per-element",
    Triggers(methods=("item",), builtins=("int", "float")),
    assumes=("is-torch-tensor", "is-scalar"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
