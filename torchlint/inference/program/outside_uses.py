"""Which names one text takes from modules of others."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

from torchlint.inference.program.device_makers import dotted, imported
from torchlint.inference.program.reached_modules import ANY_MODULE, bound_by_text, is_given_away, module_of
from torchlint.inference.program.use_signs import Signs
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import elements_of

_WORD = re.compile(r"\w+")
_PATCHING = frozenset({"patch", "setattr"})
_REPLACED = frozenset({"__bases__", "__code__"})
"""What is assigned to one of these gives a class or a function other names."""
_LONGEST_PATH = 500
"""Longer strings are no paths."""
MODES = frozenset({"TorchFunctionMode", "TorchDispatchMode"})
"""Inside a ``with`` that enters one, each function of torch is what the mode makes of it."""
_TORCHS_OWN = ("torch.", "tensorflow.", "paddle.", "chainer.", "mxnet.", "jax.", "keras.", "sympy.")
"""Libraries with modules of their own from which the name is taken: that leads to no file of the project."""


@dataclass(frozen=True)
class Taken:
    """The modules from which a text may take a name, by the last word of their dotted names."""

    by_name: frozenset[str] = frozenset()
    """Those from which it takes the name itself, or something that is not told and may be it."""
    by_star: frozenset[str] = frozenset()
    """Those from which it takes all public names."""
    from_any: bool = False
    """Whether it takes the name from an object that may be any module."""
    binds: frozenset[str] = frozenset()
    """Those in which it rebinds the name; nothing for what it does not tell of, such as a parameter."""
    gives_away: frozenset[str] = frozenset()
    """Those that it hands to somebody who may set their attributes, whatever name is asked."""
    is_called: bool = False
    """Whether it may call something of that name that is defined elsewhere."""
    is_asked: bool = False
    """Whether it asks something that an import brings for an attribute of that name."""
    is_built: bool = False
    """Whether it may call something by a name that is put together, and that may be this one."""
    is_changed: bool = False
    """Whether it sets an attribute in what goes by the name, such as a method of a class."""
    in_torch: bool = False
    """Whether it rebinds the name in torch itself, in one of its modules or classes."""
    from_base: bool = False
    """Whether a class asks its own object for the name and has no such method here: a base may, or one beside it."""
    has_mode: bool = False
    """It defines a mode, under which any function of torch may do something else."""
    imported: frozenset[str] = frozenset()
    """Those from which it surely imports the name, so that it fails without it: by the name, or to use it by ``*``."""


class Uses:
    """What one text does with names of other modules, for whatever name is asked: read off its tree once."""

    def __init__(self, index: AstIndex) -> None:
        """Read a text's tree, and keep none of it."""
        self._bound = dict(imported(index))
        self._torchs = frozenset(_names_of_torch(index, self._bound))
        """Names that stand for something of torch's without an import."""
        self._by_text = dict(bound_by_text(index))
        self._imports: list[tuple[str | None, frozenset[str]]] = []
        self._attributes: dict[str, set[str | None]] = defaultdict(set)
        """What the objects stand for of which an attribute is asked, by its word; None where no import says."""
        self._stores: dict[str, set[str]] = defaultdict(set)
        """The last words of what an attribute is bound in."""
        self._setters: set[tuple[str | None, str]] = set()
        """What ``setattr`` and the like bind, None for what is not told, and in what."""
        self.has_mode = False
        """Whether it defines a mode, under which any function of torch may do something else."""
        self._of_torch: set[str | None] = set()
        """What is rebound in something of torch's; None for what is not told."""
        self._inherited = _inherited(index)
        """What the own object is asked for in methods, without what a class itself defines."""
        self._loaded: set[str] = set()
        self._handed: set[str] = set()
        """The last words of modules that are used as objects by their names."""
        self._given_away: set[str] = set()
        """Modules and their parts that somebody is given who may set their attributes, by their last words."""
        self._handed_parts: set[str] = set()
        """What is taken from a module and used as an object, by its name."""
        self._built: list[ast.expr] = []
        """The names of what is called by ``getattr(owner, name)()``, where no import says what the owner is."""
        self._strings: set[str] = set()
        self._told: set[str] = set()
        """Strings that are no prose."""
        for node in index.order:
            self._read(node, index)

    def _read(self, node: ast.AST, index: AstIndex) -> None:
        match node:
            case ast.ImportFrom(module=module, names=names):
                self._imports.append((module, frozenset(each.name for each in names)))
            case ast.Attribute():
                self._read_attribute(node, index)
            case ast.Name(ctx=ast.Load()):
                self._read_name(node, index)
            case ast.Constant(value=str(text)):
                self._strings.add(text)
                if not _is_prose(node, index):
                    self._told.add(text)
            case ast.Call():
                self._read_call(node)
            case ast.ClassDef(bases=bases) if any(MODES.intersection(dotted(each)[-1:]) for each in bases):
                self.has_mode = True
            case ast.MatchClass(kwd_attrs=words):
                for word in words:
                    self._attributes[word].add(None)
            case ast.Subscript(value=ast.Attribute(attr="__globals__"), slice=key, ctx=ast.Store() | ast.Del()):
                told = key.value if isinstance(key, ast.Constant) else None
                self._setters.add((told if isinstance(told, str) else None, ANY_MODULE))
            case ast.Subscript(value=space, slice=key, ctx=ast.Store() | ast.Del()):
                if (held := _owner_of(space)) is not None:
                    self._read_setter(held, key)

    def _read_name(self, name: ast.Name, index: AstIndex) -> None:
        word = name.id
        self._loaded.add(word)
        if word == "setattr" and index.call_of(name) is None:  # `partial(setattr, nets)`
            self._setters.add((None, ANY_MODULE))
        if word in self._bound and _is_handed_on(name, index):
            self._handed.add(_last(self._bound[word]))
        if (word in self._bound or word in self._by_text) and is_given_away(name, index):
            self._given_away.add(self._last_word(name))

    def _read_call(self, call: ast.Call) -> None:
        match call:
            case ast.Call(func=function, args=[owner, key, *_]) if _is_setter(function):
                self._read_setter(owner, key)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="__globals__"), attr="update" | "setdefault")):
                self._setters.add((None, ANY_MODULE))
            case ast.Call(func=ast.Attribute(value=space, attr="update" | "setdefault")):
                if (held := _owner_of(space)) is not None:
                    self._setters.add((None, self._last_word(held)))
                    if self._is_of_torch(held) and self._last_word(held) != "init":  # that is asked for by itself
                        self._of_torch.add(None)
            case ast.Call(func=ast.Attribute(attr="multiple" | "dict" as word), args=[_, *_]):
                self._read_patches(call, word)
            case ast.Call(func=ast.Name(id="exec"), args=[_, space, *_]) if (held := _owner_of(space)) is not None:
                self._setters.add((None, self._last_word(held)))
            case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[ast.Constant(value=str(text)), *_]):
                if word in _PATCHING and _leads_through_torch(text):  # `mock.patch("torch.tensor")`
                    self._of_torch.add(_last(text))
            case ast.Call(func=ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_])):
                if self._meaning(owner) is None:
                    self._built.append(name)

    def _read_setter(self, owner: ast.expr, key: ast.expr) -> None:
        told = key.value if isinstance(key, ast.Constant) else None
        if not _is_own(owner) and (isinstance(told, str) or not isinstance(key, ast.Constant)):
            word = str(told) if told is not None else None
            self._setters.add((word, self._last_word(owner)))
            if self._is_of_torch(owner) and (word is not None or self._last_word(owner) != "init"):
                self._of_torch.add(word)
            elif isinstance(owner, ast.Constant) and _leads_through_torch(str(owner.value)):
                self._of_torch.add(_last(str(owner.value)))  # `monkeypatch.setattr("torch.tensor", other)`

    def _read_patches(self, call: ast.Call, word: str) -> None:
        """Read ``patch.multiple("nets", SIZE=4)`` and ``patch.dict(nets.__dict__, SIZE=4)``."""
        owner, held = call.args[0], _owner_of(call.args[0])
        text = str(owner.value) if isinstance(owner, ast.Constant) else ""
        if word == "dict" and held is None and not text.endswith(".__dict__"):
            return
        last = _last(text.removesuffix(".__dict__")) or self._last_word(held or owner)
        keys = {each.arg for each in call.keywords} if len(call.args) == 1 else {None}
        self._setters.update((key, last) for key in keys)
        if _leads_through_torch(text) or self._is_of_torch(held or owner):
            self._of_torch.update(keys)

    def _read_attribute(self, node: ast.Attribute, index: AstIndex) -> None:
        full = self._meaning(node.value)
        if full is not None or not _is_own(node.value):
            self._attributes[node.attr].add(full)
        if not isinstance(node.ctx, ast.Load):
            if not _is_own(node.value):
                self._stores[node.attr].add(self._last_word(node.value))
            if self._is_of_torch(node.value):
                self._of_torch.add(node.attr)
            if node.attr in _REPLACED:
                self._setters.add((None, ANY_MODULE))
        elif full is not None and _is_handed_on(node, index):
            self._handed_parts.add(node.attr)
            if is_given_away(node, index):
                self._given_away.add(node.attr)

    @property
    def binds_any_in_torch(self) -> bool:
        """Whether it may rebind each of torch's names, without writing it."""
        return None in self._of_torch

    # ------------------------------------------------------------------ of one name
    def taken(self, name: str, stars: frozenset[str], runs: bool) -> Taken:
        """Return from which modules a name is taken; ``runs``: files are run whose paths stand in strings."""
        run = frozenset(self._words_of_strings()) if runs else frozenset[str]()
        from_any = None in self._attributes.get(name, ()) or any(each.strip() == name for each in self._strings)
        is_built = any(_may_be_built(each, name) for each in self._built)
        is_asked = from_any or is_built or self._asks(name)
        may_call = is_asked or self._may_call(name, bool(stars))
        return Taken(
            frozenset(self._modules(name)),
            stars | run,
            from_any,
            frozenset(self._binds(name)),
            frozenset(self._given_away),
            may_call,
            is_asked,
            is_built,
            self._changes(name),
            name in self._of_torch or self.binds_any_in_torch,
            name in self._inherited,
            self.has_mode,
            frozenset(self._imported_from(name, stars)),
        )

    def _imported_from(self, name: str, stars: frozenset[str]) -> Iterator[str]:
        yield from (_last(module) for module, names in self._imports if module and name in names)
        if name in self._loaded and name not in self._bound:
            yield from stars

    def _modules(self, name: str) -> Iterator[str]:
        """Yield the last words of the modules from which a name is taken, or may be."""
        yield from (_last(module) for module, names in self._imports if module and name in names and _is_near(module))
        for word in (name, "__dict__"):
            yield from (_last(full) for full in self._attributes.get(word, ()) if full is not None and _is_near(full))
        yield from self._handed
        yield from self._handed_parts - {name, "__dict__"}
        for text in self._told:
            words = _WORD.findall(text) if name in text else []
            if name in words:  # `eval("part.Variable")`, after `import nets as part`
                yield from words
                yield from (_last(self._bound.get(word, "")) for word in words)

    def _binds(self, name: str) -> Iterator[str]:
        """Yield the last words of the modules in which a name is rebound, or may be."""
        yield from self._stores.get(name, ())
        yield from (owner for key, owner in self._setters if key is None or key == name)
        yield from (each.split(".")[-2] for each in self._strings if each.endswith(f".{name}"))  # `patch("nets.Name")`

    def _changes(self, name: str) -> bool:
        """Whether an attribute of something that goes by the name is set: ``nets.Net.forward = other``."""
        owners = (*self._stores.values(), {owner for _, owner in self._setters})
        return any(name in each for each in owners) or any(f".{name}." in each for each in self._strings)

    def _asks(self, name: str) -> bool:
        """Whether a method of the name may be called on something that an import brings: ``nets.Net.reset(net)``."""
        return any(full is not None and _is_near(full) for full in self._attributes.get(name, ()))

    def _may_call(self, name: str, has_stars: bool) -> bool:
        """Whether something of a name that is defined in another file may be called, at once or later."""
        return any(name in names and _is_near(str(module)) for module, names in self._imports) or (
            has_stars and name in self._loaded
        )

    def _words_of_strings(self) -> Iterator[str]:
        """Yield the words of strings, among which the path of a file that is run may be."""
        for text in self._strings:
            if len(text) < _LONGEST_PATH:
                yield from _WORD.findall(text)

    def _is_of_torch(self, node: ast.expr) -> bool:
        """Whether an object is torch, or one of its modules and classes; the class of something may be."""
        return _may_be_of_torch(node, self._bound, self._torchs)

    def binds_somewhere(self, name: str) -> bool:
        """Whether a name is bound in an object of which this text does not tell what it is: a module, if one comes."""
        return "" in self._binds(name)

    def _last_word(self, node: ast.expr) -> str:
        """Return the last word of what an expression stands for by an import or its text, and nothing for others."""
        by_text = self._by_text.get(node.id) if isinstance(node, ast.Name) else module_of(node)
        return _last(self._meaning(node) or by_text or "")

    def _meaning(self, node: ast.expr) -> str | None:
        """Return the dotted name of what an expression stands for by an import; None where none says."""
        first, *others = dotted(node) or [""]
        return ".".join([self._bound[first], *others]) if first in self._bound else None


