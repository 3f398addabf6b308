"""A tensor that requires grad is converted to a Python number without `.detach()` or `.item()`.

## What it does
Reports `float(t)`, `complex(t)` and `t` as an element in `torch.tensor([t])`, where `t` requires grad: a parameter, a
loss or a term of a loss that the same function differentiates, or the output of a module with parameters. In functions
that call `backward`, also `"%.2f" % t` and arguments of `math` and `cmath`.

Not reported: `int(t)`, `bool(t)`, f-strings, `str.format`, `.item()` and `.tolist()`, which torch accepts silently;
all conversions with grad mode off; and values that require grad only if a parameter or an unknown call says so.

## Why is this bad?
The number leaves the graph, and nothing in the code says that this is intended. Since 2.8 torch warns "Converting a
tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using tensor.detach() first", and
announces an error. `torch.tensor([a, b])` is usually a mistake: the result is a constant instead of a vector of `a`
and `b`, and whatever is computed from it trains nothing.

## Example
```python
import torch

weight = torch.ones(3, requires_grad=True)
loss = (weight * 2).sum()
loss.backward()
total = float(loss)
```

Use instead:

```python
import torch

weight = torch.ones(3, requires_grad=True)
loss = (weight * 2).sum()
loss.backward()
total = loss.item()
```

If the gradient must flow, use `torch.exp(loss)`, and `torch.stack([a, b])` instead of `torch.tensor([a, b])`.

## Severity
Legacy: torch only warns today. A warning if a loss is computed from the number, which ends its gradient, or if
`torch.tensor` makes a constant of it; not in a test, where expected values need no gradient.

```python
import torch

w = torch.ones(3, requires_grad=True)
shown = float(w.sum())  # legacy
both = torch.tensor([w.sum(), w.mean()])  # warning
```

## Fix safety
Safe if the code shows that the value is a tensor: the number is the same, bit for bit, and only the torch warning
disappears. The fix writes `.item()` if the dtype is known to be real, as for a loss whose `backward()` was called
earlier in the same block, and `.detach()` otherwise: `.item()` of a complex tensor without an imaginary part is a
`complex`, which neither `float` nor `math` accepts. Unsafe if the value may be a number, which has no `.detach()`, and
in a `forward` or where a loss is computed: the warning may be the only sign that a gradient gets lost.

For `torch.tensor([a, b])` the fix is only shown. `torch.stack` keeps the gradient, which changes what is trained;
`.detach()` keeps today's behaviour. Only you know which one is meant.

## References
* [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
* [torch.stack](https://docs.pytorch.org/docs/stable/generated/torch.stack.html)
* [Warning on tensors that require grad](https://github.com/pytorch/pytorch/pull/143261)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NO_GRADIENT_WANTED
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    FUNCTIONS,
    RECEIVES,
    Draft,
    FileContext,
    FlowSpecification,
    Kind,
    KnownPath,
    Mode,
    NodePattern,
    Rule,
    Triggers,
    earlier_in_block,
)
from torchlint.rules.host.host_conversions import computes_loss
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import is_primary
from torchlint.rules.wording import brief

_WITHOUT_FLOAT: Final = frozenset("trunc prod comb perm gcd lcm factorial isqrt fsum dist sumprod".split())
"""Functions of ``math`` that ask a tensor for something else than ``__float__``, or take a list."""
_REAL: Final = frozenset({"float16", "bfloat16", "float32", "float64"})
_CONVERSION: Final = re.compile(r"%[#0\- +]*\d*(?:\.\d*)?[hlL]?(.)", re.DOTALL)
_BACKWARD: Final = frozenset({"backward", "manual_backward"})
_FIRST: Final = frozenset({0})
_DIFFERENTIATED: Final = FlowSpecification(
    sinks=(
        NodePattern(methods=frozenset({"backward"}), at=RECEIVES),
        NodePattern(methods=_BACKWARD, at=_FIRST, beside=lambda value: not value.must(Kind.TENSOR)),
        NodePattern(functions=("torch.autograd.backward",), at=_FIRST),
    ),
    is_computed=True,
    computed_by=(
        NodePattern(methods=frozenset({"scale"}), at=_FIRST),
        NodePattern(ops=frozenset({"operation"}), words=frozenset({"+", "+=", "/"})),
        NodePattern(ops=frozenset({"operation"}), beside=lambda value: not value.may(Kind.TENSOR)),
    ),
    of_all_versions=True,
    is_followed_into_calls=False,
)


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call that asks a tensor for its number."""
    plain = [each.value for each in node.args if not each.star and each.keyword is None]
    match node.func:
        case cst.Name(value="float" | "complex" as word) as at if len(node.args) == len(plain) == 1:
            if _may_be_live(plain[0], context) and context.names(at) == {f"builtins.{word}"}:
                yield from _converted(node, at, plain, context)
        case cst.Attribute(value=cst.Name(value="math" | "cmath" as module), attr=cst.Name(value=word) as at):
            is_one = word not in _WITHOUT_FLOAT and _trains(node, context)
            if is_one and context.names(node.func) == {f"{module}.{word}"}:
                yield from _converted(node, at, plain, context)
        case function if context.spells(function, "tensor") and plain:
            yield from _gathered(node, plain[0], context)


