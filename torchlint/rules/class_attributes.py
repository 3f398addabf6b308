"""What the attributes of a file's own objects are bound to, where all of it is in sight."""

from __future__ import annotations

import ast

from torchlint.rule import GRAD_MODES, FileContext, Function, remembered
from torchlint.rules.imported_names import names_of

_REGISTERING = frozenset({"register_buffer", "register_parameter"})
_OPTIMIZERS = frozenset({"torch.optim.Optimizer", "torch.optim.optimizer.Optimizer"})
_OPEN_BASES = frozenset({"torch.nn.Module", "torch.autograd.Function", "builtins.object"})
"""Classes that give their objects no attribute by an ordinary name."""


def attribute_values(node: ast.Attribute, context: FileContext) -> list[ast.expr]:
    """Return all that ``self.word`` is bound to in a file; nothing where something else may bind it.

    Its class and those below it must be the file's own, so that no constructor in another file takes part.
    """
    around = _class_around(node, context)
    if around is None or not _is_in_sight(around, context, frozenset()):
        return []
    if node.attr in _declared(context.tree, context) or _sets_by_any_name(context.tree, context):
        return []
    registered = _registered(context.tree, context).get(node.attr, ())
    found = [value for target, value in registered if not _is_of_another(target, around, context)]
    for each in context.attributes_by_word().get(node.attr, ()):
        if isinstance(each.ctx, ast.Load) or _is_of_another(each, around, context):
            continue
        match context.parent(each):
            case ast.Assign(value=value, targets=targets) if each in targets:
                found.append(value)
            case ast.AnnAssign(value=ast.expr() as value):
                found.append(value)
            case _:
                return []
    return found


def is_own_groups(node: ast.Attribute, context: FileContext) -> bool:
    """Whether an expression is ``self.param_groups`` in a class right below ``torch.optim.Optimizer``."""
    around = _class_around(node, context)
    names = [names_of(base, context) for base in around.bases] if around is not None else []
    are_optimizers = bool(names) and all(each and each <= _OPTIMIZERS for each in names)
    return node.attr == "param_groups" and are_optimizers


def _class_around(node: ast.Attribute, context: FileContext) -> ast.ClassDef | None:
    """Return the class of the method whose first parameter an attribute is asked of."""
    if not isinstance(node.value, ast.Name):
        return None
    function = context.function_around(node)
    above = context.parent(function) if function is not None else None
    if function is None or not isinstance(above, ast.ClassDef) or _changes_its_arguments(function, context):
        return None
    given = [*function.args.posonlyargs, *function.args.args]
    stores = (each for each in context.names_by_word().get(node.value.id, ()))
    if any(isinstance(each.ctx, ast.Store) for each in stores):
        return None
    return above if given and given[0].arg == node.value.id else None


def _changes_its_arguments(function: Function, context: FileContext) -> bool:
    """Whether a decorator that is not torch's own may give a method another first argument."""
    calls = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
    return not all((names := names_of(each, context)) and names <= GRAD_MODES for each in calls)


def _is_of_another(target: ast.Attribute, own: ast.ClassDef, context: FileContext) -> bool:
    """Whether an attribute is set on the object of a class that has nothing to do with another one."""
    other = _class_around(target, context)
    if other is None or other is own:
        return False
    names = {ast.unparse(base) for each in context.nodes(ast.ClassDef) for base in each.bases}
    return not names & {own.name, other.name}


def _is_in_sight(own: ast.ClassDef, context: FileContext, seen: frozenset[str]) -> bool:
    """Whether all bases of a class are torch's plain ones or classes of this file whose bases are such."""
    if own.keywords or own.decorator_list:
        return False
    classes = {each.name: each for each in context.nodes(ast.ClassDef)}
    for base in own.bases:
        names = names_of(base, context)
        if names and names <= _OPEN_BASES:
            continue
        above = classes.get(base.id) if isinstance(base, ast.Name) and base.id not in seen else None
        if above is None or not _is_in_sight(above, context, seen | {own.name}):
            return False
    return True


@remembered
def _declared(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names that the bodies of classes bind: fields, properties, methods."""
    found: set[str] = set()
    for each in context.nodes(ast.ClassDef):
        for statement in each.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(statement.name)
            elif not isinstance(statement, ast.Expr):
                found.update(one.id for one in context.inside(statement, ast.Name) if isinstance(one.ctx, ast.Store))
    return frozenset(found)


@remembered
def _registered(_: ast.Module, context: FileContext) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
    """Return what buffers and parameters are registered as, by name, with what registers them."""
    found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = {}
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute() as function, args=[ast.Constant(value=str(name)), value, *_]):
                if function.attr in _REGISTERING:
                    found.setdefault(name, []).append((function, value))
    return found


@remembered
def _sets_by_any_name(_: ast.Module, context: FileContext) -> bool:
    """Whether a file sets attributes by names that are not written there, or in other ways than an assignment."""
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="setattr" | "vars")):
                return True
            case ast.Call(func=ast.Attribute(attr="__setattr__")):
                return True
            case ast.Call(func=ast.Attribute(attr=word), args=[first, *_]):
                if word in _REGISTERING and not isinstance(first, ast.Constant):
                    return True
    words = context.attributes_by_word()
    return "__dict__" in words or any(
        each.name in ("__setattr__", "__getattr__", "__getattribute__") for each in context.nodes(ast.FunctionDef)
    )
