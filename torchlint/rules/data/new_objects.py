"""Whether an expression gives what was made right there, in sight: a layer, a parameter, a container of such.

What was passed in, found in a global or given by code that is not in the file may be in use already, and a graph may
hold it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.rules.api import (
    GIVING_ITSELF,
    GRAD_MODES,
    LEGACY_DTYPES,
    FileContext,
    Function,
    Kind,
    arguments_of,
    decorators_of,
    first_parameter,
    is_settings,
    leaf,
    methods_of,
    operations,
    root_of_place,
)
from torchlint.rules.evidence.called_definitions import definition, has_plain_default
from torchlint.rules.evidence.local_bindings import bindings_of
from torchlint.rules.evidence.object_attributes import Setting, path_word, put_into, settings

ANY = ""
"""Stands for all attributes of an object."""
PLAIN = Kind.INTEGER | Kind.SCALAR | Kind.STRING | Kind.NONE | Kind.SIZE | Kind.DEVICE | Kind.DTYPE | Kind.ARRAY
"""What holds no module and no tensor."""
_HOLDERS = frozenset(
    "Sequential ModuleList ModuleDict ParameterList ParameterDict Parameter Buffer DataParallel "
    "DistributedDataParallel OrderedDict deque list tuple "
    "dict zip enumerate range len int float str max min".split()
)
"""What keeps or hands on what it is given; other classes of ``torch.nn``, losses left out, make parameters."""
_TAKING_OVER = frozenset({"as_tensor", "asarray", "from_dlpack", "from_file", "frombuffer", "sparse_coo_tensor"})
_LATER = ("Lazy", "Uninitialized")
"""How names begin of what gets its parameters by its first call: ``nn.init`` raises before."""
_MOST_NUMBERS = 6
"""A layer that may keep a weight takes it behind this many arguments, or by name."""
_PARTS = ("elts", "values", "body", "orelse", "left", "right", "elt", "value", "operand")
_JOINING = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.GeneratorExp, ast.IfExp, ast.BinOp, ast.BoolOp)


class NewObjects:
    """One question: what leads back to itself is what else goes into it.

    ``trusted`` says that what the function around is given is new: its caller was looked at.
    """

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._asked: set[tuple[ast.AST, str, bool]] = set()

    def are_new(self, owner: ast.ClassDef, word: str, methods: list[Function], trusted: bool = False) -> bool:
        """Whether all that some methods put into an attribute of their object, or into any, is made there."""
        if (owner, word, trusted) in self._asked:
            return True
        self._asked.add((owner, word, trusted))
        found = [each for method in methods for each in settings(method, self._context)]
        found = [each for each in found if word == ANY or each.word in (word, None)]
        if not all(self._is_put_in_new(each, trusted) for each in found) or not (found or word == ANY):
            return False
        return all(self.is_new(each, trusted) for method in methods for each in self._tied(method))

    def takes_over(self, function: Function) -> bool:
        """Whether a function may put something into objects that is not made there: ``m.weight = shared``."""
        found = [each.value for each in settings(function, self._context) if each.value is not None]
        return not all(self.is_new(each) for each in (*found, *self._tied(function)))

    def _tied(self, method: Function) -> Iterator[ast.expr]:
        """Yield what a method makes a part of another object than its own: ``fc.weight = other.weight``."""
        for node in self._context.inside(method, ast.Assign, ast.Call):
            match node:
                case ast.Assign(targets=[ast.Attribute(attr=word) as target], value=value):
                    if word != "data" and path_word(target, first_parameter(method)) is None:
                        yield value
                case ast.Call(func=ast.Name(id="setattr"), args=[_, _, value]):
                    yield value

    def _is_put_in_new(self, setting: Setting, trusted: bool) -> bool:
        return setting.value is not None and self.is_new(setting.value, trusted)

    def is_new(self, node: ast.expr, trusted: bool = False) -> bool:
        """Whether an expression gives nothing but what is made there, numbers, texts and classes."""
        if (node, ANY, trusted) in self._asked or self._context.value(node).must(PLAIN):
            return True
        self._asked.add((node, ANY, trusted))
        match node:
            case ast.Name():
                return self._is_new_name(node, trusted)
            case ast.Attribute():
                return self._is_new_attribute(node, trusted)
            case ast.Call():
                return self._makes(node, trusted)
        parts = [getattr(node, field, None) for field in _PARTS]
        several = [each for part in parts for each in (part if isinstance(part, list) else [part]) if each is not None]
        is_view = isinstance(node, ast.Subscript) and self._context.value(node.value).must(Kind.TENSOR)
        is_joined = isinstance(node, (*_JOINING, ast.Starred, ast.Subscript, ast.UnaryOp)) and not is_view
        return isinstance(node, ast.Compare | ast.JoinedStr) or (
            is_joined and all(self.is_new(each, trusted) for each in several)
        )

    def _is_new_name(self, name: ast.Name, trusted: bool) -> bool:
        function, bound = self._context.function_around(name), bindings_of(name, self._context)
        scope = self._context.scope_that_binds(name)
        if is_settings(name.id) or self._is_class(name):
            return True
        if function is None or (scope is not None and scope is not function):
            return False
        if not bound:
            return trusted or self._is_counted(name, function)
        put_in = [each for node in self._context.within(function) for each in put_into(name.id, node)]
        return all(self.is_new(each.value, trusted) for each in bound) and all(
            self._is_put_in_new(each, trusted) for each in put_in
        )

    def _is_new_attribute(self, node: ast.Attribute, trusted: bool) -> bool:
        """Whether a part of the object itself is new, such as the weight of two layers, or it is no part."""
        function = self._context.function_around(node)
        owner = self._context.parent(function) if function is not None else None
        word = path_word(node, first_parameter(function)) if function is not None else None
        if word is not None and isinstance(owner, ast.ClassDef):
            return self.are_new(owner, word, building_methods(owner, self._context), trusted)
        root = root_of_place(node)
        return self._is_class(node) or (isinstance(root, ast.Name) and self.is_new(root, trusted))

    # ------------------------------------------------------------------ calls
    def _makes(self, call: ast.Call, trusted: bool) -> bool:
        names = self._context.names(call.func)
        if names and all(is_layer(each) for each in names):
            words = [each.arg for each in call.keywords]
            is_plain = not any(word is None or "weight" in word for word in words)
            return is_plain and len(call.args) <= _MOST_NUMBERS and not any(map(_is_starred, call.args))
        if names == {"copy.deepcopy"} or (names and all(self._makes_a_tensor(each, call, trusted) for each in names)):
            return True
        given = arguments_of(call)
        if not all(self.is_new(each, trusted) for each in given) or (
            names == {"torch.nn.Parameter"} and not isinstance(given[0], ast.Call | ast.BinOp | ast.Name)
        ):
            return False
        if names and all(leaf(each) in _HOLDERS or each.startswith(("math.", "numpy.")) for each in names):
            return True
        match call.func:
            case ast.Attribute(value=receiver, attr=word) if word in operations().methods | GIVING_ITSELF:
                if self._context.value(receiver).must(Kind.TENSOR | Kind.MODULE):
                    return self.is_new(receiver, trusted)
        return self._runs(call.func)

    def _makes_a_tensor(self, name: str, call: ast.Call, trusted: bool) -> bool:
        """Whether a function of torch makes a tensor with memory of its own; of one tensor, a class makes an alias."""
        word = leaf(name)
        if name in operations().factories:
            return word not in _TAKING_OVER
        is_legacy = name.startswith("torch.") and word in {*LEGACY_DTYPES, "Tensor"}
        return is_legacy and (len(call.args) > 1 or all(self.is_new(each, trusted) for each in call.args))

    def _runs(self, called: ast.expr) -> bool:
        """Whether what is called is a class, a function or a method of the file that makes what it gives."""
        found = self._definition(called)
        if isinstance(found, ast.ClassDef):
            methods = building_methods(found, self._context)
            return is_in_sight(found, self._context) and self.are_new(found, ANY, methods, trusted=True)
        if not isinstance(found, ast.FunctionDef) or not is_bare(found, self._context):
            return False
        results = [each.value for each in self._context.own(found, ast.Return) if each.value is not None]
        return bool(results) and all(self.is_new(each, trusted=True) for each in results)

    def _definition(self, called: ast.expr) -> Function | ast.ClassDef | None:
        match called:
            case ast.Name():
                return definition(called, self._context)
            case ast.Attribute(value=ast.Name(), attr=word):
                function = self._context.function_around(called)
                owner = self._context.parent(function) if function is not None else None
                own = methods_of(owner) if isinstance(owner, ast.ClassDef) else []
                return next((each for each in own if each.name == word), None)
        return None

    def _is_class(self, node: ast.expr) -> bool:
        """Whether an expression names a class or a function, of torch or of the file."""
        is_here = isinstance(node, ast.Name) and definition(node, self._context) is not None
        return is_here or any(map(is_layer, self._context.names(node)))

    def _is_counted(self, name: ast.Name, function: Function) -> bool:
        """Whether a parameter is a number or a text: by its default, or because it is the size of a layer of torch."""
        if has_plain_default(function, name.id):
            return True
        calls = self._context.inside(function, ast.Call)
        layers = (call for call in calls if any(map(_is_sized, self._context.names(call.func))))
        sizes = (each for call in layers for each in call.args)
        return any(isinstance(each, ast.Name) and each.id == name.id for each in sizes)


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def is_layer(name: str) -> bool:
    """Whether a name is one of torch's layers that make their own parameters; those of lazy ones are not there yet."""
    word = leaf(name)
    is_class = name.startswith("torch.nn.") and word[:1].isupper()
    return is_class and word not in _HOLDERS and not word.endswith("Loss") and not word.startswith(_LATER)


