"""Code that asks whether there is an accelerator, and copies to the host only where there is one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.rules.api import (
    Device,
    FileContext,
    Kind,
    block_with,
    earlier_in_block,
    leaves,
    names_other_accelerators,
    remembered,
)
from torchlint.rules.evidence.local_bindings import are_of_torch

_Test = ast.If | ast.IfExp
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def host_test(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return the test by which code tells the host from an accelerator, where it converts on the host's side of it.

    That is a branch in which there is no accelerator, as ``if not use_cuda:``; one whose other side copies the same
    value, as ``x.numpy() if on_host else x.cpu().numpy()``; or what stands behind ``if use_cuda: x = x.cpu()``,
    in this function or in one that gives the tensor. Nobody proves that the tensor is on the host there, and whoever
    wrote it has thought of it.
    """
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call
    for test, is_met, other in _branches(call, context):
        if _is_host_side(test, is_met, context) or (
            _may_ask_for_a_place(test, context) and _copies(receiver, other, context)
        ):
            return test
    return _copied_before(receiver, set(), _FARTHEST, context)


def _branches(call: ast.Call, context: FileContext) -> Iterator[tuple[ast.expr, bool, list[ast.AST]]]:
    """Yield the tests that decide whether a place is reached: what they are to be, and what else is run."""
    below: ast.AST = call
    for above in context.ancestors(call):
        if isinstance(above, _Test) and below is not above.test:
            body, orelse = _listed(above.body), _listed(above.orelse)
            is_met = below in body
            yield above.test, is_met, orelse if is_met else body
        earlier = earlier_in_block(below, above)
        leaving = _leaving(block_with(below, above), context) if earlier else []
        yield from ((each.test, False, _listed(each.body)) for each in leaving if each in earlier)
        if isinstance(above, _SCOPES):
            return
        below = above


def _leaving(block: list[ast.stmt], context: FileContext) -> list[ast.If]:
    """Return the tests of a block that may ask for a place, and behind which nothing of it is run where they hold."""

    def find() -> list[ast.If]:
        tests = [each for each in block if isinstance(each, ast.If) and not each.orelse]
        leaving = [each for each in tests if leaves(each.body)]
        return [
            each
            for each in leaving
            if _may_ask_for_a_place(each.test, context) or _is_host_side(each.test, False, context)
        ]

    return context.answer((_leaving, block[0]), find)


def _listed(branch: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    return [*branch] if isinstance(branch, list) else [branch]


@remembered
def _may_ask_for_a_place(test: ast.expr, _: FileContext) -> bool:
    """Whether a test is a flag of which nothing is known, or speaks of devices: not whether a gradient is wanted."""
    while isinstance(test, ast.UnaryOp):
        test = test.operand
    is_flag = isinstance(test, ast.Name) or (isinstance(test, ast.Attribute) and test.attr not in _ASKED_OF_TENSORS)
    return is_flag or _OF_DEVICES.search(ast.unparse(test)) is not None


_ASKED_OF_TENSORS = frozenset({"requires_grad", "is_leaf", "is_sparse", "is_quantized", "training"})
_OF_DEVICES = re.compile(r"device|cuda|gpu|cpu")


def _copies(receiver: ast.expr, branch: list[ast.AST], context: FileContext) -> bool:
    """Whether a branch has the same value with ``.cpu()`` behind it."""
    wanted = ast.dump(receiver)
    calls = (each for one in branch for each in (one, *context.inside(one, ast.Call)))
    return any(_is_copy(each) and ast.dump(each.func.value) == wanted for each in calls)  # type: ignore[attr-defined]


def _is_copy(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "cpu"
        and not node.args
    )


_FARTHEST = 4
"""Through how many names a value is followed back to the copy that it was computed from."""
Copies = dict[ast.AST, ast.expr]
"""Statements that bind or return a copy on the host where there is an accelerator, with the test for that."""


def _copying(context: FileContext) -> tuple[Copies, dict[str, ast.expr]]:
    """Return the file's copies, and by their names the functions that have one, with its test."""
    found: Copies = {}
    functions: dict[str, ast.expr] = {}
    for call in filter(_is_copy, context.nodes(ast.Call)):
        statement, branch, is_met = _branch_of(call, context)
        if branch is None or not isinstance(statement, ast.Assign | ast.Return):
            continue
        if _is_host_side(branch.test, not is_met, context) or (is_met and _only_copies(branch, context)):
            found[statement] = branch.test
            function = context.function_around(statement)
            if isinstance(function, ast.FunctionDef):
                functions[function.name] = branch.test
    return found, functions


def _branch_of(call: ast.Call, context: FileContext) -> tuple[ast.AST, _Test | None, bool]:
    """Return the statement of a call, the test that decides whether the call is made, and what it is to be.

    The test is that of a conditional expression around it, or else of the branch that the statement stands in.
    """
    below: ast.AST = call
    chosen: tuple[ast.IfExp, bool] | None = None
    for above in context.ancestors(call):
        if isinstance(below, ast.stmt):
            break
        if isinstance(above, ast.IfExp) and below is not above.test and chosen is None:
            chosen = above, below is above.body
        below = above
    if chosen is not None:
        return below, *chosen
    branch = context.parent(below)
    return (below, branch, below in branch.body) if isinstance(branch, ast.If) else (below, None, True)


def _only_copies(branch: _Test, context: FileContext) -> bool:
    """Whether a branch does nothing but copy what has a name to the host, and may ask for a place."""
    if not _may_ask_for_a_place(branch.test, context):
        return False
    if any(map(_asks_for_one, ast.walk(branch.test))) and _has_others(context):
        return False
    if isinstance(branch, ast.IfExp):
        return _is_copy_of(branch.body, branch.orelse)
    for each in branch.body:
        if not isinstance(each, ast.Assign) or not _is_copy_of(each.value, each.targets[0]):
            return False
    return not branch.orelse


def _is_copy_of(value: ast.expr, named: ast.expr) -> bool:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return isinstance(named, ast.Name | ast.Attribute) and ast.unparse(value) == ast.unparse(named)


_SAME = frozenset({"cpu", "detach", "clone", "contiguous"})


def _copied_before(value: ast.expr, seen: set[ast.AST], farthest: int, context: FileContext) -> ast.expr | None:
    """Return the test of the branch that has put a copy on the host under the name that a value is computed from."""
    copies, functions = context.answer((_copying, None), lambda: _copying(context))
    if not copies:
        return None
    while not isinstance(value, ast.Name):
        match value:
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(value=ast.Name(), attr=word)) if word in functions:
                return functions[word]
            case ast.Call(args=[first, *_]) if are_of_torch(context.names(value.func)):
                value = first
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Attribute(value=inner) | ast.Subscript(value=inner):
                value = inner
            case _:
                return None
    for bound in context.reaching(value):
        statement = context.parent(bound)
        if isinstance(statement, ast.Tuple):
            statement = context.parent(statement)
        if not isinstance(statement, ast.Assign) or statement in seen:
            continue
        seen.add(statement)
        if statement in copies:
            return copies[statement]
        if farthest and (test := _copied_before(statement.value, seen, farthest - 1, context)) is not None:
            return test
    return None


