"""What functions of the file itself give where a call runs them."""

from __future__ import annotations

import ast

from torchlint.rules.api import FileContext
from torchlint.rules.evidence.calls_in_sight import called_in_sight


def returned(call: ast.Call, context: FileContext) -> list[ast.expr] | None:
    """Return what the function of the file that a call runs may return, `None` aside; None where it is another's."""
    function = called_in_sight(call, context)
    if function is None:
        return None
    return [each.value for each in context.own(function, ast.Return) if each.value is not None]
