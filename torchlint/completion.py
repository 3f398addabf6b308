"""`torchlint completion SHELL`: the script that lets a shell complete commands, flags, their words, rules and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from torchlint.flags import SUBCOMMANDS, UsageError, add_flags
from torchlint.registry import BY_CODE, BY_NAME
from torchlint.selectors import ALL, nearest

_TAKES_RULES = frozenset(("select", "ignore", "extend_select", "extend_ignore", "fixable", "unfixable"))
_TAKES_FILE = frozenset(("paths", "config", "baseline", "output_file", "stdin_filename"))
_SUMMARIES = {
    "check": "report and repair",
    "explain": "print a rule's page",
    "rules": "list the rules",
    "verify": "prove fixes by running them",
    "server": "serve an editor",
    "clean": "remove the cache",
    "completion": "print the script for a shell",
}


def script(shell: str) -> str:
    """Give the script for a shell.

    :raises UsageError: where the shell is not known or the library that writes the scripts is not installed.
    """
    try:
        import shtab
    except ImportError:
        raise UsageError('completion needs a package: pip install "torchlint[completion]"') from None
    shells = shtab.SUPPORTED_SHELLS
    if shell not in shells:
        raise UsageError(f"completion: expected one of {', '.join(shells)}, got `{shell}`{nearest(shell, shells)}")
    text: str = shtab.complete(_parser(tuple(shells), shtab.FILE), shell)
    # The first word may be a path as well as a command.
    return text.replace(" -F _shtab_torchlint torchlint", " -o default -F _shtab_torchlint torchlint")


def _parser(shells: Iterable[str], file: object) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="torchlint")
    _checking(parser, file)
    commands = parser.add_subparsers()
    for name in SUBCOMMANDS:
        command = commands.add_parser(name, help=_SUMMARIES.get(name, name))
        if name == "check":
            _checking(command, file)
            paths = command.add_argument("paths", nargs="*")
            paths.complete = file  # type: ignore[attr-defined]  # where shtab looks for it
        elif name == "explain":
            command.add_argument("--all", action="store_true", help="all rules")
            command.add_argument("rule", nargs="*", choices=[*BY_CODE, *BY_NAME])
        elif name == "completion":
            command.add_argument("shell", choices=list(shells))
    return parser


def _checking(parser: argparse.ArgumentParser, file: object) -> None:
    add_flags(parser)
    for action in parser._actions:
        if action.dest in _TAKES_RULES:
            action.type = None
            action.choices = [*BY_CODE, *BY_NAME, ALL]
        elif action.dest in _TAKES_FILE:
            action.complete = file  # type: ignore[attr-defined]  # where shtab looks for it
