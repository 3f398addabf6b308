"""Random projects of one to three files, composed of pieces that real code has.

``python -m tests.random_projects --minutes 15 --seed 1`` runs on and writes down each project that behaves differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from textwrap import indent

from tests.random_pieces import (
    AFTER,
    IMPORTS,
    PLAIN,
    PLAIN_WAYS,
    PRELUDE,
    SOURCES,
    USES,
    VARIABLES,
    WAYS,
    WRITES,
    WRITES_OF_LISTS,
    Use,
)
from tests.random_wholes import WHOLES, Whole

MAIN, LIB = "main.py", "lib.py"
_MARK = re.compile(r"  #!(\w+)$")
_WORD = re.compile(r"(?<![\w.'])[A-Za-z_]\w*")
_SIMPLE = re.compile(r"[\w.]+(\([^()]*\))?(\[[^\[\]]*\])?")
_TAKES = (
    "from lib import NAME\n\nNAME",
    "import lib\n\nlib.NAME",
    "import lib as beside\n\nbeside.NAME",
    "from lib import *\n\nNAME",
    "from lib import NAME as NAME_\n\nNAME_",
    "import lib\n\ngetattr(lib, 'NAME')",
)
"""Ways to take a name from the other file: the import, and how the name is spelled."""


@dataclass(frozen=True)
class Piece:
    """A part of a project that runs without the others."""

    name: str
    main: str
    lib: str = ""
    take: str = _TAKES[0]
    voids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Style:
    """What holds for a project as a whole."""

    variable: str = "from torch.autograd import Variable"
    shared: bool = False
    """Whether the program takes its common names from the other file."""
    package: bool = False
    """Whether the other file is a package that hands on what a module in it makes."""


@dataclass
class Project:
    """Pieces, and how they are put together."""

    pieces: list[Piece]
    style: Style = field(default_factory=Style)

    def files(self) -> dict[str, str]:
        """Return the texts of the files, without marks."""
        return {name: "\n".join(_MARK.sub("", each) for each in rows) for name, rows in self._marked().items()}

    def allowed(self) -> set[tuple[str, int, str]]:
        """Return file, row and code of each safe fix that is known to be allowed."""
        void = tuple(each for piece in self.pieces for each in piece.voids)
        return {
            (name, row, found[1])
            for name, rows in self._marked().items()
            for row, each in enumerate(rows, 1)
            if (found := _MARK.search(each)) and not (void and found[1].startswith(void))
        }

    def _marked(self) -> dict[str, list[str]]:
        lib = "\n\n\n".join(each.lib for each in self.pieces if each.lib)
        main = "\n".join(_taken(each) for each in self.pieces)
        shared = _needed(main) if self.style.shared else []
        if not lib and not shared:
            return {MAIN: _whole(main, self.style).split("\n")}
        beside = _whole(lib, self.style, shared).split("\n")
        hand = f"from lib import {', '.join(shared)}\n" if shared else ""
        found = {MAIN: _whole(main, self.style, given=shared, hand=hand).split("\n")}
        if self.style.package:
            return {**found, "lib/__init__.py": ["from .inner import *", ""], "lib/inner.py": beside}
        return {**found, LIB: beside}


def _taken(piece: Piece) -> str:
    """Return a piece's text for the program, in which it takes names from the other file in its way."""
    lines, text = [], piece.main
    for name in dict.fromkeys(re.findall(r"(?<![\w.'])lib\.(\w+)", text)):
        head, spelled = piece.take.replace("NAME", name).split("\n\n")
        lines.append(head)
        text = re.sub(rf"(?<![\w.'])lib\.{name}\b", spelled.replace("\\", ""), text)
    return "\n".join([*dict.fromkeys(lines), text])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def _needed(text: str) -> list[str]:
    """Return the common names that a text uses, and those that these use, in the order of their definition."""
    found: set[str] = set()
    fresh = _words(text) & PRELUDE.keys()
    while fresh:
        found |= fresh
        fresh = {word for each in fresh for word in _words(PRELUDE[each])} & PRELUDE.keys() - found
    return [each for each in PRELUDE if each in found]


