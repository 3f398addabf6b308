"""How a path of the forward queries is told: places of the syntax, of other files with their path."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from torchlint.facts.known_paths import FlowPlace, KnownPath

if TYPE_CHECKING:
    from torchlint.flow.flow_paths import FlowPath
    from torchlint.semantic.graph import Node, Span
    from torchlint.semantic.module_graph import ModuleGraph


def told_path(path: FlowPath, home: ModuleGraph, spelled: Callable[[str], str]) -> KnownPath:
    """Tell a path to who asks from a file; ``spelled`` gives the path of another one as the user knows it."""

    def place(node: Node, at: Span | None, known: object = None) -> FlowPlace:
        file = node.fn.file
        found = at if isinstance(at, ast.AST) else node.fn.tree or file.tree
        return FlowPlace(found, "" if file is home else spelled(file.path), known)

    def written(node: Node, sink: Span | None) -> Span | None:
        """Return where a value stands at a sink: a name there is the node of what it is bound to."""
        inside: Iterable[ast.AST] = ast.walk(sink) if isinstance(sink, ast.AST) else ()
        for each in inside:
            if isinstance(each, ast.expr) and node.fn.file.node_of(each) is node:
                return each
        return node.at

    leaving = path.leaving
    return KnownPath(
        path.is_sure,
        place(path.source, path.source.at),
        place(path.sink if leaving is None else leaving.position.node, path.place),
        place(path.change, path.change.at) if path.change is not None else None,
        place(path.written, path.written.at) if path.written is not None else None,
        leaving.way if leaving is not None else "",
        tuple(place(each, written(each, path.place), (each, path.sink, context)) for each, context in path.beside),
    )
