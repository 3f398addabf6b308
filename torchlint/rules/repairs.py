"""How a repair is written: how things of torch are spelled in a file, and what is taken out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import overload

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext, remembered

# ---------------------------------------------------------------------- the names of torch
Spelled = tuple[str, tuple[Edit, ...]]
"""The text to write, and the edit that adds an import where the file has none to build on."""

_Import = ast.Import | ast.ImportFrom
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def in_fstring(node: cst.CSTNode, context: FileContext) -> bool:
    """Whether a node stands inside an f-string, where quotes and places cannot be trusted before Python 3.12."""
    return any(isinstance(each, cst.FormattedStringExpression) for each in context.ancestors(node))


def torch_name(context: FileContext, name: str, at: cst.CSTNode) -> Spelled | None:
    """Spell ``torch.<name>`` as the file imports torch: ``torch.empty``, ``th.empty``, or ``empty`` itself.

    ``at`` is the node that the text is written for: an import inside its own function counts too. Where nothing
    imports torch under a usable name, the second part adds ``import torch``; equal edits of several fixes are shared.
    None where the name ``torch`` means or may mean something else in the file, so that it cannot be written, and where
    an import that is added would run where torch was not imported before, or reach other files.
    """
    if not context.is_parsed:
        return f"torch.{name}", ()
    imports, late = _imports(context, at)
    others = _meaning_another(context.tree, context).union(word for each in late for word, _ in _bound(each))
    plain = [each for each in imports if not _may_be_left_out(each, context)]
    for spelled, root in _imported(plain, name):
        if root not in others:
            return spelled, ()
    at_the_top = [each for each in imports if each in context.tree.body and _is_torch(each)]
    if "torch" in others or not at_the_top or context.source.cell(1) is not None or _goes_out(context):
        return None
    return f"torch.{name}", (_before(at_the_top[0], context),)


def _may_be_left_out(node: _Import, context: FileContext) -> bool:
    """Whether an import may not have run, or an error before it: what it binds beside ``torch`` may be missing then."""
    is_plain = any(word == "torch" for word, _ in _bound(node))
    return not is_plain and isinstance(context.parent(node), ast.If | ast.Try | ast.With | ast.ExceptHandler)


@remembered
def _meaning_another(_: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names that mean, or may mean, something else somewhere in the file than the one thing imported."""
    meant: dict[str, set[str]] = {"torch": {"torch"}}
    for node in context.imports:
        for word, value in _bound(node):
            meant.setdefault(word, set()).add(value)
    return context.bound_otherwise.union(word for word, values in meant.items() if len(values) > 1)


def _goes_out(context: FileContext) -> bool:
    """Whether another file takes all names of the module, so that an import that is added binds ``torch`` there."""
    return "__all__" not in context.stores(context.tree) and bool(context.other_texts.takes("torch"))


def _imports(context: FileContext, at: cst.CSTNode) -> tuple[list[_Import], list[_Import]]:
    """Return the imports that have run where the text is written, and those of functions around that come later."""
    start = context.span(at)[0]
    found = [each for each in sorted(context.imports, key=context.span) if _counts(context, each, start)]
    before = [each for each in found if context.span(each)[0] < start]
    return before, [each for each in found if each not in before and context.function_around(each) is not None]


def _counts(context: FileContext, node: ast.AST, start: int) -> bool:
    """Whether the import has run where the text is written: not in another scope, not for type checkers alone."""
    for above in context.ancestors(node):
        if isinstance(above, ast.If) and "TYPE_CHECKING" in ast.unparse(above.test):
            return False
        if isinstance(above, ast.ClassDef):
            return False
        if isinstance(above, _FUNCTIONS):
            return context.span(above)[0] < start < context.span(above)[1]
    return True


def _imported(imports: list[_Import], name: str) -> list[tuple[str, str]]:
    """Return how ``torch.<name>`` may be spelled, the best first, and the name that each spelling begins with."""
    found = [each for node in imports for each in _bound(node)]
    modules = [word for word, meant in reversed(found) if meant == "torch"]
    modules.sort(key=lambda word: word != "torch")
    wanted = f"torch.{name}"
    if "." in name:  # `nn.init.normal_` rather than `torch.nn.init.normal_`
        inner = [each for each in found if f"{wanted}.".startswith(f"{each[1]}.")]
        inner.sort(key=lambda each: len(each[1]))
        return [(word + wanted[len(meant) :], word) for word, meant in reversed(inner)]
    direct = [word for word, meant in reversed(found) if meant == f"torch.{name}"]
    return [*((f"{word}.{name}", word) for word in modules), *((word, word) for word in direct)]


