"""Where a tensor that is made on the host meets one that may be elsewhere, along what is made of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from torchlint.rules.api import Device, FileContext, Kind, leaf
from torchlint.rules.evidence.accelerator_places import (
    Place,
    is_building,
    is_handed_a_tensor,
    place_by_argument,
    place_by_reading,
)
from torchlint.rules.evidence.moved_networks import place_of_result
from torchlint.rules.evidence.object_attributes import attribute_values, declares_any
from torchlint.rules.evidence.read_devices import is_read_directly
from torchlint.rules.evidence.tensor_dimensions import has_no_dimension
from torchlint.rules.silent.handed_on import calls_of, members_of

_KEEPING = frozenset(
    "view reshape flatten unsqueeze repeat expand permute transpose t contiguous clone float long int double half bool "
    "detach type tril triu repeat_interleave expand_as view_as reshape_as sqrt exp log abs neg square cumsum tile "
    "flip roll fill_ zero_ normal_ uniform_ bernoulli_ clamp requires_grad_ sigmoid tanh softmax log_softmax relu cos "
    "sin round floor ceil sign reciprocal rsqrt diff argsort nan_to_num logical_not broadcast_to unflatten movedim pad "
    "swapaxes swapdims one_hot zeros_like ones_like full_like empty_like rand_like randn_like diag_embed to".split()
)
"""Methods and functions that give a tensor with dimensions on the device of the one that they are given.

Of those that may move it (``to``) inference tells whether they do.
"""
_PERHAPS_MOVING = frozenset({"to", "type"})
_JOINING = frozenset(
    "cat concat stack hstack vstack where matmul mm bmm mv dot outer add sub mul div maximum minimum pow fmod lerp "
    "addmm baddbmm einsum kron cross cdist dist logical_and logical_or logical_xor eq ne lt le gt ge isin bucketize "
    "searchsorted gather scatter scatter_add index_select index_add masked_fill masked_select take_along_dim logaddexp "
    "linear conv1d conv2d conv3d embedding mse_loss l1_loss smooth_l1_loss cross_entropy nll_loss kl_div "
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_similarity grid_sample "
    "scaled_dot_product_attention add_ sub_ mul_ div_ scatter_ scatter_add_ scatter_reduce index_add_ index_copy_ "
    "masked_fill_ gather addcmul addcdiv cosine_embedding_loss huber_loss quantile nanquantile heaviside hypot atan2 "
    "remainder floor_divide true_divide multiply subtract divide greater less less_equal greater_equal not_equal fmin "
    "fmax inner vdot tensordot chain_matmul block_diag cartesian_prod dstack column_stack row_stack bitwise_and "
    "bitwise_or xlogy isclose allclose equal addmv masked_scatter take bilinear pairwise_distance "
    "triplet_margin_loss".split()
)
"""Functions and methods that refuse tensors of two devices; what this holds is measured on the simulated one."""
_TAKING = _JOINING | _KEEPING | {"meshgrid"}
_DEEPEST = 6
"""How many names may stand between where a tensor is made and where it meets another."""
_MOVING = frozenset({"_apply", "to", "cuda"})
"""Methods by which a class may move its plain attributes, too."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.comprehension)
_LAYERS = frozenset(
    f"torch.nn.{each}" for each in "Linear Bilinear Embedding Conv1d Conv2d Conv3d LayerNorm LSTM GRU RNN".split()
)
_LOSSES = frozenset(
    f"torch.nn.{each}Loss" for each in "BCE BCEWithLogits MSE L1 SmoothL1 Huber CrossEntropy NLL KLDiv".split()
)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where a host tensor meets another one: the node that raises, the other tensor, and why that may be elsewhere."""

    at: ast.expr | ast.stmt
    other: ast.expr
    place: Place
    is_direct: bool
    """Whether the factory's result goes there and nowhere else."""
    kept_as: str | None = None
    """The attribute of a module that has kept the host tensor since the module was made."""
    is_contained: bool = False
    """Whether that attribute is a list or a dictionary which holds it."""


