"""The first values of a parameter: what a new module writes through `.data`, `nn.init` writes as torch's layers do."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext
from torchlint.rules.method_calls import method_call
from torchlint.rules.repairs import torch_name

_FUNCTIONS = {"normal_": "normal_", "uniform_": "uniform_", "zero_": "zeros_", "fill_": "constant_"}
"""The functions of ``nn.init`` that call these methods under ``no_grad`` with the same arguments (torch 2.13)."""
_MOST_ARGUMENTS = {"normal_": 2, "uniform_": 2, "zero_": 0, "fill_": 1}
_KEYWORDS = {"normal_": frozenset({"mean", "std"})}


def initial_write(node: cst.Attribute, context: FileContext) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how ``nn.init`` writes the same as a method of a `.data`: its name as the file spells it, and the edits.

    None where the write is no statement of its own, and where the module is none that is being built.
    """
    called = method_call(node, context)
    if called is None or not isinstance(context.parent(called[0]), cst.Expr):
        return None
    if not isinstance(node.value, cst.Name | cst.Attribute):  # of a part, the view would be made with grad mode on
        return None
    (call, word), place = called, context.python(node)
    if word not in _FUNCTIONS or not _takes(word, call) or not isinstance(place, ast.Attribute):
        return None
    is_plain = isinstance(node.value, cst.Name) and "torch.nn.Parameter" not in context.value(node.value).instance
    if is_plain or not context.has_first_value(place):
        return None
    spelled = torch_name(context, f"nn.init.{_FUNCTIONS[word]}", node)
    start = context.outer_span(node.value)[1]
    first = call.args[0] if call.args else None
    end = context.span(call)[1] - 1 if first is None else context.outer_span(first.keyword or first.value)[0]
    if spelled is None or "#" in context.source.slice(start, end):
        return None
    name, imports = spelled
    edits = (context.insert_before(node.value, f"{name}("), Edit(start, end, ", " if call.args else ""), *imports)
    return name, edits


def _takes(method: str, call: cst.Call) -> bool:
    """Whether the function takes the arguments of the method as they are."""
    words = {each.keyword.value for each in call.args if each.keyword is not None}
    stars = any(each.star for each in call.args)
    return not stars and len(call.args) <= _MOST_ARGUMENTS[method] and words <= _KEYWORDS.get(method, frozenset())
