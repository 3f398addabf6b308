"""`Variable` as a type: it means `torch.Tensor`, and under `torch.compile` not even that.

## What it does

Reports `isinstance(x, Variable)`, annotations that name `Variable`, and comparisons of `type(x)` with it.

## Why is this bad?

No object is a `Variable`: the class is an empty shell whose metaclass answers for tensors. Measured on torch 2.13:

| written | eager | under `torch.compile` |
|---|---|---|
| `isinstance(x, Variable)` | `True` for every tensor | **`False`**: the branch flips in silence |
| `type(x) is Variable`, `type(x) == Variable` | always `False`, also for `x = Variable(...)` | `False` |
| `issubclass(torch.Tensor, Variable)` | `False` | `False` |

Code that once told Variables from tensors by it, such as `h.detach() if type(h) == Variable else ...`, takes the
wrong branch today.

## Example

```python
import torch
from torch.autograd import Variable


def to_number(value: Variable):
    if isinstance(value, Variable):
        return value.item()
    return value


to_number(torch.tensor(1.0))
```

Use instead:

```python
import torch


def to_number(value: torch.Tensor):
    if isinstance(value, torch.Tensor):
        return value.item()
    return value


to_number(torch.tensor(1.0))
```

## Severity

Legacy: `isinstance` says what was meant. A warning where the answer is never yes.

```python
import torch
from torch.autograd import Variable


def is_tensor(x):
    return isinstance(x, Variable), type(x) is Variable  # legacy, warning
```

## Fix safety

Safe for `isinstance` and annotations: in eager mode both classes answer alike for every object. Unsafe for `isinstance`
in a file that traces, scripts or compiles code, or that such a file imports: the answer is another one there. No fix
where the name `torch` stands or may stand for something else, and where the `import torch` that is needed would go
out by another file's `import *`.

A tuple or `Union` that names `torch.Tensor` already loses the second name.

For a comparison with `type(x)` the fix is shown only: it would turn an answer that is always "no" into the one that
was meant. `issubclass` is reported without a fix.

A test is repaired safely only where its file traces, scripts and compiles nothing: there the answer changes from
`False` to `True`.

## References

* [torch.autograd: Variable (deprecated)](https://pytorch.org/docs/stable/autograd.html#variable-deprecated)
* [torch.autograd.variable, source](https://github.com/pytorch/pytorch/blob/main/torch/autograd/variable.py)
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.method_calls import call_of
from torchlint.rules.obligations import not_traced
from torchlint.rules.repairs import torch_name
from torchlint.rules.variable.variable_calls import last_name, names_variable
from torchlint.rules.wording import brief_or, import_step

_CHECKS = frozenset({"assertIsInstance", "assertNotIsInstance"})
"""Methods of a test case that ask what ``isinstance`` asks."""
_NEGATIVE = (cst.NotEqual, cst.IsNot, cst.NotIn)


class _Role(Enum):
    CHECK = "check"
    SUBCLASS = "subclass"
    ANNOTATION = "annotation"


def check_name(node: cst.Name | cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report ``Variable`` where it stands for a type: in ``isinstance`` or an annotation."""
    if isinstance(context.parent(node), cst.Attribute) or call_of(node, context) is not None:
        return
    role, outermost = _role(node, context)
    if role is None or not names_variable(node, context):
        return
    if role is _Role.SUBCLASS:
        message = "`issubclass(..., Variable)` is `False` for `torch.Tensor` itself: compare with `torch.Tensor`"
        yield Draft(
            last_name(node), message, Confidence.CERTAIN, (import_step(node, context),), severity=Severity.WARNING
        )
        return
    code = brief_or("isinstance(..., Variable)", outermost, context)
    if role is _Role.CHECK:
        message = f"`{code}` asks for any tensor, and is `False` under `torch.compile`: say `torch.Tensor`"
    else:
        message = "no object is a `Variable`: annotate with `torch.Tensor`"
    fix = _replacement(node, context)
    if fix is not None and role is _Role.CHECK:
        fix = fix.assuming(not_traced(context, "the answer is another one there"))
    yield Draft(last_name(node), message, Confidence.CERTAIN, (import_step(node, context),), fix)


