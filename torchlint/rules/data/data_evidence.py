"""Whether the object under a `.data` is a tensor: the word is an ordinary one, and most objects with it are none."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, Decision
from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import (
    SETTINGS,
    TENSOR_MAKERS,
    TORCH_FUNCTIONS,
    FileContext,
    Kind,
    Value,
    last_word_of_name,
    remembered,
)
from torchlint.rules.data.data_use import DataUse, Use, Way, data_use, is_loss_name
from torchlint.rules.data.own_data import PACKED, RECORDS, has_own_data, works_with_others
from torchlint.rules.data.tensor_uses import ALIKE, PARAMETER, TENSOR_ONLY, asked_as_tensor
from torchlint.rules.obligations import is_tensor
from torchlint.rules.repairs import method_call
from torchlint.rules.wording import brief, tensor_step

_TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})
_WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING | Kind.MODULE
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""
_OTHER_TENSORS = frozenset({"chainer", "caffe", "mxnet", "paddle", "tinygrad", "micrograd"})
"""Libraries with tensors of their own that have ``data`` too."""
_OUTPUT = re.compile(r"(^|_)(outputs?|logits?|preds?|predictions?)$")
"""Names of what networks give."""
_NEVER = re.compile(
    rf"(^|_)(self|cls|{SETTINGS}|params?_dict|kwargs|batch(es)?|minibatch|samples?|examples?|"
    r"(data|train|test|val|dev|sub)?sets?|data|datamodule|dm|dls|databunch|learn|learner|loader|dataloader|"
    r"trainer|corpus|vocab|"
    r"resp|response|req|request|event|evt|msg|message|form|serializer|blob|node|item|record|row|field|packed|packed_?seq"
    r"|seq|graph|adata|df|frame|series|image|img|im|memory|storage|payload|body|context|ctx|file|reader|"
    r"json|xml|state|session|client|page|cell|cells|info|meta|metadata|train|test|val|valid|proto|raw)(_\d+|\d*)$",
    re.IGNORECASE,
)
"""Names under which code keeps records, configurations, containers and pictures that have a ``data`` of their own."""
_READERS = frozenset({"numpy", "eq", "ne", "gt", "lt", "ge", "le", "clone", "norm"})
"""Methods that say likely, not surely, that a tensor is read."""
_TAKING_ANYTHING = TENSOR_MAKERS | {"torch.as_tensor", "torch.asarray", "torch.is_tensor"}
_TAKING_TENSORS = (TORCH_FUNCTIONS | {"torch.autograd.Variable", "torch.nn.Parameter"}) - _TAKING_ANYTHING
"""Functions of torch that are given tensors."""
_OWN_TENSORS = re.compile(rb"^\s+self\.grad\s*=", re.MULTILINE)
"""A class of the file's own that has a gradient too."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How sure it is that the owner of a `.data` is a tensor, and what says so."""

    confidence: Confidence
    why: str


