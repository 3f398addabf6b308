"""Which files import a module, and which take a name from it: by import, as an attribute, by ``import *``."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Iterator

from torchlint.syntax.places import word_of
from torchlint.texts.word_index import ProjectFile, WordIndex, module_word

Taken = frozenset[tuple[str, str]]
"""The last word of a module and a name that is taken of it: ``*`` for all names, ``.name`` for an attribute."""

_IMPORTS = re.compile(
    rb"(?:^|[;:])[ \t]*(?:from[ \t.][\w. \t]*)?import\b(?:[^\n(#\\]|\\\r?\n|\([^)]*\))*"
    rb"|\b(?:import_module|__import__|run_path|run_module)\([^\n]*",
    re.MULTILINE,
)


def importers(words: WordIndex, own: str) -> list[ProjectFile]:
    """Return the other files that import a module, by its last name, in a statement of their own."""
    module = re.findall(r"\w+", module_word(own))
    wanted = {each.encode() for each in module}
    return [each for each in words.holding(*module) if each.path != own and wanted <= each.told(_import_words)]


def sure_takers(words: WordIndex, own: str, name: str) -> str | None:
    """Return the clause about all files that import a name from a module, and fail without it."""
    taken = module_word(own), name
    found = [each.shown for each in importers(words, own) if taken in each.told(_taken)]
    return _said(found, "import", f"`{name}` from here")


def takers(words: WordIndex, own: str, name: str) -> str | None:
    """Return the clause about all files that take a name from a module, or all names of it.

    An import of all names hands the name on to whoever takes it from there.
    """
    waiting, by_star, by_name = [own], dict[str, None](), dict[str, None]()
    passed = set(waiting)
    while waiting:
        path = waiting.pop(0)
        module = module_word(path)
        for each in importers(words, path):
            taken = each.told(_taken)
            if not taken.isdisjoint({(module, name), (module, f".{name}")}):
                by_name[each.shown] = None
            if (module, "*") in taken and each.path not in passed:
                by_star[each.shown] = None
                passed.add(each.path)
                waiting.append(each.path)
    clauses = _said(by_name, "take", f"`{name}` from here"), _said(by_star, "import", "all names from here")
    return ", ".join(filter(None, clauses)) or None


def takes_through(words: WordIndex, own: str, package: ProjectFile) -> Iterator[ProjectFile]:
    """Yield the files that take from a package what it has taken from a module: none where it is no package."""
    if os.path.basename(package.path) != "__init__.py":
        return
    module, handing = module_word(own), module_word(package.path)
    handed = {name for owner, name in package.told(_taken) if owner == module}
    for each in importers(words, package.path):
        names = {name.lstrip(".") for owner, name in each.told(_taken) if owner == handing}
        if names and (not names.isdisjoint(handed) or "*" in names | handed):
            yield each


def import_words(text: bytes) -> frozenset[bytes]:
    """Return the words of the statements that import something."""
    return frozenset(word for each in _IMPORTS.findall(text) for word in re.findall(rb"\w+", each))


def _import_words(file: ProjectFile) -> frozenset[bytes]:
    return import_words(file.text)


def _taken(file: ProjectFile) -> Taken:
    index = file.tree
    if index is None:
        return frozenset()
    here, found, modules = os.path.basename(os.path.dirname(file.path)), set[tuple[str, str]](), dict[str, str]()
    for node in index.nodes(ast.ImportFrom):
        found |= {((node.module or here).rpartition(".")[2], each.name) for each in node.names}
        modules.update((each.asname or each.name, each.name) for each in node.names)
    for plain in index.nodes(ast.Import):
        modules.update((each.asname or each.name, each.name.rpartition(".")[2]) for each in plain.names)
    reads = [(each.value, each.attr) for each in index.nodes(ast.Attribute)]
    for call in index.nodes(ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[owner, ast.Constant(value=str(word)), *_]):
                reads.append((owner, word))
    for owner, word in reads:
        if isinstance(owner, ast.Name | ast.Attribute):
            last = word_of(owner)
            found.add((modules.get(last, last), f".{word}"))
    return frozenset(found)


def _said(files: Collection[str], verb: str, what: str) -> str | None:
    """Spell who does what: "`a.py` and `b.py` take it"."""
    *first, last = [f"`{each}`" for each in files] or [""]
    return f"{', '.join(first)} and {last} {verb} {what}" if first else f"{last} {verb}s {what}" if last else None
