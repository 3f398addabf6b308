"""Where a tensor that is made on the host meets one that may be elsewhere, along what is made of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import TypeGuard

from torchlint.rules.api import Device, FileContext, Kind, any_element, handed_to, leaf
from torchlint.rules.local_bindings import names_of
from torchlint.rules.obligations import has_no_dimension
from torchlint.rules.silent.accelerator_places import (
    is_building,
    is_building_a_module,
)
from torchlint.rules.silent.calls_in_sight import called_in_sight, calls_of
from torchlint.rules.silent.device_words import (
    COMBINING,
    JOINING,
    LISTED,
    PERHAPS_MOVING,
    PRODUCTS,
    RECURRENT,
)
from torchlint.rules.silent.handed_on import members_of
from torchlint.rules.silent.kept_objects import reads_of_objects
from torchlint.rules.silent.met_tensors import given, met, taken
from torchlint.rules.silent.object_attributes import declares_any, values_in_place
from torchlint.rules.silent.tensor_steps import dimensions_after, dimensions_of_part, is_blank, leads_on
from torchlint.rules.silent.trails import Entered, Meeting, Trail

_DEEPEST = 12
"""How many names may stand between where a tensor is made and where it meets another."""
_MOVING = frozenset({"_apply", "to", "cuda"})
"""Methods by which a class may move its plain attributes, too."""
_MOVES = frozenset({"to", "cuda", "device", "type_as"})
"""Attributes of a tensor by which it is moved, or another is put where it is."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.comprehension)


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
    if (held := _held(node, above, context, trail, depth)) is not None:
        yield from held
        return
    if not leads_on(above, node, context):
        return
    if not _is_on_host(node, context, trail) or has_no_dimension(node, context):
        return
    match above:
        case ast.BinOp(left=left, right=right):
            other = right if left is node else left
            yield from met(above, [other], context, trail)
            trail = _multiplied(above, context, trail) if isinstance(above.op, ast.MatMult) else trail
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
            yield from met(above, [other], context, trail)
            if context.value(other).must(Kind.INTEGER | Kind.SCALAR):
                yield from meetings(above, context, trail, depth)
        case ast.AugAssign(target=target, value=value) if not isinstance(target, ast.Subscript):
            yield from met(above, [target if value is node else value], context, trail)
        case ast.Subscript(value=host, slice=index, ctx=ast.Load()) if host is node:
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from met(above, [each for each in parts if not isinstance(each, ast.Slice)], context, trail)
            others = [each for each in parts if not isinstance(each, ast.Slice) and not is_blank(each)]
            if all(context.value(each).must(Kind.INTEGER) for each in others):
                trail = replace(trail, dimensions=dimensions_of_part(parts, trail.dimensions))
                yield from meetings(above, context, trail, depth)
        case ast.Attribute(attr=word) if isinstance(call := context.parent(above), ast.Call) and call.func is above:
            if word in JOINING:
                yield from met(call, given(call), context, trail)
                yield from _combined(call, word, context, trail, depth)
            elif not (word in PERHAPS_MOVING and (trail.is_on_a_path or trail.is_computed)):
                trail = replace(trail, dimensions=dimensions_after(call, word, trail.dimensions, is_method=True))
                trail = trail if word in PERHAPS_MOVING else _computed(call, context, trail)
                yield from meetings(call, context, trail, depth)
        case ast.Attribute(attr="T" | "mT"):
            yield from meetings(above, context, trail, depth)
        case ast.List() | ast.Tuple() if isinstance(call := context.parent(above), ast.Call) and above in call.args:
            yield from _given_to(call, node, context, trail, depth)
        case ast.keyword(arg=word) if isinstance(call := context.parent(above), ast.Call) and word != "out":
            yield from _given_to(call, node, context, trail, depth)
        case ast.Call(func=function) if function is not node:
            yield from _given_to(above, node, context, trail, depth)


def _held(node: ast.expr, above: ast.AST, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting] | None:
    """Return where a tensor meets another that is bound to something or put into another; None where it is not."""
    if trail.at is not None:
        return _of_tuple(node, above, context, trail, depth)
    if isinstance(above, ast.Assign):
        is_bound = above.value is node and len(above.targets) == 1
        return _bound(above.targets[0], node, context, depth - 1, trail) if is_bound else iter(())
    holder = context.parent(above)
    if isinstance(above, _CONTAINERS) and isinstance(holder, ast.Assign | ast.Return):
        is_kept = isinstance(holder, ast.Assign) and isinstance(holder.targets[0], ast.Attribute)
        if is_kept or not isinstance(above, ast.Tuple):
            return _contained(above, node, context, depth - 1, trail)
    match above:
        case ast.Call(func=ast.Attribute(value=ast.Name() as listed, attr="append"), args=[given]) if given is node:
            return _appended(listed, node, context, depth - 1, trail)
    if isinstance(above, ast.Tuple) and isinstance(holder, ast.Assign | ast.Return):
        if not _is_on_host(node, context, trail):
            return iter(())
        return meetings(above, context, replace(trail, at=above.elts.index(node), is_direct=False), depth)
    return None


