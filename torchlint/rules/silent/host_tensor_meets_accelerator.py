"""A tensor is made on the host and computed with one that may be on an accelerator: it works on a CPU only.

## What it does

Flags a factory without `device=` (`torch.zeros(n)`, `torch.arange(n)`, `torch.tensor([...])`), and one that takes none
(`torch.Tensor([...])`, `torch.from_numpy(a)`), whose result meets a tensor that may be on an accelerator: in arithmetic
and comparisons, in `torch.cat`, `torch.where`, `matmul` and their like, as the index or mask of `gather`, `scatter` and
`masked_fill`, or indexed by it, also where a function or a method returns it, to the same file or another one, where
a function of the file is given it, and where a method meets a constant of the file. So it is with what a module keeps
in a plain attribute, `self.scale = torch.ones(3)` in its `__init__`, or in a list or a dictionary there: moving the
module leaves that where it is, unlike a buffer. So it is with what any other object keeps, such as a schedule, also
where a module has that as a part, `self.graph.adjacency`. A list or a dictionary that holds host tensors is followed by
its name, in loops and to where a function returns it.

It asks for evidence that the other tensor may be on an accelerator: the code moves it there, by itself or with all that
is in a batch, or it comes from a module that may be moved, by what its `forward` is given or by its parameters, or by
the batch of a `training_step` of Lightning; or the function or its class moves a network and gives it what it moved,
too (`net.to(device)`, `net(x.to(device))`); or the function itself puts something where the other one is,
`torch.zeros(n, device=x.device)`, as only who expects it elsewhere does (a device that is only compared, asserted or
printed says nothing); or a call in the project hands over what was moved, or what a module computes, also within a
dictionary, a tuple or a list. Where callers alone decide, the finding is `unproven`, and nothing is said if all calls
in the project hand over tensors of the host.

Silent are host tensors that index (`x[torch.arange(n)]`), tensors without dimensions, stores (`x[0] = torch.zeros(n)`),
`out=`, what is moved behind the factory (`.to(x)`), code under `with torch.device(...)`, files that import a module
which sets a default device, branches whose test speaks of devices, what a module's `__init__` and what it calls
compute, also by a method of one of its parts that only constructors call, attributes that something else sets, too, in
whatever file, and functions of a file that has no word of devices, unless a class names them or other files call them
in a project that has one.

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
the new one is used nowhere else, nothing in the project sets a default device, and nobody waits for the error. Unsafe
where it may have no dimensions, as one in the shape of a loss has: such a tensor meets those of any device.

## References

- [Tensor attributes: torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Device, Draft, FileContext, Rule, Triggers, leaf
from torchlint.rules.obligations import (
    default_device_unchanged,
    defaults,
    error_not_expected,
    is_set_by_an_import,
    is_tensor,
)
from torchlint.rules.silent.accelerator_places import (
    is_building,
    is_called_in_building,
    place_by_argument,
    place_by_reading,
    speaks_of_devices,
)
from torchlint.rules.silent.handed_on import is_called_in_a_class, is_named_in_a_class
from torchlint.rules.silent.host_factories import (
    FACTORIES,
    copies,
    is_factory,
    least_dimensions,
    takes_device,
)
from torchlint.rules.silent.read_devices import is_read_directly
from torchlint.rules.silent.tensor_meetings import meetings
from torchlint.rules.silent.trails import Meeting, Trail
from torchlint.rules.wording import in_a_line

_OF_DEVICES = re.compile(r"cuda|device|gpu|\bcpu|mps|xpu", re.IGNORECASE)
_WORDS = ("device", "cuda")
"""Words of which a project has one where it speaks of devices at all."""
_MOST_CALLERS = 6
"""So many functions that call each other are asked for who calls them from elsewhere."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a factory whose result meets a tensor that may be on an accelerator."""
    if not context.spells(node.func, *FACTORIES):
        return
    call = context.python(node)
    if not isinstance(call, ast.Call) or not is_factory(call, context):
        return
    if not speaks_of_devices(context) and (context.is_test or not _serves_others(call, context)):
        return  # before the functions are walked
    if defaults(context).device or defaults(context).tensor_type or _is_chosen_by_device(call, context):
        return
    value = context.value(call)
    if not value.is_tensor or value.rank == 0 or value.device & (Device.HOST | Device.ACCELERATOR) != Device.HOST:
        return
    least = least_dimensions(call, leaf(next(iter(context.names(call.func)))), context)
    may_be_elsewhere = value.device != Device.HOST  # a copy is where its tensor is, and somebody may set a default
    trail = Trail(True, least, is_building=is_building(call, context), is_computed=may_be_elsewhere)
    found = (each for each in meetings(call, context, trail) if not is_called_in_building(each.at, each.context))
    meeting = min(found, key=lambda each: each.place.is_open, default=None)
    if meeting is None or (context.is_test and not meeting.place.is_shown):
        return
    if not _is_in_same(meeting, call, context) and _is_chosen_by_device(meeting.at, meeting.context):
        return
    if is_set_by_an_import(context):
        return
    word = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    met = f"they meet in `{in_a_line(meeting.at)}`, line {meeting.at.lineno}"
    yield Draft(
        word,
        _message(call, meeting),
        Confidence.POSSIBLE if copies(call, context) else meeting.place.confidence(meeting.context),
        tuple(map(meeting.context.located, (*meeting.place.why, met))),
        _fix(node, call, meeting, context),
    )