def is_tensor_by(evidence: Evidence, node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether the owner of a `.data` is a tensor: where the evidence is not certain, no proof is looked for."""
    is_sure = evidence.confidence is Confidence.CERTAIN
    return is_tensor(node, context) if is_sure else IS_TENSOR.open(brief(node, context))


def used_tensor(node: cst.Attribute, wanted: Use, context: FileContext) -> tuple[DataUse, Evidence] | None:
    """Return what is done with a ``.data``, and what says that it is a tensor's; None unless it is done as wanted."""
    use = data_use(node, context) if node.attr.value == "data" else None
    evidence = tensor_evidence(node, context) if use is not None and use.use is wanted else None
    return None if use is None or evidence is None else (use, evidence)


@remembered
def tensor_evidence(node: cst.Attribute, context: FileContext) -> Evidence | None:
    """Say how sure it is that ``node.value`` is a tensor; None where the code does not speak for it."""
    known, use = context.value(node.value), data_use(node, context)
    if use is None:
        return None
    if known.may(Kind.TENSOR) and known.must(Kind.TENSOR | Kind.NONE):
        return Evidence(Confidence.CERTAIN, tensor_step(node.value, context))
    if known.may(Kind.TENSOR) and known.must(Kind.TENSOR | _WITHOUT_DATA):
        return _told(Confidence.LIKELY, node, "is a tensor, or something that has no `data`", context)
    return _by_use(node, use, context) if _may_be_tensor(node.value, known, context) else None


def _may_be_tensor(owner: cst.BaseExpression, known: Value, context: FileContext) -> bool:
    """Whether an object may be a tensor: it is known neither by a name nor as an object of another class."""
    if not known.may(Kind.TENSOR) or known.names or known.instance - _TENSOR_CLASSES:
        return False
    speaks_of_torch = context.works_with_torch and not context.imported_packages & _OTHER_TENSORS
    return speaks_of_torch and not any(map(_NEVER.search, _words(context.python(owner))))


def _words(node: ast.AST | None) -> list[str]:
    """Return the words that tell what an object is: the last one, and the one that its methods are called on."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner):
            return [last_word_of_name(node), *_words(inner)]
    return [last_word_of_name(node)]


def _by_use(node: cst.Attribute, use: DataUse, context: FileContext) -> Evidence | None:
    """Judge an unknown object by what is asked of it, of its `data`, and by its name."""
    place = context.python(node.value)
    if not isinstance(place, ast.expr) or context.matches(_OWN_TENSORS):
        return None
    asked = asked_as_tensor(place, context)
    if asked is False:
        return None
    if use.way is Way.METHOD:
        return _told(Confidence.LIKELY, node, _USED, context)
    about_records = context.matches(RECORDS) or context.matches(PACKED) or has_own_data(context)
    if about_records or works_with_others(place, context) or _is_record(node, context):
        return None
    called = method_call(node, context)
    is_read = called is not None and called[1] in TENSOR_ONLY | _READERS and use.use is not Use.REBINDING
    if asked or is_read or use.way is Way.INIT or _is_moved(node.value) or _is_given_to_tensors(node, context):
        return _told(Confidence.LIKELY, node, _USED, context)
    is_named = _is_named(place, use)
    return _told(Confidence.POSSIBLE, node, "is taken for a tensor by its name", context) if is_named else None


_USED = "is used as tensors are"


def _is_moved(owner: cst.BaseExpression) -> bool:
    """Whether an object is what a method gives that little else than a tensor has: ``x.cpu().data``."""
    match owner:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=word))):
            return word in TENSOR_ONLY
    return False


def _is_given_to_tensors(node: cst.Attribute, context: FileContext) -> bool:
    """Whether a `data` is written into another one, or is the first thing that a function of torch is given."""
    above = context.parent(node)
    match context.parent(above) if isinstance(above, cst.Arg) else None:
        case cst.Call(func=cst.Attribute(value=cst.Attribute(attr=cst.Name(value="data")), attr=cst.Name(value=word))):
            return word in ALIKE
        case cst.Call(func=function, args=[first, *_]) if first is above:
            names = context.names(function)
            return bool(names) and names <= _TAKING_TENSORS
    return False


def _is_record(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the `data` is asked for a key that is a text."""
    match context.parent(node):
        case cst.Subscript(value=indexed, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]):
            return indexed is node
    return False


def _is_named(owner: ast.expr, use: DataUse) -> bool:
    """Whether an object is an attribute that torch names so, or is read and named as a loss or a network's output."""
    if isinstance(owner, ast.Attribute) and PARAMETER.search(owner.attr):
        return True
    word = "" if isinstance(owner, ast.Call) else last_word_of_name(owner)
    return use.use is not Use.REBINDING and (is_loss_name(word) or bool(_OUTPUT.search(word)))


def _told(confidence: Confidence, node: cst.Attribute, said: str, context: FileContext) -> Evidence:
    place = context.python(node.value)
    code = f"`{brief(node.value, context)}` {said}"
    return Evidence(confidence, f"{code}, line {place.lineno}" if isinstance(place, ast.expr) else code)
