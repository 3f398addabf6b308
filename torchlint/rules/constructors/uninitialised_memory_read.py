"""Uninitialised memory is used in a computation.

## What it does
Reports `total = torch.empty(n)`, `torch.empty_like(x)`, `x.new_empty(n)` and legacy `torch.Tensor(n, m)`, also if
moved or cast (`torch.empty(n).cuda()`), if the first use of `total` adds to it (`total += x`, `total[i] += x`,
`total.index_add_(0, at, x)`) or computes with it (`total * 2`, `total.sum()`). Also reports such a call used directly
as an operand: `torch.where(mask, x, torch.empty_like(x))`.

Not reported: tensors that are first filled, written by `copy_` or `out=`, stored into, concatenated, passed to another
function, to `nn.init` or to `nn.Parameter`, asked for their shape, or returned; tensors on the `meta` device; and
tensors without elements.

## Why is this bad?
`torch.empty` returns whatever is in memory. In a new process this is often zeros, so a test passes. Later it is the
contents of freed tensors, including NaN. Nothing raises.

## Example
```python
import torch


def total(batches):
    found = torch.empty(3)
    for batch in batches:
        found += batch
    return found
```

Use instead:

```python
import torch


def total(batches):
    found = torch.zeros(3)
    for batch in batches:
        found += batch
    return found
```

## Severity
A warning: the numbers depend on what was in memory before.

```python
import torch


def total(batches, n: int):
    found = torch.empty(n)  # warning
    for batch in batches:
        found += batch
    return found
```

## Fix safety
Never safe: the numbers change from random to zero. A sum starts with zeros; a product starts with ones.

## References
- [torch.empty](https://docs.pytorch.org/docs/stable/generated/torch.empty.html): "filled with uninitialized data"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Kind, Rule, Triggers
from torchlint.rules.constructors.constructor_argument import ArgumentKind, given
from torchlint.rules.constructors.legacy_types import name_node, type_of
from torchlint.rules.repairs import call_of, method_call
from torchlint.rules.wording import brief, first_line

_ZEROS: Final = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
_LEGACY: Final = tuple(f"{kind}Tensor" for kind in ("", *"Float Double Half BFloat16 Long Int Short Char Byte".split()))
_NO_MEMORY: Final = re.compile(r"\b0\b|['\"]meta['\"]|\bout\s*=|\*\*")
"""Tensors without elements or memory, and such as are given theirs."""
_PASSING: Final = frozenset(
    "contiguous cpu cuda expand expand_as flatten permute repeat reshape squeeze t to transpose unsqueeze view view_as "
    "bfloat16 clone detach double float half int long pin_memory requires_grad_ type".split()
)
"""Methods that give the same numbers elsewhere, in another form, or as another type."""
_COMPUTING: Final = frozenset(
    "abs add addmm argmax argmin bmm clamp cos cumsum div dot einsum exp log logsumexp matmul max maximum mean min "
    "minimum mm mul norm pow prod relu sigmoid sin softmax sqrt std sub sum tanh var where".split()
)
"""Functions and methods whose result depends on all numbers that they are given."""
_ADDING: Final = frozenset(
    "add_ sub_ mul_ div_ addmm_ addcmul_ addcdiv_ index_add_ scatter_add_ lerp_ index_add scatter_add".split()
)
"""Methods that compute with the numbers that a tensor has, and write the result there or into a new one."""
_FUNCTIONS: Final = frozenset(
    f"torch.{place}{word}" for place in ("", "nn.functional.", "linalg.") for word in _COMPUTING
)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report memory that is computed with before anything is written to it."""
    at, word = name_node(node.func), _maker(node, context)
    if at is None or not word:
        return
    made = _passed_on(node, context)
    place = context.python(made)
    if not isinstance(place, ast.expr) or _NO_MEMORY.search(context.code(made)):
        return
    used = context.first_use(place)
    if used is None or not _is_read(used, context):
        return
    begun, fix = _ZEROS.get(word, "torch.zeros"), None
    if isinstance(node.func, cst.Attribute) and word in _ZEROS:
        decided = AUTHOR_MEANT_THIS.open(doubt="the numbers begin with zeros from now on", is_likely=True)
        fix = Fix(f"Begin with `{begun}`", (context.replace(at, begun),), (decided,))
    yield Draft(
        at,
        f"`{_name_of(made, context)}` is uninitialised when it is used: start with `{begun}`",
        Confidence.LIKELY,
        (_read_at(used, context),),
        fix,
    )


def _read_at(place: ast.AST, context: FileContext) -> str:
    line = next(each for each in (place, *context.ancestors(place)) if isinstance(each, ast.stmt))
    return f"line {line.lineno} reads it: `{first_line(line, context)}`"


def _maker(node: cst.BaseExpression, context: FileContext) -> str:
    """Name the function that makes memory in which nothing is written; empty for others, and for given values."""
    if not isinstance(node, cst.Call) or not node.args:
        return ""
    at = name_node(node.func)
    if at is not None and context.spells(node.func, "empty", "empty_like"):
        return next((each for each in _ZEROS if context.names(node.func) == {f"torch.{each}"}), "")
    if at is not None and at.value == "new_empty":
        return "new_empty" if isinstance(node.func, cst.Attribute) and context.value(node).is_tensor else ""
    if type_of(node.func, context) is None:
        return ""
    found = given(node, [each for each in node.args if each.keyword is None or each.keyword.value == "size"], context)
    return "Tensor" if found.kind is ArgumentKind.SIZE else ""


def _passed_on(node: cst.BaseExpression, context: FileContext) -> cst.BaseExpression:
    """Return the outermost expression that holds the numbers of a new tensor: moved, cast or reshaped."""
    while (called := method_call(node, context)) is not None and called[1] in _PASSING:
        node = called[0]
    return node


def _is_read(place: ast.AST, context: FileContext) -> bool:
    """Whether a place that a tensor goes into takes its numbers: it is added to, an operand, or computed with."""
    match place:
        case ast.AugAssign() | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.BinOp():
            return context.value(place).may(Kind.TENSOR)
        case ast.Subscript():
            outer = context.parent(place)
            return isinstance(outer, ast.AugAssign) and outer.target is place
        case ast.Call(func=function, keywords=keywords) if all(each.arg != "out" for each in keywords):
            return bool(names := context.names(function)) and names <= _FUNCTIONS
        case ast.Attribute(attr=word):
            return word in _COMPUTING | _ADDING and call_of(place, context) is not None
    return False


def _name_of(made: cst.BaseExpression, context: FileContext) -> str:
    """Return the name that memory gets, or else its code."""
    match context.parent(made):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
    return brief(made, context)


RULE = Rule(
    "TNS309",
    "uninitialised-memory-read",
    Triggers(methods=("new_empty",), functions=("empty", "empty_like", *_LEGACY)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
