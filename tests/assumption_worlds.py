"""Programs in which one assumption does not hold, and their twins in which it does: ``tests/fixtures/assumptions``.

A file for each assumption, a section for each claim: the program, what is said and printed, and how its twin differs.
Programs are taken for files that others import: a script that nobody imports has no calls but its own.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.before_and_after import fixed, printed, torch, written
from tests.blocks import ROOT, Block, blocks
from tests.notebooks import code, notebook, sources
from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Finding
from torchlint.diagnostics.splice import splice
from torchlint.linter.engine import check_bytes

FOLDER = ROOT / "tests" / "fixtures" / "assumptions"
_FILE = re.compile(r"^# (\w+\.(?:py|ipynb))\n", re.MULTILINE)
_CELL = re.compile(r"^# %%\n", re.MULTILINE)
_SAID = re.compile(r"(?P<code>TNS\d+) (?P<clause>assumes that .*)\nbefore: (?P<before>.*)\nafter: +(?P<after>.*)\n")
_LEAD = re.compile(
    r"^(?P<trust>Safe|Never safe), (?P<how>for the old code raises|and the same before and after), with:$", re.MULTILINE
)
SHOWN = """
import ast, sys

def run(code, names):
    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not code.rstrip().endswith(";") else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    if value is not None:
        print(repr(value))

names = {}
for each in CELLS:
    run(each, names)
"""
"""What a notebook's kernel does with its cells."""


@dataclass(frozen=True)
class World:
    """One claim of an assumption."""

    name: str
    """The assumption's name."""
    title: str
    files: dict[str, str]
    code: str
    """The rule that has something to say."""
    clause: str
    before: str
    """What the program prints; ends with dots where the beginning alone is shown."""
    after: str
    devices: int
    """How many devices of CUDA it needs."""
    twin: dict[str, str]
    """The files of the program in which the assumption holds."""
    twin_is_safe: bool
    twin_raises: bool
    """Whether the twin raises before the fix, so that nothing is asked of it afterwards."""


def worlds() -> list[World]:
    """Return the worlds of all files, top to bottom."""
    return [world for path in sorted(FOLDER.glob("*.md")) for world in _of_a_file(path)]


def _of_a_file(path: Path) -> Iterator[World]:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {path.stem}"
    heads = [at for at, line in enumerate(lines) if line.startswith("## ")]
    for start, end in pairwise([*heads, len(lines)]):
        parts = [each for each in blocks(path) if start < each.row <= end]
        yield _world(path.stem, lines[start].removeprefix("## "), lines[start:end], parts)


def _world(name: str, title: str, lines: list[str], parts: list[Block]) -> World:
    program, shown, other = parts
    said, lead = _SAID.fullmatch(shown.text), _LEAD.search("\n".join(lines))
    assert (program.language, shown.language) == ("python", "text"), title
    assert said is not None, shown.text
    assert lead is not None, title
    twin = other.text if other.language == "python" else _exchanged(program.text, other.text)
    return World(
        name,
        title,
        _files(program.text),
        said["code"],
        said["clause"],
        said["before"].strip(),
        said["after"],
        int(program.marked("CUDA devices") or 0),
        _files(twin),
        lead["trust"] == "Safe",
        "raises" in lead["how"],
    )


def _files(text: str) -> dict[str, str]:
    """Part a block into files; without a comment that names one it is the program itself."""
    first, *rest = _FILE.split(text)
    files = dict(zip(rest[::2], rest[1::2], strict=True)) if rest else {"main.py": first}
    return {name: f"{each.strip()}\n" for name, each in files.items()}


def _exchanged(text: str, diff: str) -> str:
    """Exchange the lines that a block marks: those behind ``-`` for those behind ``+``."""
    for old, new in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", diff, re.MULTILINE):
        old_lines, new_lines = re.sub(r"^-", "", old, flags=re.MULTILINE), re.sub(r"^\+", "", new, flags=re.MULTILINE)
        assert text.count(old_lines) == 1, old_lines
        text = text.replace(old_lines, new_lines)
    return text


# ---------------------------------------------------------------------- in a folder
def put(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a program, and one that imports them; a notebook's cells are parted by ``# %%``."""
    texts = {
        name: notebook(*map(code, _CELL.split(text)[1:])).decode() if name.endswith(".ipynb") else text
        for name, text in files.items()
    }
    others = "".join(f"import {name.removesuffix('.py')}\n" for name in files if name.endswith(".py"))
    return written(folder, {**texts, "others.py": others})


def seen(folder: Path) -> str:
    """Run the program in a folder, and return what is seen of it as one line."""
    with _warning_always():
        book = folder / "main.ipynb"
        if not book.exists():
            return " ".join(printed(folder).split()) or "nothing"
        (folder / "kernel.py").write_text(f"CELLS = {sources(book.read_bytes())!r}\n{SHOWN}", encoding="utf-8")
        said = printed(folder, "kernel.py")
        (folder / "kernel.py").unlink()
        return " ".join(said.split()) or "nothing"


@contextlib.contextmanager
def _warning_always() -> Iterator[None]:
    """Let torch give a warning each time and not once in a process, where other tests have had it."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        yield
    finally:
        torch.set_warn_always(before)


def findings(folder: Path) -> list[Finding]:
    """Return the findings of a project that have a fix."""
    paths = sorted(each for each in folder.rglob("*") if each.suffix in (".py", ".ipynb"))
    return [each for path in paths for each in check_bytes(str(path), path.read_bytes(), Config()).findings if each.fix]


def repair(folder: Path, is_safe: bool) -> bool:
    """Apply all fixes, those that are only shown too, or the safe ones alone; return whether any was there."""
    if is_safe:
        return bool(fixed(folder))
    shown = [_shown_applied(path) for path in sorted(folder.glob("*.py"))]
    return bool(fixed(folder, flags=["--unsafe-fixes"])) or any(shown)


def _shown_applied(path: Path) -> bool:
    result = check_bytes(str(path), path.read_bytes(), Config())
    assert result.source is not None
    shown = [each for each in result.findings if each.fix and each.fix.applicability is Applicability.DISPLAY]
    path.write_bytes(splice(result.source, shown).raw)
    return bool(shown)
