"""How `None` gets from place to place in one text: by assignments, calls, attributes, containers and results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.inference.program.bindings import own
from torchlint.inference.program.none_definitions import TextDefinitions
from torchlint.inference.program.none_graph import (
    ANY_ATTRIBUTE,
    ATTRIBUTE,
    MODULE,
    NONE,
    NOTHING,
    RESULT,
    Entry,
    Handed,
    Node,
    Place,
    Sources,
    everywhere,
    holding,
    joined,
)
from torchlint.inference.program.none_sources import (
    LACKED,
    gives_some_none,
    hooks_backward,
    is_layer,
    is_of_tensors,
    keeps_missing_gradients,
    leaves_weights_out,
    parts_left_out,
)
from torchlint.inference.program.spelled_calls import (
    asks_for_none,
    ends_without_value,
    fields_of,
    is_namespace,
    last_word,
    names_function,
    text_of,
)
from torchlint.syntax.ast_index import Function
from torchlint.syntax.signatures import arguments_of, defaults_of, methods_of

SETTING = ("vars", "__dict__", "setattr", "__setattr__")
"""Words of code that sets attributes without naming them as such."""
_SETTERS = frozenset({"setattr", "__setattr__", "register_buffer", "register_parameter", "register_module"})
_NO_FIELDS = frozenset({"NamedTuple", "object", "Protocol", "ABC"})
"""Bases that bring no fields of their own, which would stand before those of a record."""
_GIVING_NUMBERS = frozenset(
    "abs bool callable complex float format hasattr hash id int isinstance issubclass len ord print range repr round "
    "str type super".split()
)
"""Built-in functions that never hand on what they are given."""
_DEEPEST = 60
"""An expression that is nested deeper hands nothing on."""
_PUTTING = frozenset("append appendleft add extend extendleft insert update setdefault put put_nowait push".split())
"""Methods that put into a container what they are given."""
_COPYING = frozenset({"list", "tuple", "iter", "reversed", "sorted", "set"})
"""Built-in functions that give what holds the same."""
_MAKING_ARRAYS = frozenset({"array", "asarray", "asanyarray"})
"""Functions of NumPy whose arrays hold what they are given: an array of objects may hold `None`."""
_TENSORS = frozenset({"data", "T", "mT", "real", "imag"})
"""Attributes of tensors that nobody sets without naming them."""
_SOME_NONE = holding([Sources(frozenset({NONE}))])
_OWN_OF_TENSORS = frozenset("device dtype dim is_cuda is_leaf layout ndim requires_grad shape".split())


@dataclass
class NoneFlow(TextDefinitions):
    """Builds the graph of one text."""

    _found: dict[ast.expr, Sources] = field(default_factory=dict)
    _depth: int = 0

    def __post_init__(self) -> None:
        """Read the text: definitions first, then what is assigned, and what is called with what."""
        super().__post_init__()
        index = self.index
        for statement in index.nodes(ast.ImportFrom):
            for name in statement.names:
                taken = name.asname or name.name
                if taken not in self._of_libraries and name.name != "*":
                    self._give((MODULE, taken), self._nodes((ATTRIBUTE, name.name)), is_taken=True)
                    if name.asname:
                        self.graph.aliases[name.name].add(name.asname)
        for call in index.nodes(ast.Call):
            self._note_parts(call)
        for node in index.order:
            self._statement(node)
        for call in index.nodes(ast.Call):
            self._note_call(call)

    # ------------------------------------------------------------------ questions
    def leads_to_none(self, expressions: Iterable[ast.expr]) -> bool:
        """Whether the text shows a way on which one of some expressions becomes `None`."""
        return NONE in self._reached(expressions)

    def entries(self, expressions: Iterable[ast.expr]) -> list[Entry]:
        """Return where other texts may give something to what some expressions come from."""
        return sorted(self.graph.entries(self._reached(expressions)))

    def _reached(self, expressions: Iterable[ast.expr]) -> set[Node]:
        return self.graph.leads_to(node for each in expressions for node in self.sources(each).is_)

    # ------------------------------------------------------------------ what is given to what
    def _give(self, place: Place, sources: Sources, is_taken: bool = False) -> None:
        for depth, nodes in enumerate(sources):
            if nodes:
                self.graph.edges[place, depth] |= nodes
        if place[0] == MODULE and any(sources) and not is_taken:  # other files take it as an attribute of the module
            self._give((ATTRIBUTE, place[1]), self._nodes(place))

    def _give_target(self, target: ast.expr, flow: Sources, value: ast.expr | None = None) -> None:
        """Let what is bound flow into each place of a target: ``a, self.b = value``."""
        match target:
            case ast.Name(id=word):
                self._give(self._place(target, word), flow)
            case ast.Attribute(attr=word):
                self._give((ATTRIBUTE, word), flow)
            case ast.Starred(value=inner):
                self._give_target(inner, holding([flow]))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = (
                    value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(targets) else []
                )
                if parts and not any(isinstance(each, ast.Starred) for each in (*targets, *parts)):
                    for each, part in zip(targets, parts, strict=True):
                        self._give_target(each, self.sources(part), part)
                else:
                    for each in targets:
                        self._give_target(each, flow.element)
            case ast.Subscript(value=inner, slice=key) if is_namespace(inner):
                self._give((ATTRIBUTE, text_of(key) or ANY_ATTRIBUTE), flow)
            case ast.Subscript(value=inner):
                self._put_into(inner, holding([flow]))

    def _put_into(self, container: ast.expr, contents: Sources) -> None:
        """Note what an expression comes to hold."""
        waiting, seen = [(container, contents)], set[Place]()
        while waiting:
            container, contents = waiting.pop()
            while isinstance(container, ast.Subscript | ast.Starred):
                container, contents = container.value, holding([contents])
            place = self._place_of(container)
            if place is None or place in seen or not any(contents):
                continue
            seen.add(place)
            self._give_target(container, contents)
            waiting += ((each, contents) for each in self._values.get(place, ()))  # the same object by another name

    def _place_of(self, node: ast.expr) -> Place | None:
        """Return the place that a name or an attribute stands for; None for others."""
        match node:
            case ast.Name(id=word):
                return self._place(node, word)
            case ast.Attribute(attr=word):
                return ATTRIBUTE, word
        return None

    def _statement(self, node: ast.AST) -> None:
        """Note what a node binds, returns or yields."""
        match node:
            case ast.Assign(targets=targets, value=value):
                flow = self.sources(value)
                for each in targets:
                    self._give_target(each, flow, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._give_target(target, self.sources(value), value)
                if isinstance(self.index.parents.get(node), ast.ClassDef) and isinstance(target, ast.Name):
                    self._give((ATTRIBUTE, target.id), self.sources(value))
            case ast.AugAssign(target=target, value=value):
                self._put_into(target, self.sources(value).contents)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._give_target(node.target, self.sources(node.iter).element)
            case ast.withitem(context_expr=given, optional_vars=ast.expr() as target):
                self._give_target(target, self.sources(given))
            case ast.Match(subject=subject, cases=cases):
                flow = self.sources(subject)
                for pattern in (inner for case in cases for inner in ast.walk(case.pattern)):
                    if isinstance(pattern, ast.MatchAs | ast.MatchStar) and pattern.name:
                        self._give(self._place(node, pattern.name), flow.anyhow)
            case ast.Return(value=ast.expr() as value):
                self._give_result(node, self.sources(value))
            case ast.Yield(value=ast.expr() as value):
                flow = self.sources(value)  # of a generator, or of what a `with` statement enters
                self._give_result(node, joined([flow, holding([flow])]))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                self._defaults(node)

    def _give_result(self, node: ast.AST, flow: Sources) -> None:
        function = self.index.owner(node)
        for word in self._called_as(function) if function is not None else ():
            self._give((RESULT, word), flow)

    def _defaults(self, function: Function | ast.Lambda) -> None:
        for each, default in defaults_of(function).items():
            self._give(self._place_of_parameter(function, each.arg), self.sources(default))
        if isinstance(function, Function) and ends_without_value(function, self.index):
            self._give((RESULT, function.name), Sources(frozenset({NONE})))

    # ------------------------------------------------------------------ calls
    def _note_parts(self, call: ast.Call) -> None:
        """Note what a call registers, and what is left out of the layer that it makes."""
        if last_word(call.func) in _SETTERS:
            self._set.update(filter(None, map(text_of, call.args)))
        for word in parts_left_out(call):
            self._give((ATTRIBUTE, word), Sources(frozenset({NONE})))
        if keeps_missing_gradients(call):
            for function in self._functions.get("backward", ()):
                self._give_parameters(function, [Handed(None, Sources(frozenset({NONE})))])

    def _note_call(self, call: ast.Call) -> None:
        """Note what a call hands to the functions that it may run, and to what it puts it into."""
        word = last_word(call.func)
        given = list(self._arguments(call))
        everything = joined(each.sources for each in given)
        if isinstance(call.func, ast.Call) and not names_function(call.func):
            names = [f"{word}()"]
        else:
            names = [each for each in (word, *(f"{made}()" for made in self._made.get(word or "", ()))) if each]
        self._set_attributes(call, word)
        if hooks_backward(word):
            everything = joined([everything, _SOME_NONE])
            self._give_functions_handed_on(call, everything)
        if not any(everything):
            return
        for name in names:
            self.graph.given[name] += (each for each in given if any(each.sources))
            for function in self._callees(name):
                self._give_parameters(function, given)
        self._give_functions_handed_on(call, everything.anyhow)
        self._give_fields(call, word)
        match call.func:
            case ast.Attribute(value=receiver, attr=method) if method in _PUTTING:
                self._put_into(receiver, joined([everything.contents, holding([everything])]))

    def _arguments(self, call: ast.Call) -> Iterator[Handed]:
        is_counted = True
        for at, each in enumerate(call.args):
            if isinstance(each, ast.Starred):
                is_counted = False
                yield Handed(None, self.sources(each.value).element)
            else:
                yield Handed(str(at) if is_counted else None, self.sources(each))
        for keyword in call.keywords:
            sources = self.sources(keyword.value)
            yield Handed(keyword.arg, sources if keyword.arg else sources.element)

    def _give_parameters(self, function: Function | ast.Lambda, given: list[Handed]) -> None:
        """Let what a call hands over flow into the parameters of a function."""
        positional = self._positional(function)
        arguments = function.args
        known = {*positional, *(each.arg for each in arguments.kwonlyargs)}
        for each in given:
            if each.key is None:
                words = known
            elif each.key.isdigit():
                words = {*positional[int(each.key) : int(each.key) + 1]}
            else:
                words = {each.key} & known
            for word in words:
                self._give(self._place_of_parameter(function, word), each.sources)
            for rest in (arguments.vararg, arguments.kwarg):
                if rest is not None and (not words or each.key is None):
                    self._give(self._place_of_parameter(function, rest.arg), holding([each.sources]))

    def _give_functions_handed_on(self, call: ast.Call, given: Sources) -> None:
        """Note that functions that are handed on beside something may be called with it: ``partial(f, None)``."""
        for each in arguments_of(call):
            word = last_word(each) if names_function(each) else None
            if word is not None:
                self.graph.given[word].append(Handed(None, given))
                for function in (*self._callees(word), *self._callees(f"{word}()")):
                    self._give_parameters(function, [Handed(None, given)])
            elif isinstance(each, ast.Lambda):
                self._give_parameters(each, [Handed(None, given)])

    def _give_fields(self, call: ast.Call, word: str | None) -> None:
        """Note what a record is built with, a dataclass or a named tuple: its annotations say nothing of that."""
        lineage = self._lineage(word or "")
        if not lineage and word and word[0].isupper():
            for keyword in call.keywords:
                self._give((ATTRIBUTE, keyword.arg or ANY_ATTRIBUTE), self.sources(keyword.value))
        if not lineage or any(each.name == "__init__" for each in methods_of(lineage[0])):
            return
        fields = [word for each in lineage[::-1] for word in fields_of(each)]
        is_known = len(lineage) == 1 and all(last_word(each) in _NO_FIELDS for each in lineage[0].bases)
        for given in self._arguments(call):
            if given.key is not None and given.key in fields:
                words = [given.key]
            elif given.key is not None and given.key.isdigit() and is_known:
                words = fields[int(given.key) : int(given.key) + 1]
            else:
                words = fields
            for each in words:
                self._give((ATTRIBUTE, each), given.sources)

    def _set_attributes(self, call: ast.Call, word: str | None) -> None:
        match call:
            case ast.Call(func=ast.Attribute(value=inner), args=given, keywords=keywords) if is_namespace(inner):
                self._give((ATTRIBUTE, ANY_ATTRIBUTE), joined(self.sources(each).element for each in given))
                for keyword in keywords:
                    self._give((ATTRIBUTE, keyword.arg or ANY_ATTRIBUTE), self.sources(keyword.value))
            case ast.Call(args=given) if word == "save_for_backward":
                self._give((ATTRIBUTE, "saved_tensors"), holding(map(self.sources, given)))
            case ast.Call(args=given, keywords=keywords) if word in _SETTERS:
                named = next(filter(None, map(text_of, given)), ANY_ATTRIBUTE)
                for value in (*given[-1:], *(each.value for each in keywords)):
                    self._give((ATTRIBUTE, named), self.sources(value))

    # ------------------------------------------------------------------ expressions
    def sources(self, node: ast.expr) -> Sources:
        """Return where an expression comes from."""
        if node not in self._found:
            self._depth += 1
            self._found[node] = self._sources(node) if self._depth < _DEEPEST else NOTHING
            self._depth -= 1
        return self._found[node]

    def _sources(self, node: ast.expr) -> Sources:
        """Return where the value of an expression may come from."""
        match node:
            case ast.Constant(value=None):
                return Sources(frozenset({NONE}))
            case ast.Name(id=word):
                place = self._place(node, word)
                if place[0] == MODULE and self._takes_all:
                    return joined([self._nodes(place), self._nodes((ATTRIBUTE, word))])
                return self._nodes(place)
            case ast.Attribute(value=inner, attr=word):
                return NOTHING if self._is_of_a_library(node) else self._attribute(inner, word)
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self.sources(inner).contents
            case ast.Subscript(value=inner):
                return self.sources(inner).element
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner) | ast.Await(value=inner):
                return self.sources(inner)
            case ast.IfExp():
                return self._conditional(node)
            case ast.BoolOp(op=operator, values=parts):
                *others, at_last = map(self.sources, parts)
                if isinstance(operator, ast.Or):  # what is `None` is not taken
                    others = [each.contents for each in others]
                return joined([*others, at_last])
            case ast.BinOp(left=left, right=right):
                return joined([self.sources(left).contents, self.sources(right).contents])
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return holding(
                    self.sources(each.value).element if isinstance(each, ast.Starred) else self.sources(each)
                    for each in elements
                )
            case ast.Dict(values=values):
                return holding(map(self.sources, values))
            case ast.ListComp(elt=inner) | ast.SetComp(elt=inner) | ast.GeneratorExp(elt=inner):
                return holding([self.sources(inner)])
            case ast.DictComp(value=inner) | ast.Lambda(body=inner):
                return holding([self.sources(inner)])
            case ast.Call():
                return self._call(node)
        return NOTHING

    def _attribute(self, owner: ast.expr, word: str) -> Sources:
        """Return where an attribute comes from: what a layer may lack is `None`, unless its making shows otherwise."""
        if word == "grad":
            return Sources(frozenset({NONE}))
        if word in _OWN_OF_TENSORS:
            return NOTHING
        if word in _TENSORS:
            return self._nodes((ATTRIBUTE, word))
        given = [self._nodes((ATTRIBUTE, word)), self._nodes((ATTRIBUTE, ANY_ATTRIBUTE))]
        place = self._place_of(owner)
        made = self._values[place] if place is not None and place not in self.graph.parameters else []
        if made and all(map(is_layer, made)):
            made_so = (part for each in made if isinstance(each, ast.Call) for part in parts_left_out(each))
            given = [Sources(frozenset({NONE}))] if word in made_so else []
        elif self._may_be_missing(owner, word):
            given.append(Sources(frozenset({NONE})))
        return joined(given)

    def _may_be_missing(self, owner: ast.expr, word: str) -> bool:
        """Whether an attribute may be one that a layer lacks, or that nobody has set, and is answered with `None`."""
        if word in LACKED:
            return last_word(owner) not in ("self", "cls") or word not in self._set
        return word not in self._set and self._answers_any

    @cached_property
    def _answers_any(self) -> bool:
        """Whether a class of the text gives `None` for attributes that nobody has set, by a ``__getattr__``."""
        answering = [each for each in self._functions.get("__getattr__", ()) if isinstance(each, Function)]
        returns = (each for function in answering for each in own(self.index, function, ast.Return))
        return any(map(_gives_none, returns)) or any(ends_without_value(each, self.index) for each in answering)

    def _nodes(self, place: Place) -> Sources:
        return Sources(*(frozenset({(place, depth)}) for depth in range(3)))

    def _conditional(self, node: ast.IfExp) -> Sources:
        found = []
        for branch, holds in ((node.body, True), (node.orelse, False)):
            flow = self.sources(branch)
            asked = asks_for_none(node.test, ast.unparse(branch))
            found.append(flow.contents if asked is not None and asked is not holds else flow)
        return joined(found)

    def _call(self, call: ast.Call) -> Sources:
        """Return where the result of a call may come from."""
        word = last_word(call.func)
        if leaves_weights_out(call):
            return _SOME_NONE
        if word in _MAKING_ARRAYS and self._is_of_a_library(call.func):
            return joined(each.sources for each in self._arguments(call)).contents
        if self._is_of_a_library(call.func):
            return _SOME_NONE if gives_some_none(call, word or "") else NOTHING
        if isinstance(call.func, ast.Name) and call.func.id in _GIVING_NUMBERS:
            return NOTHING
        given = joined(each.sources for each in self._arguments(call))
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, name, *default]):
                named = self._attribute(inner, text_of(name) or ANY_ATTRIBUTE)
                any_part = isinstance(name, ast.Name | ast.Subscript | ast.Attribute) and not default
                parts = [Sources(frozenset({NONE}))] if any_part else []
                return joined([named, *parts, *map(self.sources, default)])
            case ast.Call(func=ast.Call(args=[name]), args=[inner]) if word == "attrgetter" and text_of(name):
                return self._attribute(inner, str(text_of(name)).rpartition(".")[2])
            case ast.Call(func=ast.Attribute(value=receiver, attr="get" | "setdefault"), args=[_], keywords=[]):
                return joined([Sources(frozenset({NONE})), self.sources(receiver).element])
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if is_of_tensors(method):
                return NOTHING
            case ast.Call(func=ast.Name(id=kind)) if kind in _COPYING:
                return given.contents
            case ast.Call() if word == "zip_longest":
                return Sources(deep=given.held | {NONE})
            case ast.Call() if "ref" in self._made.get(word or "", ()) and not call.args:
                return joined([Sources(frozenset({NONE})), given.anyhow])
            case ast.Call(func=ast.Name(id="enumerate" | "zip")):
                return Sources(deep=given.held)
            case ast.Call(func=ast.Name(id="map"), args=[ast.Lambda() as function, *_]):
                return self.sources(function)
        if self._lineage(word or "") and word not in self._functions:
            return holding([given])
        results = joined(self._nodes((RESULT, each)) for each in self._result_words(call, word))
        if all(isinstance(each, Function) for each in self._functions.get(word or "", [call])):
            return results
        if isinstance(call.func, ast.Name) and call.func.id[0].isupper():
            return results  # an object, whose attributes are what it is given
        source = call.func.value if isinstance(call.func, ast.Attribute) else call.func  # `ts.pop()`, `ts.values()`
        return joined([results, everywhere(self.sources(source).held), given.anyhow])

    def _result_words(self, call: ast.Call, word: str | None) -> Iterator[str]:
        if isinstance(call.func, ast.Call) and not names_function(call.func):
            yield f"{word}()"
        elif word is not None:
            yield word
            yield from (f"{made}()" for made in self._made.get(word, ()))


def _gives_none(node: ast.Return) -> bool:
    """Whether a statement gives `None` back by its words: as such, or for what a dictionary has not."""
    match node.value:
        case None | ast.Constant(value=None) | ast.Call(func=ast.Attribute(attr="get"), args=[_]):
            return True
    return False
