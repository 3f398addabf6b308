"""What the user wants of a file: the layers of options laid over each other, found by walking up from the file."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from torchlint import files
from torchlint.globs import matches
from torchlint.model import Confidence, Settings
from torchlint.options import OptionError, Options, Patterns, from_table
from torchlint.selectors import DEFAULT_CODES, EVERY_CODE, codes_meant, selection

CACHE = ".torchlint_cache"
"""The folder of the cache, unless the user gives another."""
SYNTAX_ERROR = "TNS900"
"""Reported whatever is selected: a file that was not understood must not pass in silence."""

# fmt: off
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", CACHE, ".tox", ".venv",
    ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv",
)
# fmt: on


Document = Mapping[str, object]


class ConfigError(Exception):
    """A configuration that cannot be used; the text names the file, the key and the remedy."""


@dataclass(frozen=True)
class Config:
    """All options that hold for one file."""

    settings: Settings = field(default_factory=Settings)
    min_confidence: Confidence = Confidence.POSSIBLE
    unsafe_fixes: bool = False
    select: tuple[str, ...] | None = None
    """The selectors of the rules that are on; None for those that are on by default."""
    ignore: tuple[str, ...] = ()
    repaired: frozenset[str] = EVERY_CODE
    """The codes whose fixes may be applied."""
    per_file_ignores: Patterns = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    root: str = ""
    """The absolute folder of the configuration file, which anchors its patterns."""
    cwd: str = ""
    """The absolute folder that relative paths start from."""
    path: str | None = None
    """The configuration file, None where there is none."""
    run: Options = field(default_factory=Options)
    """The merged options, for those that concern the whole run and not one file."""

    def codes(self, path: str) -> frozenset[str]:
        """Give the rule codes that are on for a file: those selected, less its per-file ignores."""
        chosen = _selected(self.select, self.ignore) | {SYNTAX_ERROR}
        if not self.per_file_ignores:
            return chosen
        absolute = self._absolute(path)
        for pattern, ignored in self.per_file_ignores:
            negated = pattern.startswith("!")
            if matches(absolute, [pattern[negated:]], self.root or self.cwd) != negated:
                chosen = chosen.difference(*(codes_meant(each) for each in ignored))
        return chosen | {SYNTAX_ERROR}

    def fixable(self, code: str) -> bool:
        """Tell whether fixes of this rule may be applied."""
        return code in self.repaired

    def excludes(self, path: str) -> bool:
        """Tell whether ``exclude`` or ``extend-exclude`` names this file or folder itself."""
        return matches(self._absolute(path), self.exclude, self.root or self.cwd)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, path))


def assemble(layers: Iterable[Options], root: str = "", cwd: str = "", path: str | None = None) -> Config:
    """Lay options over each other, the strongest last.

    :raises UnknownSelector: where a selector means no rule.
    """
    stack = list(layers)
    selected, repaired = DEFAULT_CODES, EVERY_CODE
    for layer in stack:
        ignored = (*(layer.ignore or ()), *(layer.extend_ignore or ()))
        selected = selection(selected, layer.select, layer.extend_select or (), ignored)
        repaired = selection(repaired, layer.fixable, (), layer.unfixable or ())
    run = Options(**{name: _strongest(stack, name) for name in Options.__slots__})  # type: ignore[arg-type]  # as typed
    extended = [each.extend_exclude or () for each in stack]
    return Config(
        settings=Settings(run.strict or False, run.numpy_style or "chain", run.target_torch),
        min_confidence=run.min_confidence or Confidence.POSSIBLE,
        unsafe_fixes=run.unsafe_fixes or False,
        select=tuple(sorted(selected)),
        repaired=repaired,
        per_file_ignores=run.per_file_ignores or (),
        exclude=sum(extended, DEFAULT_EXCLUDE if run.exclude is None else run.exclude),
        root=root,
        cwd=cwd,
        path=path,
        run=run,
    )


@functools.lru_cache(maxsize=64)
def _selected(select: tuple[str, ...] | None, ignore: tuple[str, ...]) -> frozenset[str]:
    return selection(DEFAULT_CODES, select, (), ignore)


def _strongest(layers: list[Options], name: str) -> object:
    values = (getattr(layer, name) for layer in reversed(layers))
    return next((value for value in values if value is not None), None)


class Finder:
    """Gives the configuration of any folder; each folder and each file is looked at once.

    ``flags`` are laid over every configuration found. ``only`` is the one file to use instead of the nearest;
    ``isolated`` uses none at all.
    """

    def __init__(self, flags: Options, cwd: str, only: str | None = None, isolated: bool = False) -> None:
        self._flags = flags
        self._cwd = cwd
        self._isolated = isolated
        self._folders: dict[str, Config] = {}
        self._nearest: dict[str, _Found] = {}
        self._only = _explicit(os.path.join(cwd, only)) if only is not None else None

    def of_folder(self, folder: str) -> Config:
        """Give the configuration for the files of an absolute folder.

        :raises ConfigError: where the nearest configuration cannot be used.
        """
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._assembled(folder)
        return known

    def _assembled(self, folder: str) -> Config:
        if self._isolated:
            return assemble([self._flags], self._cwd, self._cwd)
        found = self._climb(folder)
        if self._only is not None:
            found = _Found(self._only.path, self._only.options, found.target)
        layers = [Options(target_torch=found.target), found.options, self._flags]
        root = os.path.dirname(found.path) if found.path and self._only is None else self._cwd
        return assemble(layers, root, self._cwd, found.path)

    def _climb(self, folder: str) -> _Found:
        """Find the nearest configuration and the nearest project's oldest torch, remembering every folder passed."""
        known = self._nearest.get(folder)
        if known is not None:
            return known
        here = _look(folder, options_wanted=self._only is None)
        parent = os.path.dirname(folder)
        if (here.path is not None and here.project) or parent == folder:
            found = here
        else:
            above = self._climb(parent)
            nearer = here if here.path is not None else above
            project = here if here.project else above
            found = _Found(nearer.path, nearer.options, project.target, project.project)
        self._nearest[folder] = found
        return found


