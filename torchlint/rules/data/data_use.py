"""What is done with a `.data`, and the edit that drops it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum, auto

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import TENSOR_METHODS, FileContext, last_word_of_name, remembered
from torchlint.rules.data.tensor_uses import NOT_WRITING
from torchlint.rules.repairs import call_of, method_call

VIEWS = frozenset(
    "view view_as t transpose narrow select squeeze unsqueeze permute diagonal expand expand_as swapaxes swapdims "
    "flatten reshape unfold movedim".split()
)
"""Methods whose result is a view of the tensor, so that what is written into it is written into the tensor."""

VIEW_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag"})

FORM_ATTRIBUTES = frozenset(
    "shape dtype device is_cuda ndim layout is_sparse itemsize nbytes is_meta is_quantized is_mps is_xpu".split()
)
FORM_METHODS = frozenset(
    "size dim numel nelement ndimension is_contiguous stride storage_offset data_ptr element_size get_device "
    "is_floating_point is_complex is_signed is_pinned is_shared new new_zeros new_ones new_empty new_full "
    "new_tensor".split()
)
"""Attributes and methods that give the same with and without ``.data`` (measured on torch 2.13, ``new`` included)."""

FORM_FUNCTIONS = frozenset(
    f"torch.{word}_like" for word in ("zeros", "ones", "empty", "full", "rand", "randn", "randint")
) | {"builtins.len"}

_LOSS = re.compile(r"(^|_)(loss|cost|nll|elbo)(_?\d*$|_|[A-Z])|(^|_)err_?[DG]|Loss$|^(loss|cost)$")


class Use(Enum):
    """One for each rule of the family."""

    READ = auto()
    MUTATION = auto()
    REBINDING = auto()
    SCALAR = auto()
    FORM = auto()


class Way(Enum):
    """How a mutation is written."""

    METHOD = auto()
    """``w.data.normal_()``"""
    STORE = auto()
    """``w.data[i] = v``, ``w.data[i] += v``"""
    AUGMENTED = auto()
    """``w.data += v``"""
    OUT = auto()
    """``torch.add(a, b, out=w.data)``"""
    INIT = auto()
    """``nn.init.normal_(w.data)``: writes under ``no_grad`` by itself"""


@dataclass(frozen=True, slots=True)
class DataUse:
    """What is done with a ``.data``, and the expression or target that does it."""

    use: Use
    top: cst.CSTNode
    way: Way | None = None
    word: str = ""
    """The method, attribute or function that does it, where one does."""


@remembered
def data_use(node: cst.Attribute, context: FileContext) -> DataUse | None:
    """Say what is done with a ``.data``; None where the word stands for something else by its shape alone."""
    place, above = context.python(node), context.parent(node)
    if not isinstance(place, ast.Attribute) or isinstance(place.ctx, ast.Del) or call_of(node, context) is not None:
        return None
    is_augmented = isinstance(above, cst.AugAssign) and not isinstance(above.operator, cst.MatrixMultiplyAssign)
    if isinstance(place.ctx, ast.Store) and above is not None and is_augmented:  # `@=` makes a new tensor
        return DataUse(Use.MUTATION, above, Way.AUGMENTED)
    if isinstance(place.ctx, ast.Store):
        return DataUse(Use.REBINDING, node)
    return _form(node, context) or _mutation(node, context) or _scalar(node, context) or DataUse(Use.READ, node)


def is_loss_name(word: str) -> bool:
    """Whether a word names a loss, and so most likely a tensor of one element."""
    return bool(_LOSS.search(word))


def is_stored(node: cst.CSTNode | None, context: FileContext) -> bool:
    """Whether the node is assigned to, alone, in a tuple, or by ``+=``."""
    place = context.python(node) if node is not None else None
    return isinstance(getattr(place, "ctx", None), ast.Store)


def _form(node: cst.Attribute, context: FileContext) -> DataUse | None:
    """Return the use of a ``.data`` that is only asked for its shape, its dtype or its length; None for others."""
    if called := method_call(node, context):
        call, word = called
        if word in FORM_METHODS or (word == "type" and not call.args):
            return DataUse(Use.FORM, call, word=word)
        return None
    above = context.parent(node)
    if isinstance(above, cst.Attribute) and above.value is node and above.attr.value in FORM_ATTRIBUTES:
        return DataUse(Use.FORM, above, word=above.attr.value)
    outer = context.parent(above) if isinstance(above, cst.Arg) and above.keyword is None else None
    if isinstance(outer, cst.Call) and outer.args[0] is above:
        names = context.names(outer.func)
        if names and names <= FORM_FUNCTIONS:
            return DataUse(Use.FORM, outer, word=last_word_of_name(context.python(outer.func)))
    return None


def _mutation(node: cst.Attribute, context: FileContext) -> DataUse | None:
    """Follow views of the value to where something is written into it."""
    current: cst.CSTNode = node
    while True:
        above = context.parent(current)
        if isinstance(above, cst.Subscript) and above.value is current:
            if is_stored(above, context):
                return DataUse(Use.MUTATION, above, Way.STORE)
            current = above
        elif called := method_call(current, context):
            call, word = called
            if word.endswith("_") and not word.startswith("_") and word not in NOT_WRITING:
                return DataUse(Use.MUTATION, call, Way.METHOD, word) if word in TENSOR_METHODS else None
            if word not in VIEWS:
                return None
            current = call
        elif isinstance(above, cst.Attribute) and above.attr.value in VIEW_ATTRIBUTES:
            current = above
        else:
            return _by_a_function(current, context)


def _by_a_function(node: cst.CSTNode, context: FileContext) -> DataUse | None:
    """Return the use of a ``.data`` that a function writes into, by ``out=`` or as one of ``nn.init``; else None."""
    argument = context.parent(node)
    if not isinstance(argument, cst.Arg) or not isinstance(call := context.parent(argument), cst.Call):
        return None
    if argument.keyword is not None and argument.keyword.value == "out":
        return DataUse(Use.MUTATION, call, Way.OUT, "out")
    names = context.names(call.func)
    if call.args[0] is argument and names and all(name.startswith("torch.nn.init.") for name in names):
        return DataUse(Use.MUTATION, call, Way.INIT, last_word_of_name(context.python(call.func)))
    return None


def _scalar(node: cst.Attribute, context: FileContext) -> DataUse | None:
    """Return the use of a ``.data`` that one number is taken from; None for others."""
    if called := method_call(node, context):
        call, word = called
        return DataUse(Use.SCALAR, call, word="item") if word == "item" and not call.args else None
    above = context.parent(node)
    match above:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))]):
            if above.value is node and _is_one_element(node, above, context):
                return DataUse(Use.SCALAR, above, word="[0]")
    return None


def _is_one_element(node: cst.Attribute, index: cst.Subscript, context: FileContext) -> bool:
    """``loss.data[0]``; not ``x.data[0]``, as often a batch index, nor ``loss.data[0].cpu()``, which wants a tensor."""
    rank = context.value(node.value).rank
    if rank is not None or isinstance(context.parent(index), cst.Attribute | cst.Subscript):
        return rank == 0
    return is_loss_name(last_word_of_name(context.python(node.value)))


def drop_edit(node: cst.Attribute, context: FileContext) -> Edit:
    """Write ``x`` for ``x.data``; a comment before the dot stays."""
    start, end = context.outer_span(node.value)[1], context.span(node.attr)[1]
    gap = context.source.slice(start, end)
    return Edit(end - len(gap[gap.rindex(".") :].encode()) if "#" in gap else start, end, "")
