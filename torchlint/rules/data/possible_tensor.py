"""Whether the owner of a `.data` may well be a tensor: nothing shows another object, and something speaks for it.

What is asked of the owner speaks for a tensor. What is done with the `data` speaks only for a tensor there, which a
record may hold as well: that counts where no class in sight has a `data` of its own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import libcst as cst

from torchlint.rules.api import SETTINGS, FileContext, Kind, Value, elements_of, last_word_of_name, remembered
from torchlint.rules.data.data_owners import OTHER_MEANING, bound_to, is_tensor_word, root_of
from torchlint.rules.data.data_use import DataUse, Use
from torchlint.rules.data.own_data import RECORDS, has_own_data, is_annotated_otherwise
from torchlint.rules.evidence.local_bindings import are_of_torch
from torchlint.rules.evidence.method_calls import call_of, method_call
from torchlint.rules.evidence.tensor_uses import MAKERS, TENSOR_ONLY, asks_for_a_tensor, uses_around

_SETTINGS = re.compile(rf"^_?({SETTINGS}|params?_dict|kwargs)$", re.IGNORECASE)
"""Names of what a program is told: never tensors, whatever is done with their ``data``."""
_RECORD = re.compile(
    r"(^|_)(self|cls|(data|train|test|val|dev|sub)?sets?|datamodule|dm|dls|databunch|learn|learner|loader|dataloader|"
    r"trainer|corpus|vocab|resp|response|req|request|event|evt|msg|message|form|serializer|blob|node|record|row|"
    r"packed|packed_?seq|graph|adata|df|iloc|loc|frame|series|storage|payload|body|context|ctx|file|reader|json|xml|"
    r"session|client|page|cells?|info|meta|metadata|proto)(_?\d+)?$",
    re.IGNORECASE,
)
"""Names of records and containers: only what is asked of one itself says that it is a tensor."""
_SOFT = re.compile(
    r"(^|_)(batch(es)?|minibatch|samples?|examples?|data|item|field|seq|img|image|images|im|memory|state|train|test|"
    r"val|valid|raw)(_?\d+)?$",
    re.IGNORECASE,
)
"""Names of tensors and of records alike: a use that records with tensors allow says nothing of these."""
_NETWORK = re.compile(
    r"(^|_)(net|nets|network|networks|model|models|critic|actor|generator|discriminator|rcnn|cnn|rnn|gan)(_?\w)?$|"
    r"^net[A-Z]\w*$|(Net|Model|RCNN|CNN|RNN|Network)$"
)
"""Names of networks."""
_RUNNING = frozenset({"forward", "inference", "predict", "generate", "encode", "decode", "sample"})
"""Methods that run a network, in whole or in part."""
_CLASS = re.compile(r"_*[A-Z]\w*[a-z]\w*$")
"""Names of classes."""
_TENSOR_CLASSES = frozenset({"Variable", "Parameter", "Tensor"})
_PLAIN = frozenset({"int", "float", "bool", "list", "tuple", "dict", "str", "NoneType", "ndarray", "Number"})
"""Classes that a tensor is told from by ``isinstance``, and which such code does not ask for ``data``."""
_READING = TENSOR_ONLY | MAKERS | {"cpu", "detach"}
_READING_DATA = _READING | {"numpy"}
"""Methods that say of a ``data`` that it is a tensor: no other one has them."""
_MEASURING = _READING | {"size", "dim", "to"}
"""Methods that say of the object on which they are called that it is a tensor, in a file that works with torch."""
_TAKING_RECORDS = frozenset(
    {"open", "len", "str", "repr", "bytes", "bytearray", "memoryview", "isinstance", "issubclass", "hash", "id", "set"}
)
"""Built-in functions that are given a record's ``data`` more often than a tensor's."""
_OUTSIDE = frozenset({"os", "json", "pickle", "Path", "yaml", "csv", "io", "base64", "pd"})
"""Modules and classes for paths, texts and files."""
_TAKING_ARRAYS = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy", "torch.Tensor"})
"""Functions of torch that are given arrays, lists and buffers."""
_DEEPEST = 4
"""Names are followed to what they are bound to this far."""


def may_well_be_tensor(node: cst.Attribute, use: DataUse, context: FileContext) -> bool:
    """Whether the object under a ``.data`` of which too little is known is more likely a tensor than a record."""
    place = context.python(node)
    if not isinstance(place, ast.Attribute) or context.matches(RECORDS) or use.use is Use.REBINDING:
        return False
    owner, root = place.value, root_of(place.value)
    if any(map(_SETTINGS.search, _links(owner))) or _is_handled_as_record(place, context):
        return False
    if not all(_may_be_tensor(context.value(each)) for each in (owner, root)):
        return False
    if is_annotated_otherwise(node.value, context) or _is_other_object(root, context):
        return False
    own = has_own_data(context)
    if not own and _is_asked_as_tensor(owner, root, context):
        return True
    words = {last_word_of_name(owner), last_word_of_name(root)}
    if own or _is_part_of_another(root) or any(map(_RECORD.search, words)):
        return False
    if _is_read_as_tensor(place, context):
        return True
    return not any(map(_SOFT.search, words)) and _is_given_as_tensor(place, context)


def _may_be_tensor(known: Value) -> bool:
    others = [name for name in known.instance if name.rpartition(".")[2] not in _TENSOR_CLASSES]
    return known.may(Kind.TENSOR) and not known.names and not others


def _links(node: ast.expr) -> Iterator[str]:
    """Yield the words of a chain: those of ``self.opt.x[0]`` are ``x``, ``opt`` and ``self``."""
    while True:
        match node:
            case ast.Attribute(value=inner, attr=word):
                yield word
                node = inner
            case ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case ast.Name(id=word):
                yield word
                return
            case _:
                return


# ---------------------------------------------------------------------- against
def _is_handled_as_record(place: ast.Attribute, context: FileContext) -> bool:
    """Whether a ``.data`` itself is used as no tensor is: by an attribute, a key, a text, a test of its truth."""
    above = context.parent(place)
    match above:
        case ast.Attribute(attr=word):
            return not is_tensor_word(word)
        case ast.Subscript(value=inner, slice=index) if inner is place:
            return isinstance(index, ast.JoinedStr) or _is_text(index)
        case ast.BinOp(left=left, right=right):
            return any(map(_is_no_operand, (left, right)))
        case ast.Compare(left=left, comparators=others, ops=operators):
            if any(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in operators):
                return True
            return any(map(_is_no_operand, (left, *others)))
        case ast.BoolOp() | ast.FormattedValue() | ast.Starred() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is place:
            return True
        case ast.Call(func=function) if function is not place:
            return _takes_records(function, context)
        case ast.keyword():
            call = context.parent(above)
            return isinstance(call, ast.Call) and _takes_records(call.func, context)
    return False


def _is_no_operand(node: ast.expr) -> bool:
    """Whether an expression, as it is written, is none with which code reckons or compares a tensor."""
    if isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set | ast.JoinedStr) or _is_text(node):
        return True
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _takes_records(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is one for paths, texts and files."""
    names = context.value(function).names or context.qualified_names(function)
    if any(name.startswith("torch.") for name in names):
        return False
    if isinstance(function, ast.Name) and function.id in _TAKING_RECORDS:
        return True
    *_, first = ["", *_links(function)]
    return first in _OUTSIDE


