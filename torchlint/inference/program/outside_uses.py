"""Which names one text takes from modules of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torchlint.inference.program.default_setters import imported
from torchlint.syntax.ast_index import AstIndex

_STAR = re.compile(rb"\bfrom\s+(?:\.*)([\w.]*)\s+import\s*\(?\s*\*")
_ANY_STAR = re.compile(rb"import\s*\(?\s*\*")
_NOT_WRITTEN = rb"\(\s*([A-Za-z_]\w*)[\w.]*\s*,\s*(?![\"'][^\"'{}]*[\"']\s*[,)])"
_HANDED_ON = {
    **{word: re.compile(word + _NOT_WRITTEN) for word in (b"getattr", b"hasattr", b"setattr")},
    **{word: re.compile(word + rb"\(\s*([A-Za-z_]\w*)") for word in (b"vars", b"dir", b"reload", b"getmembers")},
    b"getattr,": re.compile(rb"\bgetattr,\s*([A-Za-z_]\w*)"),
    b"patch.object": re.compile(rb"patch\.object\(\s*([A-Za-z_]\w*)"),
    b"__dict__": re.compile(rb"\b([A-Za-z_]\w*)[\w.]*\.__dict__\b"),
}
"""Ways to a module's names without writing them, with the name that the module is known by."""
_BUILT = re.compile(rb"getattr\([^\n]*\)\s*\(")
"""What is called may go by a name that is put together."""
_RUNS = (b"exec(", b"execfile(", b"run_path(", b"run_module(", b"%run")
_WORD = re.compile(r"\w+")
_TORCHS_OWN = ("torch.", "tensorflow.", "paddle.", "chainer.", "mxnet.", "jax.", "keras.", "sympy.")
"""Libraries with modules of their own from which the name is taken: that leads to no file of the project."""


@dataclass(frozen=True)
class Taken:
    """The modules from which a text may take a name, by the last word of their dotted names."""

    by_name: frozenset[str] = frozenset()
    """From these it takes the name itself, or something not told that may be it."""
    by_star: frozenset[str] = frozenset()
    """From these it takes all public names."""
    from_any: bool = False
    """It takes the name from an object that may be any module."""
    binds: frozenset[str] = frozenset()
    """In these it binds the name anew."""
    is_called: bool = False
    """It may call something of that name that is defined elsewhere."""
    is_asked: bool = False
    """It asks something that an import brings for an attribute of that name."""
    is_built: bool = False
    """It may call something by a name that is put together, and that may be this one."""


def names_taken(raw: bytes, name: str, read: Callable[[], tuple[str, AstIndex | None] | None]) -> Taken:
    """Return from which modules a file's bytes take ``name``.

    ``read`` gives the text and its tree (None where it does not parse), or None for what is no Python; it is called
    only where the bytes hold something that needs it.
    """
    found_stars = _STAR.findall(raw) if _ANY_STAR.search(raw) else []
    stars = frozenset(each.decode().rpartition(".")[2] for each in found_stars)
    runs = any(each in raw for each in _RUNS)
    is_named = name.encode() in raw and re.search(rb"\b%b\b" % name.encode(), raw)
    if not (runs or is_named or _BUILT.search(raw) or _hands_a_module_on(raw)):
        return Taken(by_star=stars)
    found = read()
    if found is None:
        return Taken(by_star=stars)
    text, index = found
    if index is None:  # Python 2, or not yet finished: all words count
        words = frozenset(_WORD.findall(text))
        return Taken(words if name in words else frozenset(), stars, is_called=name in words)
    file = _File(index, name)
    run = frozenset(file.words_of_strings()) if runs else frozenset[str]()
    from_any = file.takes_from_any()
    is_built = file.may_build()
    is_asked = from_any or is_built or file.asks()
    may_call = is_asked or file.may_call(bool(found_stars))
    return Taken(
        frozenset(file.modules()), stars | run, from_any, frozenset(file.binds()), may_call, is_asked, is_built
    )


def _hands_a_module_on(raw: bytes) -> bool:
    """Whether the names of something that an import binds may be reached without being written."""
    found = (pattern.findall(raw) for literal, pattern in _HANDED_ON.items() if literal in raw)
    words = {word for each in found for word in each} - {b"self", b"cls"}
    if not words:
        return False
    return bool(re.search(rb"^\s*(?:import|from)\b[^#]*?\b(?:%b)\b" % b"|".join(sorted(words)), raw, re.MULTILINE))


def _is_setter(function: ast.expr) -> bool:
    """Whether a function is ``setattr``, ``monkeypatch.setattr`` or ``mock.patch.object``."""
    match function:
        case ast.Name(id="setattr") | ast.Attribute(attr="setattr" | "object"):
            return True
    return False


