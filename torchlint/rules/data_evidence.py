"""Whether the object under a `.data` is a tensor: the word is an ordinary one, and most objects with it are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from torchlint.inference.facts import ANY, Kind, Value
from torchlint.inference.operations import operations
from torchlint.model import Confidence
from torchlint.rule import FileContext
from torchlint.rules.data_use import DataUse, Use, Way, data_use, is_loss_name, last_word, method_call
from torchlint.rules.own_data import has_own_data
from torchlint.rules.remembered import remembered
from torchlint.rules.tensor_parameters import is_given_tensor
from torchlint.rules.tensor_uses import PARAMETER, TENSOR_ONLY, TensorUses, uses_around

_LOOSE = re.compile(
    r"^(p|q|param|parameter|params|var|variable|tensor|weights?|theta|mask)(_?\w)?$|_(param|parameter|tensor|var)$"
)
"""Names that tensors often have, and other things as well."""
_TENSOR_WORD = re.compile(
    r"(^|_)(param|parameter|weight|bias|grad|gradient|tensor|variable|outputs?|logits?|preds?|predictions?|predicted|"
    r"scores?|probs?|log_?probs?|probabilities|embeddings?|embeds?|hiddens?)(_?\d+|_[a-z])?$|^var$"
)
"""Names of parameters, gradients and of what networks give: where their ``data`` is read, they are tensors."""

_NEVER = re.compile(
    r"(^|_)(self|cls|args?|opts?|options?|cfg|conf|config|configs|hparams|flags|settings|batch(es)?|minibatch|samples?|"
    r"examples?|(data)?sets?|dataset|data|datamodule|dm|dls|databunch|learn|learner|loader|dataloader|trainer|corpus|vocab|"
    r"resp|response|req|request|event|evt|msg|message|form|serializer|blob|node|item|record|row|field|packed|packed_?seq"
    r"|seq|graph|adata|df|frame|series|image|img|im|buf|buffer|memory|storage|payload|body|context|ctx|file|reader|"
    r"json|xml|state|session|client|page|cell|cells|info|meta|metadata|train|test|val|valid|proto|raw)(_\d+|\d*)$",
    re.IGNORECASE,
)
"""Names under which code keeps records, configurations, containers and pictures that have a ``data`` of their own."""

_MOVERS = frozenset({"cpu", "cuda", "detach"})
_READERS = frozenset({"cpu", "cuda", "numpy", "eq", "ne", "gt", "lt", "ge", "le", "clone", "norm"})
"""Methods that say likely, not surely, that a tensor is read."""

_OTHER_TENSORS = re.compile(rb"^\s*(?:import|from)\s+(chainer|caffe|mxnet|paddle|tinygrad|micrograd)\b", re.MULTILINE)
_OWN_TENSORS = re.compile(rb"^\s+self\.grad\s*=", re.MULTILINE)
"""A class of the file's own that has a gradient too."""
_RECORDS = re.compile(rb"^\s*(?:import|from)\s+(torch_geometric|dgl|mmcv|torchtext)\b", re.MULTILINE)
_TORCH = re.compile(rb"^\s*(?:import|from)\s+[\w.]*(?:torch(?!lint)|lightning)", re.MULTILINE)
_PACKED = re.compile(rb"PackedSequence|\bpack_padded_sequence\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING | Kind.MODULE
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""
_MOVED = Kind.TENSOR | Kind.MODULE | Kind.OTHER | Kind.NONE
"""What ``x.cpu()`` may be where nothing is known of ``x``."""
_TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})


@remembered
def tensor_evidence(node: cst.Attribute, context: FileContext) -> Confidence | None:
    """Say how sure it is that ``node.value`` is a tensor; None where the code does not speak for it."""
    known, use = context.facts(node.value), data_use(node, context)
    if use is None or _is_packed(node.value, known, context):
        return None
    if known.kind and known.may(Kind.TENSOR) and known.must(_WITHOUT_DATA | Kind.TENSOR):
        return Confidence.CERTAIN if known.must(Kind.TENSOR | Kind.NONE) else Confidence.LIKELY
    if known.names or known.instance - _TENSOR_CLASSES:
        return None
    if known.kind | Kind.NONE != ANY and not (known.kind | Kind.NONE == _MOVED and _says_the_call(node)):
        return None
    text = context.source.utf8
    if not _TORCH.search(text) or _OTHER_TENSORS.search(text) or _NEVER.search(_root_word(node.value)):
        return None
    uses = None if _OWN_TENSORS.search(text) else _uses(node, context)
    if known.instance or _says_the_name(node, use) or (uses and uses.speak_for(_key(node, context), records=True)):
        return Confidence.LIKELY
    if _RECORDS.search(text) or _PACKED.search(text) or has_own_data(context):
        return None
    if uses and uses.speak_for(_key(node, context), records=False):
        return Confidence.LIKELY
    spoken = (
        _says_the_use(node, use, context)
        or _says_the_word(node, use)
        or _says_the_call(node)
        or _says_the_partner(node, context)
        or is_given_tensor(node, context)
    )
    return Confidence.LIKELY if spoken else None


