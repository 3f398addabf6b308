"""The names of a module: imports, star imports and definitions by their text, its statements walked only for others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.facts.value import NOTHING, UNKNOWN, Value
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.statements import Flow
from torchlint.inference.lattice import join, join_all
from torchlint.inference.models.operations import operations
from torchlint.inference.program.bindings import lines_of
from torchlint.inference.program.frameworks import imports_torch
from torchlint.inference.program.hidden_builtins import may_hide
from torchlint.inference.program.imports import (
    BUILTINS,
    changed_in_place,
    import_bindings,
    named,
    spelled,
    star_imports,
)
from torchlint.syntax.ast_index import AstIndex, children
from torchlint.syntax.blocks import blocks_of

if TYPE_CHECKING:
    from torchlint.inference.interpreter.file_scope import File


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


class TopLevel:
    """What the statements of a module bind its names to."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._told: dict[str, Value] = {}
        self._walked: dict[str, Flow] = {}
        """The walk of the module's statements, if it was walked; it may have to be forgotten (see ``Rounds``)."""
        self._live: Env | None = None
        self._asking: set[str] = set()
        self._globals = frozenset(word for node in file.index.nodes(ast.Global) for word in node.names)

    def find(self, word: str) -> Value | None:
        """Return the value of a name of the module; None where it does not bind it."""
        found = self._found(word)
        if found is None:
            return None
        return join(found, UNKNOWN if word in self._globals else self._brought(word))

    def _brought(self, word: str) -> Value:
        """Return what star imports that stand behind a rebinding of a name may bind it to."""
        first = min((each.lineno for each in self._bound.get(word, ())), default=0)
        stars = self._file.index.told(star_imports, self._file.index.tree)
        return join_all(self._brought_by(each, word) for each in stars if each.lineno > first)

    def _brought_by(self, star: ast.ImportFrom, word: str) -> Value:
        """Return what one star import may rebind a name to that the module itself binds.

        Of modules that cannot be read it is anything; but what imports alone bind stays then: they bring the same.
        Files that import everything from each other, or a file from itself, bring what each of them binds: the way
        back to this one adds nothing to what is joined here.
        """
        if word in self._asking:
            return NOTHING
        self._asking.add(word)
        try:
            found = self._file.stars.taken(spelled(star), word)
        finally:
            self._asking.discard(word)
        if found is not None:
            return found
        imported = all(isinstance(each, _IMPORTS) for each in self._bound.get(word, ()))
        return NOTHING if imported or not self._file.stars.may_bring(spelled(star), word) else UNKNOWN

    def bound_anew(self, star: ast.ImportFrom, env: Env) -> Iterator[tuple[str, Value]]:
        """Yield the names that a star import may rebind where it stands, with what they may be behind it."""
        for word in self._bound:
            before, brought = env.find(word), self._brought_by(star, word)
            if before is not None and brought.kind:
                yield word, join(before, brought)

    def _found(self, word: str) -> Value | None:
        if word in self._told:
            self._file.project.rounds.used(self._told, word)
            return self._told[word]
        statements = self._bound.get(word, ())
        if len(statements) == 1 and self._tells_alone(word, statements[0]):
            self._told[word] = self._tell(word, statements[0])
            self._file.project.rounds.keep(self._told, word)
            self._file.project.rounds.used(self._told, word)
            return self._told[word]
        if not statements:
            return None
        if self._live is not None:  # a function is called while the module is walked
            return self._live.find(word)
        if len(statements) > 1 and word in self._file.index.told(_told_at_once, self._file.index.tree):
            self._told[word] = join_all([self._tell(word, each) for each in statements])
            return self._told[word]
        if not self._walked and not self._file.project.has_lines(self._file):
            return UNKNOWN
        return self.flow.env.find(word)

    def _tell(self, word: str, statement: ast.stmt) -> Value:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return dict(import_bindings(statement, self._file.module_name))[word]
        if isinstance(statement, ast.Assign):
            self._told[word] = UNKNOWN  # for `x = f()` where `f` asks for `x`
            with self._file.project.apart(self._file):
                return self.evaluate(statement.value)
        assert isinstance(statement, _DEFINITIONS)
        return self._file.defined(statement, Env())

    def _tells_alone(self, word: str, statement: ast.stmt) -> bool:
        """Whether a statement says all of a name: no other one outside of functions changes what it stands for."""
        if isinstance(statement, _DEFINITIONS + _IMPORTS):
            return True
        match statement:
            case ast.Assign(targets=[ast.Name()]) if statement in self._file.index.tree.body:
                return word not in self._changed
        return False

    @cached_property
    def _changed(self) -> frozenset[str]:
        """The names whose objects statements outside of functions may change: ``net.cuda()``, ``x[0] = 1``."""
        return self._file.index.told(_changed_names, self._file.index.tree)

    @cached_property
    def _bound(self) -> dict[str, list[ast.stmt]]:
        """The statements that bind each name, those in branches, loops and blocks of the module too."""
        return self._file.index.told(_binding, self._file.index.tree)

    @property
    def flow(self) -> Flow:
        """The walk of the module's own statements; while it is under way, as far as it is."""
        if not self._walked:
            lines = sum(lines_of(each) for each in self._file.index.tree.body if not isinstance(each, _DEFINITIONS))
            flow = self._walked["flow"] = Flow(self._file, self._file.index.tree.body, self._start, None)
            self._file.project.rounds.keep(self._walked, "flow")
            try:
                with self._file.project.apart(self._file):
                    self._file.project.spend(self._file, lines, self)
                    flow.run()
            finally:
                self._live = None
            self._file.forget()
            return flow
        self._file.project.rounds.used(self._walked, "flow")
        return self._walked["flow"]

    def close(self) -> None:
        """Let go of the walks."""
        for flow in (*self._walked.values(), *([self._aside] if "_aside" in vars(self) else ())):
            flow.close()
        self._walked.clear()  # the walk holds the one who began it

    @property
    def is_live(self) -> bool:
        """Whether the module's statements are being walked at this moment."""
        return self._live is not None

    def _start(self, _: Flow) -> Env:
        self._live = Env()
        return self._live

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression that stands outside of functions, without walking what stands around it."""
        return self._aside.evaluate(node, Env())

    @cached_property
    def _aside(self) -> Flow:
        return Flow(self._file, [], lambda _: Env(), None)

    def annotated(self, annotation: ast.expr) -> Value | None:
        """Return the value that an annotation outside of functions describes; None where it says nothing."""
        return self._file.annotated(annotation, Env(), self._aside)


def _tells_at_once(statement: ast.stmt) -> bool:
    """Whether a statement needs no walk to say what it binds: under ``try`` and ``if`` each of them may be the one."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant()):
            return True
    return isinstance(statement, _DEFINITIONS + _IMPORTS)


