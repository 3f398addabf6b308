"""One file's scopes: its module, functions and classes, each walked when something in it is asked for."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torchlint.facts.value import NOTHING, UNKNOWN, Kind, Mode, Value, of_kind
from torchlint.inference.hints import Resolve, foreign_object
from torchlint.inference.hints import value_of as annotated_value
from torchlint.inference.interpreter.classes import Classes, object_of
from torchlint.inference.interpreter.closures import Closures, widened
from torchlint.inference.interpreter.decorators import Wrappers
from torchlint.inference.interpreter.default_device import may_be_changed
from torchlint.inference.interpreter.environment import Env
from torchlint.inference.interpreter.filled_attributes import set_in
from torchlint.inference.interpreter.heuristics import hook_mode
from torchlint.inference.interpreter.module_scope import Stars, TopLevel
from torchlint.inference.interpreter.parameters import Binding
from torchlint.inference.interpreter.project import MARK, Effort, Project
from torchlint.inference.interpreter.statements import Flow
from torchlint.inference.interpreter.summaries import Summaries, place_of
from torchlint.inference.lattice import annotated, join, join_all
from torchlint.inference.models import grad_mode
from torchlint.inference.models.call_arguments import Arguments
from torchlint.inference.models.devices import last_word_of_name, names_other_accelerators, says_accelerator
from torchlint.inference.program.bindings import binds_by_text, imported_only, lines_of, setting_inside
from torchlint.inference.program.frameworks import imports_torch
from torchlint.inference.program.imports import BUILTINS, named, path_of
from torchlint.inference.program.module_files import Imports, Location, is_test
from torchlint.inference.program.named_tests import named_tests
from torchlint.inference.program.program_files import is_guarded, is_in_package, runs_itself
from torchlint.source.notebook import SUFFIX
from torchlint.syntax.ast_index import FUNCTIONS, AstIndex, Function
from torchlint.syntax.places import root_of_name
from torchlint.syntax.signatures import first_parameter, is_static


@dataclass(eq=False)
class File:
    """What is known of one file, on demand."""

    index: AstIndex
    project: Project
    place: Location | None = None

    def __post_init__(self) -> None:
        self.classes = Classes(self)
        self.summaries = Summaries(self)
        self.wrappers = Wrappers(self)
        self._imports = Imports(self.place, self.project.shape) if self.place is not None else None
        self._flows: dict[ast.AST, Flow] = {}
        self.efforts: dict[ast.AST, Effort] = {}
        """What the walks of functions for all calls took."""
        self.closures = Closures(self)
        self.toplevel = TopLevel(self)
        self.stars = Stars(self)

    # ------------------------------------------------------------------ names
    def name(self, word: str) -> Value:
        """Return the value of a name that is not local."""
        found = self.toplevel.find(word)
        if found is not None:
            return self._when_called(word, found)
        if (star := self.stars.find(word)) is not None:
            return star
        return named(f"builtins.{word}") if word in BUILTINS and not self.stars.may_bind(word) else UNKNOWN

    def _when_called(self, word: str, found: Value) -> Value:
        """Return what a name of the module is when a function is called.

        ``found`` is what it is in the end or so far.
        """
        if not self.toplevel.is_live and word in self.closures.bound_again:
            found = self.closures.ever(word, found, self.toplevel.flow)
        return self._changed(word, found)

    def _changed(self, word: str, found: Value) -> Value:
        """Return a name of the module after functions may have written into it: anything, and what they are seen to."""
        if word not in self.closures.changed_by_functions:
            return found
        loose = widened(found)
        return loose if loose.member is None else self.closures.filled(word, loose)

    # ------------------------------------------------------------------ the project
    def base(self, module: str) -> str | None:
        """Return the path, without ``.py``, of a module of the project as this file spells it; None for others."""
        return self._imports.base(module) if self._imports is not None else None

    def module_name(self, module: str) -> str | None:
        """Return the project's own name of a module as this file spells it; None for others."""
        base = self.base(module)
        return self.project.named(base) if base is not None else None

    def outside(self, function: Function | ast.ClassDef, node: ast.expr) -> Value:
        """Return the value of a decorator, a base or a default: an expression that stands where a definition stands."""
        owner = self.owner(function)
        if owner is None:
            return self.toplevel.evaluate(node)
        return self.general(owner).values.get(node, UNKNOWN)

    def followed(self, value: Value) -> Value:
        """Return what an imported name of the project stands for, its file read now; other values as they are.

        What else it may be, as where the import stands in a ``try``, it still may be.
        """
        for name in value.names:
            if name.startswith(MARK) and "@" not in name:
                break
        else:
            return value
        found = [self.project.find(name) if name.startswith(MARK) else named(name) for name in sorted(value.names)]
        if not all(found):
            return value
        rest = value.kind & ~Kind.OTHER
        others = value.having(kind=rest, names=frozenset()) if rest else NOTHING
        return join_all([others, *(each for each in found if each is not None)])

    def exported(self, word: str) -> Value | None:
        """Return what another file gets by this name; None where this file does not bind it."""
        found = self.toplevel.find(word)
        if found is None:
            return self.stars.find(word)
        value = self.followed(self._changed(word, found))
        is_told = value.names or not self.index.told(binds_by_text, self.index.tree)  # nobody replaces functions so
        return value if is_told else join(value, UNKNOWN)

    def known_as(self, node: Function | ast.ClassDef) -> str:
        """Return the name under which values carry a function or class of this file."""
        where = f"{self.place.name}." if self.place is not None else ""
        name = f"{MARK}{where}{node.name}@{node.lineno}"
        self.project.definitions.setdefault(name, (self, node))
        return name

    def bare(self, function: Function, under: int, around: int | None) -> Value:
        """Return a function as it is below its first decorators, ``under`` of them."""
        name = f"{self.known_as(function)}{'' if around is None else f'~{around}'}#{under}"
        self.project.definitions.setdefault(name, (self, function))
        return of_kind(Kind.OTHER, names=frozenset((name,)))

    def defined(self, node: Function | ast.ClassDef, env: Env) -> Value:
        """Return the value that a ``def`` or ``class`` binds."""
        name = self.known_as(node)
        if self.owner(node) is not None and (number := self.closures.note(node, env)) is not None:
            name = f"{name}~{number}"
            self.project.definitions.setdefault(name, (self, node))
        return of_kind(Kind.OTHER, names=frozenset((name,)))

    def meant(self, name: ast.Name) -> ast.expr | None:
        """Return what a name stands for that was bound once, where that would come out the same."""
        made, until = self.index.told(named_tests, self.owner(name) or self.index.tree).get(name.id, (None, 0))
        is_after = (
            made is not None and made.lineno < name.lineno and self.index.parents[made] in self.index.ancestors(name)
        )
        return made.value if made is not None and is_after and name.lineno < until else None

    def shares(self, node: ast.AST, function: Function, word: str) -> bool:
        """Whether a name means the same where a node stands and in a function."""
        return self.closures.binder(self.owner(node), word) is self.closures.binder(self.owner(function), word)

    def owner_or_self(self, node: ast.AST) -> Function | None:
        """Return a function itself, and the function around any other node."""
        return node if isinstance(node, FUNCTIONS) else self.owner(node)

    def finished(self, function: Function) -> Flow | None:
        """Return the walk of a function for all calls, once it is done."""
        return self._flows.get(function) if function not in self.project.running else None

    def owner(self, node: ast.AST) -> Function | None:
        """Return the function around a node."""
        return self.index.owner(node)

    @cached_property
    def mentions_accelerators(self) -> bool:
        """Whether the file speaks of a device at all: where it does not, what it makes stays on the host."""
        return says_accelerator(self.index.source.utf8)

    @cached_property
    def knows_cuda_alone(self) -> bool:
        """Whether the file names no accelerator that is there without CUDA."""
        return not names_other_accelerators(self.index.source.utf8)

    @cached_property
    def works_with_torch(self) -> bool:
        """Whether the file imports torch, or all names of a file that does: elsewhere words prove nothing."""
        return imports_torch(self.index) or self.stars.bring_torch()

    @cached_property
    def sets_grad_mode(self) -> bool:
        """Whether a function of the file may leave another grad mode behind."""
        return any(word.encode() in self.index.source.utf8 for word in grad_mode.AT_ONCE)

    @cached_property
    def is_program(self) -> bool:
        """Whether nobody imports the file: a test, or a script that no other file of the project imports.

        One in a package is none, unless its name is no identifier. Of a notebook that is only presumed: magics and
        cells that do not parse hide calls.
        """
        if self.index.source.path.endswith(SUFFIX):
            return self.project.presuming
        if self.is_tested_by_pytest:
            return True
        if self.place is not None:  # what the folder says rests on this
            self.project.shape(os.path.join(os.path.dirname(self.place.path), "__init__"))
        path = self.place.path if self.place is not None else self.index.source.path
        if is_in_package(path) and os.path.splitext(os.path.basename(path))[0].isidentifier():
            return False
        is_script = is_guarded(self.index.tree) or self.index.told(runs_itself, self.index.tree)
        return is_script and not (self.project.is_own(self) and self.project.is_imported())

    @cached_property
    def is_tested_by_pytest(self) -> bool:
        """Whether pytest collects the file."""
        return is_test(self.place.path if self.place is not None else self.index.source.path)

    def changes_default_device(self, before: ast.AST) -> bool:
        """Whether the file may have set another default device when a place is reached."""
        return may_be_changed(self.index, before)

    # ------------------------------------------------------------------ walks
    def forget(self) -> None:
        """Forget what rests on names of the module as they were while its statements were being walked."""
        for node, flow in list(self._flows.items()):
            if not flow.running:
                self._flows.pop(node).close()
        self.classes.forget()
        self.summaries.forget()

    def close(self) -> None:
        """Let go of all that was found: the parts of a file's knowledge hold each other until they are parted."""
        self.toplevel.close()
        for flow in self._flows.values():
            flow.close()
        vars(self).clear()

    def rebound(self, word: str) -> None:
        """Take notice that the module binds a name: functions that were called before may have seen another value."""
        if self.toplevel.is_live and word in self.closures.bound_again:
            self.forget()

    def imported(self, node: ast.expr) -> Value | None:
        """Return what a dotted name means whose first word an import binds and nothing else, without a walk."""
        root = root_of_name(node)
        if isinstance(root, ast.Name) and root.id in self.index.told(imported_only, self.index.tree):
            return self.toplevel.evaluate(node)
        return None

    def flow_of(self, node: ast.AST) -> Flow:
        """Return the walk of the scope that holds a node: with nothing known of its arguments but what they say."""
        function = self.owner_or_self(node)
        return self.toplevel.flow if function is None else self.general(function)

    def general(self, function: Function) -> Flow:
        """Walk a function with nothing known of its arguments but what its own text says."""
        if function in self._flows:
            self.project.rounds.used(self._flows, function)
            return self._flows[function]
        return self.project.rounds.settle(lambda: self._walked(function))

    def _walked(self, function: Function) -> Flow:
        """Walk a function for all calls, the one around it first, and note what the walk found."""
        if (owner := self.owner(function)) is not None and owner not in self.project.running:
            self.general(owner)
        if function in self._flows:
            self.project.rounds.used(self._flows, function)
            return self._flows[function]
        project = self.project
        flow = self._flow(function)
        self._flows[function] = flow
        project.rounds.keep(self._flows, function)
        with project.general(self, function) as effort:
            project.spend(self, lines_of(function), function)
            flow.run()
        self.efforts[function] = effort
        self.closures.finished(function, flow)
        self.take_in(function, flow.attributes)
        for word in project.rounds.words(function):
            project.rounds.found((function, word), set_in(flow, word))
        return flow

    def _flow(self, function: Function) -> Flow:
        return Flow(
            self, function.body, lambda flow: self.start(function, flow, None, None), self.object_name(function)
        )

    def take_in(self, function: Function, attributes: dict[str, Value]) -> None:
        """Add what functions inside a method set attributes of its object to, whenever they are called."""
        if self.self_name(function) is None:
            return
        for inner in self.index.told(setting_inside, function):
            for word, value in self.general(inner).attributes.items():
                attributes[word] = join(attributes.get(word, NOTHING), value)

    def self_name(self, function: Function) -> str | None:
        """Return the name of a method's first argument; None for other functions."""
        owner = self.index.parents.get(function)
        return first_parameter(function) if isinstance(owner, ast.ClassDef) and not is_static(function) else None

    def object_name(self, function: Function) -> str | None:
        """Return the name of the object of the method that a function is or stands in; None outside of methods."""
        outer: Function | None = function
        while outer is not None:
            if (word := self.self_name(outer)) is not None:
                return word if self.closures.binder(function, word) is outer else None
            outer = self.owner(outer)
        return None

    def takes_object(self, function: Function) -> bool:
        """Whether a method, taken from its class, is given the object first."""
        words = {last_word_of_name(each) for each in function.decorator_list}
        return self.self_name(function) is not None and "classmethod" not in words and function.name != "__new__"

    def start(
        self,
        function: Function,
        flow: Flow,
        given: Arguments | None,
        receiver: Value | None,
        mode: Mode | None = None,
        around: Mapping[str, Value] | None = None,
        under: int = 0,
    ) -> Env:
        """Bind a function's arguments: to what is given, or to what annotations, defaults and names say.

        ``mode`` is the grad mode at a call, None where no call is known; ``around`` is what the function knows from
        around it; ``under`` says how many of its decorators are left out.
        """
        env = Env()
        for word, value in (self.closures.of(function) if around is None else around).items():
            env.assign(word, value)
        body = env.layer()
        usual = hook_mode(self, function) if mode is None and self.project.presuming else None
        body.mode = self._entry_mode(function, flow, body, mode or usual or Mode.ON, under)
        Binding(self, function, flow, body, given).bind(receiver, self.self_name(function))
        return body

    def _entry_mode(self, function: Function, flow: Flow, env: Env, mode: Mode, under: int) -> Mode:
        """Return the grad mode in which a function's body begins, by its decorators and its class."""
        for node in function.decorator_list[under:]:
            decorator = flow.evaluate(node, env)
            if isinstance(function, ast.AsyncFunctionDef) and grad_mode.switches(decorator):
                continue  # it is left again before a coroutine runs
            callee = flow.values.get(node.func) if isinstance(node, ast.Call) else None
            mode = self.wrappers.below(decorator, callee, mode)
        owner = self.index.parents.get(function)
        if isinstance(owner, ast.ClassDef):
            known = self.classes.of(owner)
            if known.is_lightning and function.name in grad_mode.LIGHTNING_EVALUATION:
                return Mode.OFF
            if known.is_autograd_function and function.name in grad_mode.AUTOGRAD_FUNCTION:
                return Mode.OFF
        if isinstance(function, ast.AsyncFunctionDef) and not self.project.presuming:
            return mode | Mode.ON  # a decorator is done with it before a coroutine runs
        return mode

    def annotated(self, annotation: ast.expr | None, env: Env, flow: Flow) -> Value | None:
        """Return the value that an annotation describes; None where it says nothing."""

        def names(node: ast.expr) -> frozenset[str]:
            return flow.evaluate(node, env).names if path_of(node) is not None else frozenset()

        def own(names: frozenset[str]) -> Value | None:
            return self.classes.instance_of(names) or foreign_object(names)

        said = annotated_value(annotation, Resolve(names, own))
        return None if said is None else annotated(said)

    # ------------------------------------------------------------------ calls
    def call(self, name: str, callee: Value, given: Arguments, mode: Mode) -> Value | None:
        """Return the result of calling a function or class of the project by name; None for others."""
        home, node = self.project.definitions.get(name, (self, None))
        if isinstance(node, ast.ClassDef):
            return home.classes.made(node, given)
        if isinstance(node, FUNCTIONS):
            owner = home.classes.as_seen_by(node, callee.self_value) if callee.self_value is not None else None
            return home.summaries.of(node, given, owner, mode, place_of(name))
        return None

    def are_functions(self, value: Value) -> bool:
        """Whether all names are functions of the project: what has attributes then is what a decorator made of them."""
        found = (self.project.definitions.get(name, (self, None))[1] for name in value.names)
        return all(isinstance(node, FUNCTIONS) for node in found)

    def mode_after(self, name: str) -> Mode | None:
        """Return the grad mode that calling a function of the project leaves behind; None where it changes none."""
        home, node = self.project.definitions.get(name, (self, None))
        if not isinstance(node, ast.FunctionDef) or not home.sets_grad_mode:
            return None
        return home.wrappers.left_behind(node)

    def call_method(self, receiver: Value, word: str, given: Arguments, mode: Mode) -> Value | None:
        """Return the result of a method of an object of the project's classes; None for others."""
        found, self_value = self.classes.methods(receiver, word), object_of(receiver)
        if not found:
            return self.classes.replaced(receiver, given) if word == "_replace" else None
        start = len(given.attributes)
        owners = [home.classes.as_seen_by(method, self_value) for home, method in found]
        results = zip(found, owners, strict=True)
        result = join_all(home.summaries.of(each, given, owner, mode, (0, None)) for (home, each), owner in results)
        if len(found) > 1:
            given.joined_since(start, len(found))
        return result

    # ------------------------------------------------------------------ classes
    def class_member(self, name: str, word: str) -> Value | None:
        """Return ``Class.word``; None where the name is no class of the project."""
        home, node = self.project.definitions.get(name, (self, None))
        return home.classes.member(node, word) if isinstance(node, ast.ClassDef) else None

    def entered(self, context: Value, callee: Value | None, mode: Mode) -> Mode:
        """Return the grad mode inside ``with context:``; ``callee`` is what was called to make the context."""
        if callee is not None and callee.names and not context.instance:
            return self.wrappers.entered(callee, mode)
        return grad_mode.entered(context, mode, self.wrappers.of_classes(context, mode))

    def set_so_far(self, method: Function, word: str) -> Value:
        """Return what a method that is being walked sets an attribute of ``self`` to, as far as that is known."""
        flow = self._flows.get(method)
        so_far = set_in(flow, word) if flow is not None else NOTHING
        return self.project.rounds.guess((method, word), so_far)

    def knows(self, function: Function) -> bool:
        """Whether a function was walked for all calls."""
        return function in self._flows

    def is_running(self, node: ast.AST) -> bool:
        """Whether a function is being walked for all calls at this moment."""
        return node in self.project.walking
