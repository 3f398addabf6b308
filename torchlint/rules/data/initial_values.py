"""The first values of a parameter: what a new module writes by a method, `nn.init` writes as torch's layers do."""

from __future__ import annotations

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.repairs import torch_name

_FUNCTIONS = {"normal_": "normal_", "uniform_": "uniform_", "zero_": "zeros_", "fill_": "constant_"}
"""The functions of ``nn.init`` that call these methods under ``no_grad`` with the same arguments (torch 2.13)."""
_MOST_ARGUMENTS = {"normal_": 2, "uniform_": 2, "zero_": 0, "fill_": 1}
_KEYWORDS = {"normal_": frozenset({"mean", "std"})}


def by_init(tensor: cst.BaseExpression, call: cst.Call, context: FileContext) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how ``nn.init`` writes the same into a tensor as a method: its name as the file spells it, and the edits.

    None where it has no such function, and where the call is no statement of its own.
    """
    word = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if word not in _FUNCTIONS or not _takes(word, call) or not isinstance(context.parent(call), cst.Expr):
        return None
    if not isinstance(tensor, cst.Name | cst.Attribute):  # of a part, the view would be made with grad mode on
        return None
    spelled = torch_name(context, f"nn.init.{_FUNCTIONS[word]}", call)
    start = context.outer_span(tensor)[1]
    first = call.args[0] if call.args else None
    end = context.span(call)[1] - 1 if first is None else context.outer_span(first.keyword or first.value)[0]
    if spelled is None or "#" in context.source.slice(start, end):
        return None
    name, imports = spelled
    edits = (context.insert_before(tensor, f"{name}("), Edit(start, end, ", " if call.args else ""), *imports)
    return name, edits


def _takes(method: str, call: cst.Call) -> bool:
    """Whether the function takes the arguments of the method as they are."""
    words = {each.keyword.value for each in call.args if each.keyword is not None}
    stars = any(each.star for each in call.args)
    return not stars and len(call.args) <= _MOST_ARGUMENTS[method] and words <= _KEYWORDS.get(method, frozenset())
