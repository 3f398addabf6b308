"""`torch.load` without `weights_only=` runs what a file tells it to, where torch is older than 2.6.

## What it does

Flags `torch.load(file)` without `weights_only=` where the project's `target-torch` is older than 2.6 or not known, also
by `partial(torch.load, ...)` and `map(torch.load, files)`, by a name or an attribute of `self` that it is bound to and
called by, `read = torch.load`, and with `**options` that the file spells. Off unless it is selected: `--select TNS311`.

Silent are files that the same function has just written by `torch.save`, files of tests, calls with a `pickle_module=`,
the second try for a torch that has no `weights_only=`, what is kept of `torch.load` in a file that replaces it, and
other functions named `load`, such as `torch.jit.load`.

## Why is this bad?

A checkpoint is a pickle, and a pickle may call any function with any arguments while it is read. Before 2.6 that is the
default of `torch.load`: whoever can exchange the file on a server, in a cache or in an issue's attachment runs code
on your machine. With `weights_only=True` torch reads tensors, numbers, strings and containers of them, and refuses the
rest.

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

A warning: it runs what the file holds, where somebody else may have written it.

```python
import torch


def restore(path, device):
    return torch.load(path, map_location=device)  # warning
```

## Fix safety

Shown and never applied: a file that holds a whole module or other objects is refused from then on. Save the
`state_dict()` in its place, allow the classes by `torch.serialization.add_safe_globals`, or write `weights_only=False`
to say that the file is trusted. Without a fix where `target-torch` is older than 1.13, which has no such argument.

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
from torchlint.rules.evidence.legacy_types import name_node
from torchlint.rules.evidence.local_bindings import bindings_of

_LOADS = frozenset({"torch.load", "torch.serialization.load"})
_SAVES = frozenset({"torch.save", "torch.serialization.save"})
_SAFE_SINCE, _ARGUMENT_SINCE = (2, 6), (1, 13)
_DECIDING = frozenset({"weights_only", "pickle_module"})
_PICKLE_MODULE_AT = 2
"""The place of ``pickle_module`` among the arguments."""
_DOWNLOADS = frozenset(
    "huggingface_hub.hf_hub_download huggingface_hub.snapshot_download huggingface_hub.cached_download "
    "torch.hub.download_url_to_file urllib.request.urlretrieve urllib.request.urlopen requests.get gdown.download "
    "wget.download".split()
)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``torch.load`` that may unpickle anything."""
    target = context.settings.target_torch
    loader = _loader(node)
    at = name_node(loader) if context.spells(loader, "load") else None
    if at is None or (target is not None and target >= _SAFE_SINCE):
        return
    if not node.args or _is_decided(node, context) or context.is_test:
        return
    names, place = context.names(loader), context.python(node)
    if not names or not names <= _LOADS or not isinstance(place, ast.Call):
        return
    if loader is not node.func:
        yield from _handed_on(node, at, place, context)
        return
    if _is_own_file(place, context) or _is_second_try(place, context):
        return
    source = place.args[0] if place.args else place.keywords[0].value
    is_fetched = _is_downloaded(source, context)
    yield Draft(
        at,
        "`torch.load` may run any code that the file holds where torch is older than 2.6: say `weights_only=True`",
        Confidence.LIKELY if is_fetched else Confidence.POSSIBLE,
        ("the file is downloaded here",) if is_fetched else ("where the file comes from is not shown",),
        None if target is not None and target < _ARGUMENT_SINCE else _fix(node, context),
    )


def _loader(node: cst.Call) -> cst.BaseExpression:
    """Return what a call runs: its function, or the first argument of ``partial`` and ``map``."""
    match node:
        case cst.Call(
            func=cst.Name(value="partial" | "map") | cst.Attribute(attr=cst.Name(value="partial")),
            args=[cst.Arg(value=given, keyword=None), *_],
        ):
            return given
    return node.func


def _handed_on(node: cst.Call, at: cst.Name, place: ast.Call, context: FileContext) -> Iterator[Draft]:
    """Report ``partial(torch.load, ...)`` and ``map(torch.load, files)``."""
    name, target = context.names(node.func), context.settings.target_torch
    if name not in ({"functools.partial"}, {"builtins.map"}) or _is_decided_by_callers(place, context):
        return
    is_partial = name == {"functools.partial"} and not (target is not None and target < _ARGUMENT_SINCE)
    yield Draft(
        at,
        "`torch.load` may run any code that the file holds where torch is older than 2.6: say `weights_only=True`",
        Confidence.POSSIBLE,
        ("where the files come from is not shown",),
        _fix(node, context) if is_partial else None,
    )


