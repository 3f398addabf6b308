"""``.data``: whether the object under it may be a tensor; the word is an ordinary one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.inference.facts import Kind, Value
from torchlint.screening.sight import Sight

if TYPE_CHECKING:
    from torchlint.inference.analysis import Analysis

TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})
WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING | Kind.MODULE
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""

_OTHER_TENSORS = frozenset({"chainer", "caffe", "mxnet", "paddle", "tinygrad", "micrograd"})
"""Libraries with tensors of their own that have ``data`` too."""


def may_be_read(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rules about ``.data``."""
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Del) or sight.called(node) is not None:
        return False
    own = sight.analysis.own_object(node.value)
    if own is not None and not own.may(Kind.TENSOR):
        return False
    known = sight.value(node.value)
    return is_mostly_tensor(known) or (may_be_tensor(known) and speaks_of_tensors(sight.analysis))


def is_mostly_tensor(known: Value) -> bool:
    """Whether an object is a tensor, or something without ``data``, or a container of either."""
    return known.may(Kind.TENSOR) and known.must(WITHOUT_DATA | Kind.TENSOR | Kind.SEQUENCE)


def may_be_tensor(known: Value) -> bool:
    """Whether an object may be a tensor: it is known neither by a name nor as an object of another class."""
    return known.may(Kind.TENSOR) and not known.names and not known.instance - TENSOR_CLASSES


def speaks_of_tensors(analysis: Analysis) -> bool:
    """Whether a file works with torch, and with no library whose tensors have ``data`` too."""
    return analysis.works_with_torch and not analysis.packages & _OTHER_TENSORS
