"""What a docstring says of an argument's type, in Google's, NumPy's and Sphinx's ways of writing."""

from __future__ import annotations

import ast
import re

from torchlint.inference.facts import ANY_GRAD, ANY_PLACE, Kind, Value, join_all, of_kind, tensor
from torchlint.syntax.outline import Function, Outline

_FORMS = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        r"^(?=[^\S\n]*\**(?P<name>\w+)\s*\((?P<type>[^)\n]*)\))",  # Google: `x (torch.Tensor): the input`
        r"^(?=[^\S\n]*(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$)",  # NumPy: `x : torch.Tensor`
        r":type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]*)$",  # Sphinx: `:type x: torch.Tensor`
        r":param\s+(?P<type>[\w.]+)\s+(?P<name>\w+)\s*:",  # Sphinx: `:param torch.Tensor x:`
    )
)
"""One line may begin within what another says, so the first two look ahead and take nothing."""
_TENSOR = re.compile(r"(?<![\w.])(torch\.|autograd\.)?((Float|Long|Double|Byte|Int|Bool|Half)?Tensor|Variable)\b")
_ARRAY = re.compile(r"\b(ndarray|np\.array|numpy\.array|numpy array)\b", re.IGNORECASE)
_OTHER_TENSOR = re.compile(r"\b(tf|tensorflow|jax|paddle|mx|keras)\.", re.IGNORECASE)
_HOLDER = re.compile(r"\b(list|tuple|dict|sequence|iterable|optional\[list)\b", re.IGNORECASE)


def argument_types(_: Outline, function: Function) -> dict[str, Value]:
    """Give the values that a function's docstring describes, by argument; nothing for those that are no tensors."""
    text = ast.get_docstring(function, clean=False)
    if not text or not (_TENSOR.search(text) or _ARRAY.search(text)):
        return {}
    said: dict[str, Value] = {}
    for form in _FORMS:
        first: dict[str, str] = {}
        for found in form.finditer(text):
            first.setdefault(found["name"], found["type"])
        for name, words in first.items():
            if name not in said and (value := _described(words)) is not None:
                said[name] = value
    return said


def _described(text: str) -> Value | None:
    """Give the value of a type in words; a container of tensors is not told from a tensor and says nothing."""
    if _HOLDER.search(text) or _OTHER_TENSOR.search(text):
        return None
    said = []
    if _TENSOR.search(text):
        said.append(tensor(ANY_GRAD, ANY_PLACE))
    if _ARRAY.search(text):
        said.append(of_kind(Kind.ARRAY))
    return join_all(said) if said else None