class _File:
    """One file's imports and what is done with them."""

    def __init__(self, index: AstIndex, name: str) -> None:
        self._nodes = index.order
        self._name = name
        self._parents = index.parents
        self._bound = dict(imported(index))

    def modules(self) -> Iterator[str]:
        """Yield the last words of the modules from which the name is taken, or may be."""
        for node in self._nodes:
            match node:
                case ast.ImportFrom(module=str(module), names=names):
                    if any(each.name == self._name for each in names) and not f"{module}.".startswith(_TORCHS_OWN):
                        yield module.rpartition(".")[2]
                case ast.Attribute(value=owner, attr=attribute) if attribute in (self._name, "__dict__"):
                    full = self._meaning(owner)
                    if full is not None and not f"{full}.".startswith(_TORCHS_OWN):
                        yield full.rpartition(".")[2]
                case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                    yield from self._handed_on(node)
                case ast.Constant(value=str(text)) if self._name in text and not self._is_prose(node):
                    words = _WORD.findall(text)
                    if self._name in words:  # `eval("part.Variable")`, after `import nets as part`
                        yield from words
                        yield from (self._bound.get(word, "").rpartition(".")[2] for word in words)

    def binds(self) -> Iterator[str]:
        """Yield the last words of the modules in which the name is bound anew, or may be."""
        for node in self._nodes:
            match node:
                case ast.Attribute(value=owner, attr=word, ctx=ast.Store() | ast.Del()) if word == self._name:
                    yield self._last_word(owner)
                case ast.Call(func=function, args=[owner, key, *_]) if _is_setter(function):
                    if not isinstance(key, ast.Constant) or key.value == self._name:
                        yield self._last_word(owner)
                case ast.Constant(value=str(text)) if text.endswith(f".{self._name}"):  # `patch("nets.Variable")`
                    yield text.split(".")[-2]

    def _last_word(self, node: ast.expr) -> str:
        return (self._meaning(node) or "").rpartition(".")[2]

    def _handed_on(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Yield the last word of a module that is used as an object: what is then taken from it is not told."""
        match self._parents.get(node):
            case ast.Attribute():
                return
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(), *_]):
                return  # a name that is written out is found as a string
        if (full := self._meaning(node)) is not None:
            yield full.rpartition(".")[2]

    def may_call(self, has_stars: bool) -> bool:
        """Whether something of the name that is defined in another file may be called, at once or later."""
        return any(self._names_a_function(each, has_stars) for each in self._nodes)

    def _names_a_function(self, node: ast.AST, has_stars: bool) -> bool:
        match node:
            case ast.ImportFrom(module=module, names=names):
                return any(each.name == self._name for each in names) and not f"{module}.".startswith(_TORCHS_OWN)
            case ast.Name(id=word, ctx=ast.Load()):
                return has_stars and word == self._name
        return False

    def asks(self) -> bool:
        """Whether a method of the name may be called on something that an import brings: ``nets.Net.reset(net)``."""
        return any(self._asks(each) for each in self._nodes)

    def _asks(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(value=owner, attr=word) if word == self._name:
                full = self._meaning(owner)
                return full is not None and not f"{full}.".startswith(_TORCHS_OWN)
        return False

    def may_build(self) -> bool:
        """Whether what is called may go by the name though it is not written: ``getattr(nets, "init_" + kind)(m)``."""
        return any(self._builds(each) for each in self._nodes)

    def _builds(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_])):
                return self._meaning(owner) is None and self._may_be_built(name)
        return False

    def _may_be_built(self, node: ast.expr) -> bool:
        """Whether an expression may give the name: what is written of it must stand in the name."""
        match node:
            case ast.JoinedStr(values=parts):
                return all(self._may_be_built(each) for each in parts)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._may_be_built(left) and self._may_be_built(right)
            case ast.Constant(value=part):
                return isinstance(part, str) and part in self._name
        return True

    def takes_from_any(self) -> bool:
        """Whether the name is taken from an object that may be a module: by an attribute, or as text."""
        return any(self._is_open(node) for node in self._nodes)

    def _is_open(self, node: ast.AST) -> bool:
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super"))):
                return False
            case ast.Attribute(value=owner, attr=attribute) if attribute == self._name:
                return self._meaning(owner) is None
            case ast.Constant(value=str(text)):
                return text.strip() == self._name
        return False

    def words_of_strings(self) -> Iterator[str]:
        """Yield the words of strings, among which the path of a file that is run may be."""
        for node in self._nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 500:
                yield from _WORD.findall(node.value)

    def _meaning(self, node: ast.expr) -> str | None:
        """Return the dotted name of what an expression stands for by an import; None where none says."""
        match node:
            case ast.Name(id=word):
                return self._bound.get(word)
            case ast.Attribute(value=owner, attr=attribute):
                above = self._meaning(owner)
                return f"{above}.{attribute}" if above is not None else None
        return None

    def _is_prose(self, node: ast.AST) -> bool:
        """Whether a string stands alone, as docstrings do, and holds no doctest."""
        alone = isinstance(self._parents.get(node), ast.Expr)
        return alone and ">>>" not in str(getattr(node, "value", ""))
