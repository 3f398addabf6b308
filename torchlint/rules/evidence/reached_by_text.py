"""Whether a file may reach or bind the names of a module by their text."""

from __future__ import annotations

import ast
import re

from torchlint.rules.api import FileContext, Function, remembered
from torchlint.rules.evidence.local_bindings import bindings_of

_FUNCTIONS = frozenset({"globals", "locals", "eval", "exec", "__import__", "import_module"})
_ATTRIBUTES = frozenset({"__dict__", "import_module", "__globals__"})
"""Among attributes `eval` is not: most are a network's ``net.eval()``."""

_OF_MODULES = re.compile("(?i)module|import|reload")
"""What is spelled so may give a module itself, as `inspect.getmodule(f)` does."""


@remembered
def is_reached_by_text(_: ast.Module, context: FileContext) -> bool:
    """Whether a file may read or bind names of its module without writing them as names."""
    named = context.names_by_word().keys() & _FUNCTIONS or context.attributes_by_word().keys() & _ATTRIBUTES
    if named or not all(_is_of_an_object(each, context) for each in _uses("vars", context)):
        return True
    owners = [each.value for word in ("modules", "eval", "exec") for each in context.attributes_by_word().get(word, ())]
    return any(isinstance(each, ast.Name) and each.id in ("sys", "builtins") for each in owners)


def _uses(word: str, context: FileContext) -> list[ast.Name]:
    """Return where a file uses a built-in function: what a function binds itself is its own there, ``vars = []``."""
    named = context.names_by_word().get(word, ())
    return [each for each in named if not isinstance(context.scope_that_binds(each), Function)]


def _is_of_an_object(use: ast.Name, context: FileContext) -> bool:
    """Whether `vars` is asked for the attributes of what a call has made: ``vars(args)``."""
    match context.parent(use):
        case ast.Call(func=function, args=[ast.Name() as asked]) if function is use:
            bound = bindings_of(asked, context)
            return bool(bound) and all(_makes_an_object(each.value) and not each.depth for each in bound)
    return False


def _makes_an_object(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and not _OF_MODULES.search(ast.unparse(node.func))
