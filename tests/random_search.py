"""The search through random projects: it runs them, makes smaller what behaves differently, and counts."""

from __future__ import annotations

import argparse
import ast
import contextlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import torch

from tests.random_projects import Project, Style, composed
from tests.watched_runs import FLAGS, Comparing, Comparison, Difference


@dataclass(frozen=True)
class Counterexample:
    """A project that does something else after a safe fix, as small as it could be made."""

    seed: int
    code: str
    """The rule whose fixes alone do it; several where no single one does."""
    pieces: tuple[str, ...]
    found: Difference

    @property
    def key(self) -> str:
        """What is the same in two counterexamples that show the same."""
        return self.code + "".join(re.sub(r"\d", "", text) for _, text in sorted(self.found.files.items()))

    def __str__(self) -> str:
        where = " ".join(self.found.paths) or "the whole folder"
        said = (
            f"{self.code}, seed {self.seed}, {where}, {self.found.device}: {'; '.join(self.pieces)}\n{self.found.what}"
        )
        files = (f"--- {name}\n{text}" for name, text in self.found.files.items())
        changed = (f"--- {name} after --fix\n{text}" for name, text in self.found.changed.items())
        return "\n".join([said, *files, *changed])


@dataclass
class Tally:
    """What a run over many projects came to."""

    programs: int = 0
    ran: int = 0
    with_fix: int = 0
    fixes: Counter[str] = field(default_factory=Counter)
    allowed: Counter[str] = field(default_factory=Counter)
    """Places of each rule where its safe fix is known to be allowed."""
    silent: Counter[str] = field(default_factory=Counter)
    """Those of them where nothing is reported: the conversion is proven to work, or another rule speaks."""
    offered: Counter[str] = field(default_factory=Counter)
    """Those of them where it is offered."""
    withheld: dict[str, Counter[str]] = field(default_factory=dict)
    """The lines of the others."""
    errors: Counter[str] = field(default_factory=Counter)
    counterexamples: list[Counterexample] = field(default_factory=list)
    again: Counter[str] = field(default_factory=Counter)

    def add(self, project: Project, found: Comparison) -> None:
        self.programs += 1
        self.ran += found.ran
        self.with_fix += bool(found.fixes)
        self.fixes.update(found.fixes)
        self.errors[found.error] += 1
        if not found.ran:
            return
        files = project.files()
        safe = {(name, row, _family(code)): safe for name, row, code, safe in sorted(found.reported)}
        for name, row, code in project.allowed():
            self.allowed[code] += 1
            offered = safe.get((name, row, _family(code)))
            self.silent[code] += offered is None
            self.offered[code] += offered is True
            if offered is False:
                line = re.sub(r"\d+\b", "", files[name].splitlines()[row - 1].strip())
                self.withheld.setdefault(code, Counter())[line] += 1

    def lines(self) -> Iterator[str]:
        """Yield the table of what is offered, and the line that sums all up."""
        yield "| rule | safe fix allowed | not reported | offered | share of the reported | most often withheld |"
        yield "|---|---|---|---|---|---|"
        for code, count in sorted(self.allowed.items()):
            often = ", ".join(f"`{line}` {n}" for line, n in self.withheld.get(code, Counter()).most_common(3))
            share = f"{self.offered[code] / max(1, count - self.silent[code]):.0%}"
            yield f"| {code} | {count} | {self.silent[code]} | {self.offered[code]} | {share} | {often} |"
        applied = " ".join(f"{code} {count}" for code, count in sorted(self.fixes.items()))
        yield (
            f"{self.programs} programs, {self.ran / self.programs:.0%} ran, "
            f"{self.with_fix / self.programs:.0%} with a safe fix, {self.fixes.total()} safe fixes ({applied}), "
            f"{self.again.total()} counterexamples, {len(self.counterexamples)} of them distinct"
        )


