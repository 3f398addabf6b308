"""Whether a tensor still has its first values: no graph can hold what a module is just being made of.

That is so where a layer or tensor was made in the same code and nothing has computed with it since, and in the methods
that build an object, where all that they make its parts of is made there and none of them computes with a part. What is
applied to such objects alone may write their first values as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from torchlint.evaluation.class_families import PROPERTIES, is_own_object
from torchlint.evaluation.evaluator import Evaluator
from torchlint.flow.call_frames import CallKnowledge
from torchlint.flow.memory_handings import ANY_DEPTH
from torchlint.flow.memory_roots import MemoryRoots
from torchlint.flow.root_meetings import MADE, PARAMETER, MemoryRoot
from torchlint.flow.turned_edges import turned_edges
from torchlint.models.operation_sets import FACTORIES
from torchlint.semantic import graph as g
from torchlint.semantic.graph import AttributeStore, ClassGraph, FormalParameter, FunctionGraph, Node
from torchlint.semantic.lowering import lower
from torchlint.semantic.outline import Mention, WrittenCall
from torchlint.texts.device_names import is_settings
from torchlint.values import abstract as a
from torchlint.values.asking import ON
from torchlint.values.references import ClassRef, FunctionRef, LibraryRef

_ANY: Final = ""
"""Stands for all attributes of an object."""
_PLAIN: Final = a.NUMBER | a.STRING | a.NONE | a.SIZE | a.DEVICE | a.DTYPE | a.ARRAY
"""What holds no module and no tensor."""
_TAKING_OVER: Final = frozenset({"as_tensor", "asarray", "from_dlpack", "from_file", "frombuffer", "sparse_coo_tensor"})
_MOST_NUMBERS: Final = 6
"""A layer that may keep a weight takes it behind this many arguments, or by name."""
_LISTING: Final = frozenset(
    "modules children parameters buffers named_modules named_children named_parameters named_buffers keys values items "
    "get_parameter get_submodule state_dict".split()
)
_GIVING: Final = _LISTING | frozenset(
    "to cuda xpu cpu float half double bfloat16 train eval requires_grad_ apply".split()
)
_REGISTERING: Final = frozenset("add_module register_module register_buffer register_parameter".split())
"""Methods that put something under a word of their object."""
_ADDING: Final = _REGISTERING | frozenset("set_submodule append extend insert update".split())
_QUIET: Final = (
    _GIVING
    | _ADDING
    | frozenset("flatten_parameters reset_parameters size dim numel nelement __init__ load_state_dict".split())
)
"""Methods of modules, their containers and tensors that record no graph."""
_SIDE: Final = frozenset("data grad requires_grad is_leaf shape dtype device is_cuda ndim in_features training".split())
"""Attributes of which nothing is recorded."""
_OF_PYTHON: Final = ("collections.", "itertools.")
_HOLDERS: Final = frozenset(
    "Sequential ModuleList ModuleDict ParameterList ParameterDict Parameter Buffer DataParallel Module".split()
)
"""Classes of ``torch.nn`` that keep what they are given, and make no parameters."""
_STORES: Final = frozenset({"*", "_modules", "_parameters", "_buffers", "__dict__"})
"""Words under which an object keeps parts of any name."""
_HANDING_ON: Final = frozenset("list tuple zip enumerate reversed iter next getattr dict range".split())
_LOOKING: Final = frozenset("print len isinstance hasattr setattr type id super str repr".split())
_CONTAINERS: Final = frozenset({g.SEQUENCE, g.DICT, g.COMPREHENSION, g.CONST, g.FUNCTION, g.CLASS, g.TRUTH, g.INDEX})
_VERSIONS: Final = frozenset({g.PI, g.INPLACE, g.EFFECT, g.SETTER, g.ATTR, g.INDEX, g.ELEMENT, g.ITEM, g.ENTER})
_JOINS: Final = frozenset({g.PHI, g.GAMMA, g.EITHER, g.GROW, g.SPREAD, g.SEQUENCE, g.DICT, g.COMPREHENSION, g.SETTER})
_COMPUTING: Final = frozenset({g.CALL, g.OPERATION, g.INDEX, g.ITEM, g.ELEMENT, g.ATTR})


class FirstValues:
    """The query over one evaluator; ``claims`` says what annotations and methods take values for."""

    def __init__(self, knowledge: CallKnowledge, roots: MemoryRoots, claims: Evaluator) -> None:
        """Begin with nothing known."""
        self._knowledge, self._roots, self._claims = knowledge, roots, CallKnowledge(claims)
        self._quiet: dict[tuple[ClassGraph, str, FunctionGraph | None], bool] = {}
        self._starting: dict[FunctionGraph, bool] = {}

    def has_first_value(self, node: Node, place: Node, row: int, takes: Callable[[str], bool]) -> bool:
        """Whether no graph can hold the memory of a value at a place of its function; False where not proven.

        ``row`` is the last one of its statement; ``takes`` says which names of the file other files take.
        """
        behind = [each.index + 1 for each in place.fn.nodes if each.at is not None and each.at.lineno <= row]
        return self._is_new_here(node, place, max(behind)) or self._is_applied_to_new(node, takes)

    # ------------------------------------------------------------------ where it was made
    def _is_new_here(self, node: Node, place: Node, end: int) -> bool:
        """Whether a value is made in its function, before as many nodes, or a part of the object that it builds."""
        fn, own = place.fn, _own(place.fn)
        roots = self._roots.roots(node, (ANY_DEPTH,))
        here = frozenset(each.via or each.node for each in roots if each.node is not own)
        if not roots or not _is_bare(fn) or any(each.node is not own and each.sort != MADE for each in roots):
            return False
        parts = _parts_of(self._knowledge, fn, here)
        words = {_word(each) for each in roots if each.node is own}
        words |= {each.word for each in fn.stores if each.value in parts and _is_object(each.owner)}
        if words or (own is not None and any(each.fn is not fn for each in here)):
            is_part = node in _parts_of(self._knowledge, fn, self._own_parts(fn, _ANY))
            is_built = is_part and fn.cls is not None and self._initialises(fn, frozenset())
            return is_built and all(self._builds_quietly(fn.cls, each, fn) for each in words or {_ANY} if fn.cls)
        if node not in parts or not all(map(self._is_new_root, roots)) or any(each.fn is not fn for each in here):
            return False
        return not self._records(fn, parts, end) and not self._takes_over(fn, parts)

    def _names(self, node: Node) -> list[str]:
        return [each.name for each in self._knowledge.value(node).references if isinstance(each, LibraryRef)]

    def _is_plain(self, node: Node) -> bool:
        """Whether a value holds no tensor: it is a number or a text, or the size of a layer of torch."""
        if self._claims.value(node).must(_PLAIN) or _is_setting(node):
            return True
        if node.op == g.ATTR and _is_object(node.ins[0]):
            put = [each.node for each in self._roots.roots(node) if each.node is not _own(node.fn)]
            return bool(put) and all(map(self._is_plain, put))
        users = turned_edges(node.fn).users.get(node, ()) if node.op == g.PARAM else ()
        calls = (each for each in users if each.op == g.CALL and node in each.arguments.positional)
        names = (name for each in calls for name in self._names(each.ins[0]))
        return any(_is_layer(each) and not each.startswith("torch.nn.Transformer") for each in names)

    def _is_new(self, node: Node, given: Node | None = None) -> bool:
        """Whether nothing but what is made there lies in a value, and numbers, texts and classes."""
        value = self._knowledge.value(node)
        names_code = value.must(a.OTHER) and all(
            isinstance(each, LibraryRef | ClassRef | FunctionRef) for each in value.references
        )
        return (
            self._is_plain(node)
            or names_code
            or all(each.node is given or self._is_new_root(each) for each in self._roots.roots(node, (ANY_DEPTH,)))
        )

    def _is_new_root(self, root: MemoryRoot) -> bool:
        """Whether memory is made by a row of a table, in a class that makes all of it, or by the object around."""
        node = root.node
        if self._is_plain(node):
            return True
        if root.via is not None and not self._runs_anew(root.via):
            return False
        if root.sort == PARAMETER and node is _own(node.fn) and node.fn.cls is not None:
            return self._builds_quietly(node.fn.cls, _word(root))
        if root.sort != MADE or node.op != g.CALL:
            return root.sort == MADE and node.op in _CONTAINERS
        if names := self._names(node.ins[0]):
            return all(_makes_by_name(name, node) for name in names)
        classes = [each.cls for each in self._knowledge.value(node.ins[0]).references if isinstance(each, ClassRef)]
        return len(classes) == 1 and self._builds_quietly(classes[0], _ANY)

    def _runs_anew(self, call: Node) -> bool:
        """Whether what is called is a function or class as it is written, nothing that may remember what it gave."""
        called = call.ins[0]
        bound = called.fn.file.body.definitions.get(str(called.data), ()) if called.op == g.GLOBAL else ()
        value = self._knowledge.value(called)
        return (
            len(bound) <= 1
            and value.kind != a.ANY
            and all(
                isinstance(each, ClassRef) or (isinstance(each, FunctionRef) and _is_bare(each.function))
                for each in value.references
            )
        )

    # ------------------------------------------------------------------ objects that are built
    def _initialises(self, fn: FunctionGraph, asked: frozenset[str]) -> bool:
        """Whether a method belongs to the building of its object: by its name, or as only such methods call it."""
        if fn.cls is None or not fn.takes_object or not _is_bare(fn):
            return False
        calls, file = fn.file.calls.get(fn.name, ()), fn.file
        if fn.name == "__init__":
            return True
        if fn.name in file.mentions or not (calls or fn.name == "reset_parameters"):
            return False
        owners = [lower(file.function_of(each.owner)) for each in calls]
        return all(isinstance(each.node.func, ast.Attribute) and _runs_at_once(each) for each in calls) and all(
            each.name in asked | {fn.name} or self._initialises(each, asked | {fn.name}) for each in owners
        )

    def _builds_quietly(self, cls: ClassGraph, word: str, also: FunctionGraph | None = None) -> bool:
        """Whether the methods that build an object put nothing under a word that is not made there, and only build."""
        key = (cls, word, also)
        if key not in self._quiet:
            self._quiet[key] = True  # what leads back to itself is what else goes into it
            family, methods = self._knowledge.evaluator.family(cls), self._building(cls)
            methods += [also] if also is not None and also not in methods else []
            is_plain = not family.is_open and set(family.libraries) <= {"torch.nn.Module"}
            put = [each.value for method in methods for each in _own_stores(method, word)]
            is_told = is_plain if word == _ANY else bool(put)
            self._quiet[key] = (
                is_told and all(map(self._is_new, put)) and all(self._only_builds(each, word) for each in methods)
            )
        return self._quiet[key]

    def _only_builds(self, method: FunctionGraph, word: str) -> bool:
        parts = _parts_of(self._knowledge, method, self._own_parts(method, word), word)
        kept = (each for each in method.stores if each.value in parts and each.word not in _SIDE)
        if word != _ANY and any(
            each.word != word if _is_object(each.owner) else each.owner not in parts for each in kept
        ):
            return self._only_builds(method, _ANY)  # it has two names
        return not self._records(method, parts) and not self._takes_over(method, parts)

    def _building(self, cls: ClassGraph) -> list[FunctionGraph]:
        """Return the constructors of a class and its bases, and the methods that they speak of."""
        lineage = self._knowledge.evaluator.family(cls).lineage
        own = [method for each in lineage for method in each.methods.values()]
        found = [each for each in own if each.name == "__init__"]
        for method in found:  # which grows meanwhile
            words = {each.data for each in lower(method).nodes if each.op == g.ATTR}
            found += [each for each in own if each.name in words and each not in found]
        return found

    def _own_parts(self, method: FunctionGraph, word: str) -> frozenset[Node]:
        """Return the object of a method, and what the method puts under a word with what that is made of."""
        own, stored = _own(method), [each.value for each in _own_stores(method, word) if not self._is_plain(each.value)]
        made = (root.via or root.node for each in stored for root in self._roots.roots(each, (ANY_DEPTH,)))
        found = {*stored, *(each for each in made if each.fn is method and each.op == g.CALL)}
        return frozenset(found if own is None else {own, *found})

    def _takes_over(self, fn: FunctionGraph, parts: frozenset[Node], given: Node | None = None) -> bool:
        """Whether a function puts into parts of an object, or containers, what is not made there."""
        put = [
            each.value
            for each in lower(fn).stores
            if each.owner in parts and each.word not in _SIDE and not (_is_object(each.owner) and given is None)
        ]
        put += [
            node.ins[1]
            for node in fn.nodes
            if node.op in (g.GROW, g.SPREAD) and node.ins[0] in parts and node.data not in (g.OF_PART, g.OF_WHOLE)
        ]
        for call in (each for each in fn.calls if each.ins[0].op == g.ATTR):
            owner, word = call.ins[0].ins[0], call.ins[0].data
            if word in _ADDING and owner in parts and not (word in _REGISTERING and _is_object(owner)):
                put += call.arguments.all()
            if word == "load_state_dict" and len([*call.arguments.all()]) > 1:
                return True
        return not all(self._is_new(each, given) for each in put)

    # ------------------------------------------------------------------ what computes
    def _records(self, fn: FunctionGraph, parts: frozenset[Node], end: int | None = None) -> bool:
        """Whether a function may record a graph with a part of some objects, by its first nodes if a number is told."""
        edges, at = turned_edges(fn), len(fn.nodes) if end is None else end
        if any(each in edges.captured or each in edges.global_stores for each in parts):
            return True
        again = [last for first, last in fn.loops if first <= at < last]
        return any(
            node.op in _COMPUTING and self._computes(node, parts) and self._is_recorded(node)
            for node in _using(fn, parts)
            if node.index < max([at, *again])
        )

    def _is_recorded(self, node: Node) -> bool:
        """Whether a graph may be recorded there: what is no function of torch may turn grad mode on, or keep a part."""
        is_own = node.op == g.CALL and not all(each.startswith("torch.") for each in self._names(node.ins[0]) or [""])
        return is_own or bool(self._knowledge.mode(node) & ON)

    def _computes(self, node: Node, parts: frozenset[Node]) -> bool:
        """Whether a node may record a graph with a part, or hands one to what may."""
        if node.op == g.CALL:
            return self._calls(node, parts)
        used = [each for each in node.ins if each in parts and not self._is_plain(each)]
        if not used:
            return False
        if node.op == g.ATTR:
            return self._is_property(node)
        rows = 0 if node.op == g.OPERATION else a.MODULE  # a row of a tensor is a view, which is recorded
        return not self._claims.value(used[0]).must(_PLAIN | a.SEQUENCE | rows)

    def _method(self, node: Node) -> FunctionGraph | None:
        """Return the method of the object around that an attribute names."""
        cls = node.fn.cls if _is_object(node.ins[0]) else None
        return self._knowledge.evaluator.family(cls).method(str(node.data)) if cls is not None else None

    def _is_property(self, node: Node) -> bool:
        """Whether an attribute runs a method of the object, or hands it to others than ``apply``."""
        method = self._method(node)
        users = [each for each in turned_edges(node.fn).users.get(node, ()) if each.op != g.EFFECT]
        is_looked_at = all(each.op == g.CALL and (each.ins[0] is node or _applied(each) is node) for each in users)
        return method is not None and not (users and is_looked_at and PROPERTIES.isdisjoint(method.signs))

    def _calls(self, call: Node, parts: frozenset[Node]) -> bool:
        function = call.ins[0]
        given = [each for each in call.arguments.all() if each in parts and not self._is_plain(each)]
        if function.op == g.ATTR and function.ins[0] in parts:
            word = str(function.data)
            if word == "apply":
                return not self._starts_quietly(_applied(call))
            if self._method(function) is not None:
                return bool(given) or word in ("forward", "__call__")
            return word not in _QUIET and not (word.endswith("_") and self._knowledge.mode(call) & ON == 0)
        if function in parts or not given:
            return function in parts
        names = self._names(function)
        is_base = function.op == g.ATTR and function.data == "__init__" and all(map(_is_object, given))
        return not is_base and not (names and all(map(_is_quiet, names)))

    # ------------------------------------------------------------------ what is applied
    def _is_applied_to_new(self, node: Node, takes: Callable[[str], bool]) -> bool:
        """Whether a value is a part of what a function is given, and that is always new: ``net.apply(start)``."""
        fn = lower(node.fn)
        given = [each for each in fn.params.values() if each is not _own(fn)][:1]
        roots = self._roots.roots(node)
        if not given or not roots or not all(each.node is given[0] and each.sort == PARAMETER for each in roots):
            return False
        is_seen = _is_bare(fn) and (fn.cls is not None or (fn.parent is not None and fn.parent.is_module))
        if not is_seen or (fn.cls is None and takes(fn.name)) or not self._only_starts(fn, given[0], node):
            return False
        targets = list(_targets(fn))
        return bool(targets) and all(each is not None and self._is_new_here(*each, each[1].index) for each in targets)

    def _starts_quietly(self, applied: Node | None) -> bool:
        """Whether what is given to ``apply`` is a function that records nothing with the modules that it is given."""
        if applied is None:
            return False
        method = self._method(applied) if applied.op == g.ATTR else None
        known = self._knowledge.value(applied).references
        fns = [method] if method is not None else [getattr(each, "function", None) for each in known]
        if len(fns) != 1 or fns[0] is None:
            return False
        given = [each for each in lower(fns[0]).params.values() if each is not _own(fns[0])]
        return len(given) == 1 and _is_bare(fns[0]) and self._only_starts(fns[0], given[0], given[0])

    def _only_starts(self, fn: FunctionGraph, given: Node, node: Node) -> bool:
        """Whether a function records no graph with what it is given and puts nothing into it; ``node`` is a part."""
        parts = _parts_of(self._knowledge, fn, frozenset((given,)))
        if fn not in self._starting:
            self._starting[fn] = True  # it may apply itself
            self._starting[fn] = not self._records(fn, parts) and not self._takes_over(fn, parts, given)
        return self._starting[fn] and node in parts


def _targets(fn: FunctionGraph) -> Iterator[tuple[Node, Node] | None]:
    """Yield what a function is applied to, or called with, and the call; None for another use of its name."""
    file, targets = fn.file, list[tuple[ast.expr, ast.expr] | None]()
    for mention in file.mentions.get(fn.name, ()):
        match mention.node:
            case ast.Call(func=ast.Attribute(value=target, attr="apply"), args=[_]) if _runs_at_once(mention):
                targets.append((target, mention.node))
            case _:
                targets.append(None)
    for call in file.calls.get(fn.name, ()):
        if call.owner is not fn.tree:
            targets.append((call.node.args[0], call.node) if call.node.args and _runs_at_once(call) else None)
    for each in targets:
        node, place = (file.node_of(each[0]), file.node_of(each[1])) if each is not None else (None, None)
        yield (node, place) if node is not None and place is not None else None


def _runs_at_once(written: WrittenCall | Mention) -> bool:
    """Whether what a file writes runs where it stands, in no generator."""
    later = (each for each in ast.walk(written.owner) if isinstance(each, ast.GeneratorExp))
    return not any(written.node is each for generator in later for each in ast.walk(generator))


def _applied(call: Node) -> Node | None:
    """Return what a call gives to ``apply``."""
    given = call.arguments.positional
    is_apply = call.ins[0].op == g.ATTR and call.ins[0].data == "apply" and len(given) == 1
    return given[0] if is_apply else None


def _own_stores(method: FunctionGraph, word: str = _ANY) -> list[AttributeStore]:
    """Return what a method puts into its object under a word, or may."""
    own = (each for each in lower(method).stores if _is_object(each.owner))
    return [each for each in own if word in (_ANY, each.word) or each.word in _STORES]


def _parts_of(
    knowledge: CallKnowledge, fn: FunctionGraph, starts: frozenset[Node], word: str = _ANY
) -> frozenset[Node]:
    """Return what may be some objects, a part of them, or a container that holds one; of the own object one word."""
    found = set(starts)
    found.update(each for each in lower(fn).calls if each.arguments.spelled == "super")
    todo = list(found)
    while todo:
        for each in _using(fn, (todo.pop(),)):
            is_own = word != _ANY and each.op == g.ATTR and _is_object(each.ins[0])
            is_other = is_own and each.data not in (word, *_STORES)
            if each not in found and not is_other and _is_part(knowledge, each, found):
                found.add(each)
                todo.append(each)
    return frozenset(found)


def _using(fn: FunctionGraph, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield who uses some nodes, and the calls of their methods; some of them again."""
    users = turned_edges(fn).users
    for node in nodes:
        for each in users.get(node, ()):
            yield each
            yield from users.get(each, ()) if each.op == g.ATTR else ()


