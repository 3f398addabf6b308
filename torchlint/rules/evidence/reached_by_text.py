"""Whether a file may reach the names of a module by their text."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext, remembered

_FUNCTIONS = frozenset({"globals", "locals", "vars", "eval", "exec", "__import__", "import_module"})
_ATTRIBUTES = frozenset({"__dict__", "import_module", "__globals__"})
"""Among attributes `eval` is not: most are a network's ``net.eval()``."""


@remembered
def is_reached_by_text(_: ast.Module, context: FileContext) -> bool:
    """Whether a file may read or bind names of its module without writing them as names."""
    named = context.names_by_word().keys() & _FUNCTIONS or context.attributes_by_word().keys() & _ATTRIBUTES
    if named:
        return True
    owners = [each.value for word in ("modules", "eval", "exec") for each in context.attributes_by_word().get(word, ())]
    return any(isinstance(each, ast.Name) and each.id in ("sys", "builtins") for each in owners)
