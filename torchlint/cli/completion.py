"""The `completion` command: the script that lets a shell complete commands, flags, their words, rules and files."""

from __future__ import annotations

import argparse

from torchlint.cli.arguments import COMMANDS, UsageError, add_options, subparsers
from torchlint.cli.session import Session
from torchlint.config.options import OPTIONS, Options
from torchlint.config.selectors import nearest


def run(options: Options, session: Session) -> int:
    """Print the script.

    :raises UsageError: where no shell is named, or one that is not known, or the library that writes the scripts is not
        installed.
    """
    if options.shell is None:
        raise UsageError("say for which shell, for example `torchlint completion bash`")
    print(_script(options.shell), file=session.stdout)
    return 0


def _script(shell: str) -> str:
    try:
        import shtab
    except ImportError:
        raise UsageError("completion needs shtab: pip install shtab") from None
    shells = tuple(shtab.SUPPORTED_SHELLS)
    if shell not in shells:
        raise UsageError(f"completion: expected one of {', '.join(shells)}, got `{shell}`{nearest(shell, shells)}")
    program, commands = subparsers(tuple(COMMANDS))
    add_options(program, "check", positional=False)  # the command that needs no name
    for parser in (program, *commands.values()):
        _offer(parser, shells, shtab.FILE)
    text: str = shtab.complete(program, shell)
    # The first word may be a path as well as a command.
    return text.replace(" -F _shtab_torchlint torchlint", " -o default -F _shtab_torchlint torchlint")


def _offer(parser: argparse.ArgumentParser, shells: tuple[str, ...], file: object) -> None:
    """Tell the library what may stand at the place of each argument."""
    for action in parser._actions:
        option = OPTIONS.get(action.dest)
        if option is None:
            continue
        if option.kind.words:
            action.choices = option.kind.words
        elif action.dest == "shell":
            action.choices = shells
        elif option.kind.is_file:
            action.complete = file  # type: ignore[attr-defined]  # where shtab looks for it
