"""Labelled places of published code: reads both forms of label folders, finds the sources, and runs torchlint there.

A folder holds either one file for each family (``numpy.jsonl``, ``data.jsonl``, ...), whose labels point into releases
of an index, or ``sites.jsonl``, whose labels point into commits of repositories. Either way a label is a pointer with
what was read there, and no code.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import corpus  # noqa: E402

from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Finding  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402

FAMILIES = ("numpy", "data", "constructors", "variable")
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
            yield _of_a_repository(json.loads(line))
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
        result = check_bytes(str(path), path.read_bytes(), config)
        assert result.source is not None, path
        places: dict[tuple[int, int], list[Finding]] = defaultdict(list)
        for finding in (*result.findings, *result.suppressed):
            row = result.source.position(finding.start)[0]
            places[row, finding.start - result.source.line_starts[row - 1]].append(finding)
        for family, label in labels:
            yield Site(family, label, tuple(_at(places, family, label)))


def _at(places: dict[tuple[int, int], list[Finding]], family: str, label: Label) -> Iterable[Finding]:
    row, column = int(str(label["line"])), int(str(label["column"]))
    if family == "variable" and label["form"] == "import":  # the label points at the statement
        return [each for (line, _), found in places.items() if line == row for each in found]
    return places.get((row, column), [])


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
    for line in listed.decode().split("\0"):
        mode, _, name = line.partition("\t")
        if not name.endswith(_TEXTS) or not mode.startswith("100") or ".." in Path(name).parts:
            continue
        blob = _git(place, "cat-file", "blob", mode.split()[2])
        if blob is not None:
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).write_bytes(blob)
    partial.rename(folder)
    return True


def _git(place: Path | None, *words: str) -> bytes | None:
    done = subprocess.run(  # noqa: S603
        ["git", "-c", "safe.directory=*", "--git-dir", str(place), *words],  # noqa: S607
        check=False, capture_output=True,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else None