def _is_part(knowledge: CallKnowledge, node: Node, parts: set[Node]) -> bool:
    if node.op == g.CALL:
        function = node.ins[0]
        if function.op == g.ATTR and function.ins[0] in parts:
            return function.data in _GIVING
        names = [each.name for each in knowledge.value(function).references if isinstance(each, LibraryRef)]
        return any(each in parts for each in node.arguments.all()) and all(
            name.startswith(("torch.nn.", *_OF_PYTHON)) or name.removeprefix("builtins.") in _HANDING_ON
            for name in names or [""]
        )
    if node.op == g.ATTR and (node.data in _SIDE or str(node.data).startswith("__")):
        return False
    is_version = node.op in _VERSIONS and node.ins[0] in parts
    return is_version or (node.op in _JOINS and any(each in parts for each in node.ins))


def _is_setting(node: Node) -> bool:
    """Whether a value is computed from what a program is told alone, and numbers."""
    if node.op in (g.ATTR, g.INDEX, g.OPERATION):
        return all(map(_is_setting, node.ins))
    word = node.data.word if isinstance(node.data, FormalParameter) else node.data
    return node.op == g.CONST or (node.op in (g.GLOBAL, g.PARAM) and is_settings(str(word)))


def _word(root: MemoryRoot) -> str:
    """Return the attribute of an object in which memory lies; _ANY where it may be any."""
    step = str(root.path[0]) if root.path else ""
    return step[1:] if step[:1] == "." and step[1:] not in _LISTING else _ANY


