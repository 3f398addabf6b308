"""One file's scopes: its module, functions and classes, each walked when something in it is asked for."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from torchlint.inference import modes
from torchlint.inference.annotations import foreign_object
from torchlint.inference.annotations import value_of as annotated_value
from torchlint.inference.arguments import Arguments
from torchlint.inference.binding import Binding, Function, is_static
from torchlint.inference.callers import Callers, is_program, is_test
from torchlint.inference.classes import Classes
from torchlint.inference.devices import last_word
from torchlint.inference.env import Env
from torchlint.inference.facts import NOTHING, UNKNOWN, Kind, Mode, Value, join_all, of_kind
from torchlint.inference.flow import Flow
from torchlint.inference.imports import Imports, Place
from torchlint.inference.names import BUILTINS, named, path_of, star_modules
from torchlint.inference.operations import operations
from torchlint.inference.project import MARK, Project
from torchlint.inference.summaries import Summaries
from torchlint.inference.tests import named_tests
from torchlint.inference.toplevel import TopLevel
from torchlint.inference.wrappers import Wrappers
from torchlint.syntax.outline import Outline

_CONVENTIONAL = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "optim": "torch.optim",
    "np": "numpy",
    "Variable": "torch.autograd.Variable",
}
"""What names mean that only ``from somewhere import *`` can bind, in a file that speaks of torch."""

_ACCELERATOR_WORD = re.compile(rb"cuda|\.to\(|device|gpu|accelerat|\bmps\b|\bxpu\b|lightning", re.IGNORECASE)

_SETS_DEFAULT_DEVICE = frozenset({"set_default_device", "set_default_tensor_type"})


@dataclass(eq=False)
class File:
    """What is known of one file, on demand."""

    outline: Outline
    project: Project
    place: Place | None = None

    def __post_init__(self) -> None:
        self.classes = Classes(self)
        self.summaries = Summaries(self)
        self.wrappers = Wrappers(self)
        self.callers = Callers(self)
        self._imports = Imports(self.place) if self.place is not None else None
        self._flows: dict[ast.AST, Flow] = {}
        self._closures: dict[ast.AST, dict[str, Value]] = {}
        self.toplevel = TopLevel(self)
        self._tests: dict[ast.AST, dict[str, ast.Assign]] = {}
        self._asked: set[str] = set()
        self._stars = star_modules(self.outline.nodes(ast.ImportFrom))

    # ------------------------------------------------------------------ names
    def name(self, word: str) -> Value:
        """Give the value of a name that is not local."""
        found = self.toplevel.find(word)
        if found is not None:
            return found
        if (star := self._from_star(word)) is not None:
            return star
        return named(f"builtins.{word}") if word in BUILTINS else UNKNOWN

    def _from_star(self, word: str) -> Value | None:
        if word in self._asked:  # two files take everything from each other
            return None
        self._asked.add(word)
        try:
            return self._looked_up(word)
        finally:
            self._asked.discard(word)

    def _looked_up(self, word: str) -> Value | None:
        for module in reversed(self._stars):
            base = self.base(module)
            if base is not None:
                file = self.project.file(base)
                found = file.exported(word) if file is not None and file.hands_out(word) else None
                if found is not None:
                    return found
            full = f"{module}.{word}"
            if module.startswith("torch") and (full in operations().functions or word[:1].isupper()):
                return named(full)
        if self._stars and b"torch" in self.outline.source.utf8:
            return named(_CONVENTIONAL[word]) if word in _CONVENTIONAL else None
        return None

    # ------------------------------------------------------------------ the project
    @property
    def asked(self) -> set[str]:
        """The paths, without ``.py``, at which this file's imports were looked for."""
        return self._imports.asked if self._imports is not None else set()

    def base(self, module: str) -> str | None:
        """Give the path, without ``.py``, of a module of the project as this file spells it; None for others."""
        return self._imports.base(module) if self._imports is not None else None

    def module_name(self, module: str) -> str | None:
        """Give the project's own name of a module as this file spells it; None for others."""
        base = self.base(module)
        return self.project.named(base) if base is not None else None

    def outside(self, function: Function | ast.ClassDef, node: ast.expr) -> Value:
        """Give the value of a decorator, a base or a default: an expression that stands where a definition stands."""
        owner = self.owner(function)
        if owner is None:
            return self.toplevel.evaluate(node)
        return self.general(owner).values.get(node, UNKNOWN) if owner not in self.project.running else UNKNOWN

    def followed(self, value: Value) -> Value:
        """Give what an imported name of the project stands for, its file read now; other values as they are."""
        if not any(name.startswith(MARK) and "@" not in name for name in value.names):
            return value
        found = [self.project.find(name) if name.startswith(MARK) else named(name) for name in sorted(value.names)]
        return join_all(each for each in found if each is not None) if all(found) else value

    def exported(self, word: str) -> Value | None:
        """Give what another file gets by this name; None where this file does not bind it."""
        found = self.toplevel.find(word)
        return self.followed(found) if found is not None else self._from_star(word)

    def hands_out(self, word: str) -> bool:
        """Whether ``from this_file import *`` binds a name."""
        listed = self._listed
        return word in listed if listed is not None else not word.startswith("_")

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The names in ``__all__``, where it is one literal list; None where it is not or is absent."""
        found = [
            node.value
            for node in self.outline.tree.body
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and "__all__" in ast.dump(node)
        ]
        if len(found) != 1 or not isinstance(found[0], ast.List | ast.Tuple):
            return None
        words = (each.value for each in found[0].elts if isinstance(each, ast.Constant))
        return frozenset(word for word in words if isinstance(word, str))

    def known_as(self, node: Function | ast.ClassDef) -> str:
        """Give the name under which values carry a function or class of this file."""
        where = f"{self.place.name}." if self.place is not None else ""
        name = f"{MARK}{where}{node.name}@{node.lineno}"
        self.project.definitions.setdefault(name, (self, node))
        return name

    def defined(self, node: Function | ast.ClassDef, env: Env) -> Value:
        """Give the value that a ``def`` or ``class`` binds."""
        name = self.known_as(node)
        if self.owner(node) is not None:
            self._closures[node] = env.flat()
        return of_kind(Kind.OTHER, names=frozenset((name,)))

    def meant(self, name: ast.Name) -> ast.expr | None:
        """Give the test that a name stands for, where it was bound once and what it tests was not bound again."""
        function = self.owner(name) or self.outline.tree
        if function not in self._tests:
            self._tests[function] = named_tests(function)
        found = self._tests[function].get(name.id)
        return found.value if found is not None and found.lineno < name.lineno else None

    def owner(self, node: ast.AST) -> Function | None:
        """Give the function around a node."""
        for above in self.outline.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                return above
        return None

    @cached_property
    def mentions_accelerators(self) -> bool:
        """Whether the file speaks of a device at all: where it does not, what it makes stays on the host."""
        return bool(_ACCELERATOR_WORD.search(self.outline.source.utf8))

    @cached_property
    def is_program(self) -> bool:
        """Whether nobody imports the file: a test, or a script with its ``__main__`` guard."""
        return is_program(self.place.path if self.place is not None else self.outline.source.path, self.outline.tree)

    @cached_property
    def is_tested_by_pytest(self) -> bool:
        """Whether pytest collects the file."""
        return is_test(self.place.path if self.place is not None else self.outline.source.path)

    @cached_property
    def changes_default_device(self) -> bool:
        """Whether the file sets a default device: by call, or by ``with torch.device(...):``."""
        if any(node.attr in _SETS_DEFAULT_DEVICE for node in self.outline.nodes(ast.Attribute)):
            return True
        contexts = (item.context_expr for node in self.outline.nodes(ast.With) for item in node.items)
        return any(isinstance(each, ast.Call) and last_word(each) == "device" for each in contexts)

    # ------------------------------------------------------------------ walks
    def flow_of(self, node: ast.AST) -> Flow:
        """Give the walk of the scope that holds a node: with nothing known of its arguments but what they say."""
        function = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else self.owner(node)
        return self.toplevel.flow if function is None else self.general(function)

    def general(self, function: Function) -> Flow:
        """Walk a function with nothing known of its arguments but what its own text says."""
        if function not in self._flows:
            if (owner := self.owner(function)) is not None and owner not in self.project.running:
                self.general(owner)
            flow = Flow(
                self, function.body, lambda flow: self.start(function, flow, None, None), self.self_name(function)
            )
            self._flows[function] = flow
            with self.project.general(function):
                flow.run()
        return self._flows[function]

    def self_name(self, function: Function) -> str | None:
        """Give the name of a method's first argument; None for other functions."""
        owner = self.outline.parents.get(function)
        first = [*function.args.posonlyargs, *function.args.args][:1]
        if not isinstance(owner, ast.ClassDef) or not first or is_static(function):
            return None
        return first[0].arg

    def start(
        self, function: Function, flow: Flow, given: Arguments | None, receiver: Value | None, mode: Mode | None = None
    ) -> Env:
        """Bind a function's arguments: to what is given, or to what annotations, defaults and names say."""
        env = Env()
        for word, value in self._closure(function).items():
            env.assign(word, value)
        body = env.layer()
        body.mode = self._entry_mode(function, flow, body, mode or self.callers.mode(function) or Mode.ON)
        Binding(self, function, flow, body, given).bind(receiver, self.self_name(function))
        return body

    def _closure(self, function: Function) -> dict[str, Value]:
        owner = self.owner(function)
        if owner is None:
            return {}
        flow = self._flows.get(owner)
        if flow is not None and owner not in self.project.running:
            return flow.env.flat()
        return self._closures.get(function, {})

    def _entry_mode(self, function: Function, flow: Flow, env: Env, mode: Mode) -> Mode:
        for decorator in (flow.evaluate(each, env) for each in function.decorator_list):
            mode = self.wrappers.decorated(decorator, modes.decorated([decorator], mode))
        owner = self.outline.parents.get(function)
        if isinstance(owner, ast.ClassDef):
            known = self.classes.of(owner)
            if known.is_lightning and function.name in modes.LIGHTNING_EVALUATION:
                return Mode.OFF
            if known.is_autograd_function and function.name in ("forward", "backward", "setup_context"):
                return Mode.OFF
        return mode

    def annotated(self, annotation: ast.expr | None, env: Env, flow: Flow) -> Value | None:
        """Give the value that an annotation describes; None where it says nothing."""

        def resolve(node: ast.expr) -> frozenset[str]:
            if path_of(node) is None:
                return frozenset()
            value = flow.evaluate(node, env)
            return value.names

        said = annotated_value(annotation, resolve)
        if said is None and annotation is not None:
            names = resolve(annotation)
            return self.classes.instance_of(names) or foreign_object(names)
        return said

    # ------------------------------------------------------------------ calls
    def call(self, name: str, callee: Value, given: Arguments, mode: Mode) -> Value | None:
        """Give the result of calling a function or class of the project by name; None for others."""
        home, node = self.project.definitions.get(name, (self, None))
        if isinstance(node, ast.ClassDef):
            return home.classes.made(node, given)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return home.summaries.of(node, given, callee.self_value, mode)
        return None

    def are_functions(self, value: Value) -> bool:
        """Whether all names are functions of the project: what has attributes then is what a decorator made of them."""
        found = (self.project.definitions.get(name, (self, None))[1] for name in value.names)
        return all(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in found)

    def mode_after(self, name: str) -> Mode | None:
        """Give the grad mode that calling a function of the project leaves behind; None where it changes none."""
        home, node = self.project.definitions.get(name, (self, None))
        if not isinstance(node, ast.FunctionDef) or b"set_grad_enabled" not in home.outline.source.utf8:
            return None
        return home.wrappers.left_behind(node)

    def call_method(self, receiver: Value, word: str, given: Arguments, mode: Mode) -> Value | None:
        """Give the result of a method of an object of the project's classes; None for others."""
        found = [self.classes.method(name, word) for name in receiver.instance]
        if not found or any(method is None for method in found):
            return None
        return join_all(home.summaries.of(method, given, receiver, mode) for home, method in filter(None, found))

    # ------------------------------------------------------------------ classes
    def class_member(self, name: str, word: str) -> Value | None:
        """Give ``Class.word``; None where the name is no class of the project."""
        home, node = self.project.definitions.get(name, (self, None))
        return home.classes.member(node, word) if isinstance(node, ast.ClassDef) else None

    def instance_attribute(self, base: Value, word: str) -> Value | None:
        """Give an attribute of an object of the project's classes; None where nothing is known of it."""
        return self.classes.attribute(base, word)

    def note_attribute(self, path: str, value: Value) -> None:
        """Remember a change of an attribute of ``self`` for the walk that is running."""
        running = self.project.running[-1] if self.project.running else None
        flow = self._flows.get(running) if running is not None else None
        if flow is not None:
            flow.note_attribute(path, value)

    def entered(self, context: Value, callee: Value | None, mode: Mode) -> Mode:
        """Give the grad mode inside ``with context:``; ``callee`` is what was called to make the context."""
        if callee is not None and callee.names and not context.instance:
            return self.wrappers.entered(callee, mode)
        return modes.entered(context, mode)

    def set_so_far(self, method: Function, word: str) -> Value:
        """Give what a method that is being walked set an attribute of ``self`` to, when it was walked the last time."""
        flow = self._flows.get(method)
        return flow.set_before(word) if flow is not None else NOTHING

    def is_running(self, node: ast.AST) -> bool:
        """Whether a function is being walked at this moment."""
        return node in self.project.running


__all__ = ["File", "Function"]