def _inherited(index: AstIndex) -> frozenset[str]:
    """Return what classes ask their own objects for that neither they nor their bases in this text define."""
    found = {each.attr for each in index.nodes(ast.Attribute) if _is_own(each.value)}
    found.difference_update(_defined(index.tree, index))  # asked by functions outside of classes
    classes = {each.name: each for each in index.nodes(ast.ClassDef)}
    for each in index.nodes(ast.ClassDef):
        line = [each]
        for one in line:  # which grows meanwhile
            above = (classes.get(_word_of(base)) for base in one.bases)
            line += [other for other in above if other is not None and other not in line]
        asked = {one.attr for one in index.inside(each, ast.Attribute) if _is_own(one.value)}
        found |= asked.difference(*(_defined(one, index) for one in line))
    return frozenset(found)


def _defined(owner: ast.AST, index: AstIndex) -> Iterator[str]:
    yield from (each.name for each in index.inside(owner, ast.FunctionDef))
    yield from (each.name for each in index.inside(owner, ast.AsyncFunctionDef))


def _word_of(base: ast.expr) -> str:
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def names_taken(raw: bytes, name: str, signs: Signs, read: Callable[[], Uses | frozenset[str] | None]) -> Taken:
    """Return from which modules a file's bytes take ``name``.

    ``read`` gives what the text does with names, or all its words where it does not parse (Python 2, or not yet
    finished), or None for what is no Python; it is called only where the bytes hold something that needs it.
    """
    is_named = name.encode() in raw and re.search(rb"\b%b\b" % name.encode(), raw)
    may_reach = bool(is_named) or signs.runs or signs.reaches
    found = read() if may_reach or signs.sets_any else None
    if found is None:
        return Taken(by_star=signs.stars)
    if isinstance(found, Uses) and not may_reach:
        return Taken(by_star=signs.stars, in_torch=found.binds_any_in_torch, has_mode=found.has_mode)
    if isinstance(found, Uses):
        return found.taken(name, signs.stars, signs.runs)
    return Taken(found if name in found else frozenset(), signs.stars, is_called=name in found)


