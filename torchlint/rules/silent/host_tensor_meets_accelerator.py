"""A tensor is made on the host and computed with one that may be on an accelerator: it works on a CPU only.

## What it does

Flags a factory without `device=` (`torch.zeros(n)`, `torch.arange(n)`, `torch.tensor([...])`), and one that takes none
(`torch.Tensor([...])`, `torch.from_numpy(a)`), whose result, or what is computed of it, meets a tensor that may be on
an accelerator: in arithmetic and comparisons, in `torch.cat`, `torch.where`, `matmul` and their like, as the index or
mask of `gather`, `scatter` and `masked_fill`, or indexed by it. The tensor is followed through names, containers,
functions and methods, those of other files too, and through the plain attributes of an object, `self.scale =
torch.ones(3)` in an `__init__`: moving a module leaves those where they are, unlike buffers.

It asks for evidence that the other tensor may be on an accelerator: the code moves it there, or it comes where a module
is, as the module's parameters, what its `forward` is given, and what is computed of these do; or a call in the project
hands it over.

Silent are host tensors that index (`x[torch.arange(n)]`), tensors without dimensions, stores (`x[0] = torch.zeros(n)`),
`out=`, what is moved behind the factory (`.to(x)`), code under `with torch.device(...)`, projects that set a default
device, branches that ask whether the tensor is on the host, what an object's `__init__`
and what it calls compute, and attributes that something else sets, too.

## Why is this bad?

On a CPU all tensors are on the same device, and all works. On an accelerator the line raises `RuntimeError: Expected
all tensors to be on the same device`: whoever tests on a CPU never sees it. So seen on an NVIDIA H200 with torch 2.11
for `+`, `torch.cat`, `torch.where`, `gather`, `index_select`, `index_fill_`, `masked_fill` and a layer; an index of the
host (`x[torch.arange(2)]`) and a tensor without dimensions were taken there.

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

A warning: it works on the CPU, and raises once the module is moved.

```python
import torch


def shifted(x: torch.Tensor):
    there = torch.relu(x.cuda())
    return there + torch.ones(3)  # warning
```

## Fix safety

Offered where the other tensor has a name that is bound before the factory. Safe where that is a tensor beyond doubt,
the factory stands in the very expression in which they meet, nothing in the project sets a default device, and nobody
waits for the error. Unsafe where it may have no dimensions, as one in the shape of a loss has: such a tensor meets
those of any device.

## References

- [Tensor attributes: torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
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
    root_of_name,
)
from torchlint.rules.obligations import (
    default_device_unchanged,
    error_not_expected,
    is_tensor,
)
from torchlint.rules.silent.device_words import (
    DATA_FACTORIES,
    FACTORIES,
    JOINING,
    LAYERS,
    MOVES,
    OF_TENSORS_ALONE,
    OPERATORS,
    REDUCING,
    WITHOUT_DEVICE,
)
from torchlint.rules.wording import flow_step, in_a_line

_BY_MODULE: Final = "it comes where its module is, which may be moved"


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
        NodePattern(
            functions=("torch.*",),
            methods=JOINING | REDUCING,
            words=JOINING | REDUCING,
            value=_is_of_host,
            gives=_may_have_no_dimension,
        ),
        NodePattern(ops=frozenset({"element", "index", "item"}), value=_is_of_host, gives=_may_have_no_dimension),
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
    word = _factory(node, context)
    if not word or context.defaults_set & {DEVICE, TENSOR_TYPE}:
        return
    value = context.value(node)
    if not value.is_tensor or value.rank == 0 or value.device != Device.HOST:
        return
    if word in DATA_FACTORIES and not value.has_dimensions:
        return  # of a number it makes a tensor without dimensions
    found = next(_meetings(node, context), None)
    if found is None:
        return
    path, other, judged = found
    assert judged.of_device is not None
    yield Draft(
        node.func.attr if isinstance(node.func, cst.Attribute) else node.func,
        f"crashes on an accelerator: `{word}` makes a tensor on the host, and `{in_a_line(other.node)}` may be "
        f"elsewhere: {_remedy(node, path, word, context)}",
        judged.of_device,
        (*(judged.why or (_BY_MODULE,)), flow_step(path.sink, "is where they meet")),
        _fix(node, path, other, context) if word not in WITHOUT_DEVICE else None,
    )


def _factory(node: cst.Call, context: FileContext) -> str:
    """Return the word of a factory that makes a tensor where no device is said; nothing for other calls."""
    if not context.spells(node.func, *FACTORIES):
        return ""
    if any(each.star == "**" or (each.keyword and each.keyword.value in ("device", "out")) for each in node.args):
        return ""
    function = context.python(node.func)
    names = context.qualified_names(function) if isinstance(function, ast.expr) else frozenset[str]()
    return leaf(next(iter(names))) if names and names <= {f"torch.{each}" for each in FACTORIES} else ""


def _meetings(node: cst.Call, context: FileContext) -> Iterator[tuple[KnownPath, FlowPlace, JudgedConversion]]:
    """Yield where the tensor meets one of which something says that it may be elsewhere."""
    paths = context.paths_from(_MEETING, node)
    if paths and _is_moved(_keeper(node, context), context):
        return
    for path in paths:
        if _is_asked_for_device(path.sink.node, context):
            continue
        for other in path.beside if path.is_sure else ():
            judged = context.placed(other)
            if judged is None or not judged.is_placed or judged.of_device in (None, Confidence.UNPROVEN):
                continue
            if judged.is_tensor or _must_be_tensor(other, path, context):
                yield path, other, judged


def _is_asked_for_device(node: ast.AST, context: FileContext) -> bool:
    """Whether code stands where a test asks for a device: it may be the place for tensors of the host."""
    tests = (each.test for each in context.ancestors(node) if isinstance(each, ast.If | ast.IfExp))
    return any(each.attr == "device" for test in tests for each in ast.walk(test) if isinstance(each, ast.Attribute))


def _must_be_tensor(other: FlowPlace, path: KnownPath, context: FileContext) -> bool:
    """Whether what is met can be nothing but a tensor, or is a layer: it was moved, or only tensors are taken there."""
    function = path.sink.node.func if isinstance(path.sink.node, ast.Call) else None
    value, known = context.presumed_value(other.node), context.value(function)
    if value.must(Kind.MODULE):
        return other.node is function
    if not other.path and not value.device & Device.UNKNOWN and not value.may(Kind.INTEGER | Kind.SCALAR):
        return True
    words = {leaf(each) for each in (*known.names, *known.instance)}
    return not (OF_TENSORS_ALONE | LAYERS).isdisjoint({*words, getattr(function, "attr", "")})


def _keeper(node: cst.Call, context: FileContext) -> str:
    """Return the attribute that a statement binds to what it computes of the tensor; nothing for other statements."""
    place = context.python(node)
    statement = context.nearest(place, ast.Assign) if place is not None else None
    target = statement.targets[0] if statement is not None else None
    return target.attr if isinstance(target, ast.Attribute) else ""


def _is_moved(word: str, context: FileContext) -> bool:
    """Whether a class moves its plain attributes, or somebody else sets one: ``net.table = net.table.cuda()``."""
    if not word:
        return False
    if any(map(context.is_defined, ("_apply", "to", "cuda"))):
        return True
    set_here = (each for each in context.attributes_by_word().get(word, ()) if isinstance(each.ctx, ast.Store))
    elsewhere = context.other_texts.spelling(word, rf"(?<!\bself)\.\s*{re.escape(word)}\s*=(?!=)")
    return bool(elsewhere) or any(ast.unparse(each.value) != "self" for each in set_here)


def _remedy(node: cst.Call, path: KnownPath, word: str, context: FileContext) -> str:
    kept = _keeper(node, context)
    if kept and path.sink.row != context.row(node):
        return f"register `{kept}` as a buffer, or move it where it is used"
    return "move it there" if word in WITHOUT_DEVICE else "give it a `device=`"


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, path: KnownPath, other: FlowPlace, context: FileContext) -> Fix | None:
    """Make the new tensor where the other one is, if that has a name by then."""
    place, met = context.python(node), other.node
    names = (each for kind in (cst.Name, cst.Attribute) for each in context.concrete_nodes(kind))
    tensor = next((each for each in names if context.python(each) is met), None)
    if tensor is None or not isinstance(place, ast.expr) or not isinstance(met, ast.expr) or not node.args:
        return None
    if (
        "#" in context.code(node)
        or not context.value(met).may(Kind.TENSOR)
        or not _is_bound_before(met, place, context)
    ):
        return None
    comma = node.args[-1].comma
    at = context.span(node.args[-1].value if isinstance(comma, cst.Comma) else node.args[-1])[1]
    code = context.code(tensor)
    decided: list[Decision] = [
        default_device_unchanged(context),
        error_not_expected(node, context),
        is_tensor(tensor, context),
    ]
    if not _goes_straight(node, path.sink.node, context):
        decided.append(AUTHOR_MEANT_THIS.open(doubt="it may be used elsewhere, too", is_likely=True))
    elif not context.value(node).has_dimensions:
        doubt = "without dimensions it meets tensors of any device"
        decided.append(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))
    return Fix(f"Make it where `{code}` is", (Edit(at, at, f", device={code}.device"),), tuple(decided))


def _goes_straight(node: cst.Call, sink: ast.AST, context: FileContext) -> bool:
    """Whether a call stands in the expression of a meeting, at most with methods of its result in between."""
    below: cst.CSTNode = node
    for above in context.ancestors(node):
        if context.python(above) is sink:
            return True
        is_method = isinstance(above, cst.Attribute) or (isinstance(above, cst.Call) and above.func is below)
        if not is_method and not isinstance(above, cst.Arg | cst.Element | cst.List | cst.Tuple):
            return False
        below = above
    return False


def _is_bound_before(tensor: ast.expr, place: ast.expr, context: FileContext) -> bool:
    """Whether a name, or what an attribute is of, stands for the same at an earlier place of the function."""
    root = root_of_name(tensor)
    is_here = isinstance(root, ast.Name) and context.function_around(root) is context.function_around(place)
    bound = context.reaching(root) if is_here and isinstance(root, ast.Name) else []
    return bool(bound) and all(each.lineno < place.lineno for each in bound)


RULE = Rule(
    "TNS505",
    "host-tensor-meets-accelerator",
    Triggers(functions=FACTORIES),
    assumes=("is-torch-tensor", "default-device-unchanged", "error-not-expected", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
