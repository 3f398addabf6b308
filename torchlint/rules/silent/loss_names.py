"""Which values go by the name of a loss."""

from __future__ import annotations

import ast
import re
from typing import Final

LOSS_NAME: Final = re.compile(r"(^|_)(loss|losses|cost|criterion|objective)(_?\d*$|_)|Loss\d*$")
_OF_A_LOSS: Final = frozenset("item detach numpy tolist argmax data values cpu cuda to float clone mean sum".split())
"""Methods and attributes by which something of a loss is taken."""


def is_called_a_loss(node: ast.AST) -> bool:
    """Whether what is computed out of sight goes by the name of a loss: ``self.actor_loss(x)``, ``total_loss.data``."""
    match node:
        case ast.Attribute(value=inner, attr=word) if word in _OF_A_LOSS:
            return is_called_a_loss(inner)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return LOSS_NAME.search(word) is not None
        case ast.Call(func=function):
            return is_called_a_loss(function)
    return False
