"""A tensor that requires grad is turned into a Python number without being detached.

## What it does

Reports `float(t)`, `complex(t)`, `t` as an element in `torch.tensor([t])`, and in functions that call `backward` also
`"%.2f" % t` and what `math` and `cmath` are given, where `t` requires grad: a parameter, a loss that is differentiated,
what a module with parameters gives.

Silent are `int(t)`, `bool(t)`, f-strings, `str.format`, `.item()` and `.tolist()`, which torch takes without a word,
all conversions while grad mode is off, and values of which only a parameter or an unknown call could say that they
require grad.

## Why is this bad?

The number has left the graph, and nothing in the code says that this is meant. Since 2.8 torch warns "Converting a
tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using tensor.detach() first", and
announces an error. In `torch.tensor([a, b])` it is mostly a mistake: what was to be a vector of `a` and `b` is a
constant, and whatever is computed of it trains nothing.

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

Where the gradient is to flow, use `torch.exp(loss)`, and `torch.stack([a, b])` in place of `torch.tensor([a, b])`.

## Severity

Legacy: torch only warns today. A warning where a loss is computed of the number, which ends its gradient, and where
`torch.tensor` makes a constant of it; not in a test, where what is expected needs no gradient.

```python
import torch

w = torch.ones(3, requires_grad=True)
shown = float(w.sum())  # legacy
both = torch.tensor([w.sum(), w.mean()])  # warning
```

## Fix safety

Safe where the code shows that the value is a tensor: the number is the same, bit for bit, and only the warning goes.
`.item()` is written where the dtype is known to be real, as that of a loss whose `backward()` was called on every way
that leads there, `.detach()` elsewhere: the `.item()` of a complex tensor without imaginary part is a `complex`, which
neither `float` nor `math` takes. Unsafe where a number may be handed to the same place, which has no `.detach()`, and
in a `forward` and where a loss is computed: there the warning may be the only sign that a gradient gets lost.

For `torch.tensor([a, b])` the repair is shown and never applied: `torch.stack` keeps the gradient, which changes what
is trained, and `.detach()` keeps what happens today. Which was meant is yours to say.

## References

* [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
* [torch.stack](https://docs.pytorch.org/docs/stable/generated/torch.stack.html)
* [Warning on tensors that require grad](https://github.com/pytorch/pytorch/pull/143261)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, NO_GRADIENT_WANTED
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Kind, Mode, Rule, Triggers
from torchlint.rules.host.host_conversions import computes_loss
from torchlint.rules.host.paths import comes_by
from torchlint.rules.local_bindings import bindings_of
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import is_primary
from torchlint.rules.wording import brief

_MODULES = frozenset({"math", "cmath"})
_WITHOUT_FLOAT = frozenset("trunc prod comb perm gcd lcm factorial isqrt fsum dist sumprod".split())
"""Functions of ``math`` that ask a tensor for something else than ``__float__``, or take a list."""
_REAL = frozenset({"float16", "bfloat16", "float32", "float64"})
_CONVERSION = re.compile(r"%(\(|[#0\- +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.))", re.DOTALL)
_HANDLING = (ast.Try, ast.With, ast.AsyncWith, *filter(None, (getattr(ast, "TryStar", None),)))
"""What an error inside of it may not leave: ``with suppress(RuntimeError)``."""
_BACKWARD = frozenset({"backward", "manual_backward"})


def check_call(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a call that asks a tensor for its number."""
    match node:
        case cst.Call(func=cst.Name(value="float" | "complex" as word) as at, args=[only]):
            is_plain = only.keyword is None and not only.star and _asks_for_grad(only.value)
            if is_plain and context.names(at) == {f"builtins.{word}"}:
                yield from _converted(node, at, [only.value], context)
        case cst.Call(func=cst.Attribute(value=cst.Name(value=module), attr=at), args=args) if module in _MODULES:
            is_meant = at.value not in _WITHOUT_FLOAT and context.names(node.func) == {f"{module}.{at.value}"}
            if is_meant and _differentiates(node, context):
                plain = [each.value for each in args if not each.star and each.keyword is None]
                given = [one for each in plain for one in _chosen_from(each, context)]
                yield from _converted(node, at, given, context)
        case cst.Call(args=[cst.Arg(keyword=None, star="", value=cst.List() | cst.Tuple() as elements), *_]):
            if context.spells(node.func, "tensor"):
                yield from _gathered(node, elements, context)


def _chosen_from(node: cst.BaseExpression, context: FileContext) -> list[cst.BaseExpression]:
    """Return what `min` and `max` give one of, as it is: ``min(loss, 20)``; of anything else, that itself."""
    match node:
        case cst.Call(func=cst.Name(value="min" | "max" as word) as function, args=[_, _, *_] as args):
            is_plain = all(each.keyword is None and not each.star for each in args)
            if is_plain and context.names(function) == {f"builtins.{word}"}:
                return [each.value for each in args]
    return [node]


