"""Whether all that an expression gives was made where it stands: no module, parameter or tensor that somebody keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from torchlint.rules.api import (
    FUNCTIONS,
    LEGACY_DTYPES,
    MODEL_WORD,
    FileContext,
    Function,
    Kind,
    arguments_of,
    is_settings,
    leaf,
    methods_of,
    operations,
    parameters,
)
from torchlint.rules.evidence.called_definitions import (
    PLAIN,
    Arguments,
    Building,
    Definitions,
    Frame,
    bind,
    constructor,
    has_plain_default,
    is_counted_with,
    is_self,
    named_parameters,
    names_layer,
    shared_names,
    stores,
)
from torchlint.rules.evidence.class_members import copies_are_new, defines_for_all, may_be_computed
from torchlint.rules.evidence.layer_arguments import kept_by_layer
from torchlint.rules.evidence.object_attributes import Setting, in_force, put_into, settings

_COPYING = frozenset({"torch.tensor", "torch.from_numpy"})
"""Functions whose result is new, whatever they are given."""
_NUMBERS = frozenset(
    f"builtins.{word}" for word in "len int float str bool range round abs isinstance hasattr id repr ord type".split()
)
"""Functions that give a number or a text, whatever they are given."""
_CHOOSING = frozenset({"choice", "choices", "sample"})
"""Functions of ``random`` that hand out members of what they are given; all others give numbers."""
_NUMBERS_OF_NUMPY = frozenset(
    "abs arange ceil cos empty exp eye fabs floor hypot identity linspace load loadtxt log log10 log1p log2 logspace "
    "mean normal ones pow power prod product rand randint randn random random_sample round sin sqrt standard_normal "
    "std sum tan tanh tri truncnorm uniform var zeros".split()
)
"""Functions of NumPy that compute or draw numbers; others may hand out what they are given, in an array of objects."""
_LIBRARIES = frozenset({"torch", "torchvision", "builtins", "collections", "numpy", "random"})
"""Packages whose functions give what is new, or what they were given."""
_UNTOLD = frozenset(
    f"builtins.{word}"
    for word in ("__import__", "eval", "exec", "getattr", "globals", "locals", "map", "next", "super", "vars")
)
"""Functions that give what somebody else keeps."""


def kept_arguments(names: frozenset[str], node: ast.Call) -> tuple[ast.expr, ...] | None:
    """Return the arguments that may live on in what a call gives, the function known by name.

    None where nothing is known of the function: it may hand out what it keeps somewhere.
    """
    given = tuple(arguments_of(node))
    if names_layer(names):
        return kept_by_layer(names, node.args, node.keywords)
    if names <= _COPYING or all(map(_gives_numbers, names)):
        return ()
    if all(each in operations().factories for each in names):
        return tuple(each.value for each in node.keywords if each.arg == "out")
    if all(leaf(each) in LEGACY_DTYPES or leaf(each) == "Tensor" for each in names):
        copied = len(node.args) > 1 or all(isinstance(each, ast.List | ast.Tuple) for each in given)
        return () if copied else given
    if "copy.copy" in names or names & _UNTOLD or not all(each.partition(".")[0] in _LIBRARIES for each in names):
        return None
    return given


def _gives_numbers(name: str) -> bool:
    """Whether a function gives numbers, an array of numbers or a text, and none of what it is given."""
    package, word = name.partition(".")[0], leaf(name)
    if package == "numpy":
        return word in _NUMBERS_OF_NUMPY
    return name in _NUMBERS or package == "math" or (package == "random" and word not in _CHOOSING)


_PARTS = frozenset(
    "modules parameters named_parameters named_modules children named_children buffers named_buffers state_dict values "
    "items keys to cuda cpu float double half train eval apply requires_grad_ type xpu".split()
)
"""Methods that give what a module or a container holds, or itself."""
_BARE = frozenset({"Module", "object", "ABC"})
"""Base classes that put nothing into an object."""
_HOOKS = frozenset({"__new__", "__setattr__", "__getattr__", "__getattribute__"})
_GIVING = frozenset({"__getitem__", "__iter__", "__next__"})
_LONGEST = 5
"""Classes of the file that derive from each other, at most."""
_DEEPEST = 60
"""Expressions that are made of each other, at most."""
_MOST = 4_000
"""Expressions that are looked at for one question: beyond, the answer is no."""


class Judge:
    """Follows expressions of one file to what they are made of."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.definitions = Definitions(context)
        self._left, self._depth = _MOST, 0
        self.is_shared = True
        """Whether memory is asked about, which torch keeps of a tensor that it is given; else modules and parameters.

        A parameter with a number for a default may be handed a tensor, but hardly a module.
        """
        self._asked: set[tuple[Frame, str, bool]] = set()
        """Names that are looked into: a name that is made of itself adds nothing."""
        self.made: list[Made] = []
        self.classes: set[ast.ClassDef] = set()
        """Classes of the file whose objects were met."""
        self._has_any_class = False
        """Whether an object was met whose class is not known."""

    def close(self) -> None:
        """Let go of all objects that were followed: they and their frames refer to each other in circles."""
        for each in self.made:
            vars(each).clear()
        self.made.clear()

    def is_new(self, node: ast.expr | None, frame: Frame) -> bool:
        """Whether all modules and tensors in what an expression gives were made for it, or there are none."""
        self._left -= 1
        if node is None or self._left < 0 or self._depth > _DEEPEST:
            return False
        self._depth += 1
        found = self._is_new(node, frame)
        self._depth -= 1
        return found

    def _is_new(self, node: ast.expr, frame: Frame) -> bool:
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda | ast.Compare):
            return True
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._is_new_path(node, frame) or self._is_plain(node, frame)
        if isinstance(node, ast.Call):
            return self._is_new_call(node, frame)
        return self._are_new_parts(node, frame)

    def _are_new_parts(self, node: ast.expr, frame: Frame) -> bool:
        """Whether all that an operator, a choice or a display puts together was made here."""
        match node:
            case ast.BinOp(left=left, right=right):
                with self.asking(is_shared=False):  # the result has a memory of its own
                    return self._all((left, right), frame)
            case ast.UnaryOp(operand=inner) | ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                return self.is_new(inner, frame)
            case ast.IfExp(body=one, orelse=other):
                return self._all((one, other), frame)
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._all(parts, frame)
            case ast.Dict(values=parts):
                return self._all(parts, frame)
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
                return self.is_new(part, frame)
            case ast.DictComp(value=part):
                return self.is_new(part, frame)
        return False

    @contextmanager
    def asking(self, *, is_shared: bool) -> Iterator[None]:
        """Ask about the memory of tensors from here on, or about what holds tensors and modules only."""
        before, self.is_shared = self.is_shared, is_shared
        try:
            yield
        finally:
            self.is_shared = before

    def _all_kept(self, nodes: tuple[ast.expr, ...], frame: Frame) -> bool:
        """Whether what torch keeps of some arguments is new."""
        with self.asking(is_shared=True):
            return self._all(nodes, frame)

    def _all(self, nodes: tuple[ast.expr, ...] | list[ast.expr], frame: Frame) -> bool:
        return all(self.is_new(each, frame) for each in nodes)

    # ------------------------------------------------------------------ names and attributes
    def _is_new_path(self, node: ast.expr, frame: Frame) -> bool:
        if isinstance(node, ast.Name):
            return self._is_new_name(node, frame)
        if isinstance(node, ast.Attribute | ast.Subscript):
            inner = node.value
            this = frame.this
            if this is not None and isinstance(node, ast.Attribute) and is_self(inner, frame):
                return this.owns(node.attr)
            word = node.attr if isinstance(node, ast.Attribute) else ""
            is_part = not self.context.names(node) and not is_self(inner, frame)
            return is_part and self._is_new_object(inner, frame) and not self._is_answered(word)
        return False

    def _is_answered(self, word: str) -> bool:
        """Whether the class of an object that was met may give something of its own by a name, such as a property."""
        if self._has_any_class and may_be_computed(word, self.context):
            return True
        return any(defines_for_all(each, word) for each in self.classes)

    def _is_new_object(self, node: ast.expr, frame: Frame) -> bool:
        """Whether an object is new and one whose parts are its own: a record of settings may hold what others made."""
        plain = isinstance(node, ast.Name | ast.Attribute) and self._is_plain(node, frame)
        return self.is_new(node, frame) and not plain

    def _is_new_name(self, node: ast.Name, frame: Frame) -> bool:
        """Whether all that a name may stand for was made here."""
        if node.id in frame.trusted:
            self._has_any_class = True
            return True
        if not isinstance(frame.function, FUNCTIONS):
            return False
        given = node.id in frame.given
        if given and not self.is_new(*frame.given[node.id]):
            return False
        if not given and (node.id in parameters(frame.function) or not stores(node.id, frame.function, self.context)):
            return False
        if node.id in shared_names(frame.function, self.context):
            return False
        asked = (frame, node.id, self.is_shared)
        if asked in self._asked:
            return True
        self._asked.add(asked)
        origins = list(self.origins(node.id, frame))
        found = (given or bool(origins)) and all(self.is_new(each, frame) for each in origins)
        self._asked.discard(asked)
        return found

    def origins(self, word: str, frame: Frame) -> Iterator[ast.expr | None]:
        """Yield all that a local name is bound to, and what is put into it; None for what is not understood."""
        yield from stores(word, frame.function, self.context)
        for node in self.context.within(frame.function):
            yield from (each.value for each in put_into(word, node))

    def _is_plain(self, node: ast.expr, frame: Frame) -> bool:
        """Whether an expression gives a number, a text, a class, a function or settings."""
        known = self.context.value(node)
        if known.kind and (known.must(PLAIN) or (bool(known.names) and known.must(Kind.OTHER))):
            return True
        match node:
            case ast.Name(id=word):
                if word in frame.given and self._is_plain(*frame.given[word]):
                    return True
                if self._is_plain_parameter(word, frame) or self._is_counted(node, frame):
                    return True
                return self.definitions.classes(node, frame) is not None
            case ast.Attribute(value=inner, attr=word):
                if isinstance(inner, ast.Name) and is_settings(inner.id) and not MODEL_WORD.search(word):
                    return not self.is_shared and inner.id in (frame.given.keys() | named_parameters(frame.function))
                return self._is_counted(node, frame)
        return False

    def _is_plain_parameter(self, word: str, frame: Frame) -> bool:
        function = frame.function
        if not isinstance(function, FUNCTIONS) or word not in named_parameters(function):
            return False
        if word in frame.given:
            return False
        if self.definitions.are_given_numbers(word, frame):
            return True
        if self.is_shared:  # a default tells what others may hand over, and nothing of what they do
            return False
        return is_settings(word) or (has_plain_default(function, word) and not MODEL_WORD.search(word))

    def _is_counted(self, node: ast.expr, frame: Frame) -> bool:
        """Whether the function, or the class for an attribute, uses an expression as a number."""
        around: ast.AST = frame.function
        if isinstance(node, ast.Attribute):
            if frame.this is None or not is_self(node.value, frame):
                return False
            around = frame.this.owner
        return is_counted_with(ast.unparse(node), around, self.context)

    # ------------------------------------------------------------------ calls
    def _is_new_call(self, node: ast.Call, frame: Frame) -> bool:
        """Whether the result of a call was made here: by torch, by a class or a function of the file."""
        names = self.context.names(node.func)
        kept = self._kept_arguments(names, node) if names else None
        if kept is not None:
            return self._all_kept(kept, frame)
        if self._all_classes_make_new(node, frame):
            return True
        function = self.definitions.function(node.func, frame)
        if function is not None:
            return self._returns_new(*function, node, frame)
        match node.func:
            case ast.Attribute(value=receiver, attr=word) if frame.this is not None and is_self(receiver, frame):
                return word in _PARTS and frame.this.is_all_new
            case ast.Attribute(value=receiver, attr=word) if not names:
                is_part = word in _PARTS or word in operations().methods
                return is_part and self._is_new_object(receiver, frame) and not self._is_answered(word)
        return False

    def _kept_arguments(self, names: frozenset[str], node: ast.Call) -> tuple[ast.expr, ...] | None:
        """Return the arguments that may live on in what a call gives; of a deep copy, what a class may hand out."""
        if names == {"copy.deepcopy"}:
            self._has_any_class = True
            is_plain = len(node.args) == 1 and not node.keywords  # else a memo says what is no copy
            return () if is_plain and copies_are_new(self.context.tree, self.context) else tuple(node.args)
        return kept_arguments(names, node)

    def keeps_new(self, call: ast.Call, names: frozenset[str], start: Frame) -> bool:
        """Whether a constructor of torch's, called by that of a class below it, is given nothing old to keep."""
        given = [each for each in call.args if not is_self(each, start)]
        if names_layer(names):
            return self._all_kept(kept_by_layer(names, given, call.keywords), start)
        return self._all_kept((*given, *(each.value for each in call.keywords)), start)

    def _all_classes_make_new(self, node: ast.Call, frame: Frame) -> bool:
        classes = self.definitions.classes(node.func, frame)
        return bool(classes) and all(
            self._all_kept(kept_by_layer(each, node.args, node.keywords), frame)
            if isinstance(each, frozenset)
            else Made.by(self, each, node, frame).is_all_new
            for each in classes or ()
        )

    def _returns_new(self, function: Function, this: Building | None, node: ast.Call, frame: Frame) -> bool:
        bound = bind(node, function, method=this is not None)
        inside = Frame(function, this, {word: (each, frame) for word, each in bound.items()})
        return not self.context.own(function, ast.Yield) and self.gives_new(function, inside)

    def gives_new(self, function: Function, inside: Frame) -> bool:
        """Whether all that a function returns or yields is new."""
        given: list[ast.Return | ast.Yield] = [*self.context.own(function, ast.Return)]
        given += self.context.own(function, ast.Yield)
        return bool(given) and all(self.is_new(each.value, inside) for each in given if each.value is not None)


