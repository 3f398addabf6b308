"""Configuration files: the nearest one above a folder, what it says, and the oldest torch of the project around it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from torchlint.config.layers import Config, assemble
from torchlint.config.options import WORKED_IN, Options
from torchlint.config.sources import EXTEND, Document, from_config, from_table, parse_toml
from torchlint.config.values import OptionError
from torchlint.source import files

Version = tuple[int, int]
Layer = tuple[str, Options]
"""What one source says, behind its name."""


class ConfigError(Exception):
    """A configuration that cannot be used; the text names the file, the key and the remedy."""


class Finder:
    """The configuration of any folder; each folder and each file is looked at once.

    ``flags`` are laid over every configuration found; they may name the one file to use, or ask for none.
    """

    def __init__(self, flags: Options, cwd: str) -> None:
        self._flags = flags
        self._cwd = cwd
        self._configs: dict[tuple[str | None, Version | None], Config] = {}
        self._nearest: dict[str, _Found] = {}
        named, settings = from_config(flags.config)
        self._only = _explicit(os.path.join(cwd, named)) if named is not None else None
        self._given: tuple[Layer, ...] = (*(("--config", _placed(each, cwd)) for each in settings), (_FLAGS, flags))

    def of_folder(self, folder: str) -> Config:
        """Return the configuration for the files of an absolute folder.

        :raises ConfigError: where the nearest configuration cannot be used.
        """
        found = self._found(folder)
        place = (found.path, found.target)
        if place not in self._configs:
            self._configs[place] = self._assembled(found)
        return self._configs[place]

    def _found(self, folder: str) -> _Found:
        if self._flags.isolated:
            return _Found()
        found = self._climb(folder)
        return found if self._only is None else replace(self._only, target=found.target)

    def sources(self, name: str, folder: str) -> list[str]:
        """Return which sources have a say in an option of an absolute folder, the strongest last."""
        adding = [each for each, whole in WORKED_IN.items() if whole == name]
        found: list[str] = []
        for source, said in reversed(self._layers(self._found(folder))):
            if any(getattr(said, each) is not None for each in (name, *adding)):
                found.insert(0, source)
            if getattr(said, name) is not None:
                break
        return found

    def _layers(self, found: _Found) -> tuple[Layer, ...]:
        return ((_DEPENDENCIES, Options(target_torch=found.target)), *found.layers, *self._given)

    def _assembled(self, found: _Found) -> Config:
        root = os.path.dirname(found.path) if found.path and self._only is None else self._cwd
        return assemble((said for _, said in self._layers(found)), root, self._cwd, found.path)

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
            found = _Found(nearer.path, nearer.layers, project.target, project.project)
        self._nearest[folder] = found
        return found


@dataclass(frozen=True, slots=True)
class _Found:
    path: str | None = None
    layers: tuple[Layer, ...] = ()
    """What the file says, behind what those that it extends say."""
    target: Version | None = None
    project: bool = False


def _look(folder: str, options_wanted: bool) -> _Found:
    own = os.path.join(folder, "torchlint.toml")
    shared = os.path.join(folder, "pyproject.toml")
    read = _read(shared) if os.path.isfile(shared) else _NOTHING
    if options_wanted and os.path.isfile(own):
        return _Found(own, _layers(own, _own_table(own, _read(own).document)), read.target, read.project)
    table = _tool_table(shared, read.document) if options_wanted else None
    if table is not None:
        return _Found(shared, _layers(shared, table), read.target, read.project)
    return _Found(None, (), read.target, read.project)


def _explicit(path: str) -> _Found:
    return _Found(path, _layers(path, _table(path) or {}))


def _table(path: str) -> Document | None:
    """Return what a file says to torchlint; None for a ``pyproject.toml`` that says nothing."""
    document = _read(path).document
    is_shared = os.path.basename(path) == "pyproject.toml"
    return _tool_table(path, document) if is_shared else _own_table(path, document)


def _own_table(path: str, document: Document) -> Document:
    if isinstance(document.get("tool"), dict):
        raise ConfigError(f"{path}: put the keys at the top level of this file: leave out `[tool.torchlint]`")
    return document


@dataclass(frozen=True, slots=True)
class _File:
    """What a file holds, whether it describes a project, and the oldest torch that this one supports."""

    document: Document
    project: bool = False
    target: Version | None = None


_NOTHING = _File({})
_DEPENDENCIES = "the project's dependencies"
_FLAGS = "a flag or an environment variable"


def _read(path: str) -> _File:
    from torchlint.config.torch_requirement import declares_project, oldest_torch

    try:
        document = parse_toml(files.read(path).decode("utf-8-sig"))  # Notepad begins a file with a mark
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte 0x{error.object[error.start]:02x} is not UTF-8: save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: no valid TOML: {error}") from None
    return _File(document, declares_project(document), oldest_torch(document))


def _tool_table(path: str, document: Document) -> Document | None:
    tool = document.get("tool")
    table = tool.get("torchlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.torchlint`: expected a table")
    return table


def _layers(path: str, table: Document, extending: tuple[str, ...] = ()) -> tuple[Layer, ...]:
    """Return what a file says behind what the file that it extends says, and so on.

    :raises ConfigError: where one of them cannot be used, or they extend each other in a circle.
    """
    own = (path, _options(path, {key: value for key, value in table.items() if key != EXTEND}))
    if EXTEND not in table:
        return (own,)
    named = table[EXTEND]
    if not isinstance(named, str) or not named:
        raise ConfigError(f"{path}: `{EXTEND}`: expected the path of a configuration file")
    other = os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(named)))
    if other in (path, *extending):
        raise ConfigError(f"{path}: `{EXTEND}`: `{named}` leads back to this file")
    base = _table(other)
    if base is None:
        raise ConfigError(f"{path}: `{EXTEND}`: {other} has no `[tool.torchlint]`")
    return (*_layers(other, base, (path, *extending)), own)


def _options(path: str, table: Document) -> Options:
    try:
        is_shared = os.path.basename(path) == "pyproject.toml"
        return from_table(table, "directly under `[tool.torchlint]`") if is_shared else from_table(table)
    except OptionError as error:
        raise ConfigError(f"{path}: {error}") from None


def _placed(options: Options, folder: str) -> Options:
    """Return options whose paths start from a folder and not from that of a configuration file."""
    baseline, cache_dir = (each and os.path.join(folder, each) for each in (options.baseline, options.cache_dir))
    return replace(options, baseline=baseline, cache_dir=cache_dir)