def _appended(listed: ast.Name, node: ast.expr, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield what a tensor meets that is appended to a list of the function, where that is joined or taken apart."""
    if listed in trail.followed or not _is_on_host(node, context, trail):
        return
    trail.followed.add(listed)
    if _is_filled_by_a_move(listed, context):
        return
    function, made = context.function_around(listed), context.reaching(listed)
    for each in context.names_by_word().get(listed.id, []):
        is_read = context.function_around(each) is function and isinstance(each.ctx, ast.Load)
        if is_read and context.reaching(each) == made:
            yield from _out_of(each, context, depth, replace(trail, held_in=(listed, node)))


def _contained(
    container: ast.expr, node: ast.expr, context: FileContext, depth: int, trail: Trail
) -> Iterator[Meeting]:
    """Yield where a tensor meets another that is a member of a list or a dictionary: no move of a module reaches it."""
    is_member = not isinstance(container, ast.Dict) or node in container.values
    if not is_member or not _is_on_host(node, context, trail):
        return
    trail = replace(trail, held_in=(container, node), is_direct=False)
    match context.parent(container):
        case ast.Assign(targets=[ast.Attribute() as target]) if trail.is_building:
            yield from _by_attribute(target, container, context, depth, replace(trail, is_contained=True))
        case ast.Assign(targets=[ast.Name()]) | ast.Return():
            yield from _out_of(container, context, depth, trail)


def _out_of(container: ast.expr, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield what a member of a list or a dictionary meets: where that is read, bound, returned, joined or handed on."""
    if depth <= 0 or trail.held_in is None:
        return
    alone = replace(trail, held_in=None, is_on_a_path=True, is_direct=False)
    for each in members_of(container, *trail.held_in, context):
        if not _asks_for_device(each, context):
            yield from _through(each, context, depth, alone) if _binds(each) else meetings(each, context, alone, depth)
    above = context.parent(container)
    match above:
        case ast.Assign(value=value, targets=[ast.Name() as target]) if value is container:
            if not _is_filled_by_a_move(target, context):
                yield from _through(target, context, depth - 1, trail)
        case ast.Return():
            yield from _returned(above, context, depth - 1, trail)
        case ast.Call(args=[first, *_]) if first is container and _joins(above, context):
            alone = replace(alone, is_on_a_path=trail.is_on_a_path)
            yield from meetings(above, context, _stacked(above, context, alone), depth)
        case ast.Call() if (function := called_in_sight(above, context)) is not None:
            yield from _handed_down(above, container, function, context, trail, depth)


def _binds(node: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _joins(call: ast.Call, context: FileContext) -> bool:
    """Whether a function of torch joins the members of the list that it is given first."""
    names = names_of(call.func, context)
    return bool(names) and all(each.startswith("torch.") and leaf(each) in LISTED for each in names)


def _stacked(call: ast.Call, context: FileContext, trail: Trail) -> Trail:
    """Return what is known of tensors that a call joins."""
    is_stack = all(leaf(each) == "stack" for each in names_of(call.func, context))
    return replace(trail, dimensions=trail.dimensions + is_stack, is_direct=False)


def _is_filled_by_a_move(container: ast.Name | ast.Attribute, context: FileContext) -> bool:
    """Whether members of a list may be replaced by what was moved: ``states[i] = states[i].to(x.device)``."""
    uses: list[ast.Name] | list[ast.Attribute]
    if isinstance(container, ast.Name):
        function = context.function_around(container)
        mentions = context.names_by_word().get(container.id, [])
        uses = [each for each in mentions if context.function_around(each) is function]
    else:
        uses = context.attributes_by_word().get(container.attr, [])
    for each in uses:
        part = context.parent(each)
        stored = context.parent(part) if isinstance(part, ast.Subscript) and part.value is each else None
        if isinstance(stored, ast.Assign) and part in stored.targets:
            moves = (one for one in context.within(stored.value) if isinstance(one, ast.Attribute))
            if any(one.attr in _MOVES for one in moves):
                return True
    return False


def _of_tuple(node: ast.expr, above: ast.AST, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what a part of a tuple meets, where the tuple is bound, returned, taken apart or given to a layer."""
    alone = replace(trail, at=None)
    match above:
        case ast.Assign(value=value, targets=[ast.Tuple(elts=parts)]) if value is node and trail.at is not None:
            part = parts[trail.at] if len(parts) > trail.at else None
            is_plain = isinstance(part, ast.Name) and not any(isinstance(each, ast.Starred) for each in parts)
            yield from _through(part, context, depth - 1, alone) if is_plain and isinstance(part, ast.Name) else ()
        case ast.Assign(value=value, targets=[ast.Name() as name]) if value is node:
            yield from _through(name, context, depth - 1, trail)
        case ast.Return():
            yield from _returned(above, context, depth - 1, trail)
        case ast.Subscript(value=whole, slice=ast.Constant(value=int() as at)) if whole is node and at == trail.at:
            yield from meetings(above, context, alone, depth)
        case ast.Call(func=ast.Attribute() as layer, args=args) if node in args:
            function = context.value(layer)
            if function.must(Kind.MODULE) and function.instance and function.instance <= RECURRENT:
                yield from met(above, [layer], context, alone)


def _computed(result: ast.expr, context: FileContext, trail: Trail) -> Trail:
    """Return what is known of what a host tensor is computed into, whatever the other operand is."""
    if not trail.dimensions or _is_on_host(result, context, trail):
        return trail
    return replace(trail, is_computed=True, is_direct=False)


def _multiplied(result: ast.expr, context: FileContext, trail: Trail) -> Trail:
    """Return what is known of a product of matrices: one with a vector has a dimension less."""
    return replace(trail, dimensions=max(trail.dimensions - 1, 0)).having(context.value(result).rank or 0)


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
    function = context.function_around(returning)
    calls = calls_of(function, context) if isinstance(function, ast.FunctionDef) else iter(())
    if (entered := trail.entered) is not None and entered.function is function:
        calls, trail = iter([(entered.context, entered.call)]), replace(trail, entered=entered.outer)
    for file, call in calls:
        if file.value(call).device & Device.ACCELERATOR:
            continue  # another way through the function moves it
        handed = replace(trail, is_direct=False, is_building=is_building(call, file))
        yield from _goes_on(call, file, handed, depth)


def _goes_on(node: ast.expr, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what a tensor meets, or a member of the list or the dictionary that is followed."""
    yield from (
        _out_of(node, context, depth, trail) if trail.held_in is not None else meetings(node, context, trail, depth)
    )


def _by_attribute(
    target: ast.Attribute, value: ast.expr, context: FileContext, depth: int, trail: Trail
) -> Iterator[Meeting]:
    """Yield where a tensor that a module keeps meets another: moving the module leaves a plain attribute behind."""
    own = context.value_of_self(target.value)
    if own is None or not own.must(Kind.MODULE | Kind.OTHER) or values_in_place(target, context) != [value]:
        return
    uses = [each for each in context.attributes_by_word()[target.attr] if _is_used(each, context)]
    if declares_any(_MOVING, context) or any(_asks_for_device(each, context) for each in uses):
        return
    if trail.held_in is not None and _is_filled_by_a_move(target, context):
        return
    if context.other_texts.spelling(target.attr, _set_elsewhere(target.attr)):
        return
    if target in trail.followed:
        return
    trail.followed.add(target)
    kept = ast.unparse(target)
    kept_as = kept if own.must(Kind.MODULE) else None
    trail = replace(trail, is_on_a_path=True, is_direct=False, is_building=False, kept_as=kept_as)
    for each in uses:
        if ast.unparse(each) == kept and _is_of_same(each, target, context):
            yield from _goes_on(each, context, replace(trail, is_building=is_building(each, context)), depth)
    for file, read in reads_of_objects(target, context):
        if not declares_any(_MOVING, file) and not _asks_for_device(read, file):
            yield from _goes_on(read, file, replace(trail, is_building=is_building(read, file)), depth - 1)


def _set_elsewhere(word: str) -> str:
    """Return what sets an attribute of another object than ``self``: ``schedule.betas = schedule.betas.cuda()``."""
    return rf"(?<!\bself)\.\s*{re.escape(word)}\s*=(?!=)"


def _asks_for_device(node: ast.expr, context: FileContext) -> bool:
    above = context.parent(node)
    return isinstance(above, ast.Attribute) and (above.attr in _MOVES or above.attr == "is_cuda")


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
            yield from _goes_on(each, context, trail, depth)
        elif name not in places:
            continue
        elif trail.held_in is not None:
            if _is_default(name, each, places, context):
                yield from _out_of(each, context, depth, trail)
        elif _is_default(name, each, places, context) or _is_carried(name, each, places, context):
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


def _is_used(node: ast.Name | ast.Attribute, context: FileContext) -> bool:
    above = context.parent(node)
    return isinstance(node.ctx, ast.Load) or (isinstance(above, ast.AugAssign) and above.target is node)


def _on_a_path(name: ast.Name, use: ast.Name, context: FileContext, depth: int, trail: Trail) -> Iterator[Meeting]:
    """Yield where a tensor meets another by a name that something else may have bound on other paths."""
    statement = context.parent(name)
    if isinstance(statement, ast.Assign) and _is_on_host(statement.value, context, trail):
        yield from meetings(use, context, replace(trail, is_on_a_path=True, is_direct=False), depth)


def _is_default(name: ast.Name, use: ast.Name, places: list[ast.Name | ast.arg], context: FileContext) -> bool:
    """Whether a name is bound where its argument is missing: ``if mask is None: mask = torch.ones(3)``."""
    branch = context.parent(context.parent(name) or name)
    match branch:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=word), ops=[ast.Is() | ast.IsNot() as asked], comparators=[absent])
        ):
            missing, present = (branch.body, branch.orelse)[:: 1 if isinstance(asked, ast.Is) else -1]
            given = (each for each in places if each is not name and not isinstance(each, ast.arg))
            is_given = all(context.parent(each) in present for each in given)
            is_asked = word == name.id and is_blank(absent) and context.parent(name) in missing
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
    value = context.value(node) if trail.at is None else any_element(context.value(node))
    if trail.is_on_a_path or trail.is_computed:
        return value.may(Kind.TENSOR) and value.device != Device.ACCELERATOR
    return value.is_tensor and value.device == Device.HOST


