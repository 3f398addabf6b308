"""The call of which a node of either tree is the function, or the object whose method is called."""

from __future__ import annotations

import ast
from typing import overload

import libcst as cst

from torchlint.rules.api import FileContext


@overload
def call_of(node: cst.CSTNode, context: FileContext) -> cst.Call | None: ...
@overload
def call_of(node: ast.AST, context: FileContext) -> ast.Call | None: ...
def call_of(node: cst.CSTNode | ast.AST, context: FileContext) -> cst.Call | ast.Call | None:
    """Return the call whose function a node is; None where it is not called."""
    above = context.parent(node)
    return above if isinstance(above, cst.Call | ast.Call) and above.func is node else None


@overload
def method_call(node: cst.CSTNode, context: FileContext) -> tuple[cst.Call, str] | None: ...
@overload
def method_call(node: ast.AST, context: FileContext) -> tuple[ast.Call, str] | None: ...
def method_call(
    node: cst.CSTNode | ast.AST, context: FileContext
) -> tuple[cst.Call, str] | tuple[ast.Call, str] | None:
    """Return the call and the name of the method that is called on an expression; None where none is."""
    above = context.parent(node)
    if isinstance(above, cst.Attribute) and above.value is node and (call := call_of(above, context)) is not None:
        return call, above.attr.value
    if isinstance(above, ast.Attribute) and (called := call_of(above, context)) is not None:
        return called, above.attr
    return None
