"""The functions of a file that modules call with what they give: ``net.register_forward_hook(keep)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.inference.program.bindings import inner
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import word_of
from torchlint.syntax.signatures import positional_parameters

_REGISTERS = "register_forward_hook"


def forward_hooks(index: AstIndex, _: ast.Module) -> frozenset[Function]:
    """Return the functions that are registered as hooks, by their names; those inside of one that makes them, too."""
    given = [each.args[0] for each in index.nodes(ast.Call) if each.args and word_of(each.func) == _REGISTERS]
    if not given:
        return frozenset()
    named: dict[str, list[Function]] = {}
    for function in index.functions:
        named.setdefault(function.name, []).append(function)
    return frozenset(hook for each in given for hook in _meant(index, each, named))


def _meant(index: AstIndex, given: ast.expr, named: dict[str, list[Function]]) -> Iterator[Function]:
    makers = named.get(word_of(given.func), []) if isinstance(given, ast.Call) else []
    yield from (each for maker in makers for each in inner(index, maker))
    yield from named.get(word_of(given), [])


def is_output(index: AstIndex, argument: ast.AST) -> bool:
    """Whether an argument is what a module gave, the last one of a hook."""
    function = index.parents.get(index.parents.get(argument, argument))
    if not isinstance(function, ast.FunctionDef) or function not in index.told(forward_hooks, index.tree):
        return False
    return positional_parameters(function)[-1:] == [argument]
