"""A tensor created on the host is combined with one that may be on an accelerator: it works only on a CPU.

## What it does
Reports a factory call without `device=` (`torch.zeros(n)`, `torch.arange(n)`, `torch.tensor([...])`), or one that has
no such argument (`torch.Tensor([...])`, `torch.from_numpy(a)`), if its result, or a value computed from it, meets a
tensor that may be on an accelerator: in arithmetic and comparisons; in `torch.cat`, `torch.where`, `matmul` and
similar functions; as the index or mask of `gather`, `scatter` and `masked_fill`; or when such a tensor indexes it.
torchlint follows the tensor through names, containers, functions and methods, also in other files, and through plain
attributes of an object, such as `self.scale = torch.ones(3)` in `__init__`: moving a module does not move those,
unlike buffers.

There must be evidence that the other tensor may be on an accelerator: the code moves it there; it is on a module's
device, as the module's parameters, the arguments of its `forward` and results computed from these are; or a call in
the project passes such a tensor.

Not reported: host tensors used as an index (`x[torch.arange(n)]`), tensors without dimensions, stores
(`x[0] = torch.zeros(n)`), `out=`, results that are moved afterwards (`.to(x)`), code under `with torch.device(...)`,
projects that set a default device, branches that test whether the tensor is on the host, computations in an object's
`__init__` and the functions it calls, and attributes that other code sets too.

## Why is this bad?
On a CPU, all tensors are on the same device, and everything works. On an accelerator, the line raises `RuntimeError:
Expected all tensors to be on the same device`, which you never see if you test on a CPU. This was confirmed on an
NVIDIA H200 with torch 2.11 for `+`, `torch.cat`, `torch.where`, `gather`, `index_select`, `index_fill_`, `masked_fill`
and a layer; an index on the host (`x[torch.arange(2)]`) and a tensor without dimensions are accepted there.

## Example
```python
import torch


def centred(x: torch.Tensor, device: str):
    there = torch.relu(x.to(device))
    return there + torch.ones(3)
```

Use instead:

```python
import torch


def centred(x: torch.Tensor, device: str):
    there = torch.relu(x.to(device))
    return there + torch.ones(3, device=there.device)
```

## Severity
A warning: the code works on a CPU, and raises on an accelerator.

```python
import torch


def shifted(x: torch.Tensor):
    there = torch.relu(x.cuda())
    return there + torch.ones(3)  # warning
```

## Fix safety
Offered if the factory call is in the expression in which the tensors meet, and the other tensor has a name. Safe if
that is certainly a tensor, nothing in the project sets a default device, and nobody expects the error. Unsafe if the
new tensor may have no dimensions, such as one with the shape of a loss, because such a tensor can be combined with
tensors on any device.

## References
- [Tensor attributes: torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, IS_TENSOR, Decision
from torchlint.diagnostics.model import Edit, Fix, Severity
from torchlint.rules.api import (
    DEVICE,
    RECEIVES,
    TENSOR_TYPE,
    Device,
    Draft,
    FileContext,
    FlowPlace,
    FlowSpecification,
    FlowValue,
    JudgedConversion,
    Kind,
    KnownPath,
    NodePattern,
    Rule,
    Triggers,
    leaf,
)
from torchlint.rules.obligations import default_device_unchanged, error_not_expected, is_proven
from torchlint.rules.silent.device_words import (
    BY_MODULE,
    DATA_FACTORIES,
    FACTORIES,
    JOINING,
    LAYERS,
    MOVES,
    OF_TENSORS_ALONE,
    OPERATORS,
    WITHOUT_DEVICE,
)
from torchlint.rules.wording import flow_step, in_a_line

_NAMES: Final = frozenset(f"torch.{each}" for each in FACTORIES)


def _is_of_host(value: FlowValue) -> bool:
    return value.may(Kind.TENSOR) and not value.may_be_on_accelerator


def _may_be_elsewhere(value: FlowValue) -> bool:
    return value.may_be_on_accelerator


def _may_have_no_dimension(value: FlowValue) -> bool:
    return not value.has_dimensions


_MEETING: Final = FlowSpecification(
    is_computed=True,
    computed_by=(NodePattern(ops=frozenset("attr call index inplace operation truth".split()), gives=_is_of_host),),
    stops=(
        NodePattern(ops=frozenset({"either", "gamma", "phi"}), beside=_may_be_elsewhere),
        NodePattern(methods=MOVES, at=RECEIVES, gives=_may_be_elsewhere),
        NodePattern(ops=frozenset("call element index item".split()), value=_is_of_host, gives=_may_have_no_dimension),
    ),
    sinks=(
        NodePattern(
            ops=frozenset({"operation", "truth"}), words=OPERATORS, value=_is_of_host, beside=_may_be_elsewhere
        ),
        NodePattern(ops=frozenset({"index"}), at=frozenset({0}), value=_is_of_host, beside=_may_be_elsewhere),
        NodePattern(
            functions=("torch.*",),
            methods=JOINING,
            words=JOINING | LAYERS,
            value=_is_of_host,
            beside=_may_be_elsewhere,
        ),
    ),
    through_objects=True,
    through_callers=True,
)
"""From a tensor of the host to where it meets what may be elsewhere: that is judged then."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a factory whose result meets a tensor that may be on an accelerator."""
    names = context.names(node.func) if context.spells(node.func, *FACTORIES) else frozenset[str]()
    if not names or not names <= _NAMES or context.defaults_set & {DEVICE, TENSOR_TYPE}:
        return
    if any(each.star == "**" or (each.keyword and each.keyword.value in ("device", "out")) for each in node.args):
        return
    value = context.value(node)
    if not value.is_tensor or value.rank == 0 or value.device != Device.HOST:
        return
    word, kept = leaf(next(iter(names))), _keeper(node, context)
    if word in DATA_FACTORIES and not value.has_dimensions:
        return  # of a number it makes a tensor without dimensions
    found = next(_meetings(node, context), None)
    if found is None or (kept and _is_moved(kept, context)):
        return
    path, other, judged = found
    remedy = "move it there" if word in WITHOUT_DEVICE else "give it `device=`"
    if kept and path.sink.row != context.row(node):
        remedy = f"register `{kept}` as a buffer"
    yield Draft(
        node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
        f"`{word}` is on the CPU, and `{in_a_line(other.node)}` may be on a GPU: {remedy}",
        judged.confidence,
        (*(judged.why or BY_MODULE), flow_step(path.sink, "is where they meet")),
        _fix(node, path, other, context) if word not in WITHOUT_DEVICE else None,
    )


