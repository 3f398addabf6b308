"""Whether what a name holds, a module or tensor, was made right before, so that nothing has computed with it yet."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, earlier_in_block, remembered, root_of_name, runs_later
from torchlint.rules.data.kept_in_statement import is_kept_by_nobody
from torchlint.rules.data.run_out_of_sight import QUIET_METHODS, may_be_run
from torchlint.rules.evidence.local_bindings import are_of_torch
from torchlint.rules.evidence.made_here import kept_arguments


def is_of_new_layer(node: ast.expr, context: FileContext) -> bool:
    """Whether an expression is a part of one of torch's layers that was made right before: ``m.weight``."""
    root = root_of_name(node)
    if not isinstance(root, ast.Name) or root is node:
        return False
    made = made_before(root, context)
    return (
        made is not None
        and are_of_torch(context.value(made).instance)
        and makes_its_own(made, context)
        and is_kept_by_nobody(root, context)
    )


def is_new_tensor(node: ast.expr, context: FileContext) -> bool:
    """Whether a name holds a tensor that torch made right before, of memory that nothing else has."""
    if not isinstance(node, ast.Name):
        return False
    made = made_before(node, context)
    return made is not None and _is_made_anew(made, context) and is_kept_by_nobody(node, context)


def _is_made_anew(call: ast.Call, context: FileContext) -> bool:
    names = context.names(call.func)
    if not names or any(each.arg is None for each in call.keywords):
        return False
    if names <= _AROUND:
        return len(call.args) == 1 and isinstance(call.args[0], ast.Call) and _is_made_anew(call.args[0], context)
    return all(each.startswith("torch.") for each in names) and kept_arguments(names, call) == ()


_AROUND = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.autograd.Variable"})
"""What hands on the memory of a tensor that it is given."""


def makes_its_own(layer: ast.Call, context: FileContext) -> bool:
    """Whether a layer is given no tensor that it keeps: ``nn.Embedding(3, 2, _weight=w)`` and ``nn.NLLLoss(w)`` are."""
    if any(each.endswith("Loss") for each in context.names(layer.func)):
        return False
    plain = all(each.arg is not None and "weight" not in each.arg for each in layer.keywords)
    return plain and len(layer.args) <= _MOST_NUMBERS and not any(isinstance(each, ast.Starred) for each in layer.args)


_MOST_NUMBERS = 6
"""A layer that may keep a weight takes it behind this many arguments, or by name."""


def made_before(name: ast.Name, context: FileContext) -> ast.Call | None:
    """Return the call that a name is bound to above its statement, where nothing up to it may run what it made."""
    statement = _statement_run_once(name, context)
    return _made_above(name.id, statement, context) if statement is not None else None


def _statement_run_once(name: ast.Name, context: FileContext) -> ast.stmt | None:
    """Return the statement that a name stands in, where it is run with it, and means there what it means above it."""
    if runs_later(name, context.parent, context.bound_otherwise):
        return None
    for above in context.ancestors(name):
        if isinstance(above, ast.stmt):
            binds_it = any(each.target.id == name.id for each in context.inside(above, ast.NamedExpr))
            return None if binds_it or isinstance(above, ast.While) else above  # a `while` asks its test again
        clauses: list[ast.comprehension] = getattr(above, "generators", [])
        if any(_uses(name.id, each.target, context) for each in clauses):
            return None
    return None


def _made_above(word: str, statement: ast.stmt, context: FileContext) -> ast.Call | None:
    """Return the call whose result a name is at a statement, if nothing in between may use or change that."""
    here: ast.stmt | None = statement
    between: list[ast.AST] = [statement]
    held = _held(word, context)
    while here is not None:
        above = context.parent(here)
        earlier = earlier_in_block(here, above)
        for before in reversed(earlier):
            if before not in held:
                continue
            match before:
                case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as made) if target == word:
                    if not _moves(made, word):
                        between += earlier[earlier.index(before) + 1 :]
                        return None if may_be_run(word, between, before, context) else made
            if not all(_leaves_alone(each, context) for each in held[before]):
                return None
        between += earlier
        # the other branches of an `if` are not run, and its test is run before
        here = above if isinstance(above, ast.If) and not _uses(word, above.test, context) else None
        between += [above.test] if isinstance(above, ast.If) else []
    return None


def _held(word: str, context: FileContext) -> dict[ast.stmt, list[ast.Name]]:
    """Return where a name stands, by each of the statements around it."""

    def find() -> dict[ast.stmt, list[ast.Name]]:
        found: dict[ast.stmt, list[ast.Name]] = {}
        for use in context.names_by_word().get(word, ()):
            for above in context.ancestors(use):
                if isinstance(above, ast.stmt):
                    found.setdefault(above, []).append(use)
        return found

    return context.answer((_held, word), find)


def _uses(word: str, node: ast.AST, context: FileContext) -> list[ast.Name]:
    return [each for each in context.within(node) if isinstance(each, ast.Name) and each.id == word]


def _moves(call: ast.Call, word: str) -> bool:
    """Whether a call gives the module itself: ``net.cuda()``."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return name == word and attr in QUIET_METHODS
    return False


def _leaves_alone(use: ast.Name, context: FileContext) -> bool:
    """Whether a use of a module computes nothing with it: it is moved, initialised or printed, or gives its `.data`."""
    if isinstance(use.ctx, ast.Store):
        match context.parent(use):
            case ast.Assign(targets=[_], value=ast.Call() as call):
                return _moves(call, use.id)
        return False
    node: ast.AST = use
    above = context.parent(node)
    while isinstance(above, ast.Attribute) and above.value is node:
        if above.attr == "data":
            return True
        node, above = above, context.parent(above)
    if not isinstance(above, ast.Call):
        return False
    outer = context.parent(above)
    if above.func is node:
        return _moves(above, use.id) and isinstance(outer, ast.Expr | ast.Assign)
    names = context.names(above.func)
    if names == _PRINT:
        return node is use and not _describes_itself(context.tree, context)
    return bool(names) and all(each.startswith("torch.nn.init.") for each in names) and isinstance(outer, ast.Expr)


_PRINT = frozenset({"builtins.print"})
_DESCRIBING = frozenset({"__str__", "__repr__", "__format__", "extra_repr", "_get_name"})


@remembered
def _describes_itself(_: ast.Module, context: FileContext) -> bool:
    """Whether a file says itself how its objects are printed."""
    return any(each.name in _DESCRIBING for each in context.nodes(ast.FunctionDef)) or any(
        isinstance(each.ctx, ast.Store) and each.attr in _DESCRIBING for each in context.nodes(ast.Attribute)
    )
