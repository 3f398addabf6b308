"""A tensor is made on the host and computed with one that may be on an accelerator: it works on a CPU only.

## What it does

Flags a factory without `device=` (`torch.zeros(n)`, `torch.arange(n)`, `torch.eye(n)`, `torch.tensor([...])`) whose
result meets a tensor that may be on an accelerator: in arithmetic and comparisons, in `torch.cat`, `torch.where`,
`matmul` and their like, as the index or mask of `gather`, `scatter` and `masked_fill`, or indexed by it.

It asks for evidence that the other tensor may be on an accelerator: the code moves it there, or it comes from a module
that may be moved, by what its `forward` is given or by its parameters; or the function itself puts something where the
other one is, `torch.zeros(n, device=x.device)`, as only who expects it elsewhere does (a device that is only compared,
asserted or printed says nothing). Silent are host tensors that index
(`x[torch.arange(n)]`), tensors without dimensions, stores (`x[0] = torch.zeros(n)`), `out=`, what is moved
behind the factory (`.to(x)`), code under `with torch.device(...)`, `__init__` with what it calls, and functions
outside of classes in a file that has no word of devices.

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
the new one is used nowhere else, nothing in the project sets a default device, and nobody waits for the error.

## References

- [Tensor attributes: torch.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from torchlint.diagnostics.assumptions import AUTHOR_MEANT_THIS, Decision
from torchlint.diagnostics.model import Confidence, Edit, Fix, Severity
from torchlint.rules.api import Device, Draft, FileContext, Kind, Rule, Triggers, leaf
from torchlint.rules.evidence.accelerator_places import Place, is_building, place_by_reading, speaks_of_devices
from torchlint.rules.evidence.expected_errors import error_not_expected
from torchlint.rules.evidence.finding_reasons import in_a_line
from torchlint.rules.evidence.read_devices import is_read_directly
from torchlint.rules.evidence.tensor_dimensions import has_no_dimension
from torchlint.rules.evidence.tensor_proof import is_tensor
from torchlint.rules.evidence.torch_defaults import default_device_unchanged, defaults

_FACTORIES = tuple("zeros ones full empty rand randn randint randperm arange linspace logspace eye tensor".split())
_KEEPING = frozenset(
    "view reshape flatten unsqueeze repeat expand permute transpose t contiguous clone float long int double half bool "
    "detach type tril triu repeat_interleave expand_as view_as reshape_as sqrt exp log abs neg square cumsum tile "
    "flip roll fill_ zero_ normal_ uniform_ bernoulli_ clamp requires_grad_".split()
)
"""Methods that give a tensor with dimensions on the device of the one that they are called on."""
_JOINING = frozenset(
    "cat concat stack hstack vstack where matmul mm bmm mv dot outer add sub mul div maximum minimum pow fmod lerp "
    "addmm baddbmm einsum kron cross cdist dist logical_and logical_or logical_xor eq ne lt le gt ge isin bucketize "
    "searchsorted gather scatter scatter_add index_select index_add masked_fill masked_select take_along_dim logaddexp "
    "linear conv1d conv2d conv3d embedding mse_loss l1_loss smooth_l1_loss cross_entropy nll_loss kl_div "
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity grid_sample "
    "scaled_dot_product_attention add_ sub_ mul_ div_ scatter_ scatter_add_ scatter_reduce index_add_ index_copy_ "
    "masked_fill_ gather addcmul addcdiv cosine_embedding_loss huber_loss".split()
)
"""Functions and methods that refuse tensors of two devices; what this holds is measured on the simulated one."""
_DEEPEST = 3
_LAYERS = frozenset(
    f"torch.nn.{each}" for each in "Linear Bilinear Embedding Conv1d Conv2d Conv3d LayerNorm LSTM GRU RNN".split()
)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a host tensor meets another one: the node that raises, the other tensor, and why that may be elsewhere."""

    at: ast.expr | ast.stmt
    other: ast.expr
    place: Place
    is_direct: bool
    """Whether the factory's result goes there and nowhere else."""


@dataclass(frozen=True, slots=True)
class Trail:
    """What is known of a host tensor on its way."""

    is_direct: bool
    """Whether nothing else has it."""
    has_dimensions: bool
    """Whether it has dimensions beyond doubt: without any it may meet tensors of any device."""