@dataclass(frozen=True, slots=True)
class Trail:
    """What is known of a host tensor on its way."""

    is_direct: bool
    """Whether nothing else has it."""
    has_dimensions: bool
    """Whether it has dimensions beyond doubt: without any it may meet tensors of any device."""
    is_on_a_path: bool = False
    """Whether what stands there is the host tensor on some paths only: it was bound on a branch, or before a loop."""
    is_building: bool = False
    """Whether the module that the tensor is made for is just being made: all is on the host yet."""
    kept_as: str | None = None
    """The attribute of a module that keeps the tensor."""
    kept_in: tuple[ast.expr, ast.expr] | None = None
    """The list or the dictionary that the attribute is bound to, and what it holds there."""
    is_computed: bool = False
    """Whether it was computed with what nothing is known of: that raised, or the result is on the host, too."""
    followed: set[ast.Name | ast.Return] = field(default_factory=set)
    """The names and the statements that it was followed through: each of them once."""


_ON_THE_WAY = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Subscript, ast.Attribute, ast.List, ast.Tuple),
    *(ast.keyword, ast.Call, ast.Assign, ast.IfExp, ast.Return, ast.Dict, ast.ListComp),
)
"""What a tensor may meet another in, or go on from."""
_CONTAINERS = (ast.Dict, ast.ListComp, ast.List, ast.Tuple)


def meetings(node: ast.expr, context: FileContext, trail: Trail, depth: int = _DEEPEST) -> Iterator[Meeting]:
    """Yield where a host tensor meets another, along what is made of it."""
    above = context.parent(node)
    if depth == 0 or not isinstance(above, _ON_THE_WAY):  # before the value, for which a function is walked
        return
    if isinstance(above, ast.Assign):
        if above.value is node and len(above.targets) == 1:
            yield from _bound(above.targets[0], node, context, depth - 1, trail)
        return
    if trail.is_building and isinstance(above, _CONTAINERS) and isinstance(context.parent(above), ast.Assign):
        yield from _contained(above, node, context, depth - 1, trail)
        return
    if not _leads_on(above, node, context):
        return
    if not _is_on_host(node, context, trail) or has_no_dimension(node, context):
        return
    match above:
        case ast.BinOp(left=left, right=right):
            other = right if left is node else left
            yield from _met(above, [other], context, trail)
            if not trail.is_on_a_path or context.value(other).must(Kind.INTEGER | Kind.SCALAR):
                yield from meetings(above, context, _computed(above, context, trail), depth)
        case ast.IfExp(test=test) if test is not node:
            yield from meetings(above, context, replace(trail, is_on_a_path=True, is_direct=False), depth)
        case ast.UnaryOp():
            yield from meetings(above, context, trail, depth)
        case ast.Return():
            yield from _returned(above, context, depth - 1, trail)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if not isinstance(
            operator, ast.Is | ast.IsNot | ast.In | ast.NotIn
        ):
            other = right if left is node else left
            yield from _met(above, [other], context, trail)
            if context.value(other).must(Kind.INTEGER | Kind.SCALAR):
                yield from meetings(above, context, trail, depth)
        case ast.AugAssign(target=target, value=value) if not isinstance(target, ast.Subscript):
            yield from _met(above, [target if value is node else value], context, trail)
        case ast.Subscript(value=host, slice=index, ctx=ast.Load()) if host is node:
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from _met(above, [each for each in parts if not isinstance(each, ast.Slice)], context, trail)
            if all(isinstance(each, ast.Slice) or _is_none(each) for each in parts):
                yield from meetings(above, context, trail, depth)
        case ast.Attribute(attr=word) if isinstance(call := context.parent(above), ast.Call) and call.func is above:
            if word in _JOINING:
                yield from _met(call, _given(call), context, trail)
            elif word in _KEEPING and not (word in _PERHAPS_MOVING and (trail.is_on_a_path or trail.is_computed)):
                trail = replace(trail, has_dimensions=trail.has_dimensions or _gives_dimensions(call, word))
                trail = trail if word in _PERHAPS_MOVING else _computed(call, context, trail)
                yield from meetings(call, context, trail, depth)
        case ast.Attribute(attr="T" | "mT"):
            yield from meetings(above, context, trail, depth)
        case ast.List() | ast.Tuple() if isinstance(call := context.parent(above), ast.Call) and above in call.args:
            yield from _given_to(call, node, context, trail, depth)
        case ast.keyword(arg=word) if isinstance(call := context.parent(above), ast.Call) and word != "out":
            yield from _given_to(call, node, context, trail, depth)
        case ast.Call(func=function) if function is not node:
            yield from _given_to(above, node, context, trail, depth)