def _message(call: ast.Call, meeting: Meeting) -> str:
    word, other = leaf(in_a_line(call.func)), in_a_line(meeting.other)
    if (kept := meeting.kept_as) is not None:
        remedy = f'keep it by `self.register_buffer("{leaf(kept)}", ...)`'
        if meeting.is_contained:
            remedy = "register what it holds as buffers, or move that where it is used"
        return f"crashes on an accelerator: no module moves `{kept}`, and `{other}` may be elsewhere: {remedy}"
    remedy = "give it a `device=`" if takes_device(call) else "move it there"
    return f"crashes on an accelerator: `{word}` makes a tensor on the host, and `{other}` may be elsewhere: {remedy}"


def _is_chosen_by_device(node: ast.AST, context: FileContext) -> bool:
    """Whether code stands on a branch whose test speaks of devices: it may be the one for the host."""
    tests = (each.test for each in context.ancestors(node) if isinstance(each, ast.If | ast.IfExp | ast.While))
    return any(_OF_DEVICES.search(ast.unparse(each)) for each in tests)


def _is_in_same(meeting: Meeting, call: ast.Call, context: FileContext) -> bool:
    """Whether a tensor meets another in the function that makes it."""
    is_here = context.holds(meeting.at)
    return is_here and context.function_around(meeting.at) is context.function_around(call)


def _serves_others(node: ast.AST, context: FileContext) -> bool:
    """Whether code serves a class, or a function that another file calls, in a project that speaks of devices."""
    if _serves_a_class(node, context):
        return True
    is_spoken_of = any(context.other_texts.spelling(each) != [] for each in _WORDS)
    waiting, seen = [(context, context.function_around(node))], set[ast.AST]()
    while waiting and len(seen) < _MOST_CALLERS:
        file, function = waiting.pop(0)
        if function is None or function in seen or not isinstance(file.parent(function), ast.Module):
            continue
        seen.add(function)
        calls = file.calls_of(function)
        if any(_serves_a_class(each, other) or (is_spoken_of and other is not file) for other, each in calls):
            return True
        waiting += [(other, other.function_around(each)) for other, each in calls]
    return False