def check(node: cst.Call, context: FileContext) -> Iterator[Draft]:
    """Report a factory whose result meets a tensor that may be on an accelerator."""
    if not any(context.spells(node.func, each) for each in _FACTORIES):
        return
    call = context.python(node)
    if not isinstance(call, ast.Call) or not _is_factory(call, context) or context.function_around(call) is None:
        return
    if not speaks_of_devices(context) and (context.is_test or not _is_in_a_class(call, context)):
        return  # what only another file moves is left aside: for that, all functions would be walked
    if defaults(context).device or defaults(context).tensor_type or is_building(call, context):
        return
    trail = Trail(True, _has_dimensions(call, leaf(next(iter(context.names(call.func))))))
    meeting = next(_meetings(call, context, _DEEPEST, trail), None)
    if meeting is None or (context.is_test and not meeting.place.is_shown):
        return
    value = context.value(call)
    if not value.is_tensor or value.device != Device.HOST or value.rank == 0:
        return
    word = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
    other = in_a_line(meeting.other)
    yield Draft(
        word,
        f"crashes on an accelerator: `{leaf(in_a_line(call.func))}` makes a tensor on the host, and `{other}` "
        "may be elsewhere: give it a `device=`",
        Confidence.POSSIBLE if _copies(call, context) else meeting.place.confidence(context),
        (*meeting.place.why, f"they meet in `{in_a_line(meeting.at)}`, line {meeting.at.lineno}"),
        _fix(node, call, meeting, context),
    )


def _is_in_a_class(node: ast.AST, context: FileContext) -> bool:
    return any(isinstance(each, ast.ClassDef) for each in context.ancestors(node))


def _is_factory(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes a tensor on the host because no device is said."""
    names = context.qualified_names(call.func)  # a function is walked for nothing where a method has the word
    if not names or not names <= {f"torch.{each}" for each in _FACTORIES}:
        return False
    if any(each.arg in ("device", "out", None) for each in call.keywords):
        return False
    return not any(isinstance(each, ast.Starred) for each in call.args)


def _copies(call: ast.Call, context: FileContext) -> bool:
    """Whether what is made may be a copy of a tensor, and where that is."""
    return leaf(in_a_line(call.func)) == "tensor" and bool(call.args) and context.value(call.args[0]).may(Kind.TENSOR)


def _has_dimensions(call: ast.Call, word: str) -> bool:
    first = next(iter(call.args), None)
    if word == "tensor":  # of a name nobody knows: a number gives a tensor without dimensions
        return isinstance(first, ast.List | ast.Tuple | ast.ListComp)
    if word in ("arange", "linspace", "logspace", "eye", "randperm"):
        return True
    sizes = call.args[-1] if word == "randint" and call.args else first
    if isinstance(sizes, ast.List | ast.Tuple):
        return bool(sizes.elts)
    return sizes is not None


# ---------------------------------------------------------------------- where it goes
_ON_THE_WAY = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Subscript, ast.Attribute, ast.List, ast.Tuple),
    *(ast.keyword, ast.Call, ast.Assign),
)
"""What a tensor may meet another in, or go on from."""


def _meetings(node: ast.expr, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a host tensor meets another, along what is made of it."""
    above = context.parent(node)
    if depth == 0 or not isinstance(above, _ON_THE_WAY):  # before the value, for which a function is walked
        return
    if isinstance(above, ast.Assign):
        if above.value is node and len(above.targets) == 1 and isinstance(name := above.targets[0], ast.Name):
            yield from _through(name, context, depth - 1, trail)
        return
    if not _leads_on(above, node, context):
        return
    value = context.value(node)
    if not value.is_tensor or value.device != Device.HOST or has_no_dimension(node, context):
        return
    match above:
        case ast.BinOp(left=left, right=right):
            other = right if left is node else left
            yield from _met(above, [other], context, trail)
            if context.value(other).must(Kind.INTEGER | Kind.SCALAR):
                yield from _meetings(above, context, depth, trail)
        case ast.UnaryOp():
            yield from _meetings(above, context, depth, trail)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if not isinstance(
            operator, ast.Is | ast.IsNot | ast.In | ast.NotIn
        ):
            yield from _met(above, [right if left is node else left], context, trail)
        case ast.AugAssign(target=target, value=value_) if value_ is node and not isinstance(target, ast.Subscript):
            yield from _met(above, [target], context, trail)
        case ast.Subscript(value=host, slice=index, ctx=ast.Load()) if host is node:
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from _met(above, [each for each in parts if not isinstance(each, ast.Slice)], context, trail)
            if all(isinstance(each, ast.Slice) or _is_none(each) for each in parts):
                yield from _meetings(above, context, depth, trail)
        case ast.Attribute(attr=word) if isinstance(call := context.parent(above), ast.Call) and call.func is above:
            if word in _JOINING:
                yield from _met(call, _given(call), context, trail)
            elif word in _KEEPING:
                trail = replace(trail, has_dimensions=trail.has_dimensions or _gives_dimensions(call, word))
                yield from _meetings(call, context, depth, trail)
        case ast.Attribute(attr="T" | "mT"):
            yield from _meetings(above, context, depth, trail)
        case ast.List() | ast.Tuple() if isinstance(call := context.parent(above), ast.Call) and above in call.args:
            yield from _taken(call, node, context, trail)
        case ast.keyword(arg=word) if isinstance(call := context.parent(above), ast.Call) and word != "out":
            yield from _taken(call, node, context, trail)
        case ast.Call(func=function) if function is not node:
            yield from _taken(above, node, context, trail)


def _leads_on(above: ast.AST, node: ast.expr, context: FileContext) -> bool:
    """Whether what stands around a tensor may be a place where it meets another, by its words."""
    match above:
        case ast.Attribute(attr=word):
            return word in _JOINING or word in _KEEPING or word in ("T", "mT")
        case ast.Subscript(value=host, ctx=ast.Load()):
            return host is node
        case ast.Subscript():
            return False
        case ast.AugAssign(target=target):
            return not isinstance(target, ast.Subscript)
        case ast.Call():
            return _may_take(above, context)
        case ast.keyword() | ast.List() | ast.Tuple():
            call = context.parent(above)
            return isinstance(call, ast.Call) and _may_take(call, context)
    return True


def _may_take(call: ast.Call, context: FileContext) -> bool:
    """Whether a call may let a tensor that it is given meet another, by the name of what is called."""
    names = context.qualified_names(call.func)
    return not names or all(each.startswith("torch.") and leaf(each) in _JOINING for each in names)


def _gives_dimensions(call: ast.Call, word: str) -> bool:
    """Whether what a method gives has dimensions, whatever it is called on."""
    several = len(call.args) > 1 and not any(isinstance(each, ast.Starred) for each in call.args)
    return word in ("unsqueeze", "flip") or (word in ("view", "reshape", "expand", "repeat") and several)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis)


