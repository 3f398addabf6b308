"""``.data``: whether the object under it may be a tensor; the word is an ordinary one."""

from __future__ import annotations

import ast
import functools
import re

from torchlint.inference.facts import Kind, Value
from torchlint.screening.sight import Sight

TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})
WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING | Kind.MODULE
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""

_OTHER_TENSORS = re.compile(rb"^\s*(?:import|from)\s+(chainer|caffe|mxnet|paddle|tinygrad|micrograd)\b", re.MULTILINE)
_TORCH = re.compile(
    rb"^\s*(?:import|from)\s+(?:[\w.]*(?:torch(?!lint)|lightning)|"
    rb"(?:accelerate|allennlp|captum|catalyst|detectron2|espnet|fairseq|fastai|ignite|kornia|mmcv|mmengine|monai|parlai|"
    rb"pyro|skorch|timm)\b)",
    re.MULTILINE,
)
"""Imports of torch, and of libraries that are made for torch alone."""


def may_be_read(node: ast.AST, sight: Sight) -> bool:
    """Screen for the rules about ``.data``."""
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Del) or sight.called(node) is not None:
        return False
    own = sight.analysis.own_object(node.value)
    if own is not None and not own.may(Kind.TENSOR):
        return False
    known = sight.value(node.value)
    return is_mostly_tensor(known) or (may_be_tensor(known) and speaks_of_tensors(sight.source.utf8))


def is_mostly_tensor(known: Value) -> bool:
    """Whether an object is a tensor, or something without ``data``, or a container of either."""
    return known.may(Kind.TENSOR) and known.must(WITHOUT_DATA | Kind.TENSOR | Kind.SEQUENCE)


def may_be_tensor(known: Value) -> bool:
    """Whether an object may be a tensor: it is known neither by a name nor as an object of another class."""
    return known.may(Kind.TENSOR) and not known.names and not known.instance - TENSOR_CLASSES


@functools.lru_cache(maxsize=8)
def speaks_of_tensors(text: bytes) -> bool:
    """Whether a file imports torch, and no library with tensors of its own that have ``data`` too."""
    return _TORCH.search(text) is not None and _OTHER_TENSORS.search(text) is None