def _whole(text: str, style: Style, more: Iterable[str] = (), given: Iterable[str] = (), hand: str = "") -> str:
    """Return a whole file: imports, common names, and the text of the pieces."""
    names = [each for each in PRELUDE if each in {*_needed(text), *more} and each not in {*given}]
    body = "\n\n\n".join([*(PRELUDE[each] for each in names), text])
    words = _words(body)
    imports = [line for name, line in IMPORTS.items() if name in words]
    spelled = VARIABLES[style.variable]
    own = re.search(r"^from torch\.autograd import Variable$", text, re.MULTILINE)
    if "Variable" in words and not own and not re.search(r"^from lib import \*$", text, re.MULTILINE):
        imports.append(style.variable)
        body = re.sub(r"(?<![\w.'\"])Variable\b", spelled, body)
    return "\n".join(imports) + "\n" + hand + "\n\n" + body + "\n"


# ---------------------------------------------------------------------- composition
def composed(chance: Random, runs: Callable[[Project], bool] = lambda _: True) -> Project:
    """Compose a project of one to four pieces, most of which run when they are alone."""
    variable = chance.choice([*VARIABLES]) if chance.random() < 0.3 else Style.variable
    project = Project([], Style(variable, chance.random() < 0.15, chance.random() < 0.1))
    for number in range(chance.choice((1, 1, 2, 2, 3, 4))):
        for tries_left in reversed(range(4)):
            made = _of_whole(chance, number) if chance.random() < 0.3 else _of_parts(chance, number)
            if not tries_left or chance.random() < 0.1 or runs(Project([made], project.style)):
                project.pieces.append(made)
                break
    return project


def _of_whole(chance: Random, number: int) -> Piece:
    whole: Whole = chance.choice(WHOLES)
    main, lib = (each.replace("$", str(number)) for each in (whole.main, whole.lib))
    if lib and "from lib import *" not in main and "'lib" not in main and chance.random() < 0.3:
        name = re.findall(r"^(?:class|def) (\w+)", lib, re.MULTILINE)
        if all(each in name for each in re.findall(r"lib\.(\w+)", main)) and "import lib" not in main:
            return Piece(whole.name, re.sub(r"(?<![\w.])lib\.", "", f"{lib}\n\n\n{main}"), voids=whole.voids)
    return Piece(whole.name, main, lib, chance.choice(_TAKES), whole.voids)


def _of_parts(chance: Random, number: int) -> Piece:
    """Make a piece of a value, a way, writes, a use and what comes after it, and put it somewhere."""
    use: Use = chance.choice(USES)
    kind = use.kind if chance.random() < 0.85 else chance.choice([*SOURCES])
    source = chance.choice(SOURCES[kind])
    plain = chance.random() < 0.35
    way = chance.choice(PLAIN_WAYS) if plain else chance.choice([*WAYS])
    if kind == "size":
        way, plain = "itself", True
    elif "V" not in _WORD.findall(use.text):
        source, way, plain = "torch.zeros(2, 3)", "a name at once", True
    fitting = WRITES if kind in (PLAIN, "tagged", "array") else WRITES_OF_LISTS if kind == "list" else ("pass",)
    writes = [chance.choice(fitting) for _ in range(chance.choice((0, 1, 1, 1)))]
    after = [chance.choice(AFTER) for _ in range(chance.choice((0, 0, 1, 2)))]
    after = [each for each in after if "R" in _WORD.findall(use.text) or "R" not in _WORD.findall(each)]
    mark = f"  #!{use.code}" if use.known and kind == use.kind and not after and (plain or use.kind != PLAIN) else ""
    place = chance.choice(_PLACES[:4] if kind == "size" else _PLACES)
    value = "given$" if place in _GIVEN else source
    body = "\n".join(_body(chance, WAYS[way], value, use, writes, after, mark))
    made = place(chance, body, source if value == "given$" else "", "R" in _WORD.findall(use.text))
    parts = [re.sub(r"\bR\b", "r$", each).replace("$", str(number)) for each in made]
    name = f"{use.code} {use.text}; {kind}; {way}; {'; '.join([*writes, *after])}; {place.__name__.strip('_')}"
    return Piece(name, *parts, take=chance.choice(_TAKES))


