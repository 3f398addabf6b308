"""Code as the messages of a rule show it, in one line."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.rules.api import FileContext, one_line


def brief(node: cst.CSTNode, context: FileContext) -> str:
    """Return a node's text as it stands in the file, cut where it is long."""
    return one_line(context.code(node), 40)


def brief_or(instead: str, node: cst.CSTNode, context: FileContext) -> str:
    """Return a node's text as it stands in the file, or a stand-in for what does not fit between two backticks."""
    code = context.code(node)
    return code if len(code) <= 40 and "\n" not in code and "`" not in code else instead


def in_a_line(node: ast.AST) -> str:
    """Return a node's code as Python spells it, cut where it is long: for a step of the reasons."""
    return one_line(ast.unparse(node), 60)


def first_line(node: ast.expr | ast.stmt, context: FileContext) -> str:
    """Return the first line of a node's text as it stands in the file: the head of a loop or a test."""
    return context.source.slice(*context.span(node)).partition("\n")[0]