def check_comparison(node: cst.Comparison, context: FileContext) -> Iterator[Draft]:
    """Report ``type(x) == Variable`` and its kin."""
    if len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    for one, other in ((node.left, target.comparator), (target.comparator, node.left)):
        if not _is_type_call(one) or not names_variable(other, context):
            continue
        answer = "True" if isinstance(target.operator, _NEGATIVE) else "False"
        code = brief_or("type(...) == Variable", node, context)
        message = f"`{code}` is always `{answer}`: no object is a `Variable`; ask `isinstance(..., torch.Tensor)`"
        fix = _meant(node, cst.ensure_type(one, cst.Call), target.operator, context)
        yield Draft(
            last_name(other), message, Confidence.CERTAIN, (import_step(other, context),), fix, Severity.WARNING
        )


def _role(node: cst.BaseExpression, context: FileContext) -> tuple[_Role | None, cst.CSTNode]:
    """Tell what a type's name is there for: climb out of tuples and their sums, ``Union[...]`` and ``A | B``."""
    below: cst.CSTNode = node
    is_element = False
    for above in context.ancestors(node):
        match above:
            case cst.Element() | cst.Tuple() | cst.SubscriptElement() | cst.Index() | cst.Arg():
                below = above
            case cst.BinaryOperation(operator=cst.BitOr() | cst.Add()):
                below = above
            case cst.Subscript() if above.value is not below:
                is_element |= not _spells_union(above.value)
                below = above
            case cst.Annotation():
                return _Role.ANNOTATION, above
            case cst.Call(func=function, args=[_, second, *_]) if second is below and not is_element:
                return _asked_by(function, context), above
            case _:
                break
    return None, node


def _asked_by(function: cst.BaseExpression, context: FileContext) -> _Role | None:
    """Tell what a function asks of the types that it is given second: Python's own, or a test case's."""
    match function:
        case cst.Name(value="isinstance" | "issubclass" as word) if context.names(function) == {f"builtins.{word}"}:
            return _Role.CHECK if word == "isinstance" else _Role.SUBCLASS
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=word)) if word in _CHECKS:
            return _Role.CHECK
    return None


def _replacement(node: cst.Name | cst.Attribute, context: FileContext) -> Fix | None:
    if (shorter := _without_duplicate(node, context)) is not None:
        return Fix("Drop `Variable`: `torch.Tensor` is named already", (shorter,))
    found = torch_name(context, "Tensor", node)
    if found is None:
        return None
    spelled, imports = found
    return Fix("Replace `Variable` by `torch.Tensor`", (context.replace(node, spelled), *imports))


def _without_duplicate(node: cst.BaseExpression, context: FileContext) -> Edit | None:
    """``isinstance(x, (Variable, torch.Tensor))`` and ``Union[Variable, torch.Tensor]`` lose one name."""
    element = context.parent(node)
    element = context.parent(element) if isinstance(element, cst.Index) else element
    match context.parent(element) if element is not None else None:
        case cst.Tuple(elements=members) as whole if isinstance(context.parent(whole), cst.Arg):
            pass
        case cst.Subscript(value=union, slice=members) if _spells_union(union):
            pass
        case _:
            return None
    at = next(index for index, each in enumerate(members) if each is element)
    if not any(context.code(each).rstrip(", ") == "torch.Tensor" for each in members) or len(members) == 1:
        return None
    start, end = context.span(node)
    return Edit(context.span(members[at - 1])[1], end, "") if at else Edit(start, context.span(members[1])[0], "")


def _spells_union(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name | cst.Attribute) and last_name(node).value == "Union"


def _is_type_call(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "type"
        and len(node.args) == 1
    )


def _meant(node: cst.Comparison, asked: cst.Call, operator: cst.BaseCompOp, context: FileContext) -> Fix | None:
    found = torch_name(context, "Tensor", node)
    if found is None or "#" in context.code(node):
        return None
    spelled, imports = found
    negated = "not " if isinstance(operator, _NEGATIVE) else ""
    text = f"{negated}isinstance({context.code_with_parentheses(asked.args[0].value)}, {spelled})"
    return Fix(
        "Ask whether it is a tensor",
        (context.replace(node, text), *imports),
        (AUTHOR_MEANT_THIS.open(doubt="the comparison never holds"),),
    )


RULE = Rule(
    "TNS403",
    "variable-type-check",
    Triggers(names=("Variable",)),
    assumes=("not-traced", "author-meant-this"),
    visit={cst.Name: check_name, cst.Attribute: check_name, cst.Comparison: check_comparison},
)
