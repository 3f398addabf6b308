"""What a function's docstring says of its parameters: that one is a tensor, or an array."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

from torchlint.models.tensor_moves import dtype_named
from torchlint.semantic.graph import FunctionGraph
from torchlint.values import abstract as a
from torchlint.values.abstract import AN_ARRAY, Abstract, join_all

_FORMS: Final = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        r"^(?=[^\S\n]*\**(?P<name>\w+)\s*\((?P<type>[^)\n]*)\))",  # Google: `x (torch.Tensor): the input`
        r"^(?=[^\S\n]*(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$)",  # NumPy: `x : torch.Tensor`
        r":type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$",  # Sphinx: `:type x: torch.Tensor`
        r":param\s+(?P<type>[\w.]+)\s+(?P<name>\w+)\s*:",  # Sphinx: `:param torch.Tensor x:`
    )
)
"""One line may begin within what another says, so the first two look ahead and take nothing."""
_TENSOR: Final = re.compile(
    r"(?<![\w.])(?:torch\.(?:cuda\.)?|autograd\.)?"
    r"((?:Float|Long|Double|Byte|Int|Bool|Half|Short|Char|BFloat16)?Tensor|Variable)\b"
)
_ARRAY: Final = re.compile(r"\b(ndarray|np\.array|numpy\.array|numpy array)\b", re.IGNORECASE)
_OTHERWISE: Final = re.compile(
    r"\b(?:(?:tf|tensorflow|jax|paddle|mx|keras)\.|(?:list|tuple|dict|sequence|iterable)\b)", re.IGNORECASE
)
"""Another framework's tensors, and containers, which a description does not tell from their members."""


def described(function: FunctionGraph, word: str) -> Abstract | None:
    """Return what the docstring says of a parameter, tensors with the evidence of one; None where it says nothing."""
    tree = function.tree
    if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    text = ast.get_docstring(tree, clean=False)
    return _described(text).get(word) if text and (_TENSOR.search(text) or _ARRAY.search(text)) else None


@lru_cache(maxsize=1024)
def _described(text: str) -> dict[str, Abstract]:
    said: dict[str, Abstract] = {}
    for form in _FORMS:
        first: dict[str, str] = {}
        for found in form.finditer(text):
            first.setdefault(found["name"], found["type"])
        for name, words in first.items():
            if name not in said and (value := _value(words)) is not None:
                said[name] = value
    return said


def _value(words: str) -> Abstract | None:
    if _OTHERWISE.search(words):
        return None
    found = [_tensor(word) for word in _TENSOR.findall(words)]
    if _ARRAY.search(words):
        found.append(AN_ARRAY)
    return join_all(found) if found else None


def _tensor(word: str) -> Abstract:
    """Return the tensor that a word names: ``LongTensor`` says that it holds integers, of any width."""
    dtype = dtype_named(word) if word not in ("Tensor", "Variable") else None
    said = a.SAFE | a.OF_PARAM
    if dtype is None or dtype & a.FLOATING:
        return Abstract(a.TENSOR, said, said)
    return Abstract(a.TENSOR, a.SAFE, said, a.INTEGRAL | a.BOOL)
