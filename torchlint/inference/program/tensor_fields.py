"""Which classes say that an attribute of their objects is a tensor: by the type of a property or of a field."""

from __future__ import annotations

import ast
import re

from torchlint.inference.program.source_files import tree_in

_TENSOR_TYPE = rb"(?:[\w.\[\]\"']+[ \t]*\|[ \t]*)*[\w.\[\]\"']*Tensor[\w.\[\]\"']*(?:[ \t]*\|[ \t]*[\w.\[\]\"']+)*"
"""``torch.Tensor``, ``Optional[Tensor]``, ``Tensor | None``."""
_SAID_TENSOR = (
    rb"(?m)^[ \t]+(?:def[ \t]+%(word)s\([^)\n]*\)[ \t]*->[ \t]*%(type)s[ \t]*:"
    rb"|(?:self\.)?%(word)s[ \t]*:[ \t]*%(type)s[ \t]*(?:=[^\n]*[^,\s])?[ \t\r]*$)"
)
"""What a property or a field looks like; a docstring that lists parameters may look so, too."""


def says_tensor(path: str, text: bytes, word: str) -> bool:
    """Whether a class of a file says that an attribute of its objects is a tensor; a text that does not parse may.

    Only a text in which something looks like it is parsed.
    """
    if re.search(_SAID_TENSOR % {b"word": word.encode(), b"type": _TENSOR_TYPE}, text) is None:
        return False
    index = tree_in(path, text)
    if index is None:
        return True
    owners = index.nodes(ast.ClassDef)
    in_bodies = any(_is_said(each, word) for owner in owners for each in owner.body)
    return in_bodies or any(_is_said_of_self(each, word) for each in index.nodes(ast.AnnAssign))


def _is_said(statement: ast.stmt, word: str) -> bool:
    match statement:
        case ast.FunctionDef(name=name, returns=ast.expr() as said) if name == word:
            return "Tensor" in ast.unparse(said)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=said) if name == word:
            return "Tensor" in ast.unparse(said)
    return False


def _is_said_of_self(statement: ast.AnnAssign, word: str) -> bool:
    match statement.target:
        case ast.Attribute(value=ast.Name(), attr=name) if name == word:
            return "Tensor" in ast.unparse(statement.annotation)
    return False
