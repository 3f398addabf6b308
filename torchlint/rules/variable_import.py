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

## Fix safety

Safe. A name counts as used where it appears as a name anywhere in the file, in an annotation written as a string, in
a type comment, in a doctest, or as a string of its own (`__all__`, `getattr`). No fix where a comment would be lost
or a block would be empty.

Names may be there for others: silent in `__init__.py`, in modules that only import, in files that themselves import
`*` (unsafe in those that are scripts, with an `if __name__ == "__main__":`), under `try`, and for
`import Variable as Variable`, which says "re-exported". Unsafe in a file without `__all__` in which three other imports
are unused too. A file that reaches into another module for its import of `Variable` breaks, as with every fix for
unused imports: import names from where they live.

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

from torchlint.inference.names import bindings
from torchlint.model import Applicability, Confidence, Edit, Fix
from torchlint.rule import Draft, FileContext, Rule
from torchlint.rules.statement_removal import without_statement
from torchlint.rules.variable_calls import NAMES

_LEFT_BEHIND = NAMES | {"torch.autograd"}
_HABIT = 3
"""So many other unused imports in one file are no oversight."""
_HOMES = frozenset({"torch.autograd", "torch.autograd.variable"})


def check(node: cst.ImportFrom, context: FileContext) -> Iterator[Draft]:
    """Report ``Variable`` among the names that a statement imports from ``torch.autograd``."""
    if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
        return
    if context.outline is None or _dotted(node.module) not in _HOMES:
        return
    for alias in node.names:
        if alias.evaluated_name == "Variable" and not _is_for_others(alias, node, context):
            bound = alias.evaluated_alias or "Variable"
            if not _is_used(bound, context):
                spelled = "Variable" if bound == "Variable" else f"Variable as {bound}"
                message = f"`{spelled}` is imported and not used: remove it, tensors need no wrapper since torch 0.4"
                name = cst.ensure_type(alias.name, cst.Name)
                yield Draft(name, message, Confidence.CERTAIN, fix=_removal(alias, node, context))


# ---------------------------------------------------------------------- uses
def _is_for_others(alias: cst.ImportAlias, node: cst.ImportFrom, context: FileContext) -> bool:
    if alias.evaluated_alias == "Variable" or PurePath(context.source.path).name == "__init__.py":
        return True
    if any(isinstance(each, cst.Try | cst.TryStar) for each in context.ancestors(node)):
        return True
    assert context.outline is not None
    body = context.outline.tree.body
    if any(_imports_all(each) for each in body):
        return not any(_is_script_part(each) for each in body)
    return all(_only_imports(each) for each in body)


def _is_script_part(statement: ast.stmt) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``: a script is run, and seldom imported with ``*``."""
    match statement:
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), comparators=[ast.Constant(value="__main__")])):
            return True
    return False


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


def _trust(context: FileContext) -> Applicability:
    """Several imports that nothing uses may be there for ``from this_file import *``."""
    assert context.outline is not None
    if any(_imports_all(each) for each in context.outline.tree.body):
        return Applicability.UNSAFE
    bound: set[str] = set()
    used: set[str] = set()
    for node in context.outline.order:
        match node:
            case ast.Import() | ast.ImportFrom():
                bound.update(name for name, value in bindings(node) if not value.names <= _LEFT_BEHIND)
            case ast.Name(id=name):
                used.add(name)
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                return Applicability.SAFE
    return Applicability.SAFE if len(bound - used) < _HABIT else Applicability.UNSAFE


def _is_used(name: str, context: FileContext) -> bool:
    assert context.outline is not None
    word = re.compile(rf"\b{re.escape(name)}\b")
    for node in context.outline.order:
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
    """Whether a string is a use: nothing but the name, a doctest with it, an annotation, or a piece of code."""
    if not word.search(text):
        return False
    if word.fullmatch(text.strip()):
        return True
    if any(word.search(line) for line in text.splitlines() if line.lstrip().startswith((">>>", "..."))):
        return True
    assert context.outline is not None
    below: ast.AST = node
    for above in context.outline.ancestors(node):
        match above:
            case ast.arg() | ast.AnnAssign() if getattr(above, "annotation", None) is below:
                return True
            case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if returns is below:
                return True
            case ast.Call(func=ast.Name(id="eval" | "exec" | "cast" | "TypeVar" | "ForwardRef")):
                return True
            case ast.stmt():
                return False
        below = above
    return False


# ---------------------------------------------------------------------- edits
def _removal(alias: cst.ImportAlias, node: cst.ImportFrom, context: FileContext) -> Fix | None:
    assert not isinstance(node.names, cst.ImportStar)
    edit = _one_name(alias, node.names, context) if len(node.names) > 1 else without_statement(node, context)
    return Fix("Remove the import of `Variable`", (edit,), _trust(context)) if edit else None


def _one_name(alias: cst.ImportAlias, names: object, context: FileContext) -> Edit | None:
    assert isinstance(names, tuple | list)
    at = names.index(alias)
    start, end = _alias_span(alias, context)
    if at + 1 < len(names):
        end = _alias_span(names[at + 1], context)[0]
    else:
        start = _alias_span(names[at - 1], context)[1]
    removed = context.source.slice(start, end)
    if "#" not in removed:
        return Edit(start, end, "")
    return _own_rows(alias, context)


def _own_rows(alias: cst.ImportAlias, context: FileContext) -> Edit | None:
    """Delete the row of a name that stands alone on it, where no comment does too."""
    start, end = _alias_span(alias, context)
    row, last = context.source.position(start)[0], context.source.position(end)[0]
    text = context.source.line(row)
    if row != last or not re.fullmatch(r"\s*Variable(\s+as\s+\w+)?\s*,\s*", text):
        return None
    return Edit(context.source.line_starts[row - 1], context.source.line_starts[row], "")


def _alias_span(alias: cst.ImportAlias, context: FileContext) -> tuple[int, int]:
    start = context.definition.outer_span(alias.name)[0]
    last = alias.asname.name if alias.asname else alias.name
    return start, context.definition.outer_span(last)[1]


def _dotted(node: cst.BaseExpression) -> str:
    match node:
        case cst.Attribute(value=value, attr=cst.Name(value=word)):
            return f"{_dotted(value)}.{word}"
        case cst.Name(value=word):
            return word
    return ""


RULE = Rule("TNS404", visit={cst.ImportFrom: check})