def check_value(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    """Report ``loader = torch.load`` and ``self.loader = torch.load`` where the file calls that."""
    target, place = context.settings.target_torch, context.python(node)
    if node.attr.value != "load" or not isinstance(place, ast.Attribute) or context.is_test:
        return
    made = context.parent(place)
    if not isinstance(made, ast.Assign) or (target is not None and target >= _SAFE_SINCE):
        return
    if any(isinstance(each.ctx, ast.Store) for each in context.attributes_by_word().get("load", ())):
        return  # somebody replaces it, and keeps what it was
    calls = _calls_of_bound(made, context)
    if not calls or any(_may_decide(each) for each in calls):
        return
    names = context.names(node)
    if names and names <= _LOADS:
        yield Draft(
            node.attr,
            "`torch.load` may run any code that the file holds where torch is older than 2.6: say `weights_only=True`",
            Confidence.POSSIBLE,
            (f"it is called by that name, line {calls[0].lineno}",),
        )


def _calls_of_bound(made: ast.Assign, context: FileContext) -> list[ast.Call]:
    """Return the calls in the file of what a name, or an attribute of ``self``, is bound to."""
    match made.targets:
        case [ast.Name(id=word)]:
            uses: list[ast.Name] | list[ast.Attribute] = context.names_by_word().get(word, [])
        case [ast.Attribute(value=ast.Name(id="self"), attr=word)]:
            uses = context.attributes_by_word().get(word, [])
        case _:
            return []
    calls = ((each, context.parent(each)) for each in uses)
    return [call for each, call in calls if isinstance(call, ast.Call) and call.func is each]


def _may_decide(call: ast.Call) -> bool:
    """Whether a call says how a file is read, or may do so by what it hands on."""
    return (
        any(each.arg is None or each.arg in _DECIDING for each in call.keywords) or len(call.args) > _PICKLE_MODULE_AT
    )


def _is_decided_by_callers(made: ast.Call, context: FileContext) -> bool:
    """Whether a call of the name that a partial function is bound to says how the file is read, or may do so."""
    match context.parent(made):
        case ast.Assign(targets=[ast.Name(id=word)]):
            calls = (context.parent(each) for each in context.names_by_word().get(word, []))
            given = (one.arg for each in calls if isinstance(each, ast.Call) for one in each.keywords)
            return any(each is None or each in _DECIDING for each in given)
    return False


def _is_decided(node: cst.Call, context: FileContext) -> bool:
    """Whether the call says itself how the file is read, or may do so by what it hands on."""
    if any(each.star and not _is_plain(each, context) for each in node.args):
        return True
    if any(each.keyword is not None and each.keyword.value in _DECIDING for each in node.args):
        return True
    return sum(each.keyword is None for each in node.args) > _PICKLE_MODULE_AT


def _is_plain(handed: cst.Arg, context: FileContext) -> bool:
    """Whether what is handed on as ``**options`` is spelled in the file and says nothing of how the file is read."""
    name = context.python(handed.value)
    if handed.star != "**" or not isinstance(name, ast.Name):
        return False
    bound = bindings_of(name, context)
    if not bound or any(each.depth or each.is_augmented or not _says_nothing(each.value) for each in bound):
        return False
    uses = (each for each in context.names_by_word().get(name.id, []) if isinstance(each.ctx, ast.Load))
    near = (each for each in uses if context.function_around(each) is context.function_around(name))
    return all(isinstance(above := context.parent(each), ast.keyword) and above.arg is None for each in near)


def _says_nothing(options: ast.expr) -> bool:
    """Whether a dictionary is spelled with keys that leave open how a file is read."""
    match options:
        case ast.IfExp(body=one, orelse=other):
            return _says_nothing(one) and _says_nothing(other)
        case ast.Dict(keys=keys):
            return all(isinstance(each, ast.Constant) and each.value not in _DECIDING for each in keys)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return all(each.arg is not None and each.arg not in _DECIDING for each in keywords)
    return False


def _is_own_file(load: ast.Call, context: FileContext) -> bool:
    """Whether the same function has saved to the same place before."""
    if not load.args:
        return False
    around = context.function_around(load) or context.tree
    saved = context.answer((_saved, around), lambda: _saved(around, context))
    place = ast.dump(load.args[0])
    return any(each == place and row < load.lineno for each, row in saved)


def _is_second_try(load: ast.Call, context: FileContext) -> bool:
    """Whether a call stands in the handler of one that asks for weights alone, which an older torch does not take."""
    handler = context.nearest(load, ast.ExceptHandler)
    around = context.parent(handler) if handler is not None else None
    if not isinstance(around, ast.Try):
        return False
    tried = [call for each in around.body for call in context.inside(each, ast.Call)]
    return any(
        isinstance(each.func, ast.Attribute | ast.Name)
        and context.names(each.func) <= _LOADS
        and any(given.arg in ("weights_only", None) for given in each.keywords)
        for each in tried
        if context.names(each.func)
    )


def _saved(scope: ast.AST, context: FileContext) -> list[tuple[str, int]]:
    """Return the places that a function saves to by ``torch.save``, each with its row."""
    found = []
    for call in context.own(scope, ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(attr="save") | ast.Name(id="save") as function, args=[_, place, *_]):
                if context.names(function) <= _SAVES and context.names(function):
                    found.append((ast.dump(place), call.lineno))
    return found


def _is_downloaded(source: ast.expr, context: FileContext) -> bool:
    match source:
        case ast.Call(func=function):
            return bool(context.names(function) & _DOWNLOADS)
        case ast.Name():
            return any(
                isinstance(each.value, ast.Call) and bool(context.names(each.value.func) & _DOWNLOADS)
                for each in bindings_of(source, context)
            )
    return False


def _fix(node: cst.Call, context: FileContext) -> Fix:
    doubt = "a file that holds more than tensors and containers of them is refused"
    edit = context.insert_after(node.args[-1].value, ", weights_only=True")
    return Fix("Add `weights_only=True`", (edit,), (AUTHOR_MEANT_THIS.open(doubt=doubt),))


RULE = Rule(
    "TNS311",
    "untrusted-load",
    Triggers(names=("load",), functions=("partial",), builtins=("map",)),
    default=False,
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check, cst.Attribute: check_value},
)