def _is_part_of_another(root: ast.expr) -> bool:
    """Whether an object is an attribute of an unknown one, or what its method gives: records are found there."""
    match root.func if isinstance(root, ast.Call) else root:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute():
            return True
    return False


def _is_other_object(root: ast.expr, context: FileContext) -> bool:
    """Whether an object is told from a tensor by a test, is asked for what no tensor has, or made by a class."""
    if isinstance(root, ast.Name):
        if root.id in ("self", "cls") or context.scope_that_binds(root) is None:
            return True
        if any(_makes_an_object(place, context) for place in context.reaching(root)):
            return True
    if isinstance(root, ast.Call):
        return _is_class(root.func, context)
    return is_asked_as_another(root, context)


def is_asked_as_another(root: ast.expr, context: FileContext) -> bool:
    """Whether the same object is asked for what no tensor has, or tested for another class: ``found.window``."""
    return _is_asked(root, context, _says_other)


def _makes_an_object(place: ast.Name | ast.arg, context: FileContext) -> bool:
    """Whether a binding gives a name an object of a class, or what a ``with`` hands out."""
    value = bound_to(place, context) if isinstance(place, ast.Name) else None
    if isinstance(value, ast.Call):
        return _is_class(value.func, context)
    return isinstance(context.parent(place), ast.withitem)


def _is_class(function: ast.expr, context: FileContext) -> bool:
    """Whether a function is a class by its name, and neither one of tensors nor a network that is called."""
    word = last_word_of_name(function)
    if not _CLASS.match(word) or word in _TENSOR_CLASSES or word.endswith("Tensor"):
        return False
    called = context.value(function)
    return called.unknown or not called.may(Kind.MODULE)