def check_format(node: cst.BinaryOperation, context: FileContext) -> Iterator[Draft]:
    """Report ``"%.2f" % t`` in a function that differentiates something."""
    if not isinstance(node.operator, cst.Modulo) or isinstance(node.left, cst.BaseNumber):
        return
    given = [each.value for each in node.right.elements] if isinstance(node.right, cst.Tuple) else [node.right]
    if not _trains(node, context) or not any(_may_be_live(each, context) for each in given):
        return
    text = context.value(node.left).const
    words = [each for each in _CONVERSION.findall(text) if each != "%"] if isinstance(text, str) else []
    if len(words) == len(given):  # where a value is taken by name, or is a width, these differ
        for each, word in zip(given, words, strict=True):
            if word in "eEfFgG":
                yield from _converted(node, each, [each], context)


def _converted(
    node: cst.BaseExpression, at: cst.CSTNode, given: list[cst.BaseExpression], context: FileContext
) -> Iterator[Draft]:
    """Report those of some values that require grad: each is asked for its number."""
    live = {each: sure for each in given if (sure := _requires_grad(each, node, context)) is not None}
    if not live:
        return
    first, code = next(iter(live)), brief(next(iter(live)), context)
    is_real = all(_is_real(each, context) for each in live)
    what = f"`{brief(node.func, context)}`" if isinstance(node, cst.Call) else "`%`"
    remedy = "use `.item()`" if is_real else "insert `.detach()`"
    cuts = computes_loss(node, context) and not _trains(node, context)
    says = f"{what} of a tensor that requires grad warns and will raise: {remedy}"
    if cuts:
        says = f"{what} cuts the gradient where a loss is computed: stay in torch, or {remedy}"
    doubt = "a loss is computed here: the warning may be the only sign of a lost gradient"
    wanted = NO_GRADIENT_WANTED.decided(doubt if cuts else None, code)
    edits = [edit for each in live for edit in _number(node, each, ".item()" if is_real else ".detach()", context)]
    yield Draft(
        at,
        says,
        min(live.values()),
        _why(first, context),
        Fix(
            "Use `.item()`" if is_real else "Insert `.detach()`",
            tuple(edits),
            (*(is_tensor(each, context) for each in live), wanted),
        ),
        Severity.WARNING if cuts else Severity.LEGACY,
    )


def _number(node: cst.BaseExpression, of: cst.BaseExpression, word: str, context: FileContext) -> Iterator[Edit]:
    """Take a tensor's number without a warning; `float` goes with it where the dtype makes it superfluous."""
    opening, closing = ("(", ")") if not is_primary(of) and not getattr(of, "lpar", ()) else ("", "")
    start, end = context.outer_span(of)
    first, last = start, end
    if word == ".item()" and isinstance(node, cst.Call) and context.names(node.func) == {"builtins.float"}:
        first, last = context.span(node)
        if "#" in context.source.slice(first, start) + context.source.slice(end, last):
            first, last = start, end
    if opening or first < start:
        yield Edit(first, start, opening)
    yield Edit(end, last, f"{closing}{word}")


def _gathered(node: cst.Call, given: cst.BaseExpression, context: FileContext) -> Iterator[Draft]:
    """Report ``torch.tensor([a, b])``: a constant that was made of values with a gradient."""
    leaves = list(_leaves(given))
    if not any(_may_be_live(each, context) for each in leaves) or context.names(node.func) != {"torch.tensor"}:
        return
    live = {each: sure for each in leaves if (sure := _requires_grad(each, node, context)) is not None}
    if not live:
        return
    first = next(iter(live))
    yield Draft(
        node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
        "`torch.tensor` cuts the gradient of its elements: use `torch.stack`, or `.detach()` if that is meant",
        min(live.values()),
        _why(first, context),
        _stacked(node, given, context) if len(live) == len(leaves) else None,
        Severity.LEGACY if context.is_test else Severity.WARNING,
    )


