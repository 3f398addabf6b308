"""Constructors and conversions by type: legacy tensor types, ``x.new(...)``, ``x.type(...)``, ``torch.tensor(...)``."""

from __future__ import annotations

import ast

from torchlint.screening.arguments import is_untold
from torchlint.screening.legacy_types import is_type_word
from torchlint.screening.plain_data import is_plain_data
from torchlint.screening.sight import Sight


def may_be_legacy(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rules about calls of legacy constructors, sparse ones among them."""
    if not isinstance(node, ast.Name | ast.Attribute) or sight.called(node) is None:
        return False
    names = sight.value(node).names
    return bool(names) and all(name.startswith("torch.") and name.endswith("Tensor") for name in names)


def may_be_new(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rule about ``x.new(...)``."""
    call = sight.called(node)
    if call is None or not isinstance(node, ast.Attribute) or call.keywords:
        return False
    return sight.analysis.works_with_torch or sight.value(node.value).is_tensor


def may_convert(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rule about ``x.type(torch.FloatTensor)``."""
    call = sight.called(node)
    if call is None or not isinstance(node, ast.Attribute):
        return False
    return any(_may_name_a_type(each, sight) for each in (*call.args[:1], *(word.value for word in call.keywords)))


def _may_name_a_type(node: ast.expr, sight: Sight) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return text.endswith("Tensor")
        case ast.IfExp(body=one, orelse=other):
            return _may_name_a_type(one, sight) and _may_name_a_type(other, sight)
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return is_type_word(word, sight.outline)
    return False


def may_copy_a_tensor(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rule about ``torch.tensor(t)``."""
    call = sight.called(node)
    if call is None or not isinstance(node, ast.Name | ast.Attribute):
        return False
    source = call.args[0] if call.args else next((each.value for each in call.keywords if each.arg == "data"), None)
    if source is None or is_plain_data(source, sight) or is_untold(source, sight):
        return False
    return sight.value(node).names == {"torch.tensor"} and sight.value(source).is_tensor
