"""How a thing of torch is spelled in a file: by the file's own import of torch, or by an import that is added."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torchlint.diagnostics.model import Edit
from torchlint.rules.api import FileContext, Function, parameters, remembered

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
    None where the name ``torch`` means or may mean something else there, such as a parameter, so that it cannot be
    written, and where an import that is added would reach other files.
    """
    if not context.is_parsed:
        return f"torch.{name}", ()
    around = _functions_around(context, at)
    imports = _imports(context, around)
    in_cells = context.source.cell(1) is not None
    before = [each for each in imports if context.span(each)[0] < context.span(at)[0]]
    if in_cells:  # a cell runs before those below it
        imports = before
    for spelled, root in _imported([each for each in before if not _may_be_left_out(each, context)], name):
        if not _means_another(root, at, around, context):
            return spelled, ()
    if _means_another("torch", at, around, context) or _goes_out(context):
        return None
    if in_cells:
        return f"torch.{name}", (_import_torch_in_a_cell(context, imports, context.span(context.statements[0])[0]),)
    return f"torch.{name}", (_beside_local_import(at, imports, around, context) or _import_torch(context, imports),)


def _may_be_left_out(node: _Import, context: FileContext) -> bool:
    """Whether an import may not have run, or an error before it: what it binds beside ``torch`` may be missing then."""
    is_plain = any(word == "torch" for word, _ in _bound(node))
    return not is_plain and isinstance(context.parent(node), ast.If | ast.Try | ast.With | ast.ExceptHandler)


def _means_another(word: str, at: cst.CSTNode, around: set[ast.AST], context: FileContext) -> bool:
    """Whether a name means, or may mean, something else than the one thing that imports bind it to."""
    for function in around:
        if isinstance(function, ast.Lambda):
            if word in parameters(function):
                return True
        elif isinstance(function, Function) and word in context.local_names(function):
            return True
    if _is_bound_by_class(word, at, context) or _is_imported_otherwise(word, at, around, context):
        return True
    return word in _bound_in_module(context.tree, context)


@remembered
def _bound_in_module(tree: ast.Module, context: FileContext) -> frozenset[str]:
    """Return the names of the module that something else than an import binds, also from inside a function."""
    found = {
        word
        for word, places in context.stores(tree).items()
        if any(not _stands_for_a_missing_module(context.parent(each), context) for each in places)
    }
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler
    definitions = (each for each in context.within(tree) if isinstance(each, kinds))
    for each in definitions:
        if each.name and context.function_around(each) is None and not isinstance(context.parent(each), ast.ClassDef):
            found.add(each.name)
    return frozenset(found.union(*(each.names for each in context.nodes(ast.Global))))


def _is_bound_by_class(word: str, at: cst.CSTNode, context: FileContext) -> bool:
    """Whether a class around binds a name: what stands in its body, annotations of methods too, means that."""
    start = context.span(at)[0]
    classes = (each for each in context.nodes(ast.ClassDef) if context.span(each)[0] < start < context.span(each)[1])
    return any(word in _bound_in_class(each, context) for each in classes)


@remembered
def _bound_in_class(kind: ast.ClassDef, context: FileContext) -> frozenset[str]:
    found = {each.id for each in context.own(kind, ast.Name) if isinstance(each.ctx, ast.Store)}
    found.update(word for node in _all_imports(context, kind) for word, _ in _bound(node, relative=True))
    for node in kind.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
    return frozenset(found)


def _all_imports(context: FileContext, within: ast.AST) -> list[_Import]:
    return [*context.inside(within, ast.Import), *context.inside(within, ast.ImportFrom)]


def _is_imported_otherwise(word: str, at: cst.CSTNode, around: set[ast.AST], context: FileContext) -> bool:
    """Whether imports give a name more than one meaning, or one to a function's own name after the place."""
    meanings: set[str] = set()
    for node in _all_imports(context, context.tree):
        meant = {value for found, value in _bound(node, relative=True) if found == word}
        function = context.function_around(node) if meant else None
        if meant and (function is None or function in around):
            meanings |= meant
            if function is not None and context.span(node)[0] > context.span(at)[0]:
                return True
    return len(meanings) > 1 or (word == "torch" and not meanings <= {"torch"})


def _goes_out(context: FileContext) -> bool:
    """Whether another file takes all names of the module, so that an import that is added binds ``torch`` there."""
    return "__all__" not in context.stores(context.tree) and context.other_texts.takes_by_star("torch") is not None