def _changed_names(_: AstIndex, tree: ast.Module) -> frozenset[str]:
    return frozenset(word for each in _statements(tree.body) for word in _changes(each))


def _binding(_: AstIndex, tree: ast.Module) -> dict[str, list[ast.stmt]]:
    found: dict[str, list[ast.stmt]] = {}
    for statement in _statements(tree.body):
        for word in _words(statement):
            found.setdefault(word, []).append(statement)
    return found


def _told_at_once(index: AstIndex, tree: ast.Module) -> frozenset[str]:
    """Return the names of which no statement that binds them needs a walk."""
    found = index.told(_binding, tree)
    return frozenset(word for word, statements in found.items() if all(map(_tells_at_once, statements)))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, _DEFINITIONS):
            for block in blocks_of(statement):
                yield from _statements(block)
            for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield from _statements(inner.body)


def _words(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, the statements inside it left out."""
    match statement:
        case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
            yield word
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for alias in names:
                if alias.name != "*":
                    yield alias.asname or (
                        alias.name.partition(".")[0] if isinstance(statement, ast.Import) else alias.name
                    )
        case _:
            yield from _stored(statement)


def _changes(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement may write into, or hand to what may."""
    for call in _calls(statement):
        if (name := changed_in_place(call)) is not None:
            yield name.id
        if isinstance(call.func, ast.Name) and call.func.id not in BUILTINS:  # a function of the project may write
            yield from (each.id for each in call.args if isinstance(each, ast.Name))
            yield from (each.value.id for each in call.keywords if isinstance(each.value, ast.Name))
    match statement:
        case ast.Expr(value=ast.Call(func=function, args=given)):
            parts: list[ast.expr] = [function, *given]
        case ast.Assign(targets=parts):
            parts = [each for each in parts if not isinstance(each, ast.Name)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            parts = [target]
        case ast.Delete(targets=parts):
            pass
        case _:
            return
    for part in parts:
        yield from (each.id for each in ast.walk(part) if isinstance(each, ast.Name))


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls of a statement, those of the statements inside it left out."""
    stack: list[ast.AST] = [] if isinstance(statement, _DEFINITIONS) else [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            yield node
        stack.extend(each for each in children(node) if not isinstance(each, ast.stmt))


def _stored(statement: ast.stmt) -> Iterator[str]:
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        stack.extend(each for each in children(node) if not isinstance(each, ast.stmt))


_CONVENTIONAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "Variable": "torch.autograd.Variable",
}
"""What names mean that only ``from somewhere import *`` can bind, in a file that works with torch."""

_MOST_FILES = 8
"""Files from which stars take from each other are followed this far."""


class Stars:
    """The star imports of one file, and what the file itself hands out to those of others."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._modules = tuple(map(spelled, file.index.told(star_imports, file.index.tree)))
        self._asking: set[str] = set()
        self._hiding: set[str] = set()

    def find(self, word: str) -> Value | None:
        """Return what a name is that only ``import *`` can have bound; None where that is not known."""
        if not self._modules or word in self._asking:
            return None  # files that import everything from each other
        self._asking.add(word)
        try:
            return self._found(word)
        finally:
            self._asking.discard(word)

    def _found(self, word: str) -> Value | None:
        for module in reversed(self._modules):
            if (found := self.taken(module, word)) is not None:
                return found
        return named(_CONVENTIONAL[word]) if word in _CONVENTIONAL and self._file.works_with_torch else None

    def taken(self, module: str, word: str) -> Value | None:
        """Return what a name is that a module hands out; None where that is not known to bind it."""
        file = self._file_of(module)
        if file is not None:
            found = file.exported(word) if file.stars.hands_out(word) else None
            if found is not None:
                return found
        full = f"{module}.{word}"
        is_torchs = module.startswith("torch") and (full in operations().functions or word[:1].isupper())
        return named(full) if is_torchs else None

    def may_bind(self, word: str) -> bool:
        """Whether one of them may bind a name of which that is not known: such as that of a built-in function."""
        if not self._modules or word in self._hiding:
            return False
        self._hiding.add(word)
        try:
            return any(self.may_bring(each, word) for each in self._modules)
        finally:
            self._hiding.discard(word)

    def may_bring(self, module: str, word: str) -> bool:
        """Whether a module may hand out a name that it is not known to bind."""
        file = self._file_of(module)
        if file is not None:
            return file.stars.hands_out(word) and file.stars.may_bind(word)
        return word not in BUILTINS or may_hide(module, word)

    def _file_of(self, module: str) -> File | None:
        base = self._file.base(module)
        return self._file.project.file(base) if base is not None else None

    def bring_torch(self) -> bool:
        """Whether a star takes torch's names from a file of the project: ``from .torch_imports import *``."""
        files, seen = [self._file], {self._file}
        for file in files:
            for each in file.stars.files():
                if imports_torch(each.index):
                    return True
                if each not in seen and len(seen) < _MOST_FILES:
                    seen.add(each)
                    files.append(each)
        return False

    def files(self) -> Iterator[File]:
        """Yield the files of the project that the stars take everything from."""
        for module in self._modules:
            if (file := self._file_of(module)) is not None:
                yield file

    def hands_out(self, word: str) -> bool:
        """Whether ``from this_file import *`` binds a name."""
        listed = self._listed
        return word in listed if listed is not None else not word.startswith("_")

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The names in ``__all__``, where it is one literal list; None where it is not or is absent."""
        if b"__all__" not in self._file.index.source.utf8:
            return None
        found = [
            node.value
            for node in self._file.index.tree.body
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in ast.dump(node)
        ]
        if len(found) != 1 or not isinstance(found[0], ast.List | ast.Tuple):
            return None
        words = (each.value for each in found[0].elts if isinstance(each, ast.Constant))
        return frozenset(word for word in words if isinstance(word, str))