def _through(name: ast.Name, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where what a name is bound to meets another tensor: at uses that nothing else may have bound."""
    function = context.function_around(name)
    if function is None:
        return
    uses = [
        each
        for each in context.names_by_word().get(name.id, [])
        if isinstance(each.ctx, ast.Load) and context.function_around(each) is function
    ]
    trail = replace(trail, is_direct=trail.is_direct and len(uses) == 1)
    for each in sorted(uses, key=lambda use: (use.lineno, use.col_offset)):
        if context.reaching(each) == [name]:
            yield from _meetings(each, context, depth, trail)


def _taken(call: ast.Call, node: ast.expr, context: FileContext, trail: Trail) -> Iterator[Meeting]:
    """Yield what a host tensor meets as the argument of a call."""
    function = context.value(call.func)
    if function.names:
        if all(each.startswith("torch.") and leaf(each) in _JOINING for each in function.names):
            others = [each for each in _given(call) if each is not node]
            yield from _met(call, others, context, trail)
        return
    if not isinstance(call.func, ast.Attribute):
        return
    if function.must(Kind.MODULE):
        if function.instance and function.instance <= _LAYERS:
            yield from _met(call, [call.func], context, trail)
        return
    if call.func.attr in _JOINING and context.value(call.func.value).is_tensor:
        yield from _met(call, [call.func.value], context, trail)


def _given(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, the members of a list one by one."""
    found: list[ast.expr] = []
    for each in (*call.args, *(each.value for each in call.keywords)):
        found += each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
    return found


def _met(at: ast.expr | ast.stmt, others: list[ast.expr], context: FileContext, trail: Trail) -> Iterator[Meeting]:
    for each in others if trail.has_dimensions else ():
        if isinstance(each, ast.Constant | ast.Starred):
            continue
        place = _place(each, at, context)
        value = context.value(each)
        if place is not None and (value.rank != 0 or not isinstance(at, ast.Subscript)):
            yield Meeting(at, each, place, trail.is_direct)


def _place(node: ast.expr, at: ast.expr | ast.stmt, context: FileContext) -> Place | None:
    """Return why what a host tensor meets may be on an accelerator: a tensor, or a layer that is a part of a module."""
    value = context.value(node)
    if value.is_tensor or is_read_directly(node, context):
        return place_by_reading(node, context)
    if value.must(Kind.MODULE) and isinstance(at, ast.Call) and at.func is node:
        return place_by_reading(at, context)
    return None


# ---------------------------------------------------------------------- the repair
def _fix(node: cst.Call, call: ast.Call, meeting: Meeting, context: FileContext) -> Fix | None:
    """Make the new tensor where the other one is, if that has a name by then."""
    anchor = _anchor(meeting.other, call, context)
    if anchor is None or not node.args or "#" in context.code(node):
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
    if not meeting.is_direct or _copies(call, context):
        doubts.append(AUTHOR_MEANT_THIS.open(doubt="it may be used elsewhere, too", is_likely=True))
    return Fix(f"Make it where `{code}` is", (edit,), tuple(doubts))


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
    if not isinstance(root, ast.Name) or not is_one or place_by_reading(node, context) is None:
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
    Triggers(functions=_FACTORIES),
    assumes=("is-torch-tensor", "default-device-unchanged", "error-not-expected", "author-meant-this"),
    severity=Severity.WARNING,
    visit={cst.Call: check},
)
