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

from torchlint.audit import audit
from torchlint.config import Config, ConfigError, Finder
from torchlint.model import Confidence, FileResult, Finding, Settings, in_order
from torchlint.options import NUMPY_STYLES, OptionError, Options, confidence, one_of, version
from torchlint.selectors import ALL, DEFAULT_CODES, EVERY_CODE
from torchlint.suppress import ABOUT_SUPPRESSIONS, NEVER_SILENCED, split
from torchlint.version import VERSION

FAULT = "TNS999"
"""What could not be checked is reported under this code: neither silence nor the end of the flake8 run."""

_OPTIONS = {
    "torchlint-min-confidence": ("possible", "certain, likely or possible"),
    "torchlint-numpy-style": ("chain", "write .detach().cpu().numpy() (chain) or .numpy(force=True) (force)"),
    "torchlint-target-torch": ("", "oldest torch the code must run on, X.Y"),
}

Row = tuple[int, int, str, type["Plugin"]]


class _OptionManager(Protocol):
    def add_option(self, *names: str, **keywords: Any) -> None: ...

    def extend_default_ignore(self, codes: Sequence[str]) -> None: ...


class Plugin:
    """What flake8 makes for each file."""

    name = "torchlint"
    version = VERSION
    config: ClassVar[Config] = Config(select=(ALL,))

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        del tree  # asked for only because it makes flake8 call this once per file
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: _OptionManager) -> None:
        """Register the options, for the command line and for flake8's configuration file."""
        for name, (default, text) in _OPTIONS.items():
            manager.add_option(f"--{name}", default=default, parse_from_config=True, help=text)
        strict = "report every .numpy() without its own .detach() and .cpu()"
        manager.add_option("--torchlint-strict", action="store_true", parse_from_config=True, help=strict)
        manager.extend_default_ignore(sorted(EVERY_CODE - DEFAULT_CODES))

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Read the options.

        :raises flake8.exceptions.ExecutionError: where a value is none that the option takes.
        """
        try:
            cls.config = Config(
                settings=Settings(
                    strict=bool(options.torchlint_strict),
                    numpy_style=_named("numpy-style", one_of(NUMPY_STYLES), options.torchlint_numpy_style),
                    target_torch=_named("target-torch", version, options.torchlint_target_torch or None),
                ),
                min_confidence=_named("min-confidence", confidence, options.torchlint_min_confidence),
                select=(ALL,),  # flake8 selects
                cwd=os.getcwd(),
            )
        except OptionError as error:
            from flake8.exceptions import ExecutionError

            raise ExecutionError(str(error)) from None

    def run(self) -> Iterator[Row]:
        """Give what flake8 is to report: the row, the column from 0, and the text that begins with the code."""
        try:
            yield from self._found()
        except Exception as error:  # noqa: BLE001  # one file's crash must not end flake8's run
            yield self._fault(f"{type(error).__name__}: {error}")

    def _found(self) -> Iterator[Row]:
        from torchlint import engine

        config = self._config()
        result = engine.check_bytes(self._filename, _encoded("".join(self._lines)), config)
        for trouble in result.troubles:
            yield self._fault(trouble.message)
        if result.source is None:
            return
        for finding in _left_to_flake8(result, self.config.min_confidence):
            row, column = result.source.position(finding.start)
            yield row, column - 1, f"{finding.code} {finding.message}", type(self)

    def _config(self) -> Config:
        """Give the options of the check: findings of every confidence say which suppressions are in use."""
        config = self.config
        target = config.settings.target_torch
        if target is None:
            target = _project_target(os.path.dirname(os.path.join(config.cwd, self._filename)))
        settings = Settings(config.settings.strict, config.settings.numpy_style, target)
        return Config(settings, select=(ALL,), cwd=config.cwd)

    def _fault(self, message: str) -> Row:
        return 1, 0, f"{FAULT} torchlint could not check this file: {message}".replace("\n", " "), type(self)


def _left_to_flake8(result: FileResult, least: Confidence) -> tuple[Finding, ...]:
    """Give the findings that torchlint's own comments do not silence.

    flake8 honours ``noqa`` itself, and its ``--disable-noqa`` must find something.
    """
    if result.source is None:
        return ()
    found = [each for each in (*result.findings, *result.suppressed) if each.code not in ABOUT_SUPPRESSIONS]
    broken = result.troubles or any(each.code in NEVER_SILENCED for each in found)
    faults = [] if broken else audit(result.source, found, DEFAULT_CODES, lambda _: found)
    wanted = in_order(each for each in (*found, *faults) if each.confidence >= least)
    return split(result.source, wanted, noqa=False)[0]


def _named(name: str, reader: Any, value: object) -> Any:
    try:
        return None if value is None else reader(value)
    except OptionError as error:
        raise OptionError(f"torchlint-{name}: {error}") from None


def _encoded(text: str) -> bytes:
    """Give back the bytes that say this text: flake8 has decoded it, but a coding line may still stand in it."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8", "surrogatepass")).readline)
    return text.encode(encoding)


@functools.lru_cache(maxsize=1024)
def _project_target(folder: str) -> tuple[int, int] | None:
    try:
        return Finder(Options(), folder).of_folder(folder).settings.target_torch
    except ConfigError:
        return None  # torchlint's own configuration has no say in flake8, so its faults have none either