def check_format(node: cst.BinaryOperation, context: FileContext) -> Iterator[Draft]:
    """Report ``"%.2f" % t`` in a function that differentiates something."""
    if not isinstance(node.operator, cst.Modulo) or isinstance(node.left, cst.BaseNumber):
        return
    given = [each.value for each in node.right.elements] if isinstance(node.right, cst.Tuple) else [node.right]
    if not any(map(_asks_for_grad, given)) or not _differentiates(node, context):
        return
    if not any(_may_be_live(each, context) for each in given):
        return
    text = context.value(node.left).const
    words = _conversions(text) if isinstance(text, str) else []
    if words and len(words) == len(given):
        floats = [each for each, word in zip(given, words, strict=True) if word in "eEfFgG"]
        for each in floats:
            yield from _converted(node, each, [each], context)


def _conversions(text: str) -> list[str]:
    """Return the letter of each conversion in a format; nothing where they take their values in another way."""
    found = []
    for each in _CONVERSION.finditer(text):
        if each[1] == "(" or "*" in (each[2], each[3]):
            return []
        if each[4] != "%":
            found.append(each[4])
    return found


def _converted(
    node: cst.BaseExpression, at: cst.CSTNode, given: list[cst.BaseExpression], context: FileContext
) -> Iterator[Draft]:
    """Report those of some values that require grad: each is asked for its number."""
    live = [(each, sure) for each in given if (sure := _requires_grad(each, node, context)) is not None]
    if not live:
        return
    first = live[0][0]
    what = f"`{brief(node.func, context)}`" if isinstance(node, cst.Call) else "`%`"
    cuts = computes_loss(node, context) and not _differentiates(node, context)
    remedy = "use `.item()`" if _takes_item(first, context) else "detach it first"
    if cuts:
        remedy = "and the gradient ends here: stay in torch if one is wanted"
    message = f"{what} of `{brief(first, context)}`, which requires grad: torch warns and will raise, {remedy}"
    only = node if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) else None
    edits: list[Edit] = []
    for each, _ in live:
        edits += _number(each, only, context)
    fix = None
    if all(edits) and not any("#" in context.source.slice(edit.start, edit.end) for edit in edits):
        title = "Use `.item()`" if _takes_item(first, context) else "Insert `.detach()`"
        doubt = "a loss is computed here: the warning may be the only sign of a lost gradient"
        wanted = NO_GRADIENT_WANTED.decided(doubt if cuts else None, brief(first, context))
        fix = Fix(title, tuple(edits), (*(is_tensor(each, context) for each, _ in live), wanted))
    severity = Severity.WARNING if cuts else Severity.LEGACY
    yield Draft(at, message, min(sure for _, sure in live), _why(first, context), fix, severity)


def _number(node: cst.BaseExpression, call: cst.Call | None, context: FileContext) -> list[Edit]:
    """Take a tensor's number without a warning; ``call`` is the ``float(t)`` that a known dtype makes superfluous."""
    opening, closing = ("(", ")") if not is_primary(node) and not getattr(node, "lpar", ()) else ("", "")
    word = ".item()" if _takes_item(node, context) else ".detach()"
    start, end = context.outer_span(node)
    if call is not None and word == ".item()" and context.names(call.func) == {"builtins.float"}:
        outer = context.span(call)
        if "#" not in context.source.slice(outer[0], start) + context.source.slice(end, outer[1]):
            return [Edit(outer[0], start, opening), Edit(end, outer[1], f"{closing}{word}")]
    before = [Edit(start, start, opening)] if opening else []
    return [*before, Edit(end, end, f"{closing}{word}")]


def _gathered(node: cst.Call, elements: cst.List | cst.Tuple, context: FileContext) -> Iterator[Draft]:
    """Report ``torch.tensor([a, b])``: a constant that was made of values with a gradient."""
    leaves = list(_leaves(elements))
    names = context.names(node.func) if any(_asks_for_grad(each) for each in leaves) else frozenset[str]()
    if names != {"torch.tensor"}:
        return
    live = [(each, sure) for each in leaves if (sure := _requires_grad(each, node, context)) is not None]
    if not live:
        return
    at = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    first = live[0][0]
    message = (
        f"`torch.tensor` makes a constant of `{brief(first, context)}`, which requires grad: "
        "`torch.stack` keeps the gradient, `.detach()` says that it is to end here"
    )
    yield Draft(
        at,
        message,
        min(sure for _, sure in live),
        _why(first, context),
        _stacked(node, elements, len(live) == len(leaves), context),
        Severity.LEGACY if context.is_test else Severity.WARNING,
    )


