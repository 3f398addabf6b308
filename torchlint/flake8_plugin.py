"""torchlint inside flake8: the same codes, rows and columns, with flake8's own options, selection and ``# noqa``."""

from __future__ import annotations

import argparse
import ast
import functools
import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol

from torchlint.config import Config, ConfigError, Finder, assemble
from torchlint.config.option import Option
from torchlint.config.options import OPTIONS, Options
from torchlint.config.selectors import ALL, DEFAULT_CODES, EVERY_CODE
from torchlint.config.values import SWITCH, OptionError
from torchlint.diagnostics.model import Confidence, FileResult, Finding, Settings, in_order
from torchlint.suppression.apply import ABOUT_SUPPRESSIONS, NEVER_SILENCED, split
from torchlint.suppression.unused import audit
from torchlint.version import VERSION

FAULT = "TNS999"
"""What could not be checked is reported under this code: neither silence nor the end of the flake8 run."""

_SHARED = {name: each for name, each in OPTIONS.items() if "flake8" in each.help}
"""The options that flake8's command line and configuration take too, as ``torchlint-...``."""

Row = tuple[int, int, str, type["Plugin"]]


class _OptionManager(Protocol):
    def add_option(self, *names: str, **keywords: Any) -> None: ...

    def extend_default_ignore(self, codes: Sequence[str]) -> None: ...


class Plugin:
    """What flake8 makes for each file."""

    name = "torchlint"
    version = VERSION
    config: ClassVar[Config] = Config(select=(ALL,))
    left_out: ClassVar[frozenset[str]] = EVERY_CODE - DEFAULT_CODES
    """Rules that are off by default, which a prefix in flake8's `select` does not turn on."""

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        del tree  # asked for only because it makes flake8 call this once per file
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: _OptionManager) -> None:
        """Register the options, for the command line and for flake8's configuration file."""
        for name, option in _SHARED.items():
            flag, text = _flag(name), option.help["flake8"]
            if option.kind is SWITCH:
                manager.add_option(flag, action="store_true", parse_from_config=True, help=text)
            else:
                manager.add_option(flag, default="", parse_from_config=True, help=text)
        manager.extend_default_ignore(sorted(EVERY_CODE - DEFAULT_CODES))

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Read the options.

        :raises flake8.exceptions.ExecutionError: where a value is none that the option takes.
        """
        try:
            given: dict[str, Any] = {name: _read(name, option, options) for name, option in _SHARED.items()}
            flags = Options(select=(ALL,), **given)  # flake8 selects
            cls.config = assemble([flags], cwd=os.getcwd())
            cls.left_out = EVERY_CODE - DEFAULT_CODES - _named(options)
        except OptionError as error:
            from flake8.exceptions import ExecutionError

            raise ExecutionError(str(error)) from None

    def run(self) -> Iterator[Row]:
        """Yield what flake8 is to report: the row, the column from 0, and the text that begins with the code."""
        try:
            yield from self._found()
        except Exception as error:  # noqa: BLE001  # one file's crash must not end flake8's run
            yield self._fault(f"{type(error).__name__}: {error}")

    def _found(self) -> Iterator[Row]:
        from torchlint.linter import engine

        config = self._config()
        result = engine.check_bytes(self._filename, _encoded("".join(self._lines)), config)
        for trouble in result.troubles:
            yield self._fault(trouble.message)
        if result.source is None:
            return
        found = (each for each in _left_to_flake8(result, self.config.min_confidence) if each.code not in self.left_out)
        for finding in filter(self.config.shows, found):
            row, column = result.source.position(finding.start)
            yield row, column - 1, f"{finding.code} {finding.message}", type(self)

    def _config(self) -> Config:
        """Return the options of the check: findings of every confidence say which suppressions are in use."""
        config = self.config
        target = config.settings.target_torch
        if target is None:
            target = _project_target(os.path.dirname(os.path.join(config.cwd, self._filename)))
        settings = Settings(config.settings.strict, config.settings.numpy_style, target)
        return Config(settings, select=(ALL,), cwd=config.cwd)

    def _fault(self, message: str) -> Row:
        return 1, 0, f"{FAULT} torchlint could not check this file: {message}".replace("\n", " "), type(self)


def _left_to_flake8(result: FileResult, least: Confidence) -> tuple[Finding, ...]:
    """Return the findings that torchlint's own comments do not silence.

    flake8 honours ``noqa`` itself, and its ``--disable-noqa`` must find something.
    """
    if result.source is None:
        return ()
    found = [each for each in (*result.findings, *result.suppressed) if each.code not in ABOUT_SUPPRESSIONS]
    broken = result.troubles or any(each.code in NEVER_SILENCED for each in found)
    faults = [] if broken else audit(result.source, found, DEFAULT_CODES, lambda _: found)
    wanted = in_order(each for each in (*found, *faults) if each.confidence >= least)
    return split(result.source, wanted, noqa=False)[0]


def _named(options: argparse.Namespace) -> frozenset[str]:
    """Return the codes that flake8 was told to report, written out."""
    lists = (getattr(options, name, None) or () for name in ("select", "extend_select", "enable_extensions"))
    return frozenset(str(each).strip() for listed in lists for each in listed)


def _flag(name: str) -> str:
    return f"--torchlint-{name.replace('_', '-')}"


def _read(name: str, option: Option, given: argparse.Namespace) -> object:
    value = getattr(given, f"torchlint_{name}")
    if option.kind is SWITCH:
        return bool(value)
    try:
        return option.kind.from_text(value) if value else None
    except OptionError as error:
        raise OptionError(f"{_flag(name)[2:]}: {error}") from None


def _encoded(text: str) -> bytes:
    """Return back the bytes that say this text: flake8 has decoded it, but a coding line may still stand in it."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8", "surrogatepass")).readline)
    return text.encode(encoding)


@functools.lru_cache(maxsize=1024)
def _project_target(folder: str) -> tuple[int, int] | None:
    try:
        return Finder(Options(), folder).of_folder(folder).settings.target_torch
    except ConfigError:
        return None  # torchlint's own configuration has no say in flake8, so its faults have none either
