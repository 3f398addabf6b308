"""Arguments of a function that can hold integers alone: parts are taken by them, or torch takes nothing else there.

A tensor of integers never requires grad. This is presumed of functions that work; it is enough to stay silent.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.inference.models.devices import last_word_of_name
from torchlint.inference.models.operators import OF_INTEGERS
from torchlint.inference.program.bindings import bound, own
from torchlint.syntax.ast_index import AstIndex, Function
from torchlint.syntax.places import elements_of, is_called_self
from torchlint.syntax.signatures import parameters, positional_parameters

_INDEXED = frozenset(["__getitem__", "__setitem__", "__delitem__"])
_ASKING_TYPE = frozenset(["isinstance", "is_tensor", "type", "hasattr", "callable"])
_INDEXING = frozenset(
    """
    gather index_select scatter scatter_ scatter_add scatter_add_ index_add index_add_ index_copy index_copy_ index_fill
    index_fill_
    """.split()
)
"""Methods and functions of torch that take a dimension, and behind it an index."""
_INTEGERS_AT = {
    "pack_padded_sequence": (1, "lengths"),
    "one_hot": (0, "tensor"),
    "bincount": (0, "input"),
}
"""Where other functions take integers alone, by position and name (the manual of torch 2.13)."""
_EMBEDDING = frozenset(["Embedding", "EmbeddingBag"])
_KEEPING = frozenset("cpu cuda numpy detach clone contiguous view reshape squeeze unsqueeze flatten tolist".split())
"""Methods after which integers are integers, and nothing else is."""


def indices(index: AstIndex, function: Function) -> frozenset[str]:
    """Return the arguments that a function takes parts by (``x[at]``), hands over as an index, or negates (``~x``).

    One whose type is asked for may be several things, and one that is bound to other things again others; what an
    object is indexed by is an index whatever it is.
    """
    mine = parameters(function)
    slices = [each.slice for each in own(index, function, ast.Subscript)]
    parts = [part for each in slices for part in elements_of(each)]
    words = {each.id for each in parts if isinstance(each, ast.Name)}
    calls = own(index, function, ast.Call)
    integers = [*(each for call in calls for each in _integer_arguments(index, call)), *_operands(index, function)]
    words |= {word for each in integers if (word := _of_one_name(each))}
    words = (words | _sources(index, function, words - mine)) & mine
    given = [each.arg for each in positional_parameters(function)]
    first = frozenset(given[1:2] if function.name in _INDEXED and given[:1] == ["self"] else ())
    if not words:
        return first
    asking = [each for each in calls if last_word_of_name(each.func) in _ASKING_TYPE]
    asked = {each.id for call in asking for each in call.args if isinstance(each, ast.Name)}
    return frozenset(word for word in words - asked if _keeps_its_meaning(index, function, word)) | first


def _operands(index: AstIndex, function: Function) -> Iterator[ast.expr]:
    """Yield the operands of operators that torch refuses for floating tensors: ``~mask``, ``a & b``."""
    for unary in own(index, function, ast.UnaryOp):
        if isinstance(unary.op, OF_INTEGERS):
            yield unary.operand
    for binary in own(index, function, ast.BinOp):
        if isinstance(binary.op, OF_INTEGERS):
            yield from (binary.left, binary.right)


def _sources(index: AstIndex, function: Function, words: set[str]) -> set[str]:
    """Return what names of a function were made of: ``lengths`` for ``kept``, of ``kept = lengths.cpu().numpy()``."""
    places, arguments = index.told(bound, function), parameters(function)
    found: set[str] = set()
    while words:
        binding = places.get(words.pop(), ())
        statement = index.parents.get(binding[0]) if len(binding) == 1 else None
        source = _of_one_name(statement.value) if isinstance(statement, ast.Assign) else None
        if source is not None and source not in found:
            found.add(source)
            words |= {source} - arguments
    return found


def _integer_arguments(index: AstIndex, call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call where torch takes integers alone."""
    word = last_word_of_name(call.func)
    keywords = {each.arg: each.value for each in call.keywords}
    if word in _INDEXING:
        at = next((at for at, each in enumerate(call.args[:2]) if _is_dimension(each)), None)
        yield from call.args[at + 1 : at + 2] if at is not None else ()
        yield from (keywords[each] for each in ("index",) if each in keywords and "dim" in keywords)
    elif word in _INTEGERS_AT:
        at, name = _INTEGERS_AT[word]
        yield from call.args[at : at + 1]
        yield from (keywords[each] for each in (name,) if each in keywords)
    elif len(call.args) == 1 and _holds_embedding(index, call.func):
        yield from call.args


def _is_dimension(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(inner, ast.Constant) and type(inner.value) is int


def _holds_embedding(index: AstIndex, callee: ast.expr) -> bool:
    """Whether a callee is ``self.word``, and all that its class binds that to is ``nn.Embedding(...)``."""
    if not isinstance(callee, ast.Attribute) or not isinstance(callee.value, ast.Name) or callee.value.id != "self":
        return False
    owner = index.nearest(callee, ast.ClassDef)
    return owner is not None and callee.attr in index.told(_embeddings, owner)


def _embeddings(index: AstIndex, owner: ast.ClassDef) -> frozenset[str]:
    made: dict[str, bool] = {}
    for each in index.inside(owner, ast.Assign):
        for target in each.targets:
            if isinstance(target, ast.Attribute) and is_called_self(target.value):
                made[target.attr] = made.get(target.attr, True) and _makes_embedding(each.value)
    return frozenset(word for word, always in made.items() if always)


def _makes_embedding(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _EMBEDDING and last_word_of_name(node.func.value) == "nn"


def _of_one_name(node: ast.expr) -> str | None:
    """Return the name that an expression is made of by methods that keep its type: ``x.cpu().numpy()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else None


def _keeps_its_meaning(index: AstIndex, function: Function, word: str) -> bool:
    """Whether a name is bound again to what it held alone: ``lengths = lengths.cpu().numpy()``."""
    places: Iterable[ast.Name] = index.told(bound, function).get(word, ())
    return all(_rebinds_itself(index.parents.get(each), word) for each in places)


def _rebinds_itself(statement: ast.AST | None, word: str) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    return isinstance(statement.targets[0], ast.Name) and _of_one_name(statement.value) == word