def _stacked(node: cst.Call, elements: cst.List | cst.Tuple, are_tensors: bool, context: FileContext) -> Fix | None:
    """Show ``torch.stack``, which takes tensors alone and no keywords."""
    is_flat = not any(isinstance(each.value, cst.List | cst.Tuple) for each in elements.elements)
    if not are_tensors or not is_flat or len(node.args) != 1 or not isinstance(node.func, cst.Attribute):
        return None
    doubt = "the result requires grad from now on; `.detach()` on its elements keeps what happens today"
    return Fix("Use `torch.stack`", (context.replace(node.func.attr, "stack"),), (AUTHOR_MEANT_THIS.open(doubt=doubt),))


def _leaves(elements: cst.List | cst.Tuple) -> Iterator[cst.BaseExpression]:
    for each in elements.elements:
        if isinstance(each.value, cst.List | cst.Tuple):
            yield from _leaves(each.value)
        elif isinstance(each, cst.Element):
            yield each.value


# ---------------------------------------------------------------------- what requires grad
def _asks_for_grad(node: cst.BaseExpression) -> bool:
    """Whether an expression may require grad by its shape: no literal, no comparison."""
    return not isinstance(node, cst.BaseNumber | cst.BaseString | cst.Comparison | cst.BooleanOperation | cst.BaseComp)


def _may_have_source(node: ast.expr, context: FileContext) -> bool:
    """Whether what requires grad may be in sight: of an argument, and of what built-ins give, nothing is.

    It spares walks of functions, which cost more than all else here.
    """
    match node:
        case ast.Name():
            return any(not isinstance(each, ast.arg) for each in context.reaching(node)) or _is_differentiated(
                node, context
            )
        case ast.Call(func=ast.Name(id=word)) if context.qualified_names(node.func) == {f"builtins.{word}"}:
            return False
        case ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
            return _may_have_source(inner, context)
        case ast.BinOp(left=left, right=right):
            return _may_have_source(left, context) or _may_have_source(right, context)
        case ast.Call(func=ast.Attribute(value=inner)):
            called = context.qualified_names(node.func)
            return all(each.startswith("torch") for each in called) if called else _may_have_source(inner, context)
        case ast.Constant() | ast.Attribute(attr="shape" | "ndim"):
            return False
    return True


