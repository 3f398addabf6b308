"""Arguments of which nothing says that they are tensors: a walk of their function would find nothing else."""

from __future__ import annotations

import ast

from torchlint.screening.binders import binder, reaching
from torchlint.screening.sight import Sight
from torchlint.screening.tested import is_mentioned
from torchlint.syntax.outline import Function


def is_untold(node: ast.expr, sight: Sight) -> bool:
    """Whether an expression is an argument as it was given, and neither its function nor a test says what it is."""
    outline = sight.outline
    function = binder(node, outline) if isinstance(node, ast.Name) else None
    if not isinstance(node, ast.Name) or not isinstance(function, Function):
        return False
    match reaching(node, function, outline):
        case [ast.arg() as argument] if not is_mentioned(node, function, outline):
            return not sight.analysis.is_private(function) and not sight.analysis.is_said_to_be_tensor(argument)
    return False