def _is_asked(root: ast.expr, context: FileContext, tells: Callable[[ast.AST, FileContext], bool]) -> bool:
    """Whether the scope asks the same object for an attribute, or tests its class, in a way that tells something."""
    code = _dotted(root)
    around: ast.AST = context.function_around(root) or context.tree
    if code.startswith("self."):
        around = context.nearest(root, ast.ClassDef) or around
    asked = context.answer((tells, around), lambda: _asked(around, context, tells)).get(code, ())
    if not asked or not isinstance(root, ast.Name):
        return bool(asked)
    bound = {id(each) for each in context.reaching(root)}
    return any(id(each) in bound for other in asked if isinstance(other, ast.Name) for each in context.reaching(other))


def _asked(
    around: ast.AST, context: FileContext, tells: Callable[[ast.AST, FileContext], bool]
) -> dict[str, list[ast.expr]]:
    """Return the names and dotted names of a scope where they are asked for what tells something, by their code."""
    found: dict[str, list[ast.expr]] = {}
    for node in context.inside(around, ast.Attribute):
        if (code := _dotted(node.value)) and tells(node, context):
            found.setdefault(code, []).append(node.value)
    for call in context.inside(around, ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[given, _]) if code := _dotted(given):
                if tells(call, context):
                    found.setdefault(code, []).append(given)
    return found


def _dotted(node: ast.expr) -> str:
    """Return a name or a dotted name as it is spelled; nothing for other expressions."""
    match node:
        case ast.Name(id=word):
            return word
        case ast.Attribute(value=inner, attr=word):
            outer = _dotted(inner)
            return f"{outer}.{word}" if outer else ""
    return ""


def _says_other(question: ast.AST, _: FileContext) -> bool:
    match question:
        case ast.Attribute(attr=word):
            return not is_tensor_word(word)
        case ast.Call(args=[_, classes]):
            tested = elements_of(classes)
            words = {last_word_of_name(each) for each in tested}
            return not any("Tensor" in each or each in _TENSOR_CLASSES for each in words) and not words <= _PLAIN
    return False


# ---------------------------------------------------------------------- for, by the object
def _is_asked_as_tensor(owner: ast.expr, root: ast.expr, context: FileContext) -> bool:
    """Whether the object comes from a network or a tensor, or is asked itself for what tensors give."""
    if any(map(_is_tensor_step, _steps(owner))) or _is_surely_no_array(context.value(owner)):
        return True
    if _is_asked(root, context, _measures):
        return True
    if isinstance(root, ast.Name) and _is_reckoned_with(root, context):
        return True
    return any(_is_of_tensors(each, context) for each in _origins(root, context, _DEEPEST))


def _is_surely_no_array(known: Value) -> bool:
    others = Kind.ARRAY | Kind.STRING | Kind.SCALAR | Kind.OTHER
    return known.may(Kind.TENSOR) and not known.unknown and not known.may(others)


