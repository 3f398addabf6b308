"""`.numpy()` is called on a tensor that NumPy has no array for: bfloat16, float8, sparse, quantised, a conjugate view.

## What it does

Flags `.numpy()` where the code shows what the tensor is: `.to(torch.bfloat16)`, `.bfloat16()`, a `dtype=` of float8,
`.to_sparse()`, `torch.sparse_coo_tensor(...)`, `torch.quantize_per_tensor(...)` and `.conj()` of complex numbers. What
is computed of bfloat16 and of numbers, `h * 2` and `torch.relu(h)`, is bfloat16, too. Likely is what a model gives that
the code casts to bfloat16 or loads in it (`model.to(torch.bfloat16)`, `torch_dtype=`), and what a linear layer or a
product of matrices gives under `torch.autocast(..., dtype=torch.bfloat16)`; logits, which some libraries cast
themselves, are possible.

Silent are tensors of unknown dtype, such as the output of a model that is cast on some ways only, what has been cast,
made dense or resolved since, and `.numpy(force=True)` on a conjugate view, which resolves it.

## Why is this bad?

The call always raises: `TypeError: Got unsupported ScalarType BFloat16`, `TypeError: can't convert Sparse layout tensor
to numpy. Use Tensor.to_dense() first`, `RuntimeError: Can't call numpy() on Tensor that has conjugate bit set`. Where
the dtype is set for a GPU the tests on a CPU in float32 do not see it.

## Example

```python
import torch

spectrum = torch.fft.fft(torch.ones(3)).conj()
array = spectrum.numpy()
```

Use instead:

```python
import torch

spectrum = torch.fft.fft(torch.ones(3)).conj()
array = spectrum.resolve_conj().numpy()
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

Safe for sparse tensors and for conjugate views that the own text of the function shows: it raises, and `.to_dense()`
and `.resolve_conj()` give the same numbers. Unsafe where an error may be expected; for bfloat16, float8 and complex32,
whose bits may be meant and not their numbers; for a dtype that is a setting, as arrays of float16 and float64 become
float32 with it; and for quantised tensors, of which `.dequantize()` gives the numbers and `.int_repr()` the integers
behind them. Without a fix where the array is asked for its bytes, as by `.tobytes()` and `.view(np.uint16)`.

## References

* [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
* [torch.Tensor.resolve_conj](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.resolve_conj.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, IS_TENSOR
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, Dtype, FileContext, Kind, Rule, Triggers
from torchlint.rules.host.low_precision import LowPrecision, given_in_bfloat16
from torchlint.rules.host.unusual_storage import DTYPES, Storage, shown_storage
from torchlint.rules.obligations import error_not_expected, is_tensor
from torchlint.rules.wording import brief, value_step

_REPAIRS = {
    Storage.BFLOAT16: ".float()",
    Storage.FLOAT8: ".float()",
    Storage.COMPLEX32: ".cfloat()",
    Storage.SPARSE: ".to_dense()",
    Storage.QUANTISED: ".dequantize()",
    Storage.CONJUGATE: ".resolve_conj()",
}
_OF_A_MODEL = "`.numpy()` raises `TypeError` on what a model computes in bfloat16: use `.float()`"
_OF_A_SETTING = "`.numpy()` raises `TypeError` where a setting makes this bfloat16: use `.float()`"
_DOUBTS = {False: "the model may cast what it gives", True: "arrays of other dtypes become float32, too"}
_OF_BITS = frozenset({"view", "tobytes", "tofile", "data", "dtype", "nbytes", "itemsize"})


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``.numpy()`` on a tensor that is no array of NumPy's."""
    match node:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value="numpy") as at), args=args):
            pass
        case _:
            return
    place = context.python(receiver)
    value = context.value(receiver)
    if not isinstance(place, ast.expr) or _is_detour(node, context):
        return
    if not value.is_tensor or shown_storage(place, context) is None:
        may_be = value.may(Kind.TENSOR) and bool(value.dtype & Dtype.FLOATING)
        given = given_in_bfloat16(place, context) if may_be else None
        if given is not None:
            yield _of_a_model(at, receiver, given, node, context)
            return
    if not value.is_tensor:
        return
    found = shown_storage(place, context)
    if found is None or (args and found is Storage.CONJUGATE):
        return
    is_spelled = _is_spelled(found, place, context)
    if not is_spelled and _under_autocast(node, context):
        return
    repair = _REPAIRS[found]
    is_of_bits = found in DTYPES and _asks_for_bits(node, context)
    remedy = "view it as integers to get its bits" if is_of_bits else f"use `{repair}`"
    error = "RuntimeError" if found is Storage.CONJUGATE else "TypeError"
    message = f"`.numpy()` raises `{error}` on what is {found.value}: {remedy}"
    fix = Fix(
        f"Insert `{repair}` before `.numpy()`",
        (context.insert_after(receiver, repair),),
        (IS_TENSOR.proven(of=brief(receiver, context)), error_not_expected(node, context)),
    )
    if found is Storage.QUANTISED:
        fix = fix.assuming(AUTHOR_MEANT_THIS.open(doubt="`.int_repr()` gives the integers", is_likely=True))
    if found in DTYPES:
        fix = fix.assuming(AUTHOR_MEANT_THIS.open(doubt="`.view` of an integer dtype gives the bits", is_likely=True))
    yield Draft(
        at,
        message,
        Confidence.CERTAIN if is_spelled else Confidence.LIKELY,
        (value_step(receiver, found.value, context),),
        None if is_of_bits else fix,
        Severity.ERROR if is_spelled else Severity.WARNING,
    )


def _of_a_model(
    at: cst.Name, receiver: cst.BaseExpression, given: LowPrecision, node: cst.Call, context: FileContext
) -> Draft:
    """Report ``.numpy()`` on what a model gives that computes in bfloat16."""
    decided = (
        is_tensor(receiver, context),
        error_not_expected(node, context),
        AUTHOR_MEANT_THIS.open(doubt=_DOUBTS[given.is_setting], is_likely=True),
    )
    edit = context.insert_after(receiver, ".float()")
    return Draft(
        at,
        _OF_A_SETTING if given.is_setting else _OF_A_MODEL,
        given.confidence,
        (given.why,),
        None if _asks_for_bits(node, context) else Fix("Insert `.float()` before `.numpy()`", (edit,), decided),
        Severity.WARNING,
    )


def _is_spelled(found: Storage, place: ast.expr, context: FileContext) -> bool:
    """Whether the function around makes the tensor one of its sort, or else a function that it calls."""
    around = context.function_around(place) or context.tree
    return found is not Storage.BFLOAT16 or "bfloat16" in ast.unparse(around)


def _is_detour(node: cst.Call, context: FileContext) -> bool:
    """Whether the array only becomes Python numbers, for which TNS107 has a better repair."""
    match context.parent(node):
        case cst.Attribute(attr=cst.Name(value="item" | "tolist")):
            return True
    return False


def _asks_for_bits(node: cst.Call, context: FileContext) -> bool:
    """Whether what the array is asked for depends on how its numbers are held."""
    above = context.parent(node)
    return isinstance(above, cst.Attribute) and above.attr.value in _OF_BITS


def _under_autocast(node: cst.Call, context: FileContext) -> bool:
    """Whether autocast may have chosen the dtype."""
    return any(
        "autocast" in context.code(item.item)
        for above in context.ancestors(node)
        if isinstance(above, cst.With)
        for item in above.items
    )


RULE = Rule(
    "TNS106",
    "numpy-on-unsupported-dtype",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "error-not-expected", "author-meant-this"),
    severity=Severity.ERROR,
    visit={cst.Call: check},
)