def _is_sized(name: str) -> bool:
    """Whether a layer of torch is given numbers; a transformer takes layers, too."""
    return is_layer(name) and not leaf(name).startswith("Transformer")


def is_bare(function: Function, context: FileContext) -> bool:
    """Whether a call runs a function to its end, and no decorator but torch's own stands before it."""
    known = all((names := context.names(each)) and names <= GRAD_MODES for each in decorators_of(function))
    return known and isinstance(function, ast.FunctionDef) and not context.own(function, ast.Yield, ast.YieldFrom)


def lineage(owner: ast.ClassDef, context: FileContext) -> list[ast.ClassDef]:
    """Return a class and those of the file that it derives from."""
    found = [owner]
    for each in found:  # which grows meanwhile
        above = (definition(base, context) for base in each.bases if isinstance(base, ast.Name))
        found += [one for one in above if isinstance(one, ast.ClassDef) and one not in found]
    return found


def is_in_sight(owner: ast.ClassDef, context: FileContext) -> bool:
    """Whether a class derives from nothing but classes of the file and ``nn.Module``."""
    bases = [base for each in lineage(owner, context) for base in each.bases]
    return all(
        context.names(base) == {"torch.nn.Module"}
        or (isinstance(base, ast.Name) and isinstance(definition(base, context), ast.ClassDef))
        for base in bases
    )


def building_methods(owner: ast.ClassDef, context: FileContext) -> list[Function]:
    """Return the constructors of a class and of those above, and the methods that they mention."""
    own = [each for one in lineage(owner, context) for each in methods_of(one)]
    found = [each for each in own if each.name == "__init__"]
    for method in found:  # which grows meanwhile
        words = {each.attr for each in context.inside(method, ast.Attribute)}
        found += [each for each in own if each.name in words and each not in found]
    return found