def uses_of(found: tuple[str, AstIndex | None] | None) -> Uses | frozenset[str] | None:
    """Return what :func:`names_taken` reads of a text and its tree, which is None where it does not parse."""
    if found is None:
        return None
    text, index = found
    return Uses(index) if index is not None else frozenset(_WORD.findall(text))


def _is_setter(function: ast.expr) -> bool:
    """Whether a function is ``setattr``, ``monkeypatch.setattr`` or ``mock.patch.object``."""
    match function:
        case ast.Name(id="setattr") | ast.Attribute(attr="setattr" | "object"):
            return True
    return False


def _owner_of(space: ast.expr) -> ast.expr | None:
    """Return the object whose namespace an expression is: ``vars(nets)``, ``nets.__dict__``; None for others."""
    match space:
        case ast.Call(func=ast.Name(id="vars"), args=[owner]) | ast.Attribute(value=owner, attr="__dict__"):
            return owner
    return None


def _names_of_torch(index: AstIndex, bound: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that a text binds to a module or class of torch: ``kind = torch.Tensor``, also in a loop."""
    bindings: list[tuple[list[ast.expr], ast.expr]] = [
        *((each.targets, each.value) for each in index.nodes(ast.Assign)),
        *(([each.target], each.iter) for each in index.nodes(ast.For)),
    ]
    for targets, value in bindings:
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        if any(_may_be_of_torch(each, bound, frozenset()) for each in values):
            inside = (part for each in targets for part in elements_of(each))
            yield from (each.id for each in inside if isinstance(each, ast.Name))


def _may_be_of_torch(node: ast.expr, bound: Mapping[str, str], others: Container[str]) -> bool:
    """Whether an expression may give torch or something in it, by imports and further names of torch's things."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[owner]) | ast.Attribute(value=owner, attr="__class__"):
            return not _is_own(owner)
    first, *rest = dotted(node) or [""]
    if first in others or module_of(node) == "torch":
        return True
    return _leads_through_torch(".".join([bound.get(first, ""), *rest]))


def _leads_through_torch(text: str) -> bool:
    """Whether a dotted name is torch's, or leads through it: `nets.torch.tensor` of a module that imports torch."""
    return ".torch." in f".{text}."


def _is_handed_on(node: ast.AST, index: AstIndex) -> bool:
    """Whether what stands for a module is used as an object: what is then taken from it is not told."""
    match index.parents.get(node):
        case ast.Attribute():
            return False
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(), *_]):
            return False  # a name that is written out is found as a string
    return True


def _is_own(node: ast.expr) -> bool:
    """Whether an object is the one whose method this is."""
    match node:
        case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
            return True
    return False


def _is_near(module: str) -> bool:
    return not f"{module}.".startswith(_TORCHS_OWN)


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _may_be_built(node: ast.expr, name: str) -> bool:
    """Whether an expression may give a name: what is written of it must stand in the name."""
    match node:
        case ast.JoinedStr(values=parts):
            return all(_may_be_built(each, name) for each in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _may_be_built(left, name) and _may_be_built(right, name)
        case ast.Constant(value=part):
            return isinstance(part, str) and part in name
    return True


def _is_prose(node: ast.Constant, index: AstIndex) -> bool:
    """Whether a string stands alone, as docstrings do, and holds no doctest."""
    return isinstance(index.parents.get(node), ast.Expr) and ">>>" not in str(node.value)