def _uses(node: cst.Attribute, context: FileContext) -> TensorUses | None:
    place = context.python(node.value)
    return uses_around(place, context) if isinstance(place, ast.Name | ast.Attribute | ast.Subscript) else None


def _key(node: cst.Attribute, context: FileContext) -> str:
    place = context.python(node.value)
    return ast.unparse(place) if place is not None else ""


def _root_word(node: cst.BaseExpression) -> str:
    """Give the name that tells what an object is: of ``batch.cpu()`` that of the object the method is called on."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return last_word(node)


def _is_packed(receiver: cst.BaseExpression, known: Value, context: FileContext) -> bool:
    """``pack(x).data`` and ``PackedSequence.data`` are fields, and may require grad."""
    if any("PackedSequence" in name for name in known.instance):
        return True
    place = context.python(receiver)
    if isinstance(place, ast.Name) and context.outline is not None:
        around = next(
            (each for each in context.outline.ancestors(place) if isinstance(each, _FUNCTIONS)), context.outline.tree
        )
        return place.id in _packed_names(around)
    return isinstance(place, ast.Call) and _is_packing(place)


@lru_cache(maxsize=64)
def _packed_names(around: ast.AST) -> frozenset[str]:
    """Give the names that a function binds to packed sequences."""
    found: set[str] = set()
    for node in ast.walk(around):
        match node:
            case ast.Assign(targets=[ast.Name(id=word)], value=ast.Call() as call) if _is_packing(call):
                found.add(word)
    return frozenset(found)


def _is_packing(call: ast.Call) -> bool:
    return (
        ast.unparse(call.func).rpartition(".")[2].startswith(("pack_", "PackedSequence"))
        or ast.unparse(call.func) == "pack"
    )


def _says_the_name(node: cst.Attribute, use: DataUse) -> bool:
    word = last_word(node.value)
    if isinstance(node.value, cst.Attribute) and PARAMETER.search(word):
        return True
    if is_loss_name(word):
        return use.use in (Use.READ, Use.SCALAR)
    written = use.way in (Way.METHOD, Way.INIT)
    return bool(_LOOSE.search(word)) and written


def _says_the_use(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether a method is called that little else than a tensor has; a store, an index and a size prove nothing."""
    if use.way in (Way.METHOD, Way.INIT):
        return True
    if use.use is not Use.READ or isinstance(node.value, cst.Call | cst.Subscript):
        return False
    called = method_call(node, context)
    return called is not None and (called[1] in TENSOR_ONLY or called[1] in _READERS)


def _says_the_word(node: cst.Attribute, use: DataUse) -> bool:
    """Whether the object is named as a parameter or as what a network gives, and more than stored into."""
    return use.use is not Use.REBINDING and bool(_TENSOR_WORD.search(last_word(node.value)))


def _says_the_call(node: cst.Attribute) -> bool:
    """Whether the object is what a method gives that tensors have: ``x.cpu().data``, ``x.detach().data``."""
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=word))):
            return word in _MOVERS or word in TENSOR_ONLY
    return False


def _says_the_partner(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the value meets a tensor: ``weight.data.copy_(x.data)``, ``weight.data = x.data``, ``x.data * t``."""
    return any(_is_tensor(each, context) for each in _partners(node, context))


def _partners(node: cst.CSTNode, context: FileContext) -> Iterator[cst.BaseExpression]:
    """Give the expressions that must be of the same kind as a ``.data``."""
    while True:
        above = context.parent(node)
        match above:
            case cst.BinaryOperation(left=left, right=right):
                yield right if left is node else left
                node = above
            case cst.UnaryOperation():
                node = above
            case cst.Assign(value=value, targets=[cst.AssignTarget(target=target)]) if value is node:
                yield target
                return
            case cst.Arg(keyword=None, star=""):
                call = context.parent(above)
                if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.args[0] is above:
                    yield call.func.value
                return
            case cst.AssignTarget():
                statement = context.parent(above)
                if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                    yield _behind_methods(statement.value)
                return
            case _:
                called = method_call(node, context)
                if called is None or called[1] not in operations().methods:
                    return
                node = called[0]


def _behind_methods(node: cst.BaseExpression) -> cst.BaseExpression:
    """Give the object on which a chain of tensor methods is called."""
    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value=word))) if word in operations().methods:
                node = inner
            case _:
                return node


def _is_tensor(node: cst.BaseExpression, context: FileContext) -> bool:
    """Whether an expression is a tensor, or the ``data`` of something whose name or function says that it is one."""
    if context.facts(node).is_tensor:
        return True
    if not isinstance(node, cst.Attribute) or node.attr.value != "data":
        return False
    if context.facts(node.value).is_tensor or PARAMETER.search(last_word(node.value)):
        return True
    uses = _uses(node, context)
    return uses is not None and uses.speak_for(_key(node, context), records=True)
