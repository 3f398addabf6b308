"""The `state_dict()` of a model is kept without a copy while the model trains on.

## What it does

Flags `best = model.state_dict()` where a way through the code leads from there over a step of an optimizer, another
`load_state_dict` or any other write into the weights to where what was kept is loaded into the same model, saved,
computed with or returned: by names, attributes, dicts, lists, dataclasses, shallow copies and functions, those of other
files too, and of each of several models. A method that keeps the weights only where a comparison tells the better from
the worse, as early stopping does, has others train the model meanwhile; another file that loads what is kept counts,
too.

Silent are deep copies, `{k: v.clone() ...}`, what is saved or loaded before the model changes, the weights of another
model than the one that is trained, and a model that is built anew before it is trained.

## Why is this bad?

`state_dict()` holds the memory of the parameters, and an optimizer writes into that memory. What is called the best
weights is the last ones; loading them back does nothing. Nothing raises, and the reported score is one that the saved
weights do not reach. A shallow copy copies the names alone.

## Example

```python
import torch


def train(model, batches, evaluate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, least = None, float("inf")
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        loss = evaluate(model)
        if loss < least:
            least = loss
            best = model.state_dict()
    model.load_state_dict(best)
```

Use instead:

```python
import copy
import torch


def train(model, batches, evaluate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, least = None, float("inf")
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        loss = evaluate(model)
        if loss < least:
            least = loss
            best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
```

## Severity

A warning: what is kept is wrong where the model trains on.

```python
import torch


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.state_dict()  # warning
    for batch in batches:
        model(batch).sum().backward()
        optimizer.step()
    model.load_state_dict(before)
```

## Fix safety

Never safe: other weights are loaded or saved from now on, which is the point, and a copy takes memory.

## References

- [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html): what
  `state_dict()` gives "will keep getting updated by the subsequent training iterations"
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import (
    OWN,
    RECEIVES,
    RETURNED,
    Draft,
    FileContext,
    FlowPlace,
    FlowSpecification,
    Kind,
    KnownPath,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.wording import brief, in_a_line

_OTHERS: Final = re.compile(r"(optim|optimizer|sched|scheduler|scaler|sampler|loader)(_\w+)?$", re.IGNORECASE)
"""Names of what has a state, too, and is no model."""
_LOADS: Final = NodePattern(
    methods=frozenset({"load_state_dict"}), at=frozenset({0, "state_dict"}), of_source_object=True
)
_LIVE: Final = FlowSpecification(
    sinks=(
        _LOADS,
        NodePattern(functions=("torch.save",), at=frozenset({0, "obj"})),
        NodePattern(ops=frozenset({"operation"})),
    ),
    ways_out=frozenset({RETURNED}),
    stops=(NodePattern(methods=frozenset({"cpu"}), at=RECEIVES),),
    vetoes=(  # other weights are put into the dict
        NodePattern(ops=frozenset({"spread"}), at=frozenset({0})),
        NodePattern(ops=frozenset({"grow"}), words=frozenset({"any key"}), at=frozenset({0})),
    ),
    is_held=True,
    is_written=True,
    is_kept_if_better=True,
    through_objects=True,
    through_callers=True,
)
_ON_THE_HOST: Final = replace(_LIVE, stops=())
_IN_AN_OBJECT: Final = replace(_LIVE, sinks=(), keeper=lambda _: True)


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``state_dict()`` that is kept while its model is trained."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "state_dict" or node.args:
        return
    model = context.value(node.func.value)
    if _OTHERS.search(brief(node.func.value, context)):
        return
    others = [each for each in model.instance if not each.startswith((OWN, "torch.nn."))]
    if not model.may(Kind.MODULE) or (others and not model.must(Kind.MODULE | Kind.NONE)):
        return  # loaders and schedules have a state, too
    for specification in (_LIVE, _ON_THE_HOST):
        for path in context.paths_from(specification, node):
            is_live = specification is _LIVE
            sure = Confidence.CERTAIN if path.is_sure else Confidence.LIKELY
            yield _told(node, sure if is_live else Confidence.POSSIBLE, _steps(path), context)
            return
    if (steps := _loaded_elsewhere(node, context)) is not None:
        yield _told(node, Confidence.POSSIBLE, steps, context)


def _told(node: cst.Call, confidence: Confidence, steps: tuple[str, ...], context: FileContext) -> Draft:
    function = cst.ensure_type(node.func, cst.Attribute)
    return Draft(
        function.attr,
        f"`state_dict()` holds the weights of `{brief(function.value, context)}` themselves, which change before what "
        "is kept is used: keep `copy.deepcopy(...)` of it",
        confidence,
        steps,
        _fix(node, context),
    )


def _steps(path: KnownPath) -> tuple[str, ...]:
    if path.written is None:
        changed = "it is kept only where it is better, so that training goes on"
    else:
        changed = _spelled(path.written, "changes the weights")
    return changed, _spelled(path.sink, "uses what was kept")


def _spelled(place: FlowPlace, said: str) -> str:
    return f"`{in_a_line(place.node)}` {said}, {place.path}{' ' if place.path else ''}line {place.row}"


def _loaded_elsewhere(node: cst.Call, context: FileContext) -> tuple[str, ...] | None:
    """Return why another file loads what an object keeps only where it is better, by its attribute or by a method."""
    words = set()
    for path in context.paths_from(_IN_AN_OBJECT, node):
        function = context.function_around(path.sink.node)
        if isinstance(path.sink.node, ast.Attribute):
            words.add(path.sink.node.attr)
        elif path.way_out == RETURNED and isinstance(function, ast.FunctionDef):
            words.add(function.name)
    for word in sorted(words):
        for file in context.other_texts.spelling(word, rf"load_state_dict\([^()]*\.{word}\b") or ():
            kept = f"the weights are kept where they are better, so that training goes on, line {context.row(node)}"
            return kept, f"`{os.path.basename(file)}` names `{word}` and loads weights"
    return None


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, context: FileContext) -> Fix | None:
    """Copy the weights by the file's own import of ``copy``, or by one that is added."""
    imports = [each for each in context.tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    spelled: str | None = None
    edits: tuple[Edit, ...] = ()
    for each in imports:
        for alias in each.names:
            if isinstance(each, ast.Import) and alias.name == "copy":
                spelled = f"{alias.asname or 'copy'}.deepcopy"
            elif isinstance(each, ast.ImportFrom) and each.module == "copy" and alias.name == "deepcopy":
                spelled = alias.asname or "deepcopy"
    if spelled is None:
        start = _start_of_code(context)
        if start is None or "copy" in context.bound_otherwise or context.source.cell(1) is not None:
            return None
        blank = "" if imports else "\n\n"
        spelled, edits = "copy.deepcopy", (Edit(start, start, f"import copy\n{blank}"),)
    if spelled.partition(".")[0] in context.bound_otherwise:
        return None
    doubt = "other weights are kept from now on"
    wrapped = (context.insert_before(node, f"{spelled}("), context.insert_after(node, ")"))
    decided = AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True)
    return Fix("Copy the weights that are kept", (*edits, *wrapped), (decided,))


def _start_of_code(context: FileContext) -> int | None:
    """Return where an import may be added: behind the docstring and what is imported from the future."""
    for each in context.tree.body:
        is_text = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if is_text or (isinstance(each, ast.ImportFrom) and each.module == "__future__"):
            continue
        decorators = each.decorator_list if isinstance(each, ast.ClassDef | ast.FunctionDef) else []
        start = context.span(each)[0]
        return start if start in context.source.line_starts and not decorators else None
    return None


RULE = Rule(
    "TNS501",
    "live-state-dict-kept",
    Triggers(methods=("state_dict",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