def _may_be_live(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression may require grad by what is written of it and of its names."""
    asked = context.python(node) if _asks_for_grad(node) else None
    return isinstance(asked, ast.expr) and _may_have_source(asked, context)


def _requires_grad(node: cst.BaseExpression, at: cst.BaseExpression, context: FileContext) -> Confidence | None:
    """Return how sure it is that a value requires grad where a number is asked for; None where nothing brings it."""
    if not _may_be_live(node, context):
        return None
    value = context.value(node)
    place, mode = context.python(node), context.mode(node)
    may_be = value.may(Kind.TENSOR) and value.may_require_grad and bool(mode & Mode.ON)
    if may_be and isinstance(place, ast.Name) and context.works_with_torch:
        if _is_differentiated(place, context):
            return Confidence.CERTAIN if value.is_tensor and mode == Mode.ON else Confidence.LIKELY
        if _is_summed_up(place, context):
            return Confidence.LIKELY
    judged = context.judged(node, at) if value.is_tensor else None
    return judged.of_grad if judged is not None and judged.has_source_of_grad else None


def _is_differentiated(name: ast.Name, context: FileContext) -> bool:
    """Whether the value that a name stands for is differentiated in the same function."""
    around = context.function_around(name) or context.tree
    return _is_one_of(name, _differentiated(around, context), context)


def _is_summed_up(name: ast.Name, context: FileContext) -> bool:
    """Whether the value that a name stands for is a summand of what is differentiated in the same function."""
    around = context.function_around(name) or context.tree
    summands = context.answer((_is_summed_up, around), lambda: list(_summands_differentiated(around, context)))
    return _is_one_of(name, summands, context)


def _is_one_of(name: ast.Name, others: list[ast.Name], context: FileContext) -> bool:
    """Whether one of other names stands for the same value."""
    same = [each for each in others if each.id == name.id]
    bound = set(context.reaching(name)) if same else set()
    return bool(bound) and any(set(context.reaching(each)) == bound for each in same)


def _differentiated(scope: ast.AST, context: FileContext) -> list[ast.Name]:
    """Return the names on which a function calls ``backward``, however it is done."""
    return context.answer((_differentiated, scope), lambda: list(_names_differentiated(scope, context)))


def _names_differentiated(scope: ast.AST, context: FileContext) -> Iterator[ast.Name]:
    for call in context.own(scope, ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="backward"), args=[]):
                yield name
            case ast.Call(func=ast.Attribute(attr=word), args=[ast.Name() as name, *_]) if word in _BACKWARD:
                yield name
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Attribute(attr="scale"), args=[ast.Name() as name]), attr="backward"
                )
            ):
                yield name


def _summands_differentiated(scope: ast.AST, context: FileContext) -> Iterator[ast.Name]:
    """Yield the names of ``(a + b).backward()``, and those of a sum that a differentiated name was bound to."""
    sums: list[ast.expr] = []
    for call in context.own(scope, ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.BinOp() as added, attr="backward")):
                sums.append(added)
            case ast.Call(func=ast.Attribute(attr=word), args=[ast.BinOp() as added, *_]) if word in _BACKWARD:
                sums.append(added)
    sums += [bound.value for each in _differentiated(scope, context) for bound in bindings_of(each, context)]
    while sums:
        match sums.pop():
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                sums += [left, right]
                yield from (each for each in (left, right) if isinstance(each, ast.Name))
            case ast.BinOp(left=left, op=ast.Mult(), right=ast.Name() as right) if isinstance(left, ast.Constant):
                yield right


def _differentiates(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether the function around a node, or outside of functions the statement, calls ``.backward``."""
    place = context.python(node)
    if not isinstance(place, ast.AST):
        return False
    around: ast.AST | None = context.function_around(place)
    if around is None:
        around = next((each for each in context.ancestors(place) if context.parent(each) is context.tree), None)
    if around is None:
        return False
    asked = around
    return context.answer((_differentiates, asked), lambda: _calls_backward(asked, context))


def _calls_backward(around: ast.AST, context: FileContext) -> bool:
    calls = context.inside(around, ast.Call)
    return any(isinstance(each.func, ast.Attribute) and each.func.attr == "backward" for each in calls)


def _takes_item(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a tensor's number may stand in its place: `min` and `max` compare tensors in their own dtype."""
    above = context.parent(node)
    call = context.parent(above) if isinstance(above, cst.Arg) else None
    is_chosen = isinstance(call, cst.Call) and _chosen_from(call, context) != [call]
    return not is_chosen and _is_real(node, context)


def _is_real(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether a tensor holds no complex numbers: ``backward`` without an argument refuses them."""
    value, place = context.value(node), context.python(node)
    if value.is_tensor and value.exact in _REAL:
        return True
    return isinstance(place, ast.Name) and _was_differentiated(place, context)


def _was_differentiated(name: ast.Name, context: FileContext) -> bool:
    """Whether ``backward`` was called on the value that a name stands for, whichever way led there."""
    around, place = context.function_around(name) or context.tree, _statement(name, context)
    bound = set(context.reaching(name))
    same = (each for each in _differentiated(around, context) if each.id == name.id)
    calls = {
        _statement(each, context)
        for each in same
        if set(context.reaching(each)) == bound and _runs_to_its_end(each, place, context)
    }
    starts = {each if isinstance(each, ast.arg) else _statement(each, context) for each in bound}
    return bool(calls and bound) and all(
        comes_by(None if isinstance(each, ast.arg) else each, place, calls, around, context) for each in starts
    )


def _statement(node: ast.AST, context: FileContext) -> ast.stmt:
    return next(each for each in context.ancestors(node) if isinstance(each, ast.stmt))


def _runs_to_its_end(differentiated: ast.Name, place: ast.stmt, context: FileContext) -> bool:
    """Whether a call of ``backward`` is a statement whose error would not let a run come to a place."""
    statement = _statement(differentiated, context)
    if not isinstance(statement, ast.Expr) or not _is_all_of(statement.value, differentiated, context):
        return False
    around = {*context.ancestors(place), place}
    return not any(isinstance(each, _HANDLING) and each not in around for each in context.ancestors(statement))


def _is_all_of(value: ast.expr, differentiated: ast.Name, context: FileContext) -> bool:
    """Whether a statement's expression is the call of ``backward`` itself and no choice of several."""
    between = takewhile(lambda each: each is not value, context.ancestors(differentiated))
    return isinstance(value, ast.Call) and all(isinstance(each, ast.Call | ast.Attribute) for each in between)


def _why(node: cst.BaseExpression, context: FileContext) -> tuple[str, ...]:
    reason = context.value(node).why_grad
    if reason is not None:
        return context.why(reason)
    return (f"`{brief(node, context)}` is differentiated in the same function, line {context.row(node)}",)


RULE = Rule(
    "TNS109",
    "scalar-from-grad-tensor",
    Triggers(functions=("tensor",), methods=("backward",), builtins=("float", "complex")),
    assumes=("is-torch-tensor", "no-gradient-wanted", "author-meant-this"),
    visit={cst.Call: check_call, cst.BinaryOperation: check_format},
)
