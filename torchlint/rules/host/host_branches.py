"""Code that asks whether there is an accelerator, and copies to the host only where there is one."""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import FileContext, earlier_in_block, leaves, names_other_accelerators, remembered

_OF_DEVICES = re.compile(r"device|cuda|gpu|cpu")
_OF_THE_HOST = re.compile(r"cpu|no_cuda|no_gpu")
_NEGATIONS = (ast.Not, ast.NotEq, ast.NotIn, ast.IsNot)


def host_test(call: ast.Call, context: FileContext) -> ast.expr | None:
    """Return the test by which code tells the host from an accelerator, where a call converts on the host's side.

    So it does in ``if not use_cuda:``, where the other branch copies the same value, and behind
    ``if use_cuda: x = x.cpu()``. It is read from the words of the test: no proof, but whoever wrote it thought of it.
    ``torch.cuda.is_available()`` tells nothing in a file that names another accelerator.
    """
    test = _told(call, context)
    others = test is not None and "is_available" in ast.unparse(test) and names_other_accelerators(context.source.utf8)
    return None if others else test


def _told(call: ast.Call, context: FileContext) -> ast.expr | None:
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else call
    scope: ast.AST = context.function_around(call) or context.tree
    below: ast.AST = call
    for above in context.ancestors(call):
        left = _left_by(above, context)
        before = earlier_in_block(below, above) if left else ()
        branches: list[tuple[ast.AST, bool]] = [(each, False) for each in before if each in left]
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            branches.append((above, below is above.body or (isinstance(above, ast.If) and below in above.body)))
        for each, is_met in branches:
            if isinstance(each, ast.If | ast.IfExp) and (
                _is_host_side(each.test, is_met, context) or _copies(receiver, each, context)
            ):
                return each.test
        if above is scope:
            break
        below = above
    return _copied_before(receiver, scope, context)


@remembered
def _left_by(block: ast.AST, _: FileContext) -> frozenset[ast.stmt]:
    """Return the tests right in a node's blocks whose branch leaves them."""
    inside = (each for each in ast.iter_child_nodes(block) if isinstance(each, ast.If) and not each.orelse)
    return frozenset(each for each in inside if leaves(each.body))


def _is_host_side(test: ast.expr, is_met: bool, context: FileContext) -> bool:
    means_host = _means_host(test, context)
    return means_host is not None and is_met is means_host


@remembered
def _means_host(test: ast.expr, _: FileContext) -> bool | None:
    """Whether a test holds on the host, by its words; None where it says nothing of a device."""
    text = ast.unparse(test)
    if not _OF_DEVICES.search(text):
        return None
    is_negated = sum(isinstance(each, _NEGATIONS) for each in ast.walk(test)) % 2 == 1
    return bool(_OF_THE_HOST.search(text)) is not is_negated


def _copies(receiver: ast.expr, branch: ast.If | ast.IfExp, context: FileContext) -> bool:
    """Whether a branch has the same value with ``.cpu()`` behind it, for another reason than a gradient."""
    copies = _copied_in(branch, context)
    return bool(copies) and ast.dump(receiver) in copies and "grad" not in ast.unparse(branch.test)


@remembered
def _copied_in(branch: ast.If | ast.IfExp, context: FileContext) -> frozenset[str]:
    return frozenset(ast.dump(each.value) for each in context.inside(branch, ast.Attribute) if each.attr == "cpu")


def _copied_before(receiver: ast.expr, scope: ast.AST, context: FileContext) -> ast.expr | None:
    """Return the test of a branch that does nothing but copy what a value is computed from."""
    names, calls = _words(receiver, context)
    for each in reversed(context.own(scope, ast.Assign)):
        if each.lineno <= receiver.lineno and any(_words(target, context)[0] & names for target in each.targets):
            more_names, more_calls = _words(each.value, context)
            names, calls = names | more_names, calls | more_calls
    tests = [test for word, test in _conditional_copies(scope, context) if word in names]
    for function in context.nodes(ast.FunctionDef) if calls else ():
        if function.name in calls:
            tests += [test for _, test in _conditional_copies(function, context)]
    return next((each for each in tests if each.lineno != receiver.lineno), None)


@remembered
def _words(node: ast.expr, _: FileContext) -> tuple[set[str], set[str]]:
    """Return the names in an expression, and the last words of the functions that are called in it."""
    functions = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    called = {ast.unparse(each).rpartition(".")[2] for each in functions}
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}, called


@remembered
def _conditional_copies(scope: ast.AST, context: FileContext) -> list[tuple[str, ast.expr]]:
    """Return what a function copies to the host under a test and leaves under its name, with the test."""
    found = []
    for branch in context.own(scope, ast.If):
        pairs = [(each.targets[0], each.value) for each in branch.body if isinstance(each, ast.Assign)]
        if not branch.orelse and len(pairs) == len(branch.body) and all(_is_copy(*each) for each in pairs):
            found += [(ast.unparse(target), branch.test) for target, _ in pairs]
    choices = [each for each in context.own(scope, ast.IfExp) if _is_copy(each.orelse, each.body)]
    return found + [(ast.unparse(each.orelse), each.test) for each in choices]


def _is_copy(named: ast.expr, value: ast.expr) -> bool:
    """Whether a value is ``x.cpu()`` or ``x.detach().cpu()`` of a name ``x``."""
    return re.fullmatch(re.escape(ast.unparse(named)) + r"(\.detach\(\))?\.cpu\(\)", ast.unparse(value)) is not None