def _own(fn: FunctionGraph) -> Node | None:
    """Return the object of a method."""
    return next(iter(lower(fn).params.values()), None) if fn.takes_object else None


def _is_object(node: Node) -> bool:
    """Whether a node is the object of its method, however it was changed since."""
    return node.fn.takes_object and is_own_object(node, node.fn)


def _is_bare(fn: FunctionGraph) -> bool:
    """Whether a call runs a function to its end, and no decorator but torch's own stands before it."""
    is_decorated = fn.decorated is not None or not fn.signs <= {"no_grad", "inference_mode", "enable_grad"}
    return not (is_decorated or fn.yields or fn.is_async or fn.is_lambda)


def _is_quiet(name: str) -> bool:
    """Whether a function or class of a library records no graph with what it is given."""
    is_class = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
    is_known = name in FACTORIES or name.startswith(("torch.nn.init.", *_OF_PYTHON))
    return is_class or is_known or name.removeprefix("builtins.") in _LOOKING | _HANDING_ON


def _is_layer(name: str) -> bool:
    """Whether a name is one of torch's layers that make their parameters at once."""
    word = name.rpartition(".")[2]
    is_class = name.startswith("torch.nn.") and word[:1].isupper() and word not in _HOLDERS
    return is_class and not word.endswith("Loss") and not word.startswith(("Lazy", "Uninitialized"))


def _makes_by_name(name: str, call: Node) -> bool:
    """Whether a function or class of a library makes memory that is its own; those that hold what they are given do."""
    word, given = name.rpartition(".")[2], call.arguments
    if name.startswith("torch.nn.") and word[:1].isupper():
        is_plain = not given.spread and not any("weight" in each or "custom" in each for each in given.keywords)
        is_plain = is_plain and len(given.positional) <= _MOST_NUMBERS and not given.starred
        return word in _HOLDERS or (_is_layer(name) and is_plain)
    if name in FACTORIES:
        return word not in _TAKING_OVER
    if name.startswith("torch.") and word.endswith("Tensor"):  # of one tensor, a legacy class makes an alias
        return len(given.positional) > 1
    return name == "copy.deepcopy" or name.startswith(_OF_PYTHON) or name.removeprefix("builtins.") in _HANDING_ON
