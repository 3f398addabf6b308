"""`.numpy()` is called on a tensor that NumPy has no array for: bfloat16, float8, complex32, sparse.

## What it does

Flags `.numpy()` where the code shows what the tensor is: `.to(torch.bfloat16)`, `.bfloat16()`, a `dtype=` of float8,
`.to_sparse()` and `torch.sparse_coo_tensor(...)`, in the chain or under a name of the same function that holds nothing
else. What is computed of bfloat16 and of numbers, `h * 2` and `torch.relu(h)`, is bfloat16, too.

Silent are tensors of unknown dtype, such as the output of a model, what has been cast or made dense since or on one of
several ways, and what stands in a function with `autocast`.

## Why is this bad?

The call always raises: `TypeError: Got unsupported ScalarType BFloat16`, `TypeError: can't convert Sparse layout tensor
to numpy. Use Tensor.to_dense() first`. Where the dtype is set for a GPU the tests on a CPU in float32 do not see it.

## Example

```python
import torch

edges = torch.eye(3).to_sparse()
array = edges.numpy()
```

Use instead:

```python
import torch

edges = torch.eye(3).to_sparse()
array = edges.to_dense().numpy()
```

For bfloat16 and float8 write `.float().numpy()`, or `.view(torch.int16).numpy()` where the bits are wanted. Where
Python numbers are wanted, `.tolist()` takes every dtype.

## Severity

An error where the code shows the dtype or layout, else a warning.

```python
import torch

array = torch.ones(3, dtype=torch.bfloat16).numpy()  # error


def in_half(x):
    return x.bfloat16()


def read(x: torch.Tensor):
    return in_half(x).numpy()  # warning
```

## Fix safety

Safe for sparse tensors: it raises, and `.to_dense()` gives the same numbers. Unsafe where an error may be expected, and
for bfloat16, whose bits may be meant and not its numbers. Without a fix for float8 and complex32, and where the array
is asked for its bytes, as by `.tobytes()` and `.view(np.uint16)`.

## References

* [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
* [torch.Tensor.to_dense](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to_dense.html)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.obligations import error_not_expected, is_tensor
from torchlint.rules.wording import in_a_line, value_step

_SPARSE: Final = re.compile(r"to_sparse(_coo|_cs[rc]|_bs[rc])?|torch\.sparse_\w+_tensor")
_AS_IT_IS: Final = frozenset({"detach", "cpu", "cuda", "coalesce", "requires_grad_"})
_OF_BITS: Final = frozenset({"view", "tobytes", "tofile", "data", "dtype", "nbytes", "itemsize"})


@dataclass(frozen=True)
class _Refused:
    """What NumPy has no array for: how it is called, what repairs it, and what else may be meant."""

    name: str
    repair: str
    otherwise: str
    why: str
    is_shown: bool = True
    """Whether the function around shows what it is."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``.numpy()`` on a tensor that is no array of NumPy's."""
    match node:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="numpy") as at)):
            pass
        case _:
            return
    above = context.parent(node)
    asked = above.attr.value if isinstance(above, cst.Attribute) else ""
    if asked in ("item", "tolist"):  # TNS107 has a better repair
        return
    found = _of_dtype(receiver, asked, context) or _of_layout(receiver, context)
    if found is None:
        return
    remedy = f"insert `{found.repair}`" if found.repair else found.otherwise
    yield Draft(
        at,
        f"`.numpy()` raises `TypeError` on {found.name}: {remedy}",
        Confidence.CERTAIN if found.is_shown else Confidence.LIKELY,
        (found.why,),
        _fix(found, node, receiver, context) if found.repair else None,
        Severity.ERROR if found.is_shown else Severity.WARNING,
    )


def _fix(found: _Refused, node: cst.Call, receiver: cst.BaseExpression, context: FileContext) -> Fix:
    edit = context.insert_after(receiver, found.repair)
    decided = (is_tensor(receiver, context), error_not_expected(node, context))
    fix = Fix(f"Insert `{found.repair}` before `.numpy()`", (edit,), decided)
    return fix.assuming(AUTHOR_MEANT_THIS.open(doubt=found.otherwise, is_likely=True)) if found.otherwise else fix


def _of_dtype(receiver: cst.BaseExpression, asked: str, context: FileContext) -> _Refused | None:
    """Say what is bfloat16 or smaller; under autocast it may be of another dtype than its operands."""
    value = context.value(receiver)
    if not value.is_tensor or value.exact not in ("bfloat16", "float8 or complex32"):
        return None
    around = (each for each in context.ancestors(receiver) if isinstance(each, cst.FunctionDef))
    text = context.code(next(around, context.module))
    if "autocast" in text:
        return None
    name, why, is_shown = f"a {value.exact} tensor", value_step(receiver, value.exact, context), "bfloat16" in text
    if value.exact != "bfloat16":
        return _Refused(name, "", "cast it first", why)
    if asked in _OF_BITS:
        return _Refused(name, "", "view it as integers to get its bits", why, is_shown)
    return _Refused(name, ".float()", "`.view` of an integer dtype gives the bits", why, is_shown)


def _of_layout(receiver: cst.BaseExpression, context: FileContext) -> _Refused | None:
    """Say what is sparse by the call that makes it."""
    made = _maker(context.python(receiver), context)
    if made is None:
        return None
    names = context.names(made.func)
    if isinstance(made.func, ast.Attribute) and context.value(made.func.value).is_tensor:
        names |= {made.func.attr}
    why = f"`{in_a_line(made)}` is sparse, line {made.lineno}"
    return _Refused("a sparse tensor", ".to_dense()", "", why) if any(map(_SPARSE.fullmatch, names)) else None


def _maker(node: ast.AST | None, context: FileContext) -> ast.Call | None:
    """Return the call of the same function that makes a tensor, before methods that hand it on."""
    match node:
        case ast.Name():
            bound = context.definition(node)
            is_here = bound is not None and context.function_around(bound) is context.function_around(node)
            return _maker(bound, context) if is_here and not isinstance(bound, ast.Name) else None
        case ast.Call(func=ast.Attribute(value=inner, attr=word)) if word in _AS_IT_IS:
            return _maker(inner, context)
        case ast.Call():
            return node
    return None


RULE = Rule(
    "TNS106",
    "numpy-on-unsupported-dtype",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "error-not-expected", "author-meant-this"),
    severity=Severity.ERROR,
    visit={cst.Call: check},
)
