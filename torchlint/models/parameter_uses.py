"""What a function's own use of a parameter says of it: it takes parts by it, or counts to it.

A tensor that is an index holds integers or booleans, and never requires grad. That code works is presumed.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from torchlint.semantic.graph import ATTR, CALL, EFFECT, GROW, INDEX, OPERATION, PARAM, PI, SLICE, FunctionGraph, Node
from torchlint.semantic.graph import SEQUENCE as DISPLAY

AS_INDEX: Final = 1
AS_COUNT: Final = 2
ASKED: Final = 4
"""Its type is asked for: it may be several things, and the uses say what it is in one case."""

_COUNTING: Final = frozenset("range ceil floor arange comb islice linspace".split())
"""Functions that are given numbers, by their last words."""
_INDEXING: Final = {
    **dict.fromkeys("gather index_select scatter scatter_ scatter_add scatter_add_ index_add index_add_".split(), 1),
    **dict.fromkeys("index_copy index_copy_ index_fill index_fill_ scatter_reduce scatter_reduce_".split(), 1),
    **dict.fromkeys("masked_select masked_fill masked_fill_ masked_scatter masked_scatter_ take".split(), 0),
    "one_hot": 0, "bincount": 0, "pack_padded_sequence": 1,
}  # fmt: skip
"""Where methods of torch take indices or masks alone, functions one place later (the manual of torch 2.13)."""
_OF_FUNCTIONS: Final = frozenset("one_hot bincount pack_padded_sequence".split())
_INDEX_WORDS: Final = frozenset("index indices mask lengths".split())
_KEEPING: Final = frozenset("cpu cuda to numpy tolist view reshape squeeze unsqueeze flatten expand contiguous".split())
"""Methods that give the same numbers: in another place or form."""


@lru_cache(maxsize=2048)
def uses_of(function: FunctionGraph) -> dict[Node, int]:
    """Return how a function uses its parameters, as bits, by their nodes."""
    found: dict[Node, int] = {}
    for node in function.nodes:
        if node.op == PI:
            _note(found, node.ins[0], ASKED)
        elif node.op == INDEX and (key := _key(node, function)) is not None:
            for each in key.ins if key.op == DISPLAY else (key,):
                _note(found, each, AS_INDEX)
        elif node.op == GROW and len(node.ins) > 2:
            _note(found, node.ins[2], AS_INDEX)
        elif node.op == OPERATION and node.data == "~":
            _note(found, node.ins[0], AS_INDEX)
        elif node.op == CALL:
            _note_arguments(found, node)
    return found


def _key(node: Node, function: FunctionGraph) -> Node | None:
    """Return what an element is taken by; with a slice in it, that stands in the text alone."""
    if node.data is SLICE and isinstance(node.at, ast.Subscript):
        return function.by_syntax.get(node.at.slice)
    return node.ins[1] if len(node.ins) > 1 else None


@lru_cache(maxsize=2048)
def handed_alone(function: FunctionGraph) -> dict[Node, tuple[Node, ...]]:
    """Return the calls of parts of the function's own object that are given a parameter alone, by its node."""
    found: dict[Node, tuple[Node, ...]] = {}
    for call in function.calls if function.takes_object else ():
        given, called = list(call.arguments.all()), call.ins[0]
        if called.op == ATTR and called.ins[0].op == PARAM and len(given) == 1 and given[0].op == PARAM:
            found[given[0]] = (*found.get(given[0], ()), call)
    return found


def _note_arguments(found: dict[Node, int], call: Node) -> None:
    given, word = call.arguments, call.arguments.spelled.rpartition(".")[2]
    if word in _COUNTING:
        for each in given.positional:
            _note(found, each, AS_COUNT)
    position = _INDEXING.get(word)
    if position is None:
        return
    is_method = call.ins[0].op == ATTR and not given.spelled.startswith(("torch.", "F.", "nn.", "np."))
    position += 0 if is_method or word in _OF_FUNCTIONS else 1
    if position < len(given.positional):
        _note(found, given.positional[position], AS_INDEX)
    for keyword in _INDEX_WORDS & given.keywords.keys():
        _note(found, given.keywords[keyword], AS_INDEX)


def _note(found: dict[Node, int], node: Node, bit: int) -> None:
    while True:
        if node.op in (PI, EFFECT):  # the same object
            node = node.ins[0]
        elif node.op == CALL and node.ins[0].op == ATTR and node.ins[0].data in _KEEPING:
            node = node.ins[0].ins[0]
        else:
            break
    if node.op == PARAM:
        found[node] = found.get(node, 0) | bit
