"""What a text's bytes say of the names that it takes from other modules, before anybody asks for its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchlint.inference.program.reached_modules import NAMED_BY_TEXT

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


@dataclass(frozen=True)
class Signs:
    """What a text's bytes say of all names alike: found once, whatever name is asked."""

    stars: frozenset[str]
    """The modules that it takes all names from, by the last word of their dotted names."""
    runs: bool
    """Whether it runs files whose paths stand in strings."""
    reaches: bool
    """Whether it may reach names of other modules without writing them."""
    sets: bool
    """Whether it sets attributes whose names are not written as such."""
    is_folded: bool
    """Whether what is bound may stand on several lines."""
    sets_any: bool
    """Whether it may bind in torch what its text does not name."""

    @staticmethod
    def of(raw: bytes) -> Signs:
        """Read them off a file's bytes."""
        found = _STAR.findall(raw) if _ANY_STAR.search(raw) else []
        return Signs(
            frozenset(each.decode().rpartition(".")[2] for each in found),
            any(each in raw for each in _RUNS),
            _BUILT.search(raw) is not None or _hands_a_module_on(raw),
            any(each in raw for each in _SETTING) and _SETTERS.search(raw) is not None,
            b"\\\n" in raw or b"\\\r" in raw or _PARENTHESISED.search(raw) is not None,
            b"orch" in raw and any(each in raw for each in _SETTING) and _SETS_ANY.search(raw) is not None,
        )


def may_bind(raw: bytes, name: str, signs: Signs) -> bool:
    """Whether a file's bytes may bind a name in another module: by an attribute, a path in quotes, or a setter."""
    return _may(raw, name, signs, rb"\.[\s\\]*%b\b", _STORED)


def may_change(raw: bytes, name: str, signs: Signs) -> bool:
    """Whether a file's bytes may set an attribute in what a name, or another one by an import, stands for."""
    return _may(raw, name, signs, rb"\b%b\b", _CHANGED)


def _may(raw: bytes, name: str, signs: Signs, mention: bytes, line: bytes) -> bool:
    """Whether the line around a mention of a name matches a pattern, or a setter is about."""
    if signs.sets:
        return True
    word = name.encode()
    mentions = re.finditer(mention % word, raw) if word in raw else ()
    pattern = re.compile(line % {b"name": re.escape(word)})
    return any(signs.is_folded or pattern.search(_line_around(each, raw)) is not None for each in mentions)


def _line_around(found: re.Match[bytes], raw: bytes) -> bytes:
    end = raw.find(b"\n", found.end())
    return raw[raw.rfind(b"\n", 0, found.start()) + 1 : end if end >= 0 else len(raw)]


_PARENTHESISED = re.compile(rb"\)\s*=(?!=)")
"""Targets that may stand on several lines."""
_STORED = (
    rb"(?<![^\w.]self)(?<![^\w.]cls)\.\s*%(name)s\b(?:\s*(?::[^=]*)?(?:[-+@&|^%%]|\*\*?|//?|<<|>>)?=(?!=)|[\"'])"
    rb"|^[ \t]*[\w.\[\]\"', \t*]*\.\s*%(name)s\s*,[\w.\[\]\"', \t*]*=(?!=)"
    rb"|\bfor\s(?:(?!\bin\b).)*\.\s*%(name)s\b|\b(?:as|del)\s.*\.\s*%(name)s\b"
)
"""How an attribute of something else than the own object is bound: by itself, among others, in a loop."""
_CHANGED = rb"\b%(name)s\s*\.\s*\w.*=|\b%(name)s\s+as\b|\.%(name)s\.|\b(?:del|for|as)\b.*\b%(name)s\s*\."
_SETTING = (
    b"setattr",
    b"object",
    b"__dict__",
    b"vars",
    b"Mode",
    b"multiple",
    b"__globals__",
    b"__bases__",
    b"__code__",
)
_SETTERS = re.compile(
    rb"\bsetattr\b|\.\s*(?:object|multiple)\s*\(|\b__(?:dict|globals)__\b|\bvars\s*\("
    rb"|\bTorch(?:Function|Dispatch)Mode\b|\.__(?:bases|code)__\s*=(?!=)"
)
"""Ways to set an attribute whose name is not written as one."""
_SETS_ANY = re.compile(
    rb"\bsetattr\(\s*(?!self\s*,)[^,\n]+,\s*(?![\"'])|\bTorch(?:Function|Dispatch)Mode\b|\.object\([^,\n]+,\s*(?![\"'])"
    rb"|\b(?:vars\([\w.]+\)|[\w.]+\.__dict__)(?:\[|\.update\()"
)
"""Among them those whose name is not written at all."""


def _hands_a_module_on(raw: bytes) -> bool:
    """Whether the names of something that an import binds may be reached without being written."""
    found = (pattern.findall(raw) for literal, pattern in _HANDED_ON.items() if literal in raw)
    words = {word for each in found for word in each} - {b"self", b"cls"}
    if not words:
        return False
    every = b"|".join(sorted(words))
    named = re.search(rb"^\s*(?:import|from)\b[^#]*?\b(?:%b)\b" % every, raw, re.MULTILINE)
    return named is not None or re.search(NAMED_BY_TEXT % every, raw) is not None
