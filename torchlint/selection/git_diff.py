"""Which rows of which files git calls changed since a revision."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator

from torchlint.diagnostics.changed_lines import WHOLE, Changed

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abfnrtv"\\])')
_NAMED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_DIFF_OPTS"})
# The user's own settings must not change what is read here.
_DIFF = (
    "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative",
    "--find-renames", "--ignore-submodules=all", "--submodule=short", "--text", "--unified=0",
    "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


class RevisionError(Exception):
    """git cannot tell what changed; the text says why and what to do."""


def changed_since(revision: str, folders: Iterable[str]) -> dict[str, Changed]:
    """Return the new rows of each file that differs from a revision, by the file's real path.

    The files are those of the repositories in which the folders lie, as they are on disk, with those that git does not
    know yet but would add. They are compared with the commit at which ``HEAD`` left the revision's history.

    :raises RevisionError: where a folder lies in no repository, or the revision cannot be found.
    """
    found: dict[str, Changed] = {}
    tops = {_top(folder) for folder in set(folders)}
    for top in sorted(tops):
        base = _base(top, revision)
        for path, rows in _patched(_git(top, *_DIFF, base, "--")):
            found[_real(top, path)] = rows
        for path in _git(top, "ls-files", "-z", "--others", "--exclude-standard").split(b"\0"):
            if path:
                found[_real(top, path)] = WHOLE
    return found


def _top(folder: str) -> str:
    try:
        said = _git(folder, "rev-parse", "--show-toplevel")
    except RevisionError as error:
        raise RevisionError(f"`{folder}` is in no git repository that can be read: {error}") from None
    if not said.strip(b"\n"):
        raise RevisionError(f"`{folder}` is in a git repository without files")
    return os.fsdecode(said.removesuffix(b"\n"))


def _base(top: str, revision: str) -> str:
    unknown = f"unknown revision `{revision}` in {top}: fetch it first, or name a branch, a tag or a commit"
    if not revision or revision.startswith("-"):
        raise RevisionError(unknown)
    try:
        commit = _git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
    except RevisionError:
        raise RevisionError(unknown) from None
    try:
        return _git(top, "merge-base", commit, "HEAD").decode().split()[0]
    except (RevisionError, IndexError):
        remedy = "in a shallow clone, fetch the whole history (`fetch-depth: 0`)"
        raise RevisionError(f"`{revision}` and HEAD have no common commit in {top}: {remedy}") from None


def _git(folder: str, *arguments: str) -> bytes:
    # Inside a hook, git says by these where its own files are, from a folder that need not be this one.
    kept = {key: value for key, value in os.environ.items() if key not in _OF_HOOKS}
    environment = {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603  # no shell, and a revision cannot begin with a dash
            ["git", "-c", "core.fsmonitor=false", *arguments],  # noqa: S607  # the user's own git
            cwd=folder,
            capture_output=True,
            check=False,
            env=environment,
        )
    except OSError as error:
        raise RevisionError(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RevisionError(said[0] if said else f"git {arguments[0]} failed with status {done.returncode}")
    return done.stdout


def _real(top: str, path: bytes) -> str:
    return os.path.realpath(os.path.join(top, os.fsdecode(path)))


def _patched(patch: bytes) -> Iterator[tuple[bytes, Changed]]:
    """Yield the path and the new rows of each file in a patch without context."""
    lines = iter(patch.split(b"\n"))
    path: bytes | None = None
    spans: list[tuple[int, int]] = []
    for line in lines:
        if line.startswith(b"diff --git "):
            if path is not None:
                yield path, Changed(tuple(spans))
            path, spans = None, []
        elif line.startswith(b"+++ ") and line != b"+++ /dev/null":
            path = _path(line.removeprefix(b"+++ "))
        elif hunk := _HUNK.match(line):
            taken, start, put = (1 if each is None else int(each) for each in (hunk[1], hunk[2], hunk[3]))
            if put:
                spans.append((start, start + put - 1))
            _skip(lines, taken + put)
    if path is not None:
        yield path, Changed(tuple(spans))


def _skip(lines: Iterator[bytes], count: int) -> None:
    """Pass over the text of a hunk, which must not be taken for a header; a missing last newline is told between."""
    for line in lines:
        count -= not line.startswith(b"\\")
        if count <= 0:
            return


def _path(quoted: bytes) -> bytes:
    """Read a path as git writes it: in quotes with escapes where it must, with a tab behind it where it has blanks."""
    text = quoted.removesuffix(b"\t")
    if text.startswith(b'"'):
        text = _ESCAPE.sub(lambda found: _NAMED.get(found[1]) or _byte(found[1]), text[1:-1])
    return text.removeprefix(b"b/")


def _byte(escape: bytes) -> bytes:
    return bytes([int(escape, 8)]) if len(escape) == 3 else escape