def _steps(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression and what it is made of, up to its root."""
    root = root_of(node)
    while node is not root:
        yield node
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case _:
                return


def _is_tensor_step(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=word), args=given):
            shaped = word in ("view", "expand") and any(not isinstance(each, ast.Name) for each in given)
            return word in _READING or shaped
        case ast.Subscript(slice=index):
            return _is_cut(index)
    return False


def _is_cut(index: ast.expr) -> bool:
    """Whether an index cuts several dimensions: ``x[:, 1]``."""
    return isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in index.elts)


def _measures(question: ast.AST, context: FileContext) -> bool:
    """Whether a method is called on the object itself that tensors have: ``x.size()``, ``x.to(device)``."""
    if not isinstance(question, ast.Attribute) or question.attr not in _MEASURING:
        return False
    return call_of(question, context) is not None


def _is_reckoned_with(root: ast.Name, context: FileContext) -> bool:
    """Whether the same object is an operand beside a tensor: numbers have no ``data``, and records no operators."""
    around: ast.AST = context.function_around(root) or context.tree
    bound = {id(each) for each in context.reaching(root)}
    for operand, other in _operands(around, context).get(root.id, ()):
        same = any(id(each) in bound for each in context.reaching(operand))
        if same and context.value(other).is_tensor:
            return True
    return False


@remembered
def _operands(around: ast.AST, context: FileContext) -> dict[str, list[tuple[ast.Name, ast.expr]]]:
    """Return for each name of a scope with what it is reckoned."""
    found: dict[str, list[tuple[ast.Name, ast.expr]]] = {}
    for operation in context.inside(around, ast.BinOp):
        left, right = operation.left, operation.right
        for operand, other in ((left, right), (right, left)):
            if isinstance(operand, ast.Name):
                found.setdefault(operand.id, []).append((operand, other))
    return found


def _origins(node: ast.expr, context: FileContext, depth: int) -> Iterator[ast.expr]:
    """Yield the steps and the calls that an object may come from, by the ways that can be followed."""
    if isinstance(node, ast.Call):
        yield node
    elif isinstance(node, ast.Name) and depth and context.scope_that_binds(node) is not None:
        for place in context.reaching(node):
            value = bound_to(place, context) if isinstance(place, ast.Name) else None
            if value is not None and value is not place:
                yield from _steps(value)
                yield from _origins(root_of(value), context, depth - 1)


def _is_of_tensors(node: ast.expr, context: FileContext) -> bool:
    """Whether a call is one of torch, or runs a network by its name, or a step is one that tensors take."""
    if _is_tensor_step(node) or not isinstance(node, ast.Call):
        return _is_tensor_step(node)
    called = context.value(node.func)
    if are_of_torch(called.names):
        return context.value(node).may(Kind.TENSOR)
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr in _RUNNING:
        function = function.value
    word = last_word_of_name(function)
    if OTHER_MEANING.search(word) and not any(context.value(each).is_tensor for each in node.args):
        return False
    return called.must(Kind.MODULE) or bool(_NETWORK.search(word))


# ---------------------------------------------------------------------- for, by its data
def _outward(place: ast.expr, context: FileContext) -> Iterator[tuple[ast.expr, str]]:
    """Yield what is made of an expression by methods and indices, and by which method; the expression first."""
    yield place, ""
    while True:
        above = context.parent(place)
        if (called := method_call(place, context)) is not None:
            yield called
            place = called[0]
        elif isinstance(above, ast.Subscript) and above.value is place:
            yield above, ""
            place = above
        else:
            return


def _is_read_as_tensor(place: ast.Attribute, context: FileContext) -> bool:
    """Whether the ``data`` is asked, given, reckoned with or used as an index as little else than a tensor is."""
    chain = list(_outward(place, context))
    if any(word in _READING_DATA for _, word in chain):
        return True
    made = chain[-1][0]
    above = context.parent(made)
    match above:
        case ast.Call(func=function, args=[first, *_]) if first is made:
            return asks_for_a_tensor(function, context)
        case ast.Subscript(value=indexed, slice=index) if index is made:
            return context.value(indexed).is_tensor
        case ast.For(iter=source, target=ast.Name() as alias) if source is made:
            return _is_used(alias, True, context)
        case ast.BinOp():
            return _meets_tensor(made, above, context)
    return False


def _meets_tensor(operand: ast.expr, operation: ast.BinOp, context: FileContext) -> bool:
    """Whether an operand is reckoned with what is a tensor, or the ``data`` of what is asked as one."""
    other = operation.right if operation.left is operand else operation.left
    if context.value(other).is_tensor:
        return True
    if isinstance(other, ast.Attribute) and other.attr == "data":
        return _is_asked_as_tensor(other.value, root_of(other.value), context)
    above = context.parent(operation)
    return isinstance(above, ast.BinOp) and _meets_tensor(operation, above, context)


def _is_given_as_tensor(place: ast.Attribute, context: FileContext) -> bool:
    """Whether the ``data`` is cut as a tensor is, given to torch, or bound to a name that is used as a tensor."""
    made: ast.expr = place
    for made, _ in _outward(place, context):
        if isinstance(made, ast.Subscript) and _is_cut(made.slice):
            return True
    above = context.parent(made)
    while isinstance(above, ast.List | ast.Tuple):
        made, above = above, context.parent(above)
    match above:
        case ast.Call(func=ast.Attribute(attr="type_as" | "view_as" | "expand_as" | "copy_")):
            return True
        case ast.Call(func=function) if function is not made:
            names = context.value(function).names
            return bool(names) and all(name.startswith("torch.") and name not in _TAKING_ARRAYS for name in names)
        case ast.Assign(targets=[ast.Name() as alias]):
            return _is_used(alias, False, context)
    return False


def _is_used(alias: ast.Name, beyond_doubt: bool, context: FileContext) -> bool:
    uses = uses_around(alias, context)
    return uses is not None and uses.speak_for(alias.id, records=beyond_doubt)
