"""Whether the object under a `.data` is a tensor: the word is an ordinary one, and most objects with it are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchlint.diagnostics.assumptions import IS_TENSOR, Decision
from torchlint.diagnostics.model import Confidence
from torchlint.rules.api import SETTINGS, TENSOR_METHODS, FileContext, Kind, Value, parameters, remembered
from torchlint.rules.data.data_owners import behind_methods, is_tensor_word, meets_tensor, network_output
from torchlint.rules.data.data_use import DataUse, Use, Way, data_use, is_loss_name, last_word
from torchlint.rules.data.own_data import PACKED, RECORDS, has_own_data, is_annotated_otherwise, is_packed
from torchlint.rules.data.possible_tensor import is_asked_as_another, may_well_be_tensor
from torchlint.rules.data.tensor_uses import PARAMETER, TENSOR_ONLY, is_used
from torchlint.rules.method_calls import method_call
from torchlint.rules.obligations import is_tensor
from torchlint.rules.wording import brief, tensor_step

_WITH_PARAMETERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_HOOKED = re.compile(r"(grad_?)?(inputs?|inp|outputs?|out|grads?)")
"""The parameters of hooks that are tensors, or tuples of them."""


_TENSOR_HOOKS = frozenset({"register_hook", "register_post_accumulate_grad_hook"})
_MODULE_HOOKS = frozenset(
    "register_forward_hook register_forward_pre_hook register_backward_hook register_full_backward_hook "
    "register_full_backward_pre_hook register_module_forward_hook register_module_forward_pre_hook "
    "register_module_backward_hook register_module_full_backward_hook register_module_full_backward_pre_hook".split()
)
"""Methods of tensors and of modules, and functions of `torch.nn.modules.module`, that take a hook; those of the second
kind give it the module first."""
_TAKING_TENSORS = frozenset({"Module", "LightningModule", "Function"})
"""Bases of classes whose ``forward`` is given tensors."""


def is_given_tensor(node: cst.Attribute, context: FileContext) -> bool:
    """Whether an attribute is asked of a parameter that is a tensor, or of a member of a tuple of tensors."""
    place = context.python(node.value)
    if place is None:
        return False
    member = isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant)
    root = place.value if isinstance(place, ast.Subscript) and member else place
    if not isinstance(root, ast.Name):
        return False
    word = _iterated(root, context) or root.id
    around = next(_functions_with(word, root, context), None)
    if isinstance(around, ast.FunctionDef):
        plain = not member and word == root.id
        return (plain and _is_forward(around, word, context)) or _is_hook(around, word, context)
    return isinstance(around, ast.Lambda) and _is_lambda_hook(around, word, context)


def _iterated(name: ast.Name, context: FileContext) -> str | None:
    """Return the name over which a comprehension that binds a name goes."""
    for above in context.ancestors(name):
        if isinstance(above, ast.stmt):
            return None
        for each in above.generators if isinstance(above, _COMPREHENSIONS) else ():
            match each:
                case ast.comprehension(target=ast.Name(id=bound), iter=ast.Name(id=word)) if bound == name.id:
                    return word
    return None


def _functions_with(word: str, name: ast.Name, context: FileContext) -> Iterator[ast.AST]:
    """Yield the functions around a name that have a parameter of this name, innermost first."""
    for above in context.ancestors(name):
        if isinstance(above, _WITH_PARAMETERS) and word in parameters(above):
            yield above


def _is_forward(function: ast.FunctionDef, word: str, context: FileContext) -> bool:
    """Whether a function is the ``forward`` of a module, and the parameter one that holds a tensor."""
    given = function.args.args
    if function.name != "forward" or len(given) < 2 or given[0].arg == word:
        return False
    parameter = next((each for each in given if each.arg == word), None)
    if parameter is None or (parameter.annotation is not None and "Tensor" not in ast.unparse(parameter.annotation)):
        return False
    return _is_module(function, context)


def _is_module(method: ast.FunctionDef, context: FileContext) -> bool:
    """Whether a method belongs to a module or to a function of autograd: by what ``self`` is, or by the bases."""
    above = context.parent(method)
    if not isinstance(above, ast.ClassDef):
        return False
    if any(ast.unparse(base).rpartition(".")[2] in _TAKING_TENSORS for base in above.bases):
        return True
    first = method.args.args[0].arg
    own = next((each for each in ast.walk(method) if isinstance(each, ast.Name) and each.id == first), None)
    return own is not None and context.value(own).must(Kind.MODULE)


def _is_hook(function: ast.FunctionDef, word: str, context: FileContext) -> bool:
    """Whether a function is a hook by its name or by where the file hands it, and the parameter not the module."""
    if "hook" in function.name and _HOOKED.fullmatch(word):
        return True
    kinds = _handed_over(context.tree, context).get(function.name, frozenset())
    return bool(kinds) and word in _tensors_among(function.args, kinds)


def _is_lambda_hook(function: ast.Lambda, word: str, context: FileContext) -> bool:
    """Whether a lambda is written where a hook is registered, and the parameter is not the module."""
    match context.parent(function):
        case ast.Call(func=ast.Attribute(attr=method) | ast.Name(id=method), args=[first, *_]) if first is function:
            kinds = _kinds_of_hook(method)
            return bool(kinds) and word in _tensors_among(function.args, kinds)
    return False


def _tensors_among(parameters: ast.arguments, kinds: frozenset[str]) -> list[str]:
    """Return the parameters of a hook that are tensors or tuples of them."""
    given = [each.arg for each in parameters.args if each.arg not in ("self", "cls")]
    return given[1 if "module" in kinds else 0 :]


def _kinds_of_hook(word: str) -> frozenset[str]:
    """Return what a method or function registers hooks on: a ``"tensor"``, a ``"module"``, nothing."""
    return frozenset(kind for kind, words in (("tensor", _TENSOR_HOOKS), ("module", _MODULE_HOOKS)) if word in words)


@remembered
def _handed_over(_: ast.Module, context: FileContext) -> dict[str, frozenset[str]]:
    """Return the functions that a file registers as hooks, and whether on a ``"tensor"`` or a ``"module"``."""
    found: dict[str, frozenset[str]] = {}
    for node in context.nodes(ast.Call):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=word) | ast.Name(id=word),
                args=[ast.Name(id=name) | ast.Attribute(attr=name), *_],
            ):
                found[name] = found.get(name, frozenset()) | _kinds_of_hook(word)
    return found


_TENSOR_CLASSES = frozenset({"torch.nn.Parameter", "torch.Tensor", "torch.autograd.Variable"})
_WITHOUT_DATA = Kind.NONE | Kind.INTEGER | Kind.STRING | Kind.MODULE
"""What has no ``data``: of a tensor or an ``int``, only the tensor can be meant."""

_OTHER_TENSORS = frozenset({"chainer", "caffe", "mxnet", "paddle", "tinygrad", "micrograd"})
"""Libraries with tensors of their own that have ``data`` too."""

_LOOSE = re.compile(
    r"^(p|q|param|parameter|params|var|variable|tensor|weights?|theta|mask)(_?\w)?$|_(param|parameter|tensor|var)$"
)
"""Names that tensors often have, and other things as well."""
_OUTPUT = re.compile(
    r"(^|_)(grad|gradient|outputs?|logits?|preds?|predictions?|predicted|scores?|probs?|log_?probs?|probabilities|"
    r"embeddings?|embeds?|hiddens?)(_?\d+|_[a-z])?$"
)
"""Names of what networks give."""
_PARAMETER_WORD = re.compile(r"(^|_)(param|parameter|weight|bias|tensor|variable)(_?\d+|_[a-z])?$|^var$")
"""Names of parameters, which are those of settings too."""

_NEVER = re.compile(
    rf"(^|_)(self|cls|{SETTINGS}|batch(es)?|minibatch|samples?|examples?|"
    r"(data|train|test|val|dev|sub)?sets?|data|datamodule|dm|dls|databunch|learn|learner|loader|dataloader|"
    r"trainer|corpus|vocab|"
    r"resp|response|req|request|event|evt|msg|message|form|serializer|blob|node|item|record|row|field|packed|packed_?seq"
    r"|seq|graph|adata|df|frame|series|image|img|im|memory|storage|payload|body|context|ctx|file|reader|"
    r"json|xml|state|session|client|page|cell|cells|info|meta|metadata|train|test|val|valid|proto|raw)(_\d+|\d*)$",
    re.IGNORECASE,
)
"""Names under which code keeps records, configurations, containers and pictures that have a ``data`` of their own."""

_MOVERS = frozenset({"cpu", "cuda", "detach"})
_BUFFER = re.compile(r"(^|_)(buf|buffer)(_\d+|\d*)$", re.IGNORECASE)
"""Names of a module's buffers, and of stores of samples: only what is done with one tells."""
_READERS = frozenset({"cpu", "cuda", "numpy", "eq", "ne", "gt", "lt", "ge", "le", "clone", "norm"})
"""Methods that say likely, not surely, that a tensor is read."""

