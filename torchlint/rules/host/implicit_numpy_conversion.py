"""A tensor that requires grad, or may be on an accelerator, is passed directly to NumPy, a plot or a data frame.

## What it does
Finds tensors that reach a function of NumPy, matplotlib, pandas, scikit-learn, SciPy, Pillow, OpenCV or `json` without
an explicit conversion: as an argument, in a list or dictionary argument, in an operation with an array, or assigned to
an array's elements. What each function does with a tensor was measured with the real library:

* it converts the tensor to an array, as `.numpy()` does (`np.asarray`, `plt.plot`, `pd.Series`, `accuracy_score`);
* it converts to an array, computes, and returns a tensor (`np.sqrt`);
* it converts to an array, and NumPy 2 warns (`np.array`);
* it raises for every tensor (`np.mean`, `json.dumps`, `Image.fromarray`, an operator with an array on the left).

A host tensor that does not require grad is reported only for functions that raise for every tensor.

## Why is this bad?
`plt.plot(losses)` works until the list holds the losses themselves instead of numbers; then it raises `Can't call
numpy() on Tensor that requires grad`. The same call works on a laptop and raises on the first machine with a GPU. An
explicit conversion tells the reader what happens and works everywhere.

## Example
```python
import numpy as np
import torch

weight = torch.ones(3, requires_grad=True)
values = np.asarray(weight * 2)
total = np.sum(weight)
```

Use instead:
```python
import numpy as np
import torch

weight = torch.ones(3, requires_grad=True)
values = np.asarray((weight * 2).detach().numpy())
total = np.sum(weight.detach().numpy())
```

## Severity
An error if the tensor certainly requires grad or is on an accelerator, or if the function raises for every tensor. A
warning if that depends on the caller or the machine. Legacy if all calls in the project pass values that convert.

```python
import json

import numpy as np
import torch

weight = torch.ones(3, requires_grad=True)
json.dumps(weight)  # error

device = "cuda" if torch.cuda.is_available() else "cpu"
np.asarray(torch.ones(3).to(device))  # warning


def array_of(t: torch.Tensor):
    return np.asarray(t)  # legacy


ONES = array_of(torch.ones(3))
```

## Fix safety
Safe if the value is certainly a tensor and the old call raised for it or made the same array. Unsafe if the call
returns a tensor today, as `np.sqrt` does: after the fix it returns an array. Unsafe if only an annotation says that
the value is a tensor, where a loss is computed (the error may be the only sign of a lost gradient), and where an error
is expected. For tensors in a list or dictionary there is no fix: store numbers, such as `loss.item()`.

## References
- [`torch.Tensor.numpy`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
- [The array interface of NumPy](https://numpy.org/doc/stable/user/basics.interoperability.html)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import (
    NOT_JUDGED,
    Draft,
    FileContext,
    JudgedConversion,
    Kind,
    Rule,
    Triggers,
    Value,
    any_element,
)
from torchlint.rules.host.array_sinks import (
    DIVIDED_BY,
    FUNCTION_WORDS,
    FUNCTIONS,
    LEFT_OF_ARRAY,
    METHOD_WORDS,
    METHODS,
    PACKAGES,
    RIGHT_OF_ARRAY,
    STORED_IN_ARRAY,
    ArraySink,
    Reception,
)
from torchlint.rules.host.host_conversions import Conversion, not_excluded, repair
from torchlint.rules.obligations import is_tensor
from torchlint.rules.wording import brief, tensor_step

_DEEPEST = 2
"""So many containers a tensor may lie below what is handed over: a list of dictionaries."""
_PLAIN = Kind.TENSOR | Kind.INTEGER | Kind.SCALAR | Kind.STRING | Kind.NONE | Kind.SEQUENCE
"""What the members of a container are, one by one, where all of them are known."""


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report tensors among the arguments of a function or method that takes arrays."""
    sink = _sink(node.func, context)
    if sink is None or any(each.keyword is not None and each.keyword.value in sink.unless for each in node.args):
        return
    at = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    words = ((each.keyword.value if each.keyword else each.star or place, each) for place, each in enumerate(node.args))
    given = (each for word, each in words if word in sink.places or (each.keyword and "**" in sink.places))
    drafts = [draft for each in given for draft in _received(each.value, node, at, sink, context)]
    if drafts:
        yield max(drafts, key=lambda each: each.confidence)


def check_operation(node: cst.BinaryOperation, context: FileContext) -> Iterator[Draft]:
    """Report a tensor beside an array and an operator."""
    left, right = node.left, node.right
    if "numpy" not in context.imported_packages or isinstance(right, cst.BaseNumber | cst.BaseString):
        return
    is_divided = isinstance(node.operator, cst.Divide)
    sinks = (right, left, DIVIDED_BY if is_divided else RIGHT_OF_ARRAY), (left, right, LEFT_OF_ARRAY)
    for tensor, array, sink in sinks:
        if context.value(tensor).is_tensor and context.value(array).must(Kind.ARRAY):
            yield from _received(tensor, node, tensor, sink, context)


