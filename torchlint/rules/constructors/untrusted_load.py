"""`torch.load` without `weights_only=` can run code from the file, if torch is older than 2.6.

## What it does
Reports `torch.load(file)` without `weights_only=` if the project's `target-torch` is older than 2.6 or unknown. Off by
default.

Not reported: files that the same function has just written with `torch.save`, test files, calls with `pickle_module=`
or `**options`, a fallback for a torch without `weights_only=`, and other functions named `load`, such as
`torch.jit.load`.

## Why is this bad?
A checkpoint is a pickle, and reading a pickle can call any function with any arguments. Before 2.6, `torch.load`
allows this by default: whoever can replace the file on a server, in a cache or in an issue attachment runs code on
your machine. With `weights_only=True`, torch reads only tensors, numbers, strings and containers of them.

## Example
```python
import torch


def restore(path, device):
    return torch.load(path, map_location=device)
```

Use instead:

```python
import torch


def restore(path, device):
    return torch.load(path, map_location=device, weights_only=True)
```

## Severity
A warning: the call runs whatever the file contains, and somebody else may have written it.

```python
import torch


def restore(path, device):
    return torch.load(path, map_location=device)  # warning
```

## Fix safety
Only shown: a file that holds a whole module or other objects is rejected afterwards. Save the `state_dict()` instead,
allow the classes with `torch.serialization.add_safe_globals`, or write `weights_only=False` to state that you trust
the file. No fix if `target-torch` is older than 1.13, which does not have the argument.

## References
* [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
* [torch 2.6: the default of weights_only](https://dev-discuss.pytorch.org/t/bc-breaking-change-torch-load-is-being-flipped-to-use-weights-only-true-by-default-in-the-nightlies-after-137602/2573)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Fix, Severity
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.constructors.legacy_types import name_node

_LOADS = frozenset({"torch.load", "torch.serialization.load"})
_SAVES = frozenset({"torch.save", "torch.serialization.save"})
_SAFE_SINCE, _ARGUMENT_SINCE = (2, 6), (1, 13)
_DECIDING = frozenset({"weights_only", "pickle_module"})
_PICKLE_MODULE_AT = 2
"""The place of ``pickle_module`` among the arguments."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``torch.load`` that may unpickle anything."""
    target, at, place = context.settings.target_torch, name_node(node.func), context.python(node)
    if at is None or not isinstance(place, ast.Call) or not node.args or not context.spells(node.func, "load"):
        return
    if context.is_test or (target is not None and target >= _SAFE_SINCE) or _may_decide(place):
        return
    names = context.names(node.func)
    if not names or not names <= _LOADS or _is_own_file(place, context) or _is_second_try(place, context):
        return
    yield Draft(
        at,
        "`torch.load` before torch 2.6 runs any code that the file holds: add `weights_only=True`",
        Confidence.POSSIBLE,
        ("where the file comes from is not shown",),
        None if target is not None and target < _ARGUMENT_SINCE else _fix(node, context),
    )


def _may_decide(call: ast.Call) -> bool:
    """Whether a call says how a file is read, or may do so by what it hands on."""
    return (
        any(each.arg is None or each.arg in _DECIDING for each in call.keywords)
        or any(isinstance(each, ast.Starred) for each in call.args)
        or len(call.args) > _PICKLE_MODULE_AT
    )


def _is_own_file(load: ast.Call, context: FileContext) -> bool:
    """Whether the same function has saved to the same place before."""
    calls = context.own(context.function_around(load) or context.tree, ast.Call)
    before = [each for each in calls if each.lineno < load.lineno and len(each.args) > 1 and load.args]
    places = [each for each in before if ast.dump(each.args[1]) == ast.dump(load.args[0])]
    return any(context.names(each.func) & _SAVES for each in places)


def _is_second_try(load: ast.Call, context: FileContext) -> bool:
    """Whether a call stands in the handler of one that asks for weights alone, which an older torch does not take."""
    handler = context.nearest(load, ast.ExceptHandler)
    around = context.parent(handler) if handler is not None else None
    return isinstance(around, ast.Try) and any("weights_only" in ast.unparse(each) for each in around.body)


def _fix(node: cst.Call, context: FileContext) -> Fix:
    doubt = "a file that holds more than tensors and containers of them is refused"
    edit = context.insert_after(node.args[-1].value, ", weights_only=True")
    return Fix("Add `weights_only=True`", (edit,), (AUTHOR_MEANT_THIS.open(doubt=doubt),))


RULE = Rule(
    "TNS311",
    "untrusted-load",
    Triggers(names=("load",)),
    default=False,
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