_OWN_TENSORS = re.compile(rb"^\s+self\.grad\s*=", re.MULTILINE)
"""A class of the file's own that has a gradient too."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """How sure it is that the owner of a `.data` is a tensor, and what says so."""

    confidence: Confidence
    why: str


def is_tensor_by(evidence: Evidence, node: cst.BaseExpression, context: FileContext) -> Decision:
    """Decide whether the owner of a `.data` is a tensor: where the evidence is not certain, no proof is looked for."""
    return (
        is_tensor(node, context) if evidence.confidence is Confidence.CERTAIN else IS_TENSOR.open(brief(node, context))
    )


@remembered
def tensor_evidence(node: cst.Attribute, context: FileContext) -> Evidence | None:
    """Say how sure it is that ``node.value`` is a tensor; None where the code does not speak for it."""
    known, use = context.value(node.value), data_use(node, context)
    if use is None or is_packed(known):
        return None
    found = _evidence(node, use, known, context)
    if found is None and use.use is Use.REBINDING and (read := _read_for_it(node, context)) is not None:
        return tensor_evidence(read, context)
    is_open = found is None and _speaks_of_tensors(context) and not _is_no_tensor(node, context)
    is_record = bool(_NEVER.search(_root_word(node.value)))
    if is_open and may_well_be_tensor(node, use, is_record, context):
        why = f"all that is done with `{brief(node.value, context)}` fits a tensor; nothing proves that it is one"
        return Evidence(Confidence.POSSIBLE, why)
    return found


def _read_for_it(node: cst.Attribute, context: FileContext) -> cst.Attribute | None:
    """Return the read in ``x.data = x.data.clone()``: what it says of the object holds for the write, too."""
    target = context.parent(node)
    statement = context.parent(target) if isinstance(target, cst.AssignTarget) else None
    pending: list[cst.CSTNode] = [statement.value] if isinstance(statement, cst.Assign) else []
    while pending:
        each = pending.pop()
        if isinstance(each, cst.Attribute) and each.attr.value == "data" and each.deep_equals(node):
            return each
        pending.extend(each.children)
    return None


def _evidence(node: cst.Attribute, use: DataUse, known: Value, context: FileContext) -> Evidence | None:
    """Say how sure it is where the object itself, its name or its use says that it is a tensor."""
    if known.may(Kind.TENSOR) and known.must(_WITHOUT_DATA | Kind.TENSOR):
        if known.must(Kind.TENSOR | Kind.NONE):
            return Evidence(Confidence.CERTAIN, tensor_step(node.value, context))
        return _likely(node, "is a tensor, or something that has no `data`", context)
    if _is_mostly_tensor(known):
        # a list has no data; a packed sequence and other named tuples may have
        is_plain = not context.matches(PACKED) and "data" not in dict(known.keys)
        return _likely(node, "is a tensor, or something that has no `data`", context) if is_plain else None
    if not _speaks_of_tensors(context):
        return None
    if not _may_be_tensor(known) or _NEVER.search(_root_word(node.value)):
        return None
    own = context.matches(_OWN_TENSORS)
    if _BUFFER.search(_root_word(node.value)):
        is_asked = not own and is_used(node.value, context, records=True)
        return _likely(node, _USED, context) if is_asked else None
    if known.instance or _says_the_name(node, use):
        return _likely(node, "is a tensor where it is what its class says" if known.instance else _NAMED, context)
    if not own and is_used(node.value, context, records=True):
        return _likely(node, _USED, context)
    if (
        context.matches(RECORDS)
        or context.matches(PACKED)
        or has_own_data(context)
        or is_annotated_otherwise(node.value, context)
    ):
        return None
    if (not own and is_used(node.value, context, records=False)) or _says_the_use(node, use, context):
        return _likely(node, _USED, context)
    if _is_asked_as_another(node, context):
        return None
    if _says_the_word(node, use, context):
        return _likely(node, _NAMED, context)
    if _says_the_call(node):
        return _likely(node, "is the result of a method that tensors have", context)
    if meets_tensor(node, context):
        return _likely(node, "has a `data` that is reckoned with beside a tensor", context)
    if is_given_tensor(node, context):
        return _likely(node, "is what `forward` or a hook is given", context)
    confidence = _of_a_network(node, use, context)
    return Evidence(confidence, _step(node, "is the output of a network", context)) if confidence is not None else None


_USED = "is used as tensors are"
_NAMED = "is taken for a tensor by its name"


def _likely(node: cst.Attribute, said: str, context: FileContext) -> Evidence:
    return Evidence(Confidence.LIKELY, _step(node, said, context))


def _step(node: cst.Attribute, said: str, context: FileContext) -> str:
    place = context.python(node.value)
    code = f"`{brief(node.value, context)}` {said}"
    return f"{code}, line {place.lineno}" if isinstance(place, ast.expr) else code


def _is_mostly_tensor(known: Value) -> bool:
    """Whether an object is a tensor, or something without ``data``, or a container of either."""
    return known.may(Kind.TENSOR) and known.must(_WITHOUT_DATA | Kind.TENSOR | Kind.SEQUENCE)


def _may_be_tensor(known: Value) -> bool:
    """Whether an object may be a tensor: it is known neither by a name nor as an object of another class."""
    return known.may(Kind.TENSOR) and not known.names and not known.instance - _TENSOR_CLASSES


def _is_asked_as_another(node: cst.Attribute, context: FileContext) -> bool:
    """Whether something beside the `.data` is asked of the object that no tensor has."""
    place = context.python(node.value)
    return isinstance(place, ast.Name | ast.Attribute) and is_asked_as_another(place, context)


def _speaks_of_tensors(context: FileContext) -> bool:
    """Whether a file works with torch, and with no library whose tensors have ``data`` too."""
    return context.works_with_torch and not context.imported_packages & _OTHER_TENSORS


def _of_a_network(node: cst.Attribute, use: DataUse, context: FileContext) -> Confidence | None:
    """Judge the output of a network, unless the `data` is treated as a record's: asked for what no tensor has."""
    place = context.python(node.value)
    if not isinstance(place, ast.expr) or use.use is Use.REBINDING or _is_no_tensor(node, context):
        return None
    return network_output(place, context)