def _meetings(node: cst.Call, context: FileContext) -> Iterator[tuple[KnownPath, FlowPlace, JudgedConversion]]:
    """Yield where the tensor meets one of which something says that it may be elsewhere."""
    for path in context.paths_from(_MEETING, node):
        if _is_asked_for_device(path.sink.node, context):
            continue
        for other in path.beside if path.is_sure else ():
            judged = context.placed(other)
            if judged is not None and (judged.is_tensor or _must_be_tensor(other, path, context)):
                yield path, other, judged


def _is_asked_for_device(node: ast.AST, context: FileContext) -> bool:
    """Whether code stands where a test asks for a device: it may be the place for tensors of the host."""
    tests = (each.test for each in context.ancestors(node) if isinstance(each, ast.If | ast.IfExp))
    return any(each.attr == "device" for test in tests for each in ast.walk(test) if isinstance(each, ast.Attribute))


def _must_be_tensor(other: FlowPlace, path: KnownPath, context: FileContext) -> bool:
    """Whether what is met can be nothing but a tensor, or is a layer: it was moved, or only tensors are taken there."""
    function = getattr(path.sink.node, "func", None)
    value, known = context.presumed_value(other.node), context.value(function)
    if value.must(Kind.MODULE):
        return other.node is function
    if not other.path and not value.device & Device.UNKNOWN and not value.may(Kind.INTEGER | Kind.SCALAR):
        return True
    words = {getattr(function, "attr", ""), *map(leaf, (*known.names, *known.instance))}
    return not (OF_TENSORS_ALONE | LAYERS).isdisjoint(words)


def _keeper(node: cst.Call, context: FileContext) -> str:
    """Return the attribute that a statement binds to what it computes of the tensor; nothing for other statements."""
    place = context.python(node)
    statement = context.nearest(place, ast.Assign) if place is not None else None
    target = statement.targets[0] if statement is not None else None
    return target.attr if isinstance(target, ast.Attribute) else ""


def _is_moved(word: str, context: FileContext) -> bool:
    """Whether a class moves its plain attributes, or somebody else sets one: ``net.table = net.table.cuda()``."""
    if any(map(context.is_defined, ("_apply", "to", "cuda"))):
        return True
    set_here = (each for each in context.attributes_by_word().get(word, ()) if isinstance(each.ctx, ast.Store))
    elsewhere = context.other_texts.spelling(word, rf"(?<!\bself)\.\s*{re.escape(word)}\s*=(?!=)")
    return bool(elsewhere) or any(ast.unparse(each.value) != "self" for each in set_here)


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, path: KnownPath, other: FlowPlace, context: FileContext) -> Fix | None:
    """Make the new tensor where the other one is, if that has a name in the same expression."""
    place, met = context.python(node), other.node
    if not isinstance(met, ast.Name | ast.Attribute) or not node.args or "#" in context.code(node):
        return None
    is_straight = all(_goes_straight(each, path.sink.node, context) for each in (place, met))
    if not is_straight or not context.value(met).may(Kind.TENSOR):
        return None
    comma = node.args[-1].comma
    at = context.span(node.args[-1].value if isinstance(comma, cst.Comma) else node.args[-1])[1]
    code = ast.unparse(met)
    decided: list[Decision] = [
        default_device_unchanged(context),
        error_not_expected(node, context),
        IS_TENSOR.decided(None if is_proven(met, context) else context.value(met).claimed, code),
    ]
    if not context.value(node).has_dimensions:
        doubt = "without dimensions it meets tensors of any device"
        decided.append(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))
    return Fix(f"Make it where `{code}` is", (Edit(at, at, f", device={code}.device"),), tuple(decided))


def _goes_straight(node: ast.AST | None, sink: ast.AST, context: FileContext) -> bool:
    """Whether something stands in the expression of a meeting, at most with methods of its result in between."""
    below = node
    for above in context.ancestors(node) if node is not None else ():
        if above is sink:
            return True
        is_method = isinstance(above, ast.Attribute) or (isinstance(above, ast.Call) and above.func is below)
        if not is_method and not isinstance(above, ast.keyword | ast.List | ast.Tuple):
            return False
        below = above
    return False


RULE = Rule(
    "TNS505",
    "host-tensor-meets-accelerator",
    Triggers(functions=FACTORIES),
    assumes=("is-torch-tensor", "default-device-unchanged", "error-not-expected", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
