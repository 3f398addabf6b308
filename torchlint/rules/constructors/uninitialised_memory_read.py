"""Memory that nothing has written yet is computed with.

## What it does

Flags `total = torch.empty(n)`, `torch.empty_like(x)`, `x.new_empty(n)` and legacy `torch.Tensor(n, m)`, also moved,
cast or wrapped, `torch.empty(n).cuda()`, where the first that happens to `total` is that it is added to (`total += x`,
`total[i] += x`, `total.index_add_(0, at, x)`) or computed with (`total * 2`, `total.sum()`), and where they are
operands themselves: `torch.where(mask, x, torch.empty_like(x))`.

Flags `self.w = nn.Parameter(torch.empty(n))` and `nn.Parameter(torch.Tensor(n, m))` in a module that computes with
`self.w` and derives from `nn.Module`, maybe by way of other classes of the project, where nothing in the project writes
to it: no `nn.init`, no `.data`, no loop over `parameters()`, no function that is given it. What another class writes to
an attribute of its own says nothing. Where a checkpoint may be loaded, others may use the module, or its tests write to
it (nobody else does), that is possible only.

Silent is all else: what is filled, written by `copy_` or `out=`, stored into, joined with others, given to another
function or to `nn.init`, asked for its shape, returned, on the `meta` device, or has no elements.

## Why is this bad?

`torch.empty` gives whatever lies in memory. In a fresh process that is often zeros, so that it works in a test, and
later on it is the numbers of tensors that were freed, NaN among them. Nothing raises.

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

A warning: the numbers depend on what was in the memory before.

```python
import torch


def total(batches, n: int):
    found = torch.empty(n)  # warning
    for batch in batches:
        found += batch
    return found
```

## Fix safety

Never safe: the numbers change, from chance to zeros. Zeros are what a sum begins with; a product begins with ones.
A parameter gets no fix: which numbers a weight begins with is for you to say, and zeros may keep it from learning.

## References

- [torch.empty](https://docs.pytorch.org/docs/stable/generated/torch.empty.html): "filled with uninitialized data"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.constructors.memory_reads import is_read, passed_on
from torchlint.rules.constructors.uninitialised_parameters import is_of_sizes, read_without_initialisation
from torchlint.rules.wording import first_line

_WORDS = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
_LEGACY = tuple(f"{kind}Tensor" for kind in ("", *"Float Double Half BFloat16 Long Int Short Char Byte".split()))
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report memory that is computed with before anything is written to it."""
    if context.spells(node.func, "Parameter"):
        yield from _parameter(node, context)
    word = _word(node, context)
    call = context.python(node) if word is not None else None
    if word is None or not isinstance(call, ast.Call):
        return
    made = passed_on(call, context)
    if not _has_memory(call) or (made is not call and _is_on_meta(made)):
        return
    used = context.first_use(made)
    if used is None or not is_read(used, context):
        return
    name = _name_of(made, context)
    line = next(each for each in (used, *context.ancestors(used)) if isinstance(each, ast.stmt))
    begun = _WORDS.get(word, "torch.zeros")
    at = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    fix = None
    if isinstance(node.func, cst.Attribute) and word in _WORDS:
        decided = AUTHOR_MEANT_THIS.open(doubt="the numbers begin with zeros from now on", is_likely=True)
        fix = Fix(f"Begin with `{_WORDS[word]}`", (context.replace(node.func.attr, _WORDS[word]),), (decided,))
    yield Draft(
        at,
        f"`{name}` is uninitialised memory when it is computed with: begin with `{begun}`",
        Confidence.LIKELY,
        (f"line {line.lineno} reads it: `{first_line(line, context)}`",),
        fix,
    )


def _name_of(made: ast.expr, context: FileContext) -> str:
    """Return the name that memory gets, or else its code."""
    match context.parent(made):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ast.unparse(made)


def _parameter(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a parameter of a module that begins with what lies in memory."""
    names = context.names(node.func)
    found = read_without_initialisation(node, context) if names and names <= _PARAMETERS else None
    if found is not None:
        word, used, confidence = found
        yield Draft(
            node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
            f"nothing initialises `self.{word}`, a parameter of uninitialised memory: `nn.init` it",
            confidence,
            (f"line {used.lineno} reads it: `{first_line(used, context)}`",),
        )


def _word(node: cst.Call, context: FileContext) -> str | None:
    """Return which of the functions is called; None for others, such as NumPy's, and for tensors of given values."""
    for word in ("empty", "empty_like"):
        if context.spells(node.func, word):
            return word if context.names(node.func) == {f"torch.{word}"} else None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "new_empty":
        return "new_empty" if context.value(node).is_tensor else None
    legacy = next((each for each in _LEGACY if context.spells(node.func, each)), None)
    return legacy if legacy is not None and is_of_sizes(node, context) else None


def _has_memory(call: ast.Call) -> bool:
    """Whether the tensor may have elements whose values matter: none of its sizes is 0, and it is not on ``meta``."""
    for each in ast.walk(call):
        if isinstance(each, ast.Constant) and (each.value == "meta" or (each.value == 0 and each.value is not False)):
            return False
    return not any(each.arg in ("out", None) for each in call.keywords)


def _is_on_meta(made: ast.expr) -> bool:
    return any(isinstance(each, ast.Constant) and each.value == "meta" for each in ast.walk(made))


RULE = Rule(
    "TNS309",
    "uninitialised-memory-read",
    Triggers(methods=("new_empty",), functions=("empty", "empty_like", "Parameter", *_LEGACY)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
