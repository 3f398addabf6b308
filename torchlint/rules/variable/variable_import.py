"""`Variable` is imported and used nowhere.

## What it does

Reports a name that `from torch.autograd import ...` binds to `Variable` and that nothing in the file uses. It also
clears up behind the fixes of [TNS401](variable-wrapper.md), [TNS402](variable-volatile.md) and
[TNS403](variable-type-check.md), selected or not.

## Why is this bad?

`Variable` is deprecated since torch 0.4 and kept only so that old code runs. An import that nothing needs invites the
next use, and ties the file to a name that may go.

## Example

```python
import torch
from torch.autograd import Function, Variable


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


Double.apply(torch.ones(2))
```

Use instead:

```python
import torch
from torch.autograd import Function


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


Double.apply(torch.ones(2))
```

## Severity

Legacy: the name is there, and nobody needs it.

```python
from torch.autograd import Function, Variable  # legacy


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
```

## Fix safety

Safe where no other file takes the name from this module. A name counts as used where it appears as a name anywhere in
the file, in a type comment, in a doctest, or in a string that is no docstring. No fix where a comment would be lost,
others share the line or a block would be empty, where a comment says that the import is there for others (`# noqa:
F401`, `# pylint: disable=unused-import`), or where another file of the project imports the name from here, and would
fail without it.

Unsafe, with the reason in the fix's title, where another Python file or notebook of the project imports all names from
the module, also by way of a third one, or asks it for the name as an attribute, and where the file has an `__all__`.
All files below the project's root are looked at, whichever are checked.

Names may be there for others: silent in `__init__.py`, in modules that only import, in files that themselves import
`*`, under `try`, and for `import Variable as Variable`, which says "re-exported".

## References

* [torch.autograd: Variable (deprecated)](https://pytorch.org/docs/stable/autograd.html#variable-deprecated)
* [PEP 484: re-exported names](https://peps.python.org/pep-0484/#stub-files)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

import libcst as cst

from torchlint.diagnostics.assumptions import NAME_NOT_TAKEN
from torchlint.diagnostics.model import Confidence, Edit, Fix
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.repairs import without_statement

_KEPT = re.compile(r"#.*(?:\bnoqa\b[^#]*\bF401\b|\bdisable=[\w,-]*\bunused-import\b)", re.IGNORECASE)
_ALL_KEPT = re.compile(r"^\s*#\s*(?:flake8|ruff)\s*:\s*noqa\b[^#\n]*\bF401\b", re.IGNORECASE | re.MULTILINE)
_HOMES = frozenset({"torch.autograd", "torch.autograd.variable"})


def check(node: cst.ImportFrom, context: FileContext) -> Iterator[Draft]:
    """Report ``Variable`` among the names that a statement imports from ``torch.autograd``."""
    if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
        return
    if not context.is_parsed or _dotted(node.module) not in _HOMES:
        return
    for alias in node.names:
        if alias.evaluated_name == "Variable" and not _is_for_others(alias, node, context):
            bound = alias.evaluated_alias or "Variable"
            if not _is_used(bound, context):
                yield _draft(alias, bound, node, context)


def _draft(alias: cst.ImportAlias, bound: str, node: cst.ImportFrom, context: FileContext) -> Draft:
    spelled = "Variable" if bound == "Variable" else f"Variable as {bound}"
    name, why = cst.ensure_type(alias.name, cst.Name), f"no line of this file uses `{bound}`"
    wanted = context.other_texts.imports_from_here(bound) or _said_in_comment(node, context)
    if wanted is not None:
        message = f"`{spelled}` is imported for other files alone: tensors need no wrapper since torch 0.4"
        return Draft(name, message, Confidence.CERTAIN, (why, wanted))
    message = f"`{spelled}` is imported and not used: remove it, tensors need no wrapper since torch 0.4"
    return Draft(name, message, Confidence.CERTAIN, (why,), _removal(alias, node, context))


# ---------------------------------------------------------------------- uses
def _is_for_others(alias: cst.ImportAlias, node: cst.ImportFrom, context: FileContext) -> bool:
    if alias.evaluated_alias == "Variable" or PurePath(context.source.path).name == "__init__.py":
        return True
    if any(isinstance(each, cst.Try | cst.TryStar) for each in context.ancestors(node)):
        return True
    body = context.tree.body
    return any(map(_imports_all, body)) or all(map(_only_imports, body))


def _imports_all(statement: ast.stmt) -> bool:
    """Whether a statement is ``from m import *``: where that is the custom, this file may be imported so too."""
    return isinstance(statement, ast.ImportFrom) and any(each.name == "*" for each in statement.names)


def _only_imports(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id=word)]):
            return word.startswith("__")
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name()))):  # warnings.filterwarnings(...)
            return True
    return False


def _said_in_comment(node: cst.ImportFrom, context: FileContext) -> str | None:
    """``# noqa: F401`` beside an import says that it is there for others."""
    first, last = (context.source.position(at)[0] for at in context.span(node))
    if any(_KEPT.search(context.source.line(at)) for at in range(first, last + 1)):
        return "a comment says that it is there for others"
    if _ALL_KEPT.search(context.source.text):
        return "a comment says that unused imports are there for others"
    return None