def _serves_a_class(node: ast.AST, context: FileContext) -> bool:
    """Whether code stands in a class, or in a function or a constant that a method of the file names."""
    around = list(context.ancestors(node))
    if any(isinstance(each, ast.ClassDef) for each in around):
        return True
    bound = around[-2] if context.function_around(node) is None and len(around) > 1 else None
    if isinstance(bound, ast.Assign) and isinstance(bound.targets[0], ast.Name):
        return is_named_in_a_class(bound.targets[0].id, context)
    return is_called_in_a_class(context.function_around(node), context)


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, call: ast.Call, meeting: Meeting, context: FileContext) -> Fix | None:
    """Make the new tensor where the other one is, if that has a name by then."""
    anchor = _anchor(meeting.other, call, context) if _is_in_same(meeting, call, context) else None
    if anchor is None or not (node.args and takes_device(call)) or "#" in context.code(node):
        return None
    tensor, code = anchor
    end = context.span(node.args[-1])[1] if node.args[-1].comma is cst.MaybeSentinel.DEFAULT else None
    at = end if end is not None else context.span(node.args[-1].value)[1]
    edit = Edit(at, at, f", device={code}.device")
    doubts: list[Decision] = [default_device_unchanged(context), error_not_expected(node, context)]
    concrete = next((each for each in _expressions(context) if context.python(each) is tensor), None)
    if concrete is None:
        return None
    doubts.append(is_tensor(concrete, context))
    if not meeting.is_direct or copies(call, context):
        doubts.append(AUTHOR_MEANT_THIS.open(doubt="it may be used elsewhere, too", is_likely=True))
    elif (shaped := _shaped_like(call)) is not None and not context.value(shaped).has_dimensions:
        doubt = f"without dimensions, as `{in_a_line(shaped)}` may be, it meets tensors of any device"
        doubts.append(AUTHOR_MEANT_THIS.open(doubt=doubt, is_likely=True))
    return Fix(f"Make it where `{code}` is", (edit,), tuple(doubts))


def _shaped_like(call: ast.Call) -> ast.expr | None:
    """Return the tensor whose whole shape a factory is given: ``torch.randn(x.shape)``, ``torch.zeros(x.size())``."""
    match call.args:
        case [ast.Attribute(value=tensor, attr="shape")] | [
            ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[])
        ]:
            return tensor
    return None


def _expressions(context: FileContext) -> Iterator[cst.BaseExpression]:
    yield from context.concrete_nodes(cst.Name)
    yield from context.concrete_nodes(cst.Attribute)


def _anchor(other: ast.expr, call: ast.Call, context: FileContext) -> tuple[ast.expr, str] | None:
    """Return the tensor that says where the other is by a name that stands for the same at the factory."""
    node = other
    while not isinstance(node, ast.Name | ast.Attribute):
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.UnaryOp(operand=inner):
                node = inner
            case ast.BinOp(left=inner) | ast.Compare(left=inner):
                node = inner
            case _:
                return None
        if not context.value(node).is_tensor:
            return None
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    is_one = context.value(node).is_tensor or is_read_directly(node, context)
    place = place_by_reading(node, context) or place_by_argument(node, context)
    if not isinstance(root, ast.Name) or not is_one or place is None:
        return None
    scope = context.scope_that_binds(root)
    stores = context.stores(scope).get(root.id, []) if scope is not None and not isinstance(scope, ast.Module) else []
    begins, ends = _statement(call, context), _statement(node, context)
    if begins is None or ends is None:
        return None
    if any(begins.lineno <= each.lineno <= ends.lineno for each in stores if begins is not ends):
        return None
    given = {each.lineno for each in context.reaching(root)}
    if scope is None or not given or (begins is not ends and max(given) >= begins.lineno):
        return None
    return node, ast.unparse(node)


def _statement(node: ast.AST, context: FileContext) -> ast.stmt | None:
    return next((each for each in (node, *context.ancestors(node)) if isinstance(each, ast.stmt)), None)


RULE = Rule(
    "TNS505",
    "host-tensor-meets-accelerator",
    Triggers(functions=FACTORIES),
    assumes=("is-torch-tensor", "default-device-unchanged", "error-not-expected", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