@dataclass(frozen=True, slots=True)
class _Found:
    path: str | None = None
    options: Options = field(default_factory=Options)
    target: tuple[int, int] | None = None
    project: bool = False


def _look(folder: str, options_wanted: bool) -> _Found:
    own = os.path.join(folder, "torchlint.toml")
    shared = os.path.join(folder, "pyproject.toml")
    document = _parsed(shared) if os.path.isfile(shared) else {}
    target, project = _of_project(document) if document else (None, False)
    if options_wanted and os.path.isfile(own):
        return _Found(own, _options(own, _parsed(own)), target, project)
    table = _tool_table(shared, document) if options_wanted else None
    if table is not None:
        return _Found(shared, _options(shared, table), target, project)
    return _Found(None, Options(), target, project)


def _of_project(document: Document) -> tuple[tuple[int, int] | None, bool]:
    """Give the oldest torch, and whether it is a project at all."""
    from torchlint.metadata import declares_project, oldest_torch  # here: it compiles patterns that few folders need

    return oldest_torch(document), declares_project(document)


def _explicit(path: str) -> _Found:
    document = _parsed(path)
    if os.path.basename(path) == "pyproject.toml":
        document = _tool_table(path, document) or {}
    return _Found(path, _options(path, document))


def _parsed(path: str) -> Document:
    try:
        return _toml(files.read(path).decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: no valid TOML: {error}") from None


def _toml(text: str) -> Document:
    """Read a document.

    :raises ValueError: where it is no TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    document: Document = tomllib.loads(text)
    return document


def _tool_table(path: str, document: Document) -> Document | None:
    tool = document.get("tool")
    table = tool.get("torchlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.torchlint`: expected a table")
    return table


def _options(path: str, table: Document) -> Options:
    try:
        return from_table(table)
    except OptionError as error:
        raise ConfigError(f"{path}: {error}") from None