def _is_no_tensor(node: cst.Attribute, context: FileContext) -> bool:
    above = context.parent(node)
    match above:
        case cst.Attribute(attr=cst.Name(value=word)):
            return not is_tensor_word(word)
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))]):
            return above.value is node
    return False


def _root_word(node: cst.BaseExpression) -> str:
    """Return the name that tells what an object is: of ``batch.cpu()`` that of the object the method is called on."""
    return last_word(behind_methods(node))


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


def _says_the_word(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether the object is named as what a network gives, or as a parameter with which something is reckoned."""
    if use.use is Use.REBINDING:
        return False
    word = last_word(node.value)
    if _OUTPUT.search(word):
        return True
    return bool(_PARAMETER_WORD.search(word)) and (use.use is not Use.READ or _is_reckoned_with(node, context))


def _is_reckoned_with(node: cst.Attribute, context: FileContext) -> bool:
    above = context.parent(node)
    if isinstance(above, cst.BinaryOperation | cst.UnaryOperation):
        return True
    called = method_call(node, context)
    return called is not None and called[1] in TENSOR_METHODS


def _names_a_shape(call: cst.Call) -> bool:
    numbers = (
        each.value.expression if isinstance(each.value, cst.UnaryOperation) else each.value for each in call.args
    )
    return any(isinstance(each, cst.Integer) for each in numbers)


def _says_the_call(node: cst.Attribute) -> bool:
    """Whether the object is what a method gives that tensors have: ``x.cpu().data``, ``x.detach().data``."""
    match node.value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=word))):
            return word in _MOVERS or (word == "view" and _names_a_shape(node.value))
    return False