def check_store(node: cst.Assign, context: FileContext) -> Iterator[Draft]:
    """Report a tensor that elements of an array, or a column of a data frame, are set to."""
    for each in node.targets:
        if isinstance(each.target, cst.Subscript) and context.value(node.value).has_dimensions:
            held = context.value(each.target.value)
            if held.must(Kind.ARRAY) or held.instance == {"pandas"}:
                yield from _received(node.value, node.value, node.value, STORED_IN_ARRAY, context)


def _sink(function: cst.BaseExpression, context: FileContext) -> ArraySink | None:
    """Return the row of a function that is called, by its imported name or by the package of the object."""
    spelled = context.python(function) if context.spells(function, *FUNCTION_WORDS, *METHOD_WORDS) else None
    if not isinstance(spelled, ast.expr):
        return None
    names = context.qualified_names(spelled)
    if not names and isinstance(function, cst.Attribute) and function.attr.value in METHOD_WORDS:
        packages = context.value(function.value).instance
        names = frozenset(f"{each.partition('.')[0]}.{function.attr.value}" for each in packages)
        return METHODS.get(next(iter(names))) if len(names) == 1 else None
    return FUNCTIONS.get(next(iter(names))) if len(names) == 1 else None


def _received(
    given: cst.BaseExpression,
    call: cst.BaseExpression,
    at: cst.CSTNode,
    sink: ArraySink,
    context: FileContext,
) -> Iterator[Draft]:
    """Say what happens to what a sink is given, if that is, or holds, a tensor that does not become an array."""
    value, reception, depth = context.value(given), sink.reception, 0
    while value.must(Kind.SEQUENCE) and depth < _DEEPEST:
        value, depth = any_element(value), depth + 1
    if not value.may(Kind.TENSOR) or (depth and (sink.of_members is None or value.unknown)):
        return  # what a container holds is not asked of those who call
    reception = sink.of_members if depth and sink.of_members is not None else reception
    judged = context.judged(given, call, depth) or NOT_JUDGED
    sure = _confidence(value, judged, reception, depth)
    if sure is None:
        return
    found = Conversion(call, given, judged, judged.of_grad is not None, judged.of_device is not None)
    why = judged.why or ((tensor_step(given, context),) if not depth else (f"`{brief(given, context)}` holds tensors",))
    fix = None if depth else _fix(found, sink, context)
    severity = Severity.ERROR if sure is Confidence.CERTAIN else _severity(reception, judged)
    yield Draft(at, _message(found, call, reception, depth, context), sure, why, fix, severity)


def _confidence(value: Value, judged: JudgedConversion, reception: Reception, depth: int) -> Confidence | None:
    """Return how sure the fault is; None where there is none, or where the value may be an array as well."""
    if reception is Reception.RAISES:
        sure = Confidence.LIKELY if value.claimed or depth else Confidence.CERTAIN
        return sure if value.is_tensor or (depth and value.must(_PLAIN)) else None
    may_fail = judged.of_grad is not None or judged.of_device is not None
    return judged.confidence if may_fail and (value.is_tensor or judged.is_tensor) else None


def _severity(reception: Reception, judged: JudgedConversion) -> Severity:
    if reception is Reception.RAISES:
        return Severity.ERROR
    return Severity.LEGACY if judged.is_met_by_none else Severity.WARNING


def _message(
    found: Conversion, call: cst.BaseExpression, reception: Reception, depth: int, context: FileContext
) -> str:
    """Say what is wrong in one line, cause then remedy."""
    name = f"`{brief(found.converted, context)}`"
    word = "NumPy"
    if isinstance(call, cst.Call) and call is not found.converted:
        word = f"`{brief(call.func, context)}`"
    if reception is Reception.RAISES:
        where = " to the right of an array" if isinstance(call, cst.BinaryOperation) else ""
        what = f"what {name} holds" if depth else name
        return f"{word} raises for a tensor{where}: convert {what} first"
    is_live = found.judged.has_source_of_grad and not found.cpu
    because = "requires grad" if is_live else not_excluded(found)
    if depth:
        return f"{word} needs arrays, and a tensor in {name} {because}: keep numbers"
    return f"{word} needs an array, and {name} {because}: add `{found.missing}`"


def _fix(found: Conversion, sink: ArraySink, context: FileContext) -> Fix:
    """Write the conversion out; an array instead of a tensor is a change that only the author can want."""
    fix = repair(found, is_tensor(found.converted, context), context, then=sink.wants)
    if sink.reception is Reception.GIVES_TENSOR:
        doubt = "on the host the call gives a tensor today, and an array then"
        return fix.assuming(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))
    return fix


RULE = Rule(
    "TNS105",
    "implicit-numpy-conversion",
    Triggers(functions=FUNCTION_WORDS, methods=METHOD_WORDS, packages=PACKAGES),
    assumes=("is-torch-tensor", "only-read", "no-gradient-wanted", "error-not-expected", "author-meant-this"),
    severity=Severity.WARNING,
    visit={
        cst.Call: check_call,
        cst.BinaryOperation: check_operation,
        cst.Assign: check_store,
    },
)
