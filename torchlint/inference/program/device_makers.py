"""Functions and containers that give a ``torch.device`` under another name, and what blocks enter, by its words.

``with pick():`` sets the default device where a function of that name, in whatever file, returns a device.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from torchlint.inference.program.frameworks import OTHERS
from torchlint.syntax.ast_index import AstIndex

_ONE_DEVICE = frozenset({"cuda", "xpu", "npu", "mps", "hpu", "mtia", "musa"})
"""``torch.cuda.device(1)`` says which GPU is meant, and leaves the default device alone."""
_GIVEN = re.compile(rb"\b(?:return|yield|lambda)\b|[\"'\w\])][^\S\n]*:\s*\Z|(?:\A|\[)[^\S\n]*\Z")
"""What stands before a device that is given away, or kept in a container: else the line needs no tree."""
_KEPT = re.compile(rb"\s*(?:\w+\.)*(\w+)\s*(?::[^=]*)?=[^=]")
_BLOCK = re.compile(rb"^[^\S\n]*(?:async[^\S\n]+)?with\b", re.MULTILINE)
_END = re.compile(rb":(?:\s|\Z)")
_READ = re.compile(
    rb"(?:\b(?:return|yield)\b|\blambda\b[^\n:]*:|^[^\S\n]*([\w.]+)[^\S\n]*(?::[^=\n]*)?=)[^\n=(]*\.device\b",
    re.MULTILINE,
)
"""What gives or keeps the device of a tensor, with the name that it is kept under."""
_LONGEST = 400
_BY_HAND = re.compile(
    rb"enter_context\(\s*([\w.]+)|\btype\(([\w.]+)\)\.__enter__|([\w.]+)\([^()\n]*\)\.__enter__|([\w.]+)\.__enter__"
)
_SPEAKS = re.compile("device", re.IGNORECASE)
_GETTING = re.compile(
    r"_?(?:get|select|pick|choose|find|resolve|infer|make|parse|default|current|best)_(?:\w+_)?device"
)
_TAKING = frozenset({"get", "pop", "setdefault", "popitem", "popleft"})
"""Methods that give what a container holds."""
_NAMED = re.compile(rb"\s*\(?\s*([A-Za-z_][\w.]*)")
_BOUND = rb"^[^\S\n]*(?:\w+\.)*(?:%b)[^\S\n]*(?::[^=\n]*)?=[^\S\n]*([A-Za-z_][\w.]*)[^\S\n]*[(\[]"
_HOLDERS = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.DictComp, ast.ListComp, ast.IfExp, ast.BoolOp, ast.NamedExpr)


def entered(text: bytes) -> frozenset[str]:
    """Return the words of what blocks of a text enter: ``context`` for ``with h.context():``.

    Of a name that is bound to what a call gives, the word of the call is told, and of what a container gives, the
    container's. Words that speak of a device themselves are left out: they are known without this.
    """
    items = [item for each in set(_headers(text)) for item in _items(each)]
    items += [b"".join(each) for each in _BY_HAND.findall(text)]
    names = {match[1] for each in items if (match := _NAMED.match(each)) is not None}
    lasts = b"|".join(sorted({each.split(b".")[-1] for each in names} - {b""}))
    names.update(re.findall(_BOUND % lasts, text, re.MULTILINE) if lasts else ())
    return frozenset(word for each in names for word in _meant(each.decode().split(".")) if not speaks_of_devices(word))


def _headers(text: bytes) -> Iterator[bytes]:
    """Yield what stands between each ``with`` and its colon."""
    for match in _BLOCK.finditer(text):
        header = text[match.end() : match.end() + _LONGEST]
        end = _END.search(header)
        yield header[: end.start()] if end is not None else header


def _meant(words: list[str]) -> list[str]:
    return words[-2:] if words[-1] in _TAKING else words[-1:]


def _items(header: bytes) -> Iterator[bytes]:
    """Part what stands behind a ``with`` at the commas, and at each ``else``, outside of brackets."""
    header = header.strip()
    if header.startswith(b"(") and (header.endswith(b")") or header.count(b"(") > header.count(b")")):
        header = header[1:]
    if b"," not in header and b" else " not in header:
        yield header
        return
    depth, start = 0, 0
    for match in re.finditer(rb"[(\[{]|[)\]}]|,| else ", header):
        depth += (match[0] in b"([{") - (match[0] in b")]}")
        if depth == 0 and match[0] in (b",", b" else "):
            yield header[start : match.start()]
            start = match.end()
    yield header[start:]


def enters_own(text: bytes, parse: Callable[[], AstIndex | None]) -> bool:
    """Whether a text enters a device that one of its own functions gives, or one of its containers holds."""
    names = makers(text, parse)
    return bool(names) and not names.isdisjoint(entered(text))


def makers(text: bytes, parse: Callable[[], AstIndex | None]) -> frozenset[str]:
    """Return the names of a text's functions that give a device, and of names that hold some."""
    if b"torch" not in text or not (_makes(text) or _reads(text)):
        return frozenset()
    index = parse()
    if index is None:
        return frozenset()
    modules = dict(imported(index))
    devices: list[ast.expr] = [each for each in index.nodes(ast.Call) if _gives_device(each.func, modules)]
    devices += [each for each in index.nodes(ast.Attribute) if each.attr == "device" and isinstance(each.ctx, ast.Load)]
    return frozenset(name for each in devices for name in _given(each, index, set()) if not speaks_of_devices(name))