def _is_host_side(test: ast.expr, is_met: bool, context: FileContext) -> bool:
    """Whether there is no accelerator where a test comes out one way: each place behind it asks the same."""
    return context.answer((_is_host_side, (test, is_met)), lambda: _tells_of_the_host(test, is_met, context))


def _tells_of_the_host(test: ast.expr, is_met: bool, context: FileContext) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _is_host_side(inner, not is_met, context)
        case ast.BoolOp(op=op, values=values):
            # of `a and b` all are met where it is met, of `a or b` none where it is not
            return isinstance(op, ast.And) is is_met and any(_is_host_side(each, is_met, context) for each in values)
        case ast.Compare(left=one, ops=[ast.Eq() | ast.Is()], comparators=[other]):
            return is_met in (_named_place(one, context), _named_place(other, context))
        case ast.Compare(left=one, ops=[ast.NotEq() | ast.IsNot()], comparators=[other]):
            return (not is_met) in (_named_place(one, context), _named_place(other, context))
        case ast.Compare(left=one, ops=[ast.In() | ast.NotIn() as how], comparators=[_]):
            return _named_place(one, context) is False and isinstance(how, ast.NotIn) is is_met
        case ast.Attribute(attr="is_cuda"):
            return not is_met
        case ast.Call(func=ast.Attribute(attr="is_available")):
            return not is_met and not _has_others(context)
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[named]):
            return _named_place(named, context) is is_met
        case ast.Name() | ast.Attribute():
            return not is_met and ast.unparse(test) in context.answer((_flags, None), lambda: _flags(context))
    return False


def _has_others(context: FileContext) -> bool:
    """Whether there may be an accelerator where ``torch.cuda.is_available()`` says that there is none."""
    return context.answer((_has_others, None), lambda: names_other_accelerators(context.source.utf8))


def _named_place(node: ast.expr, context: FileContext) -> bool | None:
    """Whether an expression names the host; False for an accelerator, None for what is neither beyond doubt."""
    known = context.value(node)
    if not known.must(Kind.STRING | Kind.DEVICE):
        return None
    return {Device.HOST: True, Device.ACCELERATOR: False}.get(known.device)


def _flags(context: FileContext) -> frozenset[str]:
    """Return the names and attributes that say whether there is an accelerator.

    They are bound to ``torch.cuda.is_available()``, or something is moved to one where they hold.
    """
    found: set[str] = set()
    for statement in context.nodes(ast.Assign):
        if any(_asks_for_one(each) for each in ast.walk(statement.value)) and not _is_choice(statement.value):
            found.update(map(ast.unparse, statement.targets))
    tests: list[ast.If | ast.IfExp] = [*context.nodes(ast.If), *context.nodes(ast.IfExp)]
    for branch in tests:
        match branch.test:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as flag):
                moves = _listed(branch.orelse)
            case ast.Name() | ast.Attribute() as flag:
                moves = _listed(branch.body)
            case _:
                continue
        if any(_moves(each) for one in moves for each in ast.walk(one)):
            found.add(ast.unparse(flag))
    return frozenset(found)


def _asks_for_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "is_available"


def _is_choice(node: ast.expr) -> bool:
    """Whether an expression chooses by the answer: ``"cuda" if torch.cuda.is_available() else "cpu"`` is no flag."""
    return any(isinstance(each, ast.IfExp) for each in ast.walk(node))


def _moves(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