def _computed(result: ast.expr, context: FileContext, trail: Trail) -> Trail:
    """Return what is known of what a host tensor is computed into, whatever the other operand is."""
    if not trail.has_dimensions or _is_on_host(result, context, trail):
        return trail
    return replace(trail, is_computed=True, is_direct=False)


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
        case ast.Dict() | ast.ListComp():
            return False
        case ast.Call():
            return _may_take(above, context)
        case ast.keyword() | ast.List() | ast.Tuple():
            call = context.parent(above)
            return isinstance(call, ast.Call) and _may_take(call, context)
    return True


def _may_take(call: ast.Call, context: FileContext) -> bool:
    """Whether a call may let a tensor that it is given meet another, by the name of what is called."""
    if any(each.arg == "device" for each in call.keywords):
        return False
    names = context.qualified_names(call.func)
    return not names or all(each.startswith("torch.") and leaf(each) in _TAKING for each in names)


def _gives_dimensions(call: ast.Call, word: str) -> bool:
    """Whether what a method or function gives has dimensions, whatever it is given."""
    several = len(call.args) > 1 and not any(isinstance(each, ast.Starred) for each in call.args)
    return word in ("unsqueeze", "flip", "one_hot") or (word in ("view", "reshape", "expand", "repeat") and several)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis)


def _bound(target: ast.expr, node: ast.expr, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a host tensor meets another by the name or the attribute that it is bound to."""
    if isinstance(target, ast.Name):
        yield from _through(target, context, depth, trail)
    elif isinstance(target, ast.Attribute) and trail.is_building and _is_on_host(node, context, trail):
        yield from _by_attribute(target, node, context, depth, trail)


def _returned(returning: ast.Return, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a tensor meets another after the calls of the function that returns it."""
    if returning in trail.followed:
        return
    trail.followed.add(returning)
    for call in calls_of(returning, context):
        handed = replace(trail, is_direct=False, is_building=is_building(call, context))
        yield from meetings(call, context, handed, depth)


def _contained(
    container: ast.Dict | ast.ListComp | ast.List | ast.Tuple,
    node: ast.expr,
    context: FileContext,
    depth: int,
    trail: Trail,
) -> Iterator[Meeting]:
    """Yield where a tensor meets another that a module keeps in a list or a dictionary: no move reaches that."""
    statement = context.parent(container)
    if isinstance(container, ast.Dict) and node not in container.values:
        return
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Attribute) and _is_on_host(node, context, trail):
            yield from _by_attribute(target, container, context, depth, replace(trail, kept_in=(container, node)))


def _by_attribute(
    target: ast.Attribute, value: ast.expr, context: FileContext, depth: int, trail: Trail
) -> Iterator[Meeting]:
    """Yield where a tensor that a module keeps meets another: moving the module leaves a plain attribute behind."""
    own = context.value_of_self(target.value)
    if own is None or not own.must(Kind.MODULE) or attribute_values(target, context) != [value]:
        return
    uses = [each for each in context.attributes_by_word()[target.attr] if isinstance(each.ctx, ast.Load)]
    if declares_any(_MOVING, context) or any(_asks_for_device(each, context) for each in uses):
        return
    kept = ast.unparse(target)
    trail = replace(trail, is_on_a_path=True, is_direct=False, is_building=False, kept_as=kept)
    for each in uses:
        if ast.unparse(each) == kept and not is_building(each, context) and _is_of_same(each, target, context):
            yield from _read(each, context, depth, trail)