def speaks_of_devices(word: str) -> bool:
    """Whether a word says itself that a device is meant."""
    return _SPEAKS.search(word) is not None


def _gives_device(function: ast.expr, modules: Mapping[str, str]) -> bool:
    """Whether what is called is ``torch.device``, or a function that is named for the device that it gives."""
    match function:
        case ast.Name(id=word) if modules.get(word) != "torch.device":
            return _GETTING.fullmatch(word) is not None
    words = dotted(function)
    return (
        words[-1:] == ["device"] and makes_device(function, modules) and modules.get(words[0], "").startswith("torch")
    )


def _reads(text: bytes) -> bool:
    """Whether the device of a tensor may be given away, or kept under a name that does not speak of devices."""
    return b".device" in text and any(b"device" not in each.lower() for each in _READ.findall(text))


def _makes(text: bytes) -> bool:
    """Whether a device may be made and given away, or kept under such a name, by the lines alone."""
    if b"device(" not in text:
        return False
    kept = set()
    for line in _lines(text):
        if _GIVEN.search(line) is not None:
            return True
        if (match := _KEPT.match(line)) is not None:
            if b"device" not in match[1].lower():
                return True
            kept.add(match[1])
    return any(re.search(rb"\breturn[^\S\n]+%b\b" % each, text) is not None for each in kept)


def _lines(text: bytes) -> Iterator[bytes]:
    """Yield what stands on a line before each ``device(``, without the name of torch."""
    at = text.find(b"device(")
    while at >= 0:
        yield text[text.rfind(b"\n", 0, at) + 1 : at].removesuffix(b"torch.")
        at = text.find(b"device(", at + 1)


def _given(value: ast.expr, index: AstIndex, seen: set[str]) -> Iterator[str]:
    """Yield the functions that return a value, and the names that hold it."""
    below: ast.AST = value
    for above in index.ancestors(value):
        match above:
            case ast.Return() | ast.Yield():
                function = index.owner(above)
                if function is not None:
                    yield function.name
            case ast.Lambda() if below is above.body:
                below = above
                continue
            case ast.Assign() | ast.AnnAssign() if below is above.value:
                for each in above.targets if isinstance(above, ast.Assign) else [above.target]:
                    words = dotted(each)
                    yield from words[-1:]
                    yield from _returning(words[-1] if len(words) == 1 else "", index, seen)
            case _ if isinstance(above, _HOLDERS) and below is not getattr(above, "test", None):
                below = above
                continue
        return


def _returning(name: str, index: AstIndex, seen: set[str]) -> Iterator[str]:
    """Yield the functions that return what a name is bound to."""
    if not name or name in seen:
        return
    seen.add(name)
    for each in index.nodes(ast.Return):
        function = index.owner(each)
        if function is not None and isinstance(each.value, ast.Name) and each.value.id == name:
            yield function.name


def makes_device(function: ast.expr, modules: Mapping[str, str]) -> bool:
    """Whether what is called gives a ``torch.device``, by its words and by what the imports of the file say of them."""
    words = dotted(function)
    if not words or "device" not in words[-1].lower():
        return False
    above = modules.get(words[0], words[0]).split(".") + words[1:-1]
    return above[0] not in OTHERS and above[-1] not in _ONE_DEVICE


def imported(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with the dotted name of what it stands for."""
    for plain in index.nodes(ast.Import):
        for alias in plain.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    for node in index.nodes(ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def dotted(node: ast.expr) -> list[str]:
    """Return the words of a dotted name; the first is empty where something else than a name stands there."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return [*([node.id] if isinstance(node, ast.Name) else [""] * bool(words)), *reversed(words)]