def _given_to(call: ast.Call, node: ast.expr, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what a host tensor meets as the argument of a call, or behind it where the call makes another one of it."""
    names = names_of(call.func, context)
    if not names and (entered := called_in_sight(call, context)) is not None:
        yield from _handed_down(call, node, entered, context, trail, depth)
    if not names or any(leaf(each) in JOINING for each in names):
        yield from taken(call, node, context, trail)
        yield from _combined(call, _joining_word(call, names, context), context, trail, depth)
    elif all(leaf(each) == "meshgrid" for each in names):
        yield from _unpacked(call, context, trail, depth)
    elif node is next(iter(call.args), None) or context.parent(node) in call.keywords:
        left = min(dimensions_after(call, leaf(each), trail.dimensions, is_method=False) for each in names)
        yield from meetings(call, context, replace(trail, dimensions=left), depth)


def _handed_down(
    call: ast.Call, node: ast.expr, function: ast.FunctionDef, context: FileContext, trail: Trail, depth: int
) -> Iterator[Meeting]:
    """Yield what a tensor meets in a function of the file that is given it as an argument."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    taken = [each for each in arguments if handed_to(call, function, each) is node]
    if len(taken) != 1 or taken[0] in trail.followed or is_building_a_module(call, context):
        return
    trail.followed.add(taken[0])
    entered = Entered(function, call, context, trail.entered)
    trail = replace(trail, is_on_a_path=True, is_direct=False, is_building=False, entered=entered)
    for each in context.names_by_word().get(taken[0].arg, []):
        is_inside = context.function_around(each) is function and isinstance(each.ctx, ast.Load)
        if is_inside and context.reaching(each) == taken:
            yield from _goes_on(each, context, trail, depth - 1)


def _joining_word(call: ast.Call, names: frozenset[str], context: FileContext) -> str:
    """Return the word of the function that a tensor is given to, or of the method of another tensor."""
    is_method = isinstance(call.func, ast.Attribute) and context.value(call.func.value).is_tensor
    return leaf(next(iter(names), call.func.attr if is_method and isinstance(call.func, ast.Attribute) else ""))


def _combined(call: ast.Call, word: str, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what the result of a call meets that a host tensor is combined with others in: these are there, too."""
    if word in COMBINING or word in PRODUCTS:
        dimensions = PRODUCTS.get(word, trail.dimensions + (word == "stack"))
        trail = replace(trail, dimensions=dimensions, is_direct=False)
        yield from meetings(call, context, _computed(call, context, trail), depth)


def _unpacked(call: ast.Call, context: FileContext, trail: Trail, depth: int) -> Iterator[Meeting]:
    """Yield what the parts of a call's result meet: ``x, y = torch.meshgrid(a, b)``."""
    match context.parent(call):
        case ast.Assign(targets=[ast.Tuple(elts=parts)]) if depth > 1:
            for each in parts:
                if isinstance(each, ast.Name):
                    yield from _through(each, context, depth - 1, replace(trail, is_direct=False))
