"""`Variable` is used as a type: it means `torch.Tensor`, and under `torch.compile` not even that.

## What it does
Reports `isinstance(x, Variable)`, annotations with `Variable`, and comparisons of `type(x)` with it.

## Why is this bad?
No object is a `Variable`: the class is empty, and its metaclass accepts tensors. Measured on torch 2.13:

| code | eager | under `torch.compile` |
|---|---|---|
| `isinstance(x, Variable)` | `True` for every tensor | **`False`**: the code silently takes the other branch |
| `type(x) is Variable`, `type(x) == Variable` | always `False`, also for `x = Variable(...)` | `False` |

Code that used this to distinguish variables from tensors, such as `h.detach() if type(h) == Variable else ...`, takes
the wrong branch today.

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
Legacy: `isinstance` gives the intended answer. A warning if the answer is always false.

```python
import torch
from torch.autograd import Variable


def is_tensor(x):
    return isinstance(x, Variable), type(x) is Variable  # legacy, warning
```

## Fix safety
Safe for `isinstance` and annotations: in eager mode both classes give the same answer for every object. Unsafe for
`isinstance` in a file that traces, scripts or compiles code, or that such a file imports, because the answer differs
there. No fix if the name `torch` is or may be something else, or if another file's `import *` would pass on the
`import torch` that the fix needs.

If a tuple or `Union` already contains `torch.Tensor`, the fix removes the second name.

For a comparison with `type(x)`, the fix is only shown: it would turn an answer that is always false into the intended
one.

## References
* [torch.autograd: Variable (deprecated)](https://pytorch.org/docs/stable/autograd.html#variable-deprecated)
* [torch.autograd.variable, source](https://github.com/pytorch/pytorch/blob/main/torch/autograd/variable.py)
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.obligations import not_traced
from torchlint.rules.repairs import call_of, torch_name, without_member
from torchlint.rules.variable.variable_calls import last_name, names_variable
from torchlint.rules.wording import brief_or, import_step

_NEGATIVE = (cst.NotEqual, cst.IsNot, cst.NotIn)


def check_name(node: cst.Name | cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report ``Variable`` where it stands for a type: in ``isinstance`` or an annotation."""
    if isinstance(context.parent(node), cst.Attribute) or call_of(node, context) is not None:
        return
    role = _role(node, context)
    if role is None or not names_variable(node, context):
        return
    fix, why = _replacement(node, context), [import_step(node, context)]
    if isinstance(role, cst.Annotation):
        message = "no object is a `Variable` since torch 0.4: annotate with `torch.Tensor`"
    else:
        code = brief_or("isinstance(..., Variable)", role, context)
        message = f"`{code}` holds for every tensor since torch 0.4: ask for `torch.Tensor`"
        why.append("under `torch.compile` it holds for none")
        fix = fix and fix.assuming(not_traced(context, "the answer is another one there"))
    yield Draft(last_name(node), message, Confidence.CERTAIN, tuple(why), fix)


def check_comparison(node: cst.Comparison, context: FileContext) -> Iterator[Draft]:
    """Report ``type(x) == Variable`` and its kin."""
    if len(node.comparisons) != 1:
        return
    target = node.comparisons[0]
    for one, other in ((node.left, target.comparator), (target.comparator, node.left)):
        match one:
            case cst.Call(func=cst.Name(value="type"), args=[asked]) if names_variable(other, context):
                answer = "True" if isinstance(target.operator, _NEGATIVE) else "False"
                code = brief_or("type(...) == Variable", node, context)
                message = f"`{code}` is always `{answer}`, no object is a `Variable`: use `isinstance`"
                why, fix = (import_step(other, context),), _meant(node, asked, target.operator, context)
                yield Draft(last_name(other), message, Confidence.CERTAIN, why, fix, Severity.WARNING)


def _role(node: cst.BaseExpression, context: FileContext) -> cst.Annotation | cst.Call | None:
    """Return the annotation or ``isinstance`` that names a type, also in a tuple, a sum of tuples, or ``A | B``."""
    below: cst.CSTNode = node
    is_member = False
    for above in context.ancestors(node):
        match above:
            case cst.Annotation():
                return above
            case cst.Call(func=cst.Name(value="isinstance") as asking, args=[_, second, *_]):
                is_type = second is below and not is_member
                return above if is_type and context.names(asking) == {"builtins.isinstance"} else None
            case cst.Subscript() if above.value is not below:
                is_member = True
            case cst.BinaryOperation(operator=cst.BitOr() | cst.Add()):
                pass
            case cst.Element() | cst.Tuple() | cst.SubscriptElement() | cst.Index() | cst.Arg():
                pass
            case _:
                return None
        below = above
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
    match list(context.ancestors(node)):
        case [cst.Element() as own, cst.Tuple(elements=members), cst.Arg(), *_]:
            pass
        case [_, cst.SubscriptElement() as own, cst.Subscript(value=cst.Name(value="Union"), slice=members), *_]:
            pass
        case _:
            return None
    is_named = any(context.code(each) == "torch.Tensor" for each in members)
    return without_member(own, members, context) if is_named else None


def _meant(node: cst.Comparison, asked: cst.Arg, operator: cst.BaseCompOp, context: FileContext) -> Fix | None:
    found = torch_name(context, "Tensor", node)
    if found is None or "#" in context.code(node):
        return None
    spelled, imports = found
    negated = "not " if isinstance(operator, _NEGATIVE) else ""
    text = f"{negated}isinstance({context.code_with_parentheses(asked.value)}, {spelled})"
    meant = AUTHOR_MEANT_THIS.open(doubt="the comparison never holds")
    return Fix("Use `isinstance` with `torch.Tensor`", (context.replace(node, text), *imports), (meant,))


RULE = Rule(
    "TNS403",
    "variable-type-check",
    Triggers(names=("Variable",)),
    assumes=("not-traced", "author-meant-this"),
    visit={cst.Name: check_name, cst.Attribute: check_name, cst.Comparison: check_comparison},
)
