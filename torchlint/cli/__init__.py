"""The command line: a module for each command, and where arguments come in and the exit status goes out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from torchlint.cli.arguments import COMMANDS, UsageError, parse, parser_of
from torchlint.config import ConfigError
from torchlint.config.selectors import UnknownSelector
from torchlint.output.screen import printable
from torchlint.version import VERSION

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status: 0 clean, 1 findings, 2 the run itself failed, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            # A name or a line that the terminal's encoding lacks must not end the run.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # absent under a test's stand-in
    try:
        status = _dispatch(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader had enough, as `head` has: that is no failure
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        _complain(f"output cannot be written: {error.strerror or error}")
        with suppress(OSError):  # else the interpreter complains a second time when it flushes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status


def _dispatch(given: list[str]) -> int:
    named = bool(given) and given[0] in COMMANDS
    command, rest = (given[0], given[1:]) if named else ("check", given)
    try:
        if "-h" in rest or "--help" in rest:
            print(parser_of(command).format_help() if named else _first_help(), end="")
            return 0
        return _run(command, rest)
    except (UsageError, ConfigError, UnknownSelector) as error:
        _complain(str(error))
        return FAILED


def _first_help() -> str:
    from torchlint.cli.help import text

    return text()


def _run(command: str, arguments: Sequence[str]) -> int:
    """Run a command: ``run`` in the module of its name, imported only now, for others need much that it does not."""
    options = parse(arguments, command, os.environ)
    if options.version:
        print(f"torchlint {VERSION}")
        return 0
    from torchlint.cli.session import session_for

    status: int = import_module(f"torchlint.cli.{command}").run(options, session_for(options, os.environ))
    return status


def _complain(message: str) -> None:
    with suppress(OSError):
        print(f"torchlint: error: {printable(message)}", file=sys.stderr)