class Search:
    """Runs random projects in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.comparing = Comparing(folder)
        self.tally = Tally()
        self._seen: set[str] = set()

    def runs(self, project: Project) -> bool:
        """Whether a project runs without an error, on the host."""
        return not self.comparing.seen(project.files()).error

    def run(self, seed: int, minimise: bool = True) -> Comparison:
        """Compose the project of a seed, and compare it as a folder and file by file."""
        project = composed(Random(seed), self.runs)
        found = self.comparing.compare(project.files(), [*project.files()])
        self.tally.add(project, found)
        if found.difference:
            smaller = self.smaller(seed, project, found) if minimise else None
            if smaller and smaller.key not in {each.key for each in self.tally.counterexamples}:
                self.tally.counterexamples.append(smaller)
        return found

    def smaller(self, seed: int, project: Project, found: Comparison) -> Counterexample | None:
        """Drop pieces, then statements; None where the remaining piece was seen with this rule before."""
        assert found.difference

        def differs(tried: Project, flags: tuple[str, ...] = FLAGS) -> Comparison | None:
            came = Comparing(self.comparing.folder, flags).compare(tried.files(), [*tried.files()])
            return came if came.difference else None

        for piece in project.pieces:
            less = Project([each for each in project.pieces if each is not piece], project.style)
            if less.pieces and (came := differs(less)):
                project, found = less, came
        for style in (Style(), replace(project.style, shared=False), replace(project.style, package=False)):
            plain = Project(project.pieces, style)
            if style != project.style and (came := differs(plain)):
                project, found = plain, came
        flags, code = FLAGS, " ".join(sorted({*found.fixes}))
        for each in code.split():
            if came := differs(project, ("--select", each)):
                flags, code, found = ("--select", each), each, came
                break
        names = tuple(each.name for each in project.pieces)
        known = code + "; ".join(_gist(each) for each in names)
        self.tally.again[known] += 1
        if known in self._seen:
            return None
        self._seen.add(known)
        assert found.difference
        return Counterexample(seed, code, names, self._fewer_statements(found.difference, flags))

    def _fewer_statements(self, found: Difference, flags: tuple[str, ...]) -> Difference:
        comparing = Comparing(self.comparing.folder, flags)
        comparing.devices = (found.device,)
        changed = True
        while changed:
            changed = False
            for name in found.files:
                at = 0
                while (text := without(found.files[name], at)) is not None:
                    with contextlib.suppress(Exception):
                        came = comparing.compare({**found.files, name: text}, found.paths).difference
                        if came and came.what[:12] == found.what[:12]:
                            found, changed = came, True
                            continue
                    at += 1
        return found


def _family(code: str) -> str:
    """Return a code, the same one for the three rules that tell by what is known whose a ``.numpy()`` is."""
    return "TNS103" if code in ("TNS101", "TNS102") else code


def _gist(name: str) -> str:
    """Return what tells the kind of a piece: of one made of parts its use and its way."""
    parts = name.split("; ")
    return "; ".join(parts[:3]) if len(parts) > 3 else name


def without(text: str, at: int) -> str | None:
    """Return a text without one of its statements, counted from the first; None behind the last one."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    statements = [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
    if at >= len(statements):
        return None
    gone = statements[at]
    rows = text.splitlines(keepends=True)
    assert gone.end_lineno
    first = min([gone.lineno, *(each.lineno for each in getattr(gone, "decorator_list", ()))])
    blank = rows[gone.lineno - 1][: gone.col_offset]
    kept = [f"{blank}pass\n"] if blank.isspace() and _alone(tree, gone) else []
    return "".join([*rows[: first - 1], *kept, *rows[gone.end_lineno :]])


def _alone(tree: ast.AST, statement: ast.stmt) -> bool:
    """Whether a statement is the only one of its block, and not ``pass``."""
    blocks = (block for each in ast.walk(tree) for _, block in ast.iter_fields(each) if isinstance(block, list))
    return not isinstance(statement, ast.Pass) and any(block == [statement] for block in blocks)


def main() -> None:
    """Run until the time is over; write the counterexamples into a folder and the summary to standard output."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_projects", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("counterexamples"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    end, seed = time.monotonic() + 60 * given.minutes, given.seed * 1_000_000
    with tempfile.TemporaryDirectory() as place:
        search = Search(Path(place) / "project")
        while time.monotonic() < end:
            search.run(seed)
            seed += 1
            _write(given.folder, search.tally)
    print(*search.tally.lines(), sep="\n")


def _write(folder: Path, tally: Tally) -> None:
    for number, each in enumerate(tally.counterexamples):
        path = folder / f"{each.code.replace(' ', '-')}-{each.seed}-{number}.txt"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{each}\n", encoding="utf-8")