def _doubt(name: str, context: FileContext) -> str | None:
    """Return who may take a name that nothing in the file uses; None where nobody does."""
    if "__all__" in context.names_by_word():
        return "`__all__` may be put together at run time"
    return context.other_texts.takes(name)


def _is_used(name: str, context: FileContext) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    for node in context.within(context.tree):
        match node:
            case ast.Name(id=found) if found == name:
                return True
            case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                return True
            case ast.Constant(value=str(text)) if name in text and _says(node, text, word, context):
                return True
    if any(word.search(comment) for comment in re.findall(r"#\s*type:(.*)", context.source.text)):
        return True
    return word.search(context.source.unread) is not None


def _says(node: ast.Constant, text: str, word: re.Pattern[str], context: FileContext) -> bool:
    """Whether a string is a use: a doctest with the name, or any string with it that is no docstring."""
    if any(word.search(line) for line in text.splitlines() if line.lstrip().startswith((">>>", "..."))):
        return True
    return word.search(text) is not None and not isinstance(context.parent(node), ast.Expr)


# ---------------------------------------------------------------------- edits
def _removal(alias: cst.ImportAlias, node: cst.ImportFrom, context: FileContext) -> Fix | None:
    assert not isinstance(node.names, cst.ImportStar)
    edit = _one_name(alias, node.names, context) if len(node.names) > 1 else without_statement(node, context)
    if edit is None:
        return None
    name = alias.evaluated_alias or "Variable"
    kept = NAME_NOT_TAKEN.decided(_doubt(name, context), name)
    return Fix("Remove the import of `Variable`", (edit,), (kept,))


def _one_name(alias: cst.ImportAlias, names: object, context: FileContext) -> Edit | None:
    assert isinstance(names, tuple | list)
    at = names.index(alias)
    start, end = _alias_span(alias, context)
    if at + 1 < len(names):
        end = _alias_span(names[at + 1], context)[0]
    else:
        start = _alias_span(names[at - 1], context)[1]
    return Edit(start, end, "") if "#" not in context.source.slice(start, end) else None


def _alias_span(alias: cst.ImportAlias, context: FileContext) -> tuple[int, int]:
    start = context.outer_span(alias.name)[0]
    last = alias.asname.name if alias.asname else alias.name
    return start, context.outer_span(last)[1]


def _dotted(node: cst.BaseExpression) -> str:
    match node:
        case cst.Attribute(value=value, attr=cst.Name(value=word)):
            return f"{_dotted(value)}.{word}"
        case cst.Name(value=word):
            return word
    return ""


RULE = Rule(
    "TNS404",
    "variable-import",
    Triggers(names=("Variable",)),
    follows=("TNS401", "TNS402", "TNS403"),
    assumes=("name-not-imported-elsewhere",),
    visit={cst.ImportFrom: check},
)