def _root_of(node: cst.CSTNode) -> str:
    """Return the name that what is replaced begins with."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def _stands_for_a_missing_module(statement: ast.AST | None, context: FileContext) -> bool:
    """``torch = None`` under ``except ImportError``: code that uses it did not run without torch before either.

    Where the block imports something else too, what is missing may be that.
    """
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    handler = context.parent(statement)
    attempt = context.parent(handler) if isinstance(handler, ast.ExceptHandler) else None
    if not isinstance(attempt, ast.Try):
        return False
    handled = {node for each in attempt.handlers for node in _all_imports(context, each)}
    imports = [node for node in _all_imports(context, attempt) if node not in handled]
    return all(f"{meant}.".startswith("torch.") for node in imports for _, meant in _bound(node, relative=True))


def _beside_local_import(
    at: cst.CSTNode, imports: list[_Import], around: set[ast.AST], context: FileContext
) -> Edit | None:
    """Put ``import torch`` beside the import in a function that what is replaced came from: it runs when that does."""
    root = _root_of(at)
    for each in imports:
        is_local = any(above in around for above in context.ancestors(each))
        if is_local and any(name == root for name, _ in _bound(each, relative=True)):
            return _before(each, context)
    return None


def _functions_around(context: FileContext, at: cst.CSTNode) -> set[ast.AST]:
    start = context.span(at)[0]
    functions = (each for statement in context.statements for each in _inside(statement, context))
    return {each for each in functions if context.span(each)[0] < start < context.span(each)[1]}


@remembered
def _inside(
    statement: ast.stmt, context: FileContext
) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, ...]:
    return tuple(node for node in context.within(statement) if isinstance(node, _FUNCTIONS))


def _imports(context: FileContext, around: set[ast.AST]) -> list[_Import]:
    """Return the imports that have run where the text is written, those of the module itself first."""
    return [each for each in sorted(context.imports, key=context.span) if _counts(context, each, around)]


def _imported(imports: list[_Import], name: str) -> list[tuple[str, str]]:
    """Return how ``torch.<name>`` may be spelled, the best first, and the name that each spelling begins with."""
    found = [each for node in imports for each in _bound(node)]
    modules = [word for word, meant in reversed(found) if meant == "torch"]
    modules.sort(key=lambda word: word != "torch")
    wanted = f"torch.{name}"
    if "." in name:  # `nn.init.normal_` rather than `torch.nn.init.normal_`
        inner = sorted((each for each in found if f"{wanted}.".startswith(f"{each[1]}.")), key=_length)
        return [(word + wanted[len(meant) :], word) for word, meant in reversed(inner)]
    direct = [word for word, meant in reversed(found) if meant == f"torch.{name}"]
    return [*((f"{word}.{name}", word) for word in modules), *((word, word) for word in direct)]


def _length(bound: tuple[str, str]) -> int:
    return len(bound[1])


def _bound(node: _Import, relative: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each name that the import binds, and the dotted name it stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if node.level == 0 or relative:
                yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top


def _counts(context: FileContext, node: ast.AST, around: set[ast.AST]) -> bool:
    """Whether the import has run where the text is written: not in another scope, not for type checkers alone."""
    for above in context.ancestors(node):
        if isinstance(above, ast.If) and "TYPE_CHECKING" in ast.unparse(above.test):
            return False
        if isinstance(above, (*_FUNCTIONS, ast.ClassDef)):
            return above in around
    return True


def _import_torch(context: FileContext, imports: list[_Import]) -> Edit:
    """Put ``import torch`` before a ``from torch import``, else behind the imports at the top of the file.

    Beside the import that is there it runs when that one does: lazily in a function, guarded in a ``try``.
    """
    beside = _before_what_comes_from_torch(context, imports)
    if beside is not None:
        return beside
    body = context.tree.body
    head = _head(body)
    if head is None:
        return _at_the_top(context)
    row = max(each.end_lineno or 0 for each in body if each.lineno <= (head.end_lineno or 0))
    if row < len(context.source.line_starts):
        end = context.source.line_starts[row]
        return Edit(end, end, "import torch\n" if isinstance(head, ast.Import | ast.ImportFrom) else "\nimport torch\n")
    end = len(context.source.utf8)
    return Edit(end, end, "\nimport torch\n")


def _import_torch_in_a_cell(context: FileContext, imports: list[_Import], at: int) -> Edit:
    """Put ``import torch`` into the first cell that imports something at its top level, else into the cell around.

    ``imports`` are those that stand above, and ``at`` is the offset of the text.
    """
    source, body = context.source, context.tree.body
    above = [each for each in imports if each in body]
    if above:  # the same place for all that is repaired, so that one import is added and not several
        home = source.cell(above[0].lineno)
        together = [each for each in above if source.cell(each.lineno) == home]
        beside = _before_what_comes_from_torch(context, together)
        if beside is not None:
            return beside
        row = max(each.end_lineno or 0 for each in together)
        end = source.line_starts[row - 1] + len(source.line(row).encode())
        return Edit(end, end, "\nimport torch")
    home = source.cell(source.position(at)[0])
    first = next(each for each in body if source.cell(each.lineno) == home)
    rows = [first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))]
    start = source.line_starts[min(rows) - 1]
    return Edit(start, start, "import torch\n\n")


def _before_what_comes_from_torch(context: FileContext, imports: list[_Import]) -> Edit | None:
    for statement in imports:
        if isinstance(statement, ast.ImportFrom) and _is_torch(statement):
            return _before(statement, context)
    return None


def _before(statement: _Import, context: FileContext) -> Edit:
    start = context.span(statement)[0]
    before = context.source.slice(context.source.line_starts[statement.lineno - 1], start)
    return Edit(start, start, "import torch; " if before.strip() else f"import torch\n{before}")


def _is_torch(statement: ast.ImportFrom) -> bool:
    return statement.level == 0 and (statement.module or "").partition(".")[0] == "torch"


def _head(body: list[ast.stmt]) -> ast.stmt | None:
    """Return the last statement of the block of docstring and imports that a file begins with."""
    head = None
    for index, statement in enumerate(body):
        docstring = index == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not docstring and not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        head = statement
    return head


def _at_the_top(context: FileContext) -> Edit:
    """Return the place in a file without docstring and imports: before its first statement, below its comments."""
    body = context.tree.body
    if not body:
        return Edit(0, 0, "import torch\n")
    first = body[0]
    rows = [first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))]
    start = context.source.line_starts[min(rows) - 1]
    blank = "\n\n" if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else "\n"
    return Edit(start, start, f"import torch\n{blank}")