def _read(attribute: ast.Attribute, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield what a kept tensor meets where its attribute is read, or where it is taken out of that."""
    if trail.kept_in is None:
        yield from meetings(attribute, context, trail, depth)
        return
    for each in members_of(attribute, *trail.kept_in, context):
        if _asks_for_device(each, context):
            continue
        if isinstance(each, ast.Name):
            yield from _through(each, context, depth, trail)
        else:
            yield from meetings(each, context, trail, depth)


def _asks_for_device(node: ast.expr, context: FileContext) -> bool:
    above = context.parent(node)
    return isinstance(above, ast.Attribute) and above.attr in ("device", "is_cuda", "to", "cuda", "type_as")


def _is_of_same(one: ast.AST, other: ast.AST, context: FileContext) -> bool:
    """Whether two nodes stand in methods of the same class."""
    classes = [
        next((each for each in context.ancestors(node) if isinstance(each, ast.ClassDef)), None)
        for node in (one, other)
    ]
    return classes[0] is classes[1]


def _through(name: ast.Name, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where what a name is bound to meets another tensor: at uses that nothing else may have bound."""
    function = context.function_around(name)
    if name in trail.followed:
        return
    trail.followed.add(name)
    if function is None:
        yield from _global(name, context, depth, trail)
        return
    uses = [
        each
        for each in context.names_by_word().get(name.id, [])
        if _is_used(each, context) and context.function_around(each) is function
    ]
    trail = replace(trail, is_direct=trail.is_direct and len(uses) == 1)
    for each in sorted(uses, key=lambda use: (use.lineno, use.col_offset)):
        places = context.reaching(each)
        if places == [name]:
            yield from meetings(each, context, trail, depth)
        elif name in places and (_is_default(name, each, places, context) or _is_carried(name, each, places, context)):
            yield from _on_a_path(name, each, context, depth, trail)


def _global(name: ast.Name, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a tensor that a module of Python binds once meets another in a method: it is moved by nobody."""
    if not isinstance(context.parent(context.parent(name) or name), ast.Module):
        return
    trail = replace(trail, is_direct=False, is_on_a_path=True)
    for each in context.names_by_word().get(name.id, []):
        function = context.function_around(each)
        is_method = function is not None and isinstance(context.parent(function), ast.ClassDef)
        if is_method and isinstance(each.ctx, ast.Load) and context.reaching(each) == [name]:
            building = is_building(each, context)
            yield from meetings(each, context, replace(trail, is_building=building), depth)


def _is_used(name: ast.Name, context: FileContext) -> bool:
    above = context.parent(name)
    return isinstance(name.ctx, ast.Load) or (isinstance(above, ast.AugAssign) and above.target is name)


def _on_a_path(name: ast.Name, use: ast.Name, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a tensor meets another by a name that something else may have bound on other paths."""
    statement = context.parent(name)
    if isinstance(statement, ast.Assign) and _is_on_host(statement.value, context, trail):
        yield from meetings(use, context, replace(trail, is_on_a_path=True, is_direct=False), depth)


def _is_default(name: ast.Name, use: ast.Name, places: list[ast.Name | ast.arg], context: FileContext) -> bool:
    """Whether a name is bound where its argument is missing: ``if mask is None: mask = torch.ones(3)``."""
    branch = context.parent(context.parent(name) or name)
    match branch:
        case ast.If(test=ast.Compare(left=ast.Name(id=word), ops=[ast.Is()], comparators=[absent]), body=body):
            is_given = all(each is name or isinstance(each, ast.arg) for each in places)
            is_asked = word == name.id and _is_none(absent) and context.parent(name) in body
            return is_given and is_asked and use not in context.within(branch)
    return False


def _is_carried(name: ast.Name, use: ast.Name, places: list[ast.Name | ast.arg], context: FileContext) -> bool:
    """Whether a name is bound before a loop that uses it first of all, and rebinds it by that or behind it.

    A statement that alone rebinds it, ``total = total + x``, finds it as it was when it runs for the first time.
    """
    block = context.parent(context.parent(name) or name)
    around = list(takewhile(lambda each: each is not block, context.ancestors(use)))
    statement = next((each for each in around if isinstance(each, ast.stmt)), None)
    if block is None or statement is None or not any(isinstance(each, ast.For | ast.While) for each in around):
        return False
    others = [each for each in places if each is not name]
    if all(context.parent(each) is statement for each in others):
        return block in context.ancestors(use)
    is_first = block in context.ancestors(use) and not any(isinstance(each, _BRANCHES) for each in around)
    return is_first and all(isinstance(each, ast.Name) and each.lineno >= statement.lineno for each in others)


def _is_on_host(node: ast.expr, context: FileContext, trail: Trail) -> bool:
    """Whether a tensor is on the host, or it may be on a path on which it is the one that is followed."""
    value = context.value(node)
    if trail.is_on_a_path or trail.is_computed:
        return value.may(Kind.TENSOR) and value.device != Device.ACCELERATOR
    return value.is_tensor and value.device == Device.HOST


def _given_to(call: ast.Call, node: ast.expr, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what a host tensor meets as the argument of a call, or behind it where the call makes another one of it."""
    names = context.qualified_names(call.func)
    if not names or any(leaf(each) in _JOINING for each in names):
        yield from _taken(call, node, context, trail)
    elif all(leaf(each) == "meshgrid" for each in names):
        yield from _unpacked(call, context, trail, depth)
    elif node is next(iter(call.args), None) or context.parent(node) in call.keywords:
        has = trail.has_dimensions or all(_gives_dimensions(call, leaf(each)) for each in names)
        yield from meetings(call, context, replace(trail, has_dimensions=has), depth)


def _unpacked(call: ast.Call, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what the parts of a call's result meet: ``x, y = torch.meshgrid(a, b)``."""
    match context.parent(call):
        case ast.Assign(targets=[ast.Tuple(elts=parts)]) if depth > 1:
            for each in parts:
                if isinstance(each, ast.Name):
                    yield from _through(each, context, depth - 1, replace(trail, is_direct=False))


def _taken(call: ast.Call, node: ast.expr, context: FileContext, trail: Trail) -> Iterator[Meeting]:
    """Yield what a host tensor meets as the argument of a call."""
    function = context.value(call.func)
    if function.names:
        if all(each.startswith("torch.") and leaf(each) in _JOINING for each in function.names):
            if _is_weight(node, context):
                trail = replace(trail, has_dimensions=True)
            others = [each for each in _given(call) if each is not node]
            yield from _met(call, others, context, trail)
        return
    if function.must(Kind.MODULE):
        if function.instance and function.instance <= _LOSSES:
            yield from _met(call, [each for each in _given(call) if each is not node], context, trail)
        elif function.instance and function.instance <= _LAYERS and isinstance(call.func, ast.Attribute):
            yield from _met(call, [call.func], context, trail)
        return
    if not isinstance(call.func, ast.Attribute):
        return
    if call.func.attr in _JOINING and context.value(call.func.value).is_tensor:
        yield from _met(call, [call.func.value], context, trail)


def _is_weight(node: ast.expr, context: FileContext) -> bool:
    """Whether a tensor is the weight of a loss, one number for each class or sample: it has dimensions."""
    above = context.parent(node)
    return isinstance(above, ast.keyword) and above.arg in ("weight", "pos_weight")


def _given(call: ast.Call) -> list[ast.expr]:
    """Return what a call is given, the members of a list one by one."""
    found: list[ast.expr] = []
    for each in (*call.args, *(each.value for each in call.keywords)):
        found += each.elts if isinstance(each, ast.List | ast.Tuple) else [each]
    return found


def _met(at: ast.expr | ast.stmt, others: list[ast.expr], context: FileContext, trail: Trail) -> Iterator[Meeting]:
    for each in others if trail.has_dimensions and not trail.is_building else ():
        if isinstance(each, ast.Constant | ast.Starred):
            continue
        place = _place(each, at, context)
        value = context.value(each)
        if place is not None and (value.rank != 0 or not isinstance(at, ast.Subscript)):
            yield Meeting(at, each, place, trail.is_direct, trail.kept_as, trail.kept_in is not None)


def _place(node: ast.expr, at: ast.expr | ast.stmt, context: FileContext) -> Place | None:
    """Return why what a host tensor meets may be on an accelerator: a tensor, or a layer that is a part of a module."""
    value = context.value(node)
    is_handed = isinstance(node, ast.Name) and is_handed_a_tensor(node, context)
    if value.is_tensor or is_handed or is_read_directly(node, context):
        return place_by_reading(node, context) or place_by_argument(node, context)
    if value.must(Kind.MODULE) and isinstance(at, ast.Call) and at.func is node:
        return place_by_reading(at, context)
    found = place_of_result(node, context)
    return found or (place_by_argument(node, context) if _looks_like_a_tensor(node, context) else None)


def _looks_like_a_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression of which nothing is known is written as only one of a tensor is: no bare name is."""
    if not context.may_be_torch(node):
        return False
    match node:
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(isinstance(each, ast.Slice) or _is_none(each) for each in parts)
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _KEEPING
    return False