def _stacked(node: cst.Call, given: cst.BaseExpression, context: FileContext) -> Fix | None:
    """Show ``torch.stack``, which takes tensors alone and no keywords."""
    is_flat = not any(isinstance(each.value, cst.List | cst.Tuple) for each in getattr(given, "elements", ()))
    if not is_flat or len(node.args) != 1 or not isinstance(node.func, cst.Attribute):
        return None
    doubt = "the result requires grad from now on; `.detach()` on its elements keeps what happens today"
    return Fix("Use `torch.stack`", (context.replace(node.func.attr, "stack"),), (AUTHOR_MEANT_THIS.open(doubt=doubt),))


def _leaves(given: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield what the elements of a list are, and of the lists in it."""
    match given:
        case cst.ListComp(elt=each):
            yield each
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            for element in (each for each in elements if isinstance(each, cst.Element)):
                is_list = isinstance(element.value, cst.List | cst.Tuple)
                yield from _leaves(element.value) if is_list else (element.value,)


# ---------------------------------------------------------------------- what requires grad
def _may_be_live(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression may require grad: it is no literal, no comparison, and nothing known says no."""
    if isinstance(node, cst.BaseNumber | cst.BaseString | cst.Comparison | cst.BooleanOperation | cst.BaseComp):
        return False
    value = context.value(node)
    return value.may(Kind.TENSOR) and value.may_require_grad and bool(context.mode(node) & Mode.ON)


def _trains(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether the function around a node, or outside of functions its statements, call ``backward``."""
    around = (each for each in context.ancestors(node) if isinstance(each, cst.FunctionDef))
    return "backward(" in context.code(next(around, context.module))


def _requires_grad(node: cst.BaseExpression, at: cst.BaseExpression, context: FileContext) -> Confidence | None:
    """Return how sure it is that a value requires grad where a number is asked for; None where nothing brings it."""
    if not _may_be_live(node, context):
        return None
    is_known, paths = context.value(node).is_tensor, _differentiated(node, context)
    is_itself = any(_is_of(each.sink.node, context.code(node)) for each in paths)
    if is_itself and is_known and context.mode(node) == Mode.ON:
        return Confidence.CERTAIN
    if is_itself or (paths and (is_known or isinstance(node, cst.Name))):  # `args.weight` of a sum may be a number
        return Confidence.LIKELY
    judged = context.judged(node, at) if is_known else None
    return judged.of_grad if judged is not None and judged.has_source_of_grad else None


def _differentiated(node: cst.BaseExpression, context: FileContext) -> tuple[KnownPath, ...]:
    """Return the ways of a value to where it is differentiated, itself or in a sum."""
    may_be = context.works_with_torch and _trains(node, context)
    return context.paths_from(_DIFFERENTIATED, node) if may_be else ()


def _is_real(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a tensor holds no complex numbers: ``backward`` without an argument, which ran before, refuses them."""
    value, place = context.value(node), context.python(node)
    if value.is_tensor and value.exact in _REAL:
        return True
    if not isinstance(place, ast.Name):
        return False
    calls = {each.sink.node for each in _differentiated(node, context) if _is_of(each.sink.node, place.id)}
    below: ast.AST = place
    for above in context.ancestors(place):
        before = earlier_in_block(below, above)
        if any(isinstance(each, ast.Expr) and each.value in calls for each in before):
            return True
        if isinstance(above, FUNCTIONS):
            return False
        below = above
    return False


def _is_of(call: ast.AST, code: str) -> bool:
    """Whether a call differentiates a value as it is, and takes no gradient: ``loss.backward()``."""
    match call:
        case ast.Call(func=ast.Attribute(value=value, attr="backward"), args=[]):
            return ast.unparse(value) == code
        case ast.Call(func=ast.Attribute(attr="backward" | "manual_backward"), args=[value]):
            return ast.unparse(value) == code
    return False


def _why(node: cst.BaseExpression, context: FileContext) -> tuple[str, ...]:
    reason = context.value(node).why_grad
    if reason is not None:
        return context.why(reason)
    row = next((each.sink.row for each in _differentiated(node, context)), context.row(node))
    return (f"`{brief(node, context)}` is differentiated, line {row}",)


RULE = Rule(
    "TNS109",
    "scalar-from-grad-tensor",
    Triggers(functions=("tensor",), methods=("backward",), builtins=("float", "complex")),
    assumes=("is-torch-tensor", "no-gradient-wanted", "author-meant-this"),
    visit={cst.Call: check_call, cst.BinaryOperation: check_format},
)
