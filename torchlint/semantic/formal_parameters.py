"""The head of a function or lambda: its parameters, with defaults and annotations as nodes of the function around."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.semantic.graph import CONST, ClassGraph, FormalParameter, FunctionGraph, Node

if TYPE_CHECKING:
    from torchlint.semantic.lowering_state import Lowering

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def declare(st: Lowering, node: AnyFunction, cls: ClassGraph | None) -> FunctionGraph:
    """Make the graph of a function, not yet lowered, and lower its defaults and annotations here."""
    fn = st.fn.file.function(node, st.fn, cls)
    fn.parameters = _parameters(st, node.args)
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        fn.returns_annotation = annotation(st, node.returns)
    if fn not in st.fn.bodies[-1:]:
        st.fn.bodies.append(fn)
    return fn


def _parameters(st: Lowering, args: ast.arguments) -> list[FormalParameter]:
    def noted(arg: ast.arg) -> Node | None:
        return annotation(st, arg.annotation) if arg.annotation is not None else None

    found: list[FormalParameter] = []
    plain = [*args.posonlyargs, *args.args]
    first = len(plain) - len(args.defaults)
    for position, arg in enumerate(plain):
        default = st.expr(args.defaults[position - first]) if position >= first else None
        found.append(FormalParameter(arg.arg, position, "", default, noted(arg)))
    if args.vararg:
        found.append(FormalParameter(args.vararg.arg, len(plain), "*", None, noted(args.vararg)))
    for arg, each in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(FormalParameter(arg.arg, None, "", st.expr(each) if each is not None else None, noted(arg)))
    if args.kwarg:
        found.append(FormalParameter(args.kwarg.arg, None, "**", None, noted(args.kwarg)))
    return found


def annotation(st: Lowering, node: ast.expr) -> Node:
    """Lower an annotation, in which a text is an expression."""
    outer, st.annotation = st.annotation, "annotation"
    made = st.expr(node)
    st.annotation = outer
    return made


def annotation_text(st: Lowering, node: ast.Constant, text: str) -> Node:
    """Lower an annotation that is a text; its names are those of the module, and it stands where the text stands."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return st.node(CONST, (), text, node)
    for each in ast.walk(tree):
        ast.copy_location(each, node)
    outer, st.annotation = st.annotation, "text"
    made = st.expr(tree)
    st.annotation = outer
    return made
