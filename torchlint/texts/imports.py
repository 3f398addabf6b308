"""What the import statements of a file bind, and which modules they may import."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.syntax.ast_index import AstIndex


def imported_names(statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield each name that an import statement binds."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            yield alias.asname or alias.name.partition(".")[0]
        elif alias.name != "*":
            yield alias.asname or alias.name


def imported_modules(index: AstIndex) -> Iterator[str]:
    """Yield the modules that a file may import: of ``from a import b`` both ``a`` and ``a.b``."""
    for plain in index.nodes(ast.Import):
        yield from (alias.name for alias in plain.names)
    for node in index.nodes(ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield module
        joint = "" if module.endswith(".") or not module else "."
        yield from (f"{module}{joint}{alias.name}" for alias in node.names)
