"""`.numpy()` is called on a tensor that NumPy cannot represent: bfloat16, float8, sparse, quantised, a conjugate view.

## What it does
Reports `.numpy()` where the code shows the dtype or layout: `.to(torch.bfloat16)`, `.bfloat16()`, `dtype=` with
float8, `.to_sparse()`, `torch.sparse_coo_tensor(...)`, `torch.quantize_per_tensor(...)` and `.conj()` of complex
numbers, also through a name or attribute that holds nothing else. Results computed from bfloat16 and numbers, such as
`h * 2` and `torch.relu(h)`, are bfloat16 too.

Not reported: tensors of unknown dtype, such as a model's output; tensors that are cast, made dense or resolved on at
least one path; code in a function that uses `autocast`; and `.numpy(force=True)` on a conjugate view, which resolves
it.

## Why is this bad?
The call always raises: `TypeError: Got unsupported ScalarType BFloat16`, `TypeError: can't convert Sparse layout
tensor to numpy. Use Tensor.to_dense() first`, `RuntimeError: Can't call numpy() on Tensor that has conjugate bit set`.
If the dtype is set only for a GPU, tests in float32 on a CPU miss it.

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

For bfloat16 and float8, write `.float().numpy()`, or `.view(torch.int16).numpy()` if you need the bits. If you need
Python numbers, `.tolist()` works for every dtype.

## Severity
An error if the code shows the dtype or layout; otherwise a warning.

```python
import torch

array = torch.ones(3, dtype=torch.bfloat16).numpy()  # error


def in_half(x):
    return x.bfloat16()


def read(x: torch.Tensor):
    return in_half(x).numpy()  # warning
```

## Fix safety
Safe for sparse tensors and conjugate views: the old call raises, and `.to_dense()` and `.resolve_conj()` give the same
numbers. Unsafe if an error may be expected; for bfloat16, where you may want the bits instead of the numbers; and for
quantised tensors, where `.dequantize()` gives the numbers and `.int_repr()` the integers behind them. There is no fix
for float8 and complex32, and none if the array is read as bytes, as by `.tobytes()` and `.view(np.uint16)`.

## References
* [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
* [torch.Tensor.resolve_conj](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.resolve_conj.html)
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
from torchlint.rules.api import (
    RECEIVES,
    Draft,
    FileContext,
    FlowPlace,
    FlowSpecification,
    FlowValue,
    Function,
    Kind,
    NodePattern,
    Rule,
    Triggers,
    remembered,
)
from torchlint.rules.obligations import error_not_expected, is_tensor
from torchlint.rules.wording import in_a_line, value_step


def _methods(words: str) -> NodePattern:
    return NodePattern(methods=frozenset(words.split()), at=RECEIVES)


def _ways(makers: NodePattern, ends: str, *changes: NodePattern) -> FlowSpecification:
    """Describe the ways of what is made, and perhaps changed, to where it becomes an array; ``ends`` undo it.

    They end where several ways meet, and in containers, where something else may be taken for it.
    """
    meetings = frozenset({"phi", "gamma", "either", "sequence", "dict", "comprehension", "grow", "spread"})
    return FlowSpecification(
        sources=(makers,),
        changes=changes,
        stops=(_methods(ends), NodePattern(ops=meetings)),
        sinks=(_methods("numpy"), *changes),
        is_computed=True,
        computed_by=(_methods("detach cpu cuda requires_grad_ coalesce"), *changes),
        through_objects=True,
    )


def _is_tensor(value: FlowValue) -> bool:
    return value.must(Kind.TENSOR)


_COMPLEX: Final = "complex polar view_as_complex fft.fft fft.fft[2n] fft.ifft fft.ifft[2n] fft.rfft fft.rfft[2n]"
_TO_SPARSE: Final = frozenset("to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split())
_CONJUGATE: Final = "a conjugate view"
_LAYOUTS: Final = {
    (_CONJUGATE, ".resolve_conj()"): _ways(
        NodePattern(functions=tuple(f"torch.{each}" for each in _COMPLEX.split()), value=_is_tensor),
        "resolve_conj clone to cpu cuda",  # a copy from an accelerator resolves it, too
        _methods("conj adjoint"),
        NodePattern(functions=("torch.conj", "torch.adjoint")),
    ),
    ("sparse", ".to_dense()"): _ways(
        NodePattern(methods=_TO_SPARSE, functions=("torch.sparse_*_tensor",), value=_is_tensor),
        "to_dense values indices crow_indices col_indices",
    ),
    ("quantised", ".dequantize()"): _ways(
        NodePattern(functions=("torch.quantize_per_*",)),
        "dequantize int_repr",
    ),
}
"""What NumPy has no array for beside dtypes, and what repairs it."""
_WORDS: Final = re.compile(rb"to_sparse|sparse_\w+_tensor|quantize_per|\bconj\b|\badjoint\b")
_OF_BITS: Final = frozenset({"view", "tobytes", "tofile", "data", "dtype", "nbytes", "itemsize"})


@dataclass(frozen=True)
class _Refused:
    """What NumPy has no array for: how it is called, what repairs it, and what else may be meant."""

    name: str
    repair: str
    otherwise: str
    is_shown: bool
    """Whether the function around shows what it is."""
    why: str


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
    found = _of_dtype(receiver, asked, context) or _of_layout(node, receiver, context)
    if found is None:
        return
    error = "RuntimeError" if found.name == _CONJUGATE else "TypeError"
    remedy = f"insert `{found.repair}`" if found.repair else found.otherwise
    what = found.name if found.name == _CONJUGATE else f"a {found.name} tensor"
    yield Draft(
        at,
        f"`.numpy()` raises `{error}` on {what}: {remedy}",
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
    why = value_step(receiver, value.exact, context)
    if value.exact != "bfloat16":
        return _Refused(value.exact, "", "cast it first", True, why)
    if asked in _OF_BITS:
        return _Refused(value.exact, "", "view it as integers to get its bits", "bfloat16" in text, why)
    return _Refused(value.exact, ".float()", "`.view` of an integer dtype gives the bits", "bfloat16" in text, why)


def _of_layout(node: cst.Call, receiver: cst.BaseExpression, context: FileContext) -> _Refused | None:
    """Say what is sparse, quantised or a conjugate view."""
    place = context.python(node)
    found = _layouts(context.tree, context).get(place) if place is not None and context.matches(_WORDS) else None
    if found is None or place is None or (found[0] == _CONJUGATE and node.args):
        return None
    name, repair, made = found
    is_here = context.function_around(place) is context.function_around(made.node)
    if not is_here and isinstance(receiver, cst.Attribute):
        stores = (each.ctx for each in context.attributes_by_word()[receiver.attr.value])
        if sum(isinstance(each, ast.Store) for each in stores) > 1:
            return None
    otherwise = "`.int_repr()` gives the integers" if name == "quantised" else ""
    return _Refused(name, repair, otherwise, is_here, f"`{in_a_line(made.node)}` is {name}, line {made.row}")


@remembered
def _layouts(_: ast.Module, context: FileContext) -> dict[ast.AST, tuple[str, str, FlowPlace]]:
    """Return where what NumPy has no array for becomes one, what it is, its repair, and where it is made."""
    found: dict[ast.AST, tuple[str, str, FlowPlace]] = {}
    scopes: tuple[Function | ast.Module, ...] = (context.tree, *context.nodes(ast.FunctionDef))
    for said, ways in _LAYOUTS.items():
        paths = [each for scope in scopes for each in context.paths_in(ways, scope) if each.is_sure]
        made = {each.sink.node: each.change or each.source for each in paths}
        again = [begun.node for sink, begun in made.items() if not _is_numpy(sink) and sink is not begun.node]
        found |= {sink: (*said, begun) for sink, begun in made.items() if _is_numpy(sink) and begun.node not in again}
    return found


def _is_numpy(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy"


RULE = Rule(
    "TNS106",
    "numpy-on-unsupported-dtype",
    Triggers(methods=("numpy",)),
    assumes=("is-torch-tensor", "error-not-expected", "author-meant-this"),
    severity=Severity.ERROR,
    visit={cst.Call: check},
)