def _body(
    chance: Random, way: str, value: str, use: Use, writes: Sequence[str], after: Sequence[str], mark: str
) -> Iterator[str]:
    """Yield the lines of a way, with the writes and the use in their places."""
    for line in way.split("\n"):
        bare = line.lstrip()
        blank = line[: len(line) - len(bare)]
        if bare.startswith("~"):
            lines = [each for write in writes for each in re.sub(r"\bA\b", bare[1:], write).split("\n")]
            yield from (blank + each for each in lines or (["pass"] if blank else []))
        elif bare.startswith("@"):
            chosen = chance.choice(bare[1:].split("|"))
            at = value if chosen == "S" else chosen
            safe = mark if chosen == "S" or re.fullmatch(r"\w+\$", chosen) else ""
            for text in [use.text + safe, *after]:
                written = re.sub(r"\bV\b", lambda _, at=at: _bracketed(at, use), text)
                yield from (blank + each for each in written.split("\n"))
        else:
            yield re.sub(r"\bS\b", lambda _: value, line)


def _bracketed(value: str, use: Use) -> str:
    return value if _SIMPLE.fullmatch(value) or use.kind in ("size", "list") or value[-1:] == "$" else f"({value})"


# ---------------------------------------------------------------------- places
def _at_module_level(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    return (f"given$ = {source}\n{body}" if source else body), ""


def _in_a_function(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    head = chance.choice(("def run$():", "@torch.no_grad()\ndef run$():", "def run$(*args, **more):"))
    return f"{head}\n{_returning(body, result)}\n\nout$ = run$()", ""


def _in_another_file(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    return "out$ = lib.run$()", f"def run$():\n{_returning(body, result)}"


def _of_a_parameter(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    main, lib = _parameter(chance, body, source, result)
    return f"{lib}\n\n{main.replace('lib.', '')}", ""


def _of_a_parameter_elsewhere(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    return _parameter(chance, body, source, result)


def _parameter(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    said = chance.choice((
        "", "", "", "=None", ": torch.Tensor", ": torch.Tensor = None", ": Optional[torch.Tensor] = None", ": Variable",
        ": 'torch.Tensor'", ": nn.Parameter", "=net.weight",
    ))  # fmt: skip
    call = chance.choice((
        "given$ = S\nout$ = lib.run$(given$)", "given$ = S\nout$ = lib.run$(given$)", "out$ = lib.run$(S)",
        "out$ = [lib.run$(each) for each in (S,)]", "out$ = list(map(lib.run$, [S]))", "out$ = lib.run$(*[S])",
        "given$ = S\nlib.run$(given$)\nout$ = lib.run$(given$)",
    ))  # fmt: skip
    return call.replace("S", source), f"def run$(given${said}):\n{_returning(body, result)}"


def _in_a_method(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    own = body.replace("given$", "self.t")
    lib = "class Worker$:\n    def __init__(self, t):\n        self.t = t\n\n    def run(self):\n"
    return f"worker$ = lib.Worker$({source})\nout$ = worker$.run()", lib + indent(_returning(own, result), "    ")


def _in_a_forward(chance: Random, body: str, source: str, result: bool) -> tuple[str, str]:
    lib = f"class Layer$(nn.Module):\n    def forward(self, given$):\n{indent(_returning(body, result), '    ')}"
    return f"layer$ = lib.Layer$()\nout$ = layer$({source})", lib


def _returning(body: str, result: bool) -> str:
    ending = "\nreturn R" if result else ""
    return indent(body + ending, "    ")


_PLACES = (
    _at_module_level, _at_module_level, _in_a_function, _in_another_file, _of_a_parameter, _of_a_parameter_elsewhere,
    _of_a_parameter_elsewhere, _in_a_method, _in_a_forward,
)  # fmt: skip
_GIVEN = (_of_a_parameter, _of_a_parameter_elsewhere, _in_a_method, _in_a_forward)


if __name__ == "__main__":
    from tests.random_search import main

    main()
