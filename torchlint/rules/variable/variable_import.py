"""`Variable` is imported but not used.

## What it does
Reports a name that `from torch.autograd import ...` binds to `Variable` and that nothing in the file uses. It also
removes imports that the fixes of [TNS401](variable-wrapper.md), [TNS402](variable-volatile.md) and
[TNS403](variable-type-check.md) leave unused, whether or not it is selected.

## Why is this bad?
`Variable` has been deprecated since torch 0.4 and exists only so that old code runs. An unused import invites new
uses, and the file breaks if torch removes the name.

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
Legacy: the import works, but nothing needs it.

```python
from torch.autograd import Function, Variable  # legacy


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
```

## Fix safety
Safe if no other file takes the name from this module. A name counts as used if it appears anywhere in the file as a
name, in a type comment, in a doctest, or in a string that is not a docstring. No fix if a comment would be lost, if
other statements share the line, or if a block would become empty.

Unsafe, with the reason in the title of the fix, if another Python file or notebook in the project imports all names
from the module, directly or through a third file, or reads the name as an attribute, and if the file has an `__all__`.
All files below the project's root count, whichever are checked.

Not reported if the name may be there for others: in `__init__.py`, in modules that only import, in files that use
`import *` themselves, under `try`, for `import Variable as Variable` (a re-export), if a comment keeps the import
(`# noqa: F401`, `# pylint: disable=unused-import`), and if another file in the project imports the name from this one.

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
from torchlint.diagnostics.model import Confidence, Fix
from torchlint.rules.api import Draft, FileContext, Rule, Triggers
from torchlint.rules.repairs import without_member, without_statement

_HOMES = ("torch.autograd", "torch.autograd.variable")
_KEPT = re.compile(r"#.*(?:\bnoqa\b[^#]*\bF401\b|\bdisable=[\w,-]*\bunused-import\b)", re.IGNORECASE)
_ALL_KEPT = re.compile(r"^\s*#\s*(?:flake8|ruff)\s*:\s*noqa\b[^#\n]*\bF401\b", re.IGNORECASE | re.MULTILINE)


def check(node: cst.ImportFrom, context: FileContext) -> Iterator[Draft]:
    """Report ``Variable`` among the names that a statement imports from ``torch.autograd``."""
    if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
        return
    if not context.is_parsed or context.code(node.module) not in _HOMES:
        return
    for alias in node.names:
        bound = alias.evaluated_alias or "Variable"
        if alias.evaluated_name != "Variable" or _is_for_others(alias, node, context) or _is_used(bound, context):
            continue
        if context.other_texts.imports_from_here(bound):
            continue
        is_only = len(node.names) == 1
        edit = without_statement(node, context) if is_only else without_member(alias, node.names, context)
        doubt = "`__all__` may name it" if "__all__" in context.names_by_word() else context.other_texts.takes(bound)
        fix = Fix("Remove the import of `Variable`", (edit,), (NAME_NOT_TAKEN.decided(doubt, bound),)) if edit else None
        message = f"`{bound}` is imported but unused: remove it"
        yield Draft(alias.name, message, Confidence.CERTAIN, (f"no line of this file uses `{bound}`",), fix)


def _is_for_others(alias: cst.ImportAlias, node: cst.ImportFrom, context: FileContext) -> bool:
    if alias.evaluated_alias == "Variable" or PurePath(context.source.path).name == "__init__.py":
        return True
    if any(isinstance(each, cst.Try | cst.TryStar) for each in context.ancestors(node)):
        return True
    if _is_kept_by_comment(node, context):
        return True
    takes_all = any(each.names[0].name == "*" for each in context.nodes(ast.ImportFrom))
    return takes_all or all(map(_only_imports, context.tree.body))


def _only_imports(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id=word)]):
            return word.startswith("__")
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name()))):  # warnings.filterwarnings(...)
            return True
    return False


def _is_kept_by_comment(node: cst.ImportFrom, context: FileContext) -> bool:
    """``# noqa: F401`` beside an import, or above all, says that it is there for others."""
    first, last = (context.source.position(at)[0] for at in context.span(node))
    is_kept = any(_KEPT.search(context.source.line(at)) for at in range(first, last + 1))
    return is_kept or _ALL_KEPT.search(context.source.text) is not None


def _is_used(name: str, context: FileContext) -> bool:
    """Whether a name is spelled in code, or in what may be code: a type comment, a doctest, a string, a magic."""
    word = re.compile(rf"\b{name}\b")
    if name in context.names_by_word() or word.search(context.source.unread):
        return True
    if re.search(rf"#\s*type:.*\b{name}\b", context.source.text):
        return True
    for node in context.nodes(ast.Constant):
        if isinstance(node.value, str) and word.search(node.value):
            is_docstring = isinstance(context.parent(node), ast.Expr)
            if not is_docstring or re.search(rf"^\s*(?:>>>|\.\.\.).*\b{name}\b", node.value, re.MULTILINE):
                return True
    return False


RULE = Rule(
    "TNS404",
    "variable-import",
    Triggers(names=("Variable",)),
    follows=("TNS401", "TNS402", "TNS403"),
    assumes=("name-not-imported-elsewhere",),
    visit={cst.ImportFrom: check},
)
