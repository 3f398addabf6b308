"""Whether a test tells the better from the worse, so that weights are kept only sometimes."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, remembered

_ORDERS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
_COMPARING = frozenset("less greater less_equal greater_equal lt gt le ge".split())
"""Functions of NumPy, torch and ``operator`` that compare two numbers."""


def tells_the_better(test: str, context: FileContext) -> bool:
    """Whether a test tells the better from the worse, by itself or by a method that does nothing else."""
    parts = list(ast.walk(ast.parse(test)))
    if any(isinstance(each, _ORDERS) for each in parts):
        return True
    called = (each.func for each in parts if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute))
    return any(each.attr in _comparing(context.tree, context) for each in called)


@remembered
def _comparing(tree: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the words of attributes that compare: methods that return an order, and what is set to ``np.less``."""
    found: set[str] = set()
    for each in context.inside(tree, ast.Assign):
        if isinstance(each.value, ast.Attribute) and each.value.attr in _COMPARING:
            found |= {target.attr for target in each.targets if isinstance(target, ast.Attribute)}
    for returned in context.inside(tree, ast.Return):
        function = context.function_around(returned)
        inside = context.within(returned.value) if returned.value is not None else []
        words = {each.attr for each in inside if isinstance(each, ast.Attribute)}
        orders = (each.ops for each in inside if isinstance(each, ast.Compare))
        if function is not None and (words & found or any(isinstance(one, _ORDERS) for each in orders for one in each)):
            found.add(function.name)
    return frozenset(found)
