"""The one door to what is known: the value of an expression and the grad mode at it, inferred on demand."""

from __future__ import annotations

import ast
import os
from functools import cached_property

from torchlint.diagnostics.model import Settings
from torchlint.facts.callers import Asked, CallerEvidence, CallSite
from torchlint.facts.value import UNKNOWN, Mode, Reason, Value
from torchlint.inference.interpreter import pytest_fixtures
from torchlint.inference.interpreter.file_scope import File
from torchlint.inference.interpreter.project import Project
from torchlint.inference.program import frameworks
from torchlint.inference.program.bindings import bound, never_bound
from torchlint.inference.program.imports import imported_modules, spelled
from torchlint.inference.program.module_files import Location
from torchlint.inference.program.project_view import ProjectView
from torchlint.inference.program.source_files import read_whole, tree_in
from torchlint.inference.sample import Sample, SampledCall
from torchlint.source.shortening import one_line
from torchlint.source.text import Source
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function, empty
from torchlint.syntax.places import word_of

_MOST_STEPS = 20
"""Of a longer chain of reasons the middle is left out: nobody would read it."""
_LONGEST_CODE = 60
"""Characters of code quoted in one step of an explanation."""


class Analysis:
    """What is known about one file; functions are looked at when one of their expressions is asked for."""

    def __init__(self, index: AstIndex, settings: Settings, path: str | None = None, presuming: bool = False) -> None:
        """Begin; ``path`` is the absolute path of the file, whose project's other files are then read on demand.

        ``presuming`` is said of what :attr:`presuming` gives.
        """
        self.index = index
        self.settings = settings
        self._path = path
        place = Location(os.path.normpath(path)) if path is not None else None
        self._project = Project(place, presuming)
        self._file = File(index, self._project, place)
        self._project.begin(self._file)
        self._project.is_imported = lambda: self.other_texts.importer is not None

    @property
    def is_parsed(self) -> bool:
        """Whether the standard library's parser reads the file: else nothing is known of its values."""
        return True

    @property
    def reads(self) -> dict[str, str | None]:
        """What this knowledge rests on beside the file itself: other files' SHA-256 by path, None for the unreadable.

        A path without suffix is where a module was looked for, with what is there (:meth:`Homes.shape`).
        """
        presumed = self.presuming.reads if "presuming" in vars(self) else {}
        sampled = self.sample.reads if "sample" in vars(self) else {}
        return {**sampled, **presumed, **self._project.dependencies()}

    @property
    def asked(self) -> dict[tuple[str, ...], str | None]:
        """The questions about all texts of the project that were asked so far, with the answers."""
        sampled = self.sample.asked if "sample" in vars(self) else {}
        presumed = self.presuming.asked if "presuming" in vars(self) else {}
        return {**sampled, **presumed, **(self.other_texts.asked if "other_texts" in vars(self) else {})}

    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression's value where it stands."""
        known = self._file.imported(node)
        if known is not None:
            return known
        return self._file.flow_of(node).values.get(node, UNKNOWN)

    def names_of(self, node: ast.expr) -> frozenset[str]:
        """Return what a dotted name of a library or a built-in means, without a walk; nothing for other expressions."""
        known = self._file.imported(node)
        if known is not None:
            return known.names
        if not isinstance(node, ast.Name) or node.id not in self.index.told(never_bound, self.index.tree):
            return frozenset()
        return frozenset((f"builtins.{node.id}",))

    def own_object(self, node: ast.expr | ast.arg) -> Value | None:
        """Return what ``self`` is by the class alone, without a walk; None for other expressions and arguments.

        It holds all that a method cannot change: which sort of object it is, and of which class.
        """
        parents = self.index.parents
        function = parents.get(parents[node]) if isinstance(node, ast.arg) else self.index.owner(node)
        word = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
        if not isinstance(function, Function) or self._file.self_name(function) != word:
            return None
        if isinstance(node, ast.Name) and word in self.index.told(bound, function):
            return None
        return self._file.classes.self_value(function)

    def module_lineage(self, node: ast.ClassDef) -> tuple[tuple[AstIndex, ast.ClassDef], ...]:
        """Return the texts of a class and of its bases in the project; none unless `nn.Module` is all else."""
        return self._file.classes.module_lineage(node)

    def lineage(self, node: ast.ClassDef) -> tuple[tuple[AstIndex, ast.ClassDef], ...]:
        """Return the texts of a class and of those of its bases that the project has."""
        return self._file.classes.lineage(node)

    def ancestry(self, node: ast.ClassDef) -> frozenset[tuple[str | None, str]]:
        """Return a class and those of the project that it derives from, each by the path of its file and its name."""
        return self._file.classes.ancestry(node)

    def classes_of(self, node: ast.expr) -> tuple[frozenset[tuple[str | None, str]], ...]:
        """Return the classes of the project that an object is made of, each with its bases; nothing if others may be.

        They are read from the assignments to its name, without a walk: callers are many, and their functions long.
        """
        code, tree = ast.unparse(node), self.index.tree
        scope = self.index.nearest(node, ast.ClassDef) if isinstance(node, ast.Attribute) else self.index.owner(node)
        made = self.index.told(_assigned, scope or tree).get(code) or self.index.told(_assigned, tree).get(code, [])
        made = [node] if isinstance(node, ast.Call) else made
        found = [self._class_called(each) for each in made]
        return tuple(each for each in found if each is not None) if None not in found else ()

    def _class_called(self, made: ast.expr) -> frozenset[tuple[str | None, str]] | None:
        """Return the class of the project that an expression makes an object of, with its bases."""
        if not isinstance(made, ast.Call):
            return None
        known = [self._project.definitions.get(name) for name in self.names_of(made.func)]
        if len(known) == 1 and known[0] is not None and isinstance(known[0][1], ast.ClassDef):
            return known[0][0].classes.ancestry(known[0][1])
        own = [
            each for each in self.index.tree.body if isinstance(each, ast.ClassDef) and each.name == word_of(made.func)
        ]
        return self.ancestry(own[-1]) if own else None

    def mode(self, node: ast.expr) -> Mode:
        """Return the grad modes in which an expression may be evaluated."""
        return self._file.flow_of(node).modes.get(node, Mode.ON | Mode.OFF)

    @cached_property
    def presuming(self) -> Analysis:
        """What is known if functions are called as most are: a reason to stay silent. A fix must not rest on it."""
        return Analysis(self.index, self.settings, self._path, presuming=True)

    def brought_by_calls(self, argument: ast.arg, asked_for: Asked, home: Analysis | None = None) -> CallerEvidence:
        """Return what the calls bring by an argument; ``home``: its file, which was followed to from this one."""
        return (self.sample if home is None else self.following).brought(argument, asked_for, home)

    def calls_elsewhere(self, function: Function, home: Analysis) -> tuple[SampledCall, ...]:
        """Return where other files than tests surely call a function of a file."""
        return self.following.calls_elsewhere(function, home)

    def is_called_without_grad(self, node: ast.expr) -> bool:
        """Whether the project's own calls reach a place in no grad mode."""
        return self.sample.is_without_grad(node)

    def file_of(self, site: CallSite) -> Analysis:
        """Return what is known of the file in which a call stands."""
        assert isinstance(site, SampledCall)
        assert isinstance(site.analysis, Analysis)
        return site.analysis

    @cached_property
    def sample(self) -> Sample:
        """What the project's own callers hand to functions: a measure of how sure a finding is, no proof."""
        return Sample(self)

    @cached_property
    def following(self) -> Sample:
        """The same, for what is followed into other files: it has a budget of its own, and looks at the same files."""
        return Sample(self, beside=self.sample)

    def means(self, node: ast.expr, path: str | None, function: Function) -> bool:
        """Whether an expression is a function of the project beyond doubt, which stands in the file at a path.

        A class is its ``__init__``.
        """
        known = [self._project.definitions.get(name) for name in self.value(node).names]
        places = [(home.place.path if home.place else None, _begun_by(each)) for home, each in filter(None, known)]
        at = function.name, function.lineno
        return len(places) == len(known) > 0 and all(
            isinstance(each, Function) and (each.name, each.lineno) == at and where == path for where, each in places
        )

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None where it lies nowhere."""
        return self._file.place.path if self._file.place is not None else None

    def of_file(self, path: str) -> Analysis | None:
        """Return what is known about another file of the project; None where it cannot be read."""
        raw = read_whole(path)
        index = tree_in(self.path_from_here(path), raw) if raw is not None else None
        return Analysis(index, self.settings, path) if index is not None else None

    def close(self) -> None:
        """Let go of all that is known: nothing can be asked any more."""
        if "sample" in vars(self):
            self.sample.close()
        if "presuming" in vars(self):
            self.presuming.close()
        self._project.close()
        vars(self).clear()

    # ------------------------------------------------------------------ the project's other texts
    @cached_property
    def other_texts(self) -> ProjectView:
        """What the project's other files say of which a fix must know."""
        place = self._file.place
        if place is None or os.path.basename(place.path).startswith("<"):  # `<source>`: a text that lies nowhere
            return ProjectView(None, "", self.index)
        return ProjectView(place.root, place.path, self.index)

    # ------------------------------------------------------------------ reasons
    def why(self, reason: Reason | None) -> tuple[str, ...]:
        """Spell the steps of a reason, first cause first, each with its line and, from another file, its path."""
        steps = list(reason.chain()) if reason is not None else []
        if len(steps) <= _MOST_STEPS:
            return tuple(map(self._step, steps))
        first, last = steps[: _MOST_STEPS // 2], steps[-_MOST_STEPS // 2 :]
        between = f"{len(steps) - len(first) - len(last)} steps more"
        return (*map(self._step, first), between, *map(self._step, last))

    def spelled_place(self, site: CallSite) -> str:
        """Spell a call of the sample with its line and, from another file, its path."""
        home = self.file_of(site)
        path = "" if home is self else self.path_from_here(home.path or "") + " "
        return f"`{_brief(site.call)}`, {path}line {site.call.lineno}"

    def _step(self, step: Reason) -> str:
        if step.node is None:
            return step.text
        code = f"`{_brief(step.node)}`"
        if isinstance(step.node, FUNCTIONS):
            code = f"the property `{step.node.name}`"
        path = self._path_of(step.node)
        line = f"line {getattr(step.node, 'lineno', 0)}"
        return step.text.replace("{code}", code) + f", {path + ' ' if path else ''}{line}"

    def _path_of(self, node: ast.AST) -> str | None:
        """Return the path of the other file in which a node stands, spelled as this one's path is.

        None for this one.
        """
        for file in self._project.files():
            if file is not self._file and file.place is not None and node in file.index.parents:
                return self.path_from_here(file.place.path)
        return None

    def path_from_here(self, path: str) -> str:
        """Return the path of another file of the project, spelled as this one's is."""
        assert self._file.place is not None
        beside = os.path.relpath(path, self._file.place.folder)
        return os.path.normpath(os.path.join(os.path.dirname(self.index.source.path), beside))

    # ------------------------------------------------------------------ frameworks
    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that the file imports from, by their first word."""
        return frameworks.packages(self.index)

    @property
    def works_with_torch(self) -> bool:
        """Whether an object of which nothing is known may be a tensor here: see :attr:`File.works_with_torch`."""
        return self._file.works_with_torch

    @cached_property
    def may_hold_tensors(self) -> bool:
        """Whether a tensor may be met at all: here, or from another file of the project, or from pytest."""
        return self._file.works_with_torch or self.is_test or self._imports_from_project

    @property
    def _imports_from_project(self) -> bool:
        plain = (alias.name for node in self.index.nodes(ast.Import) for alias in node.names)
        modules = (*plain, *map(spelled, self.index.nodes(ast.ImportFrom)))
        return any(self._file.base(module) is not None for module in modules)

    def imports(self, path: str) -> bool:
        """Whether the file imports another one of the project."""
        return path.removesuffix(".py").removesuffix(f"{os.sep}__init__") in self._imported_bases

    @cached_property
    def _imported_bases(self) -> frozenset[str | None]:
        return frozenset(map(self._file.base, imported_modules(self.index)))

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether the file imports a library whose objects have a tensor's words too."""
        return bool(self.packages & frameworks.OTHERS)

    @property
    def is_test(self) -> bool:
        """Whether pytest runs the file: what is in it has worked on the machine of whoever ran it last."""
        return self._file.is_tested_by_pytest

    @property
    def is_program(self) -> bool:
        """Whether the file is run and not imported."""
        return self._file.is_program

    def speaks_of_accelerators(self, node: ast.AST) -> bool:
        """Whether a device is spoken of where a test or a program would have to; what others import may meet any."""
        if self.is_test:
            return pytest_fixtures.speaks_of_accelerators(self._file, node)
        is_all = self.presuming.is_program and not self._file.classes.base_mentions_accelerators(node)
        return self._file.mentions_accelerators or not is_all

    def may_be_torch(self, node: ast.expr) -> bool:
        """Whether an expression of unknown kind may be a torch tensor, by what the file and the words around it say."""
        if not self.works_with_torch:
            return False
        return not frameworks.speaks_of_another(self.index, node, self.uses_other_frameworks)


def _assigned(index: AstIndex, scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what is assigned in a scope by the code of its targets."""
    found: dict[str, list[ast.expr]] = {}
    for each in index.inside(scope, ast.Assign):
        for target in each.targets:
            found.setdefault(ast.unparse(target), []).append(each.value)
            if isinstance(target, ast.Tuple) and isinstance(each.value, ast.Tuple):
                for part, value in zip(target.elts, each.value.elts, strict=False):
                    found.setdefault(ast.unparse(part), []).append(value)
    return found


def _begun_by(definition: ast.AST) -> ast.AST:
    """Return the function that a call of a definition runs first: the ``__init__`` of a class."""
    body = definition.body if isinstance(definition, ast.ClassDef) else ()
    functions = (each for each in body if isinstance(each, ast.FunctionDef))
    return next((each for each in functions if each.name == "__init__"), definition)


def _brief(node: ast.AST) -> str:
    return one_line(ast.unparse(node), _LONGEST_CODE)


class NothingKnown(Analysis):
    """The analysis of a file that the standard library's parser refuses: its words alone say what it works with."""

    def __init__(self, source: Source, settings: Settings) -> None:
        """Begin, with an empty tree in the place of the file's."""
        super().__init__(empty(source), settings)

    @property
    def is_parsed(self) -> bool:
        """Whether the standard library's parser reads the file: never."""
        return False

    @property
    def works_with_torch(self) -> bool:
        """Whether the text imports torch."""
        return frameworks.text_imports_torch(self.index.source.utf8)

    @property
    def uses_other_frameworks(self) -> bool:
        """Whether it does is not told by words: it may."""
        return True

    @property
    def is_test(self) -> bool:
        """Nor is whether pytest runs the file: so it does not count as one."""
        return False
