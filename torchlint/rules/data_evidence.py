"""Whether the object under a `.data` is a tensor: the word is an ordinary one, and most objects with it are none."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

import libcst as cst

from torchlint.inference.facts import ANY, Kind, Value
from torchlint.inference.operations import DISTINCTIVE
from torchlint.model import Confidence
from torchlint.rule import FileContext
from torchlint.rules.data_use import DataUse, Use, Way, data_use, is_loss_name, last_word, method_call
from torchlint.rules.inplace_methods import ALIKE
from torchlint.rules.remembered import remembered

_PARAMETER = re.compile(
    r"^(weight|bias|grad)$|_(weight|bias|grad)$|^(weight|bias)_(ih|hh|g|v|orig|hr)(_l\d.*)?$|^running_(mean|var)$"
)
"""Attributes that hold a tensor by torch's own naming: ``layer.weight``, ``p.grad``, ``lstm.weight_hh_l0``."""

_LOOSE_PARAMETER = re.compile(r"^(p|q|param|parameter|params|var|variable|tensor|weights?|theta|mask)(_?\w)?$")
"""Names that tensors often have, and other things as well."""

_NEVER = re.compile(
    r"(^|_)(self|cls|args?|opts?|options?|cfg|conf|config|configs|hparams|flags|settings|batch(es)?|minibatch|samples?|"
    r"examples?|(data)?sets?|dataset|data|datamodule|dm|dls|databunch|learn|learner|loader|dataloader|trainer|corpus|vocab|"
    r"resp|response|req|request|event|evt|msg|message|form|serializer|blob|node|item|record|row|field|packed|packed_?seq"
    r"|seq|graph|adata|df|frame|series|image|img|im|buf|buffer|memory|storage|payload|body|context|ctx|file|reader|"
    r"json|xml|state|session|client|page|cell|cells|info|meta|metadata|train|test|val|valid|proto|raw)(_\d+|\d*)$",
    re.IGNORECASE,
)
"""Names under which code keeps records, configurations, containers and pictures that have a ``data`` of their own."""

_TENSOR_ONLY = DISTINCTIVE - frozenset(
    "float long half clamp argmax argmin matmul set_ map_ apply_ gather unfold".split()
)
_READERS = frozenset({"cpu", "cuda", "numpy", "eq", "ne", "gt", "lt", "ge", "le", "clone", "norm"})
"""Methods that say likely, not surely, that a tensor is read."""

_OTHER_TENSORS = re.compile(rb"^\s*(?:import|from)\s+(chainer|caffe|mxnet|paddle|tinygrad|micrograd)\b", re.MULTILINE)
_OWN_TENSORS = re.compile(rb"^\s+self\.grad\s*=", re.MULTILINE)
"""A class of the file's own that has a gradient too."""
_RECORDS = re.compile(rb"^\s*(?:import|from)\s+(torch_geometric|dgl|mmcv|torchtext)\b", re.MULTILINE)
_TORCH = re.compile(rb"^\s*(?:import|from)\s+[\w.]*(?:torch(?!lint)|lightning)", re.MULTILINE)
_OWN_DATA = re.compile(
    rb"^\s+(?:self\.data(?:\s*:[^=\n]+)?\s*=[^=]|data\s*[:=]|def data\()|PackedSequence|\bpack_padded_sequence\b",
    re.MULTILINE,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""
_TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})
_GRADED = frozenset({"grad", "requires_grad", "requires_grad_", "backward", "retain_grad", "grad_fn"})
"""Attributes and methods that only tensors have: the name that is asked for one is a tensor."""


@remembered
def tensor_evidence(node: cst.Attribute, context: FileContext) -> Confidence | None:
    """Say how sure it is that ``node.value`` is a tensor; None where the code does not speak for it."""
    known, use = context.facts(node.value), data_use(node, context)
    if use is None or _is_packed(node.value, known, context):
        return None
    if known.kind and known.may(Kind.TENSOR) and known.must(_WITHOUT_DATA | Kind.TENSOR):
        return Confidence.CERTAIN if known.must(Kind.TENSOR | Kind.NONE) else Confidence.LIKELY
    if known.kind | Kind.NONE != ANY or known.names or known.instance - _TENSOR_CLASSES:
        return None
    text = context.source.utf8
    if not _TORCH.search(text) or _OTHER_TENSORS.search(text) or _NEVER.search(last_word(node.value)):
        return None
    if known.instance or _says_the_name(node, use) or _says_the_function(node, context):
        return Confidence.LIKELY
    if _RECORDS.search(text) or _OWN_DATA.search(text):
        return None
    return Confidence.LIKELY if _says_the_use(node, use, context) else None


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
    if isinstance(node.value, cst.Attribute) and _PARAMETER.search(word):
        return True
    if is_loss_name(word):
        return use.use in (Use.READ, Use.SCALAR)
    written = use.way in (Way.METHOD, Way.INIT)
    return bool(_LOOSE_PARAMETER.search(word)) and written


def _says_the_use(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether a method is called that little else than a tensor has; a store, an index and a size prove nothing."""
    if use.way in (Way.METHOD, Way.INIT):
        return True
    if use.use is not Use.READ or isinstance(node.value, cst.Call | cst.Subscript):
        return False
    called = method_call(node, context)
    return called is not None and (called[1] in _TENSOR_ONLY or called[1] in _READERS)


def _says_the_function(node: cst.Attribute, context: FileContext) -> bool:
    """Whether the same function uses the name as a tensor: ``x.grad``, ``x.backward()``, ``x.data.mul_(2)``."""
    place = context.python(node.value)
    if context.outline is None or not isinstance(place, ast.Name | ast.Attribute):
        return False
    if _OWN_TENSORS.search(context.source.utf8):
        return False
    around = next((each for each in context.outline.ancestors(place) if isinstance(each, _FUNCTIONS)), None)
    if around is None:
        return False
    return ast.unparse(place) in _used_as_tensors(around)


@lru_cache(maxsize=64)
def _used_as_tensors(around: ast.AST) -> frozenset[str]:
    """Give the names and attributes of a function that it asks for what only tensors have."""
    found: set[str] = set()
    for node in ast.walk(around):
        match node:
            case ast.Attribute(value=value, attr=word) if word in _GRADED:
                found.add(ast.unparse(value))
            case ast.Attribute(value=ast.Attribute(value=value, attr="data"), attr=word) if word in ALIKE:
                found.add(ast.unparse(value))
            case ast.Attribute(value=value, attr=word) if word in ALIKE:
                found.add(ast.unparse(value))
    return frozenset(found)