def _bound(node: _Import) -> Iterator[tuple[str, str]]:
    """Yield each name that the import binds, and the dotted name it stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top


def _is_torch(node: _Import) -> bool:
    """Whether an import is of torch or of a part of it, so that one of torch beside it changes nothing else."""
    return all(f"{value}.".startswith("torch.") for _, value in _bound(node))


def _before(statement: _Import, context: FileContext) -> Edit:
    """Put ``import torch`` before a statement."""
    start = context.span(statement)[0]
    before = context.source.slice(context.source.line_starts[statement.lineno - 1], start)
    return Edit(start, start, "import torch; " if before.strip() else f"import torch\n{before}")


# ---------------------------------------------------------------------- what is taken out
def without_statement(statement: cst.BaseSmallStatement, context: FileContext) -> Edit | None:
    """Make the edit; None where a comment would go with it, others share its line, or its block would be empty."""
    line = context.parent(statement)
    start, end = context.span(statement)
    if not isinstance(line, cst.SimpleStatementLine) or "#" in context.source.slice(start, end):
        return None
    if len(line.body) > 1:
        return None
    block = context.parent(line)
    if not isinstance(block, cst.Module) and not (isinstance(block, cst.IndentedBlock) and len(block.body) > 1):
        return None
    comment = line.trailing_whitespace.comment
    if comment is not None:
        return Edit(start, context.source.utf8.index(b"#", end), "")
    starts = context.source.line_starts
    first, last = context.source.position(start)[0], context.source.position(end)[0]
    return Edit(starts[first - 1], starts[last] if last < len(starts) else len(context.source.utf8), "")


def without(argument: cst.Arg, call: cst.Call, context: FileContext) -> Edit | None:
    """Make the edit; None where a comment would go with the argument."""
    return without_member(argument, call.args, context)


def without_member(member: cst.CSTNode, members: Sequence[cst.CSTNode], context: FileContext) -> Edit | None:
    """Take a member out of what commas part; None where a comment would go with it."""
    at = next(index for index, each in enumerate(members) if each is member)
    start, end = context.span(member)
    if at + 1 < len(members):
        end = context.span(members[at + 1])[0]
    elif at:
        start = context.span(members[at - 1])[1]
    return None if "#" in context.source.slice(start, end) else Edit(start, end, "")


def is_literal(argument: cst.Arg | None, word: str) -> bool:
    """Whether an argument is written as this name: ``True``, ``False``, ``None``."""
    return argument is not None and isinstance(argument.value, cst.Name) and argument.value.value == word


def does_nothing(node: cst.BaseExpression) -> bool:
    """Whether the evaluation of an expression does nothing, so that it may be left out: it names and asks."""
    match node:
        case cst.Name() | cst.BaseNumber() | cst.SimpleString():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner):
            return does_nothing(inner)
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
            return does_nothing(inner) and does_nothing(key)
    return False


# ---------------------------------------------------------------------- what a method is put behind
_PRIMARIES = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def is_primary(node: cst.BaseExpression) -> bool:
    """Whether an expression is a primary by its own form, whatever parentheses stand around it."""
    return isinstance(node, _PRIMARIES)


# ---------------------------------------------------------------------- what is called
@overload
def call_of(node: cst.CSTNode, context: FileContext) -> cst.Call | None: ...
@overload
def call_of(node: ast.AST, context: FileContext) -> ast.Call | None: ...
def call_of(node: cst.CSTNode | ast.AST, context: FileContext) -> cst.Call | ast.Call | None:
    """Return the call whose function a node is; None where it is not called."""
    above = context.parent(node)
    return above if isinstance(above, cst.Call | ast.Call) and above.func is node else None


def method_call(node: cst.CSTNode, context: FileContext) -> tuple[cst.Call, str] | None:
    """Return the call and the name of the method that is called on an expression; None where none is."""
    match context.parent(node):
        case cst.Attribute(value=owner, attr=cst.Name(value=word)) as method if owner is node:
            call = call_of(method, context)
            return (call, word) if call is not None else None
    return None
