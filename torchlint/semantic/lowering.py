"""From a function's syntax to its graph: one pass binds names, joins ways and narrows by tests.

It never evaluates and never fails: what it does not know is a node that says so.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.semantic import graph as g
from torchlint.semantic import lower_blocks, lower_calls, lower_expressions, lower_statements
from torchlint.semantic.bound_names import Bindings, bind
from torchlint.semantic.graph import FunctionExit, FunctionGraph, Node, ProcessState
from torchlint.semantic.lowering_state import STATEMENTS, Lowering

_FILLING = (lower_blocks, lower_calls, lower_expressions, lower_statements)
"""The modules that fill the tables by types of syntax."""
_ROOM = 4000
"""Frames that the deepest text which is lowered as a whole may need."""


def lower(fn: FunctionGraph) -> FunctionGraph:
    """Build the graph of a function, once, and return it."""
    if not fn.is_lowered:
        fn.is_lowered = True
        with recursion_room(_ROOM):
            _run(fn)
            if fn.parent is None:
                fn.file.lower_reaching_out()
    return fn


@contextmanager
def recursion_room(frames: int) -> Iterator[None]:
    """Let the calls inside nest deeper than they could from here."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _run(fn: FunctionGraph) -> None:
    tree = fn.tree
    assert isinstance(tree, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    entries = []
    for variable in g.PROCESS_VARIABLES:
        made = Node(g.ENTRY, (), variable, None, fn, None)
        made.index = len(fn.nodes)
        fn.nodes.append(made)
        entries.append(made)
    st = Lowering(fn, Bindings({}, {}, ProcessState(*entries)))
    places = _places(tree.args) if not isinstance(tree, ast.Module) else {}
    for each in fn.parameters:
        made = fn.params[each.word] = st.node(g.PARAM, (), each, places[each.word])
        bind(st, each.word, made)
    if isinstance(tree, ast.Lambda):
        st.exits.append((st.expr(tree.body), (), st.env, len(st.nodes), tree.body))
        st.live = False
    else:
        _body(st, tree.body)
    fn.returns = [
        FunctionExit(value, guards, env.state, env.attributes, env.names, at, place)
        for value, guards, env, at, place in st.exits
    ]


def _body(st: Lowering, statements: list[ast.stmt]) -> None:
    """Lower a whole body; unlike of a block inside, the tests on the way to its end are kept for its last exit."""
    for each in statements:
        handler = STATEMENTS.get(type(each)) if st.live else None
        if handler is not None:
            handler(st, each)
    if st.live:
        end = st.node(g.CONST, (), None, None)
        st.fn.end = FunctionExit(end, st.guards, st.env.state, st.env.attributes, st.env.names)


def _places(args: ast.arguments) -> dict[str, ast.arg]:
    found = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {each.arg: each for each in found if each is not None}
