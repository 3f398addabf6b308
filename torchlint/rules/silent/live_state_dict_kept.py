"""The `state_dict()` of a model is kept without a copy while the model trains on.

## What it does
Reports `best = model.state_dict()` if the weights change before the result is used: after an optimizer step, another
`load_state_dict` or any other write to the weights, it is loaded into the same model, saved, computed with or
returned. torchlint follows it through names, attributes, dicts, lists, dataclasses, shallow copies and functions, also
in other files, and tells several models apart. If a method keeps the weights only when a comparison says that they are
better, as in early stopping, other code is assumed to train the model in between.

Not reported: deep copies, `{k: v.clone() ...}` and `{k: v.cpu() ...}`; results saved or loaded before the model
changes; weights of a model that is not trained; and a model that is built anew before it is trained.

## Why is this bad?
`state_dict()` holds the memory of the parameters, and the optimizer writes into that memory. The "best" weights are
the last ones, and loading them back does nothing. Nothing raises, and the saved weights do not reach the reported
score. A shallow copy copies only the names.

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
A warning: the kept weights are wrong if the model trains on.

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
Never safe: different weights are loaded or saved afterwards, which is the point, and a copy takes memory.

## References
- [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html): what
  `state_dict()` gives "will keep getting updated by the subsequent training iterations"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
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
    FlowSpecification,
    Kind,
    NodePattern,
    Rule,
    Triggers,
)
from torchlint.rules.wording import brief, flow_step

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


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a ``state_dict()`` that is kept while its model is trained."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "state_dict" or node.args:
        return
    model, name = context.value(node.func.value), brief(node.func.value, context)
    others = [each for each in model.instance if not each.startswith((OWN, "torch.nn."))]
    if _OTHERS.search(name) or not model.may(Kind.MODULE) or (others and not model.must(Kind.MODULE | Kind.NONE)):
        return  # loaders and schedules have a state, too
    for path in context.paths_from(_LIVE, node)[:1]:
        changed = "it is kept only where it is better, so that training goes on"
        yield Draft(
            node.func.attr,
            f"the kept `state_dict()` changes with `{name}` before it is used: keep a `copy.deepcopy(...)` of it",
            Confidence.CERTAIN if path.is_sure else Confidence.LIKELY,
            (
                flow_step(path.written, "changes the weights") if path.written is not None else changed,
                flow_step(path.sink, "uses what was kept"),
            ),
            _fix(node, context),
        )


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, context: FileContext) -> Fix | None:
    """Copy the weights by the file's own import of ``copy``, or by one that is added."""
    imports = [each for each in context.tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    first = next((each for each in imports if getattr(each, "module", "") != "__future__"), None)
    if first is None or context.source.cell(1) is not None or "copy" in context.bound_otherwise:
        return None
    modules = [alias for each in imports if isinstance(each, ast.Import) for alias in each.names]
    is_there = any(alias.name == "copy" and alias.asname is None for alias in modules)
    start = context.span(first)[0]
    edits = () if is_there else (Edit(start, start, "import copy\n"),)
    wrapped = (context.insert_before(node, "copy.deepcopy("), context.insert_after(node, ")"))
    decided = AUTHOR_MEANT_THIS.open(doubt="other weights are kept from now on", is_likely=True)
    return Fix("Copy the weights that are kept", (*edits, *wrapped), (decided,))


RULE = Rule(
    "TNS501",
    "live-state-dict-kept",
    Triggers(methods=("state_dict",)),
    assumes=("author-meant-this",),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
