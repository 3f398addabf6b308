"""Labelled places of published code: reads both forms of label folders, finds the sources, and runs torchlint there.

A folder holds either one file for each family (``numpy.jsonl``, ``data.jsonl``, ...), whose labels point into releases
of an index, or ``sites.jsonl``, whose labels point into commits of repositories, or name the rule that is asked about
and point into either. In each case a label is a pointer with what was read there, and no code.
"""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import corpus  # noqa: E402

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Finding  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402

FAMILIES = ("numpy", "data", "constructors", "variable")
OF_A_RULE = "rule"
"""The family of labels that each name the rule which they are about, and a line without a column."""
PARTS = ("tuning", "held out")
_TEXTS = (".py", ".pyi", ".ipynb", ".toml", ".cfg")

Label = dict[str, object]

_KINDS = {"numpy": "numpy", "data": "data", "ctor": "constructors", "variable": "variable"}
_USES = {"inplace": "mutation", "index0": "scalar", "meta": "metadata", "rebind": "rebinding"}
_ARGUMENTS = {"sizes": "size", "size-object": "size", "empty": "size", "tensor": "tensor", "unknown": "unknown"}
_MISSING = {"none": [], "both": ["detach", "cpu"]}


@dataclass(frozen=True)
class Site:
    """One labelled place, and the findings that torchlint has there."""

    family: str
    label: Label
    findings: tuple[Finding, ...]

    @property
    def project(self) -> str:
        """The release or the repository, without its version."""
        return str(self.label["release"]).partition("==")[0].partition("@")[0]

    @property
    def part(self) -> str:
        """``"held out"`` for a third of the files, ``"tuning"`` for the others."""
        key = f"{self.label['release']}/{self.label['path']}".encode()
        return PARTS[hashlib.sha256(key).digest()[0] % 3 == 0]

    def found(self, prefix: str) -> Finding | None:
        """Return the finding of a rule, or of a family of rules, at this place."""
        return next((each for each in self.findings if each.code.startswith(prefix)), None)


def labelled(folder: Path) -> Iterator[tuple[str, Label]]:
    """Yield every label with its family, in the form of the labels of releases."""
    whole = folder / "sites.jsonl"
    if whole.exists():
        for line in whole.read_text(encoding="utf-8").splitlines():
            label = json.loads(line)
            yield _of_a_rule(label) if "code" in label else _of_a_repository(label)
        return
    for family in FAMILIES:
        for line in (folder / f"{family}.jsonl").read_text(encoding="utf-8").splitlines():
            yield family, json.loads(line)


def _of_a_repository(label: Label) -> tuple[str, Label]:
    needs = str(label.get("needs"))
    return _KINDS[str(label["kind"])], {
        **label,
        "release": f"{label['repository']}@{label['commit']}",
        "column": int(str(label["column"])) - 1,
        "torch": str(label["verdict"]).startswith("torch-"),
        "use": _USES.get(str(label.get("use")), label.get("use")),
        "argument": _ARGUMENTS.get(str(label.get("arg")), "data"),
        "form": "call",
        "missing": _MISSING.get(needs, [needs]),
        "evidence": label.get("note", ""),
        "scope": label.get("type_evidence", ""),
    }


def _of_a_rule(label: Label) -> tuple[str, Label]:
    release = label.get("release") or f"{label['repository']}@{label['commit']}"
    return OF_A_RULE, {**label, "release": release, "evidence": label["note"], "scope": label["label"]}


_USUAL = Config()


def scored(folder: Path, into: Path, clones: Path | None, config: Config = _USUAL) -> Iterator[Site]:
    """Run torchlint once over each file that holds a label; a repository that is not to be had is left out."""
    files: dict[tuple[str, str], list[tuple[str, Label]]] = defaultdict(list)
    for family, label in labelled(folder):
        files[str(label["release"]), str(label["path"])].append((family, label))
    for (release, name), labels in sorted(files.items()):
        source = sources(release, into, clones)
        if source is None:
            continue
        path = source / name
        asked = {str(label["code"]) for family, label in labels if family == OF_A_RULE}
        result = check_bytes(str(path), path.read_bytes(), replace(config, select=tuple(asked)) if asked else config)
        assert result.source is not None, path
        statements = _Statements(result.source.text) if asked else None
        places: dict[tuple[int, int], list[Finding]] = defaultdict(list)
        for finding in (*result.findings, *result.suppressed):
            row = result.source.position(finding.start)[0]
            places[row, finding.start - result.source.line_starts[row - 1]].append(finding)
        for family, label in labels:
            found = statements.around(places, label) if statements else _at(places, family, label)
            yield Site(family, label, tuple(found))


def _at(places: dict[tuple[int, int], list[Finding]], family: str, label: Label) -> Iterable[Finding]:
    row, column = int(str(label["line"])), int(str(label["column"]))
    if family == "variable" and label["form"] == "import":  # the label points at the statement
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
        return [each for place in sorted(at) for each in places[place] if each.code == label["code"]]


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
