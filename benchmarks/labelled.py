"""Labelled places of published code: reads the labels, finds the sources, and runs torchlint there.

A label is one line of JSON, a pointer with what was read there and no code: a ``release`` of an index or a
``repository`` with its ``commit``, ``path``, ``line``, and ``column`` (both from 1, of the word at fault). Its ``kind``
is ``numpy``, ``data``, ``ctor`` or ``variable``, or the code of the rule that is asked about; then ``line`` is one of
the statement at fault. ``split`` names the set that it belongs to.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import corpus  # noqa: E402

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Finding  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402

_TEXTS = (".py", ".pyi", ".ipynb", ".toml", ".cfg")

Label = dict[str, object]


@dataclass(frozen=True)
class Site:
    """One labelled place, and the findings that torchlint has there."""

    label: Label
    findings: tuple[Finding, ...]

    @property
    def kind(self) -> str:
        """What is asked about: a family of rules, or a rule's code."""
        return str(self.label["kind"])

    @property
    def split(self) -> str:
        """The set of labels that it belongs to."""
        return str(self.label["split"])

    def found(self, *prefixes: str) -> Finding | None:
        """Return the finding of a rule, or of a family of rules, at this place."""
        return next((each for prefix in prefixes for each in self.findings if each.code.startswith(prefix)), None)


def labelled(path: Path, splits: Collection[str] = ()) -> Iterator[Label]:
    """Yield the labels of a file, or of the ``sites.jsonl`` of a folder; of some splits alone if any are named."""
    file = path / "sites.jsonl" if path.is_dir() else path
    usual = file.parent.name if file.stem == "sites" else file.stem
    for line in file.read_text(encoding="utf-8").splitlines():
        label = {"split": usual, **json.loads(line)}
        if not splits or label["split"] in splits:
            yield label


def _release(label: Label) -> str:
    return str(label.get("release") or f"{label['repository']}@{label['commit']}")


def _is_of_a_rule(label: Label) -> bool:
    return str(label["kind"]).startswith("TNS")


def scored(labels: Iterable[Label], into: Path, clones: Path | None, config: Config) -> Iterator[Site]:
    """Run torchlint over each file that holds a label, for the labels of a rule with that rule alone.

    A repository that is not to be had is left out.
    """
    files: dict[tuple[str, str, bool], list[Label]] = defaultdict(list)
    for label in labels:
        files[_release(label), str(label["path"]), _is_of_a_rule(label)].append(label)
    for (release, name, is_of_a_rule), here in sorted(files.items()):
        source = sources(release, into, clones)
        if source is None:
            continue
        path = source / name
        asked = tuple(sorted({str(label["kind"]) for label in here})) if is_of_a_rule else ()
        result = check_bytes(str(path), path.read_bytes(), replace(config, select=asked) if asked else config)
        assert result.source is not None, path
        statements = _Statements(result.source.text) if asked else None
        places: dict[tuple[int, int], list[Finding]] = defaultdict(list)
        for finding in (*result.findings, *result.suppressed):
            row = result.source.position(finding.start)[0]
            places[row, finding.start - result.source.line_starts[row - 1] + 1].append(finding)
        for label in here:
            yield Site(label, tuple(statements.around(places, label) if statements else _at(places, label)))


def _at(places: dict[tuple[int, int], list[Finding]], label: Label) -> Iterable[Finding]:
    row, column = int(str(label["line"])), int(str(label["column"]))
    if label.get("form") == "import":  # the label points at the statement
        return [each for (line, _), found in places.items() if line == row for each in found]
    return places.get((row, column), [])


class _Statements:
    """The lines of the statements of a text: a label of a rule points at a line of the one that is at fault."""

    def __init__(self, text: str) -> None:
        self._lines = [
            (node.lineno, (node.body[0].lineno - 1 if isinstance(node, _BLOCKS) else node.end_lineno) or node.lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.stmt)
        ]

    def around(self, places: dict[tuple[int, int], list[Finding]], label: Label) -> Iterable[Finding]:
        """Return the findings of the label's rule in the statement that it points at."""
        line = int(str(label["line"]))
        first, last = max((each for each in self._lines if each[0] <= line <= each[1]), default=(line, line))
        at = {each for each in places if first <= each[0] <= last}
        return [each for place in sorted(at) for each in places[place] if each.code == label["kind"]]


_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncWith)


# ---------------------------------------------------------------------- sources
def sources(release: str, into: Path, clones: Path | None) -> Path | None:
    """Return the folder of a release or of a repository's commit, fetched if it is missing; None if it cannot be."""
    if "@" not in release:
        return corpus.fetch(release, into)
    repository, _, commit = release.partition("@")
    folder = into / "repositories" / f"{repository.replace('/', '+')}@{commit}"
    if not folder.is_dir() and not (clones and _taken_from(clones / repository.replace("/", "+"), commit, folder)):
        return None
    (folder / ".git").mkdir(exist_ok=True)  # marks where the project begins, as in a checkout
    return folder


def _taken_from(clone: Path, commit: str, folder: Path) -> bool:
    """Write the texts of a commit; whether the clone holds it. Blobs that a shallow clone lacks are left out."""
    places = (clone / "repo" / ".git", clone / "repo", clone / ".git", clone)
    place = next((each for each in places if (each / "HEAD").exists()), None)
    listed = _git(place, "ls-tree", "-r", "-z", commit) if place else None
    if listed is None:
        print(f"{clone.name}: no clone that holds {commit}", file=sys.stderr)
        return False
    partial = folder.with_name(folder.name + ".partial")
    blobs: dict[str, str] = {}
    for line in listed.decode().split("\0"):
        mode, _, name = line.partition("\t")
        if name.endswith(_TEXTS) and mode.startswith("100") and ".." not in Path(name).parts:
            blobs[name] = mode.split()[2]
    for name, raw in _texts(place, blobs):
        (partial / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).write_bytes(raw)
    partial.rename(folder)
    return True


def _texts(place: Path | None, blobs: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names of files with their bytes, all read by one call of git."""
    given = "".join(f"{each}\n" for each in blobs.values()).encode()
    raw = _git(place, "cat-file", "--batch", given=given) or b""
    at = 0
    for name in blobs:
        end = raw.index(b"\n", at)
        _, kind, *size = raw[at:end].split()
        at = end + 1
        if kind == b"blob":
            yield name, raw[at : at + int(size[0])]
            at += int(size[0]) + 1


def _git(place: Path | None, *words: str, given: bytes | None = None) -> bytes | None:
    done = subprocess.run(  # noqa: S603
        ["git", "-c", "safe.directory=*", "--git-dir", str(place), *words],  # noqa: S607
        check=False, capture_output=True, input=given,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else None
