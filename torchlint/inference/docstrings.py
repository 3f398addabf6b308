"""What a docstring says of an argument's type, in Google's, NumPy's and Sphinx's ways of writing."""

from __future__ import annotations

import ast
import re

from torchlint.inference.facts import ANY_GRAD, ANY_PLACE, Kind, Value, join_all, of_kind, tensor

_FORMS = (
    r"^\s*\**{name}\s*\(([^)\n]*)\)",  # Google: `x (torch.Tensor): the input`
    r"^\s*{name}\s*:\s*([^\n]*)$",  # NumPy: `x : torch.Tensor`
    r":type\s+{name}\s*:\s*([^\n]*)$",  # Sphinx: `:type x: torch.Tensor`
    r":param\s+([\w.]+)\s+{name}\s*:",  # Sphinx: `:param torch.Tensor x:`
)
_TENSOR = re.compile(r"(?<![\w.])(torch\.|autograd\.)?((Float|Long|Double|Byte|Int|Bool|Half)?Tensor|Variable)\b")
_ARRAY = re.compile(r"\b(ndarray|np\.array|numpy\.array|numpy array)\b", re.IGNORECASE)
_OTHER_TENSOR = re.compile(r"\b(tf|tensorflow|jax|paddle|mx|keras)\.", re.IGNORECASE)
_HOLDER = re.compile(r"\b(list|tuple|dict|sequence|iterable|optional\[list)\b", re.IGNORECASE)


def argument_type(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Value | None:
    """Give the value that a function's docstring describes for an argument; None where it says nothing of a tensor."""
    text = ast.get_docstring(function, clean=False)
    if not text or name not in text:
        return None
    for form in _FORMS:
        found = re.search(form.replace("{name}", re.escape(name)), text, re.MULTILINE)
        if found and (said := _described(found.group(1))) is not None:
            return said
    return None


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