def _named_attributes(scope: ast.AST, context: FileContext) -> frozenset[str]:
    """Return the attributes that a function names."""
    key = (_named_attributes, scope)
    return context.answer(key, lambda: frozenset(each.attr for each in context.inside(scope, ast.Attribute)))


def _calls_of_constructors(scope: ast.AST, context: FileContext) -> list[ast.Call]:
    """Return where a function calls an ``__init__``."""

    def find() -> list[ast.Call]:
        calls = context.own(scope, ast.Call)
        return [each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr == "__init__"]

    return context.answer((_calls_of_constructors, scope), find)


class Made:
    """An object of a class of this file while it is built: what the arguments are, and so what its parts are."""

    def __init__(self, judge: Judge, owner: ast.ClassDef, given: Arguments, until: ast.expr | None = None) -> None:
        judge.made.append(self)
        self.judge, self.owner, self.until = judge, owner, until
        """A write before which everything counts that may have happened."""
        self.line: list[ast.ClassDef] = []
        """The class, and those of the file that it derives from."""
        self.is_closed = True
        """Whether all its other bases are torch's own."""
        self._frames: list[Frame] = []
        self._known: dict[tuple[str | None, bool], bool] = {}
        self._open = False
        self._add(owner, given)
        self._add_methods()
        self._open |= any(isinstance(each, FUNCTIONS) and each.name in _HOOKS for one in self.line for each in one.body)

    @classmethod
    def by(cls, judge: Judge, owner: ast.ClassDef, node: ast.Call, frame: Frame) -> Made:
        """Return what a call of a class makes."""
        start = constructor(owner)
        bound = bind(node, start, method=True) if start is not None else {}
        made = cls(judge, owner, {word: (each, frame) for word, each in bound.items()})
        judge.classes.update(made.line)
        if start is None:  # a base class keeps what it likes of the arguments
            given = arguments_of(node)
            made._open |= not all(judge.is_new(each, frame) for each in given)
        return made

    def _add(self, owner: ast.ClassDef, given: Arguments) -> None:
        if owner in self.line or len(self.line) > _LONGEST:
            self.is_closed = False
            return
        self.line.append(owner)
        self.is_closed &= not (owner.decorator_list or owner.keywords)
        start = constructor(owner)
        frame = Frame(start, self, given) if start is not None else None
        if frame is not None:
            self._frames.append(frame)
        for base in owner.bases:
            self._add_base(base, frame, given)

    def _add_base(self, base: ast.expr, start: Frame | None, given: Arguments) -> None:
        """Look at a base class with what the constructor hands to it, or with all that it is given itself."""
        judge = self.judge
        calls = _calls_of_constructors(start.function, judge.context) if start is not None else []
        here = judge.definitions.class_here(base)
        if here is not None:
            first = constructor(here)
            if start is not None and first is not None:
                bound = bind(calls[0], first, method=True) if len(calls) == 1 else {}
                given = {word: (each, start) for word, each in bound.items()}
            self._add(here, given)
            return
        names = judge.context.value(base).names
        if not names or not all(each.startswith("torch.nn.") or leaf(each) in _BARE for each in names):
            self.is_closed = False
        elif start is not None:
            self._open |= not all(judge.keeps_new(each, names, start) for each in calls)

    def _add_methods(self) -> None:
        """Add the methods that the constructors run, and those that these name, and so on."""
        context = self.judge.context
        known = {frame.function for frame in self._frames}
        for frame in self._frames:  # which grows meanwhile
            words = _named_attributes(frame.function, context)
            for owner in self.line:
                for each in owner.body:
                    if isinstance(each, FUNCTIONS) and each.name in words and each not in known:
                        known.add(each)
                        self._frames.append(Frame(each, self))

    @property
    def is_all_new(self) -> bool:
        """Whether nothing in the object was made elsewhere."""
        with self.judge.asking(is_shared=False):
            return self.is_closed and not self._open and self._is_new(None) and self._gives_new

    @property
    def _gives_new(self) -> bool:
        """Whether what its classes give where it is indexed or walked over was made for it."""
        every = (each for one in self.line for each in methods_of(one))
        return all(self.judge.gives_new(each, Frame(each, self)) for each in every if each.name in _GIVING)

    def owns(self, word: str) -> bool:
        """Whether an attribute holds only what was made for the object."""
        return not self._open and self._is_new(word)

    def _is_new(self, word: str | None) -> bool:
        asked = (word, self.judge.is_shared)
        if asked not in self._known:
            self._known[asked] = True  # while it is asked: a part that is made of itself adds nothing
            self._known[asked] = self._settle(word)
        return self._known[asked]

    def _settle(self, word: str | None) -> bool:
        found = list(self._settings(word))
        if word is not None:
            if any(defines_for_all(each, word) for each in self.line):
                return False
            if not any(each.whole and each.word == word for each, _ in found):
                return self._is_of_layer(word)
        return all(self.judge.is_new(each.value, frame) or self._is_counted(each) for each, frame in found)

    def _is_counted(self, setting: Setting) -> bool:
        """Whether an attribute is used as a number all over the class."""
        code = f"self.{setting.word}"
        judge = self.judge
        return setting.whole and any(is_counted_with(code, each, judge.context) for each in self.line)

    def values(self, word: str) -> Iterator[tuple[ast.expr | None, Frame]]:
        """Return what an attribute is set to, each with the place where it is written."""
        return ((each.value, frame) for each, frame in self._settings(word))

    def _settings(self, word: str | None) -> Iterator[tuple[Setting, Frame]]:
        for frame in self._frames:
            assert isinstance(frame.function, FUNCTIONS)
            every = settings(frame.function, self.judge.context)
            found = [each for each in every if word is None or each.word in (None, word)]
            found = [each for each in found if each.at is not self.until]  # what is asked about puts nothing there
            if self.until is not None and frame.function is self.judge.context.function_around(self.until):
                found = in_force(found, word, self.until, self.judge.context)
            yield from ((each, frame) for each in found)

    def _is_of_layer(self, word: str) -> bool:
        """Whether a layer of torch that the class derives from has made the attribute: ``self.weight``."""
        names = [self.judge.context.value(base).names for each in self.line for base in each.bases]
        methods = {each.name for owner in self.line for each in methods_of(owner)}
        return word not in methods and self.is_closed and any(names_layer(each) for each in names)
