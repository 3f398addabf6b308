"""The parsers of the commands, made from the table of options, and what they read: :class:`Options`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torchlint.config.option import Option
from torchlint.config.options import (
    FILES,
    FIXING,
    IN_ENVIRONMENT,
    JUDGEMENT,
    NARROWING,
    OPTIONS,
    OUTPUT,
    RULES,
    Options,
)
from torchlint.config.selectors import nearest
from torchlint.config.sources import from_command_line, variable
from torchlint.config.values import SWITCH, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class UsageError(Exception):
    """The command line makes no sense; the text says what to write instead."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what stands behind its name, what it does in a few words and in a sentence, and its exit status.

    ``groups`` are the titles under which its help lists options; those of other groups stand without a title.
    """

    usage: str
    summary: str
    description: str
    status: str = ""
    groups: tuple[str, ...] = ()


COMMANDS: Mapping[str, Command] = {
    "check": Command(
        "[PATH ...] [FLAGS]",
        "report and repair",
        "Find the places where PyTorch code converts tensors unsafely, say why, and repair them.",
        "0 nothing left to report, 1 findings",
        (FIXING, RULES, JUDGEMENT, FILES, NARROWING, OUTPUT),
    ),
    "explain": Command("CODE|NAME|--all", "print a rule's page", "Print the pages of rules and assumptions."),
    "rules": Command("", "list the rules", "List the rules."),
    "verify": Command(
        "[PATH ...] [FLAGS]",
        "prove fixes by running them",
        "Run fixes before and after in every world here; without a path, those of the rules' own examples.",
        "0 all proven or not testable, 1 something refuted",
    ),
    "server": Command(
        "[FLAGS]",
        "serve an editor",
        "Serve an editor by the language server protocol, over standard input and output.",
        "0 the editor ended it, 1 the editor went away",
        (RULES, JUDGEMENT),
    ),
    "clean": Command("[FLAGS]", "remove the cache", "Remove the cache and nothing else.", "0 the cache is gone"),
    "completion": Command(
        "SHELL", "print the script for a shell", "Print the script by which a shell completes words."
    ),
}


def parse(arguments: Sequence[str], command: str, environment: Mapping[str, str] | None = None) -> Options:
    """Read the arguments of a command, and the environment for what none of them says.

    :raises UsageError: on an unknown flag, with the nearest spelling, and on a value that a flag or a variable refuses.
    """
    parser = parser_of(command)
    variables = {}
    for action in parser._actions:
        text = (environment or {}).get(variable(action.dest)) if action.dest in IN_ENVIRONMENT else None
        if text:
            variables[action.dest], action.default = text, argparse.SUPPRESS
    found, unknown = parser.parse_known_intermixed_args(_with_values(arguments))
    if unknown:
        raise UsageError(_complaint(unknown[0], [name for each in parser._actions for name in each.option_strings]))
    try:
        return from_command_line(vars(found), variables)
    except OptionError as error:
        raise UsageError(str(error)) from None


def _complaint(word: str, flags: Sequence[str]) -> str:
    if not word.startswith("-"):
        return f"unexpected `{word}`"
    flag = word.split("=", 1)[0]
    return f"unknown flag `{flag}`{nearest(flag, flags)}"


def _with_values(arguments: Sequence[str]) -> list[str]:
    """Let flags whose value is optional stand alone: argparse would take the path behind one for its value."""
    alone = {f"--{name.replace('_', '-')}" for name, each in OPTIONS.items() if each.kind.optional}
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    return [f"{each}=" if each in alone and at < end else each for at, each in enumerate(arguments)]


def usage() -> str:
    """Return how each command is called, a line each."""
    lines = [f"torchlint {name} {each.usage}".rstrip() for name, each in COMMANDS.items()]
    return "\n       ".join(lines).replace("torchlint check", "torchlint [check]")


def parser_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    return subparsers((command,))[1][command]


def subparsers(commands: Sequence[str]) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser of the program, and in it those of the commands; each is made only where it is used."""
    program = _Parser(prog="torchlint", add_help=False)
    made = program.add_subparsers()
    return program, {each: _add_command(made, each) for each in commands}


def _add_command(program: argparse._SubParsersAction[Any], name: str) -> argparse.ArgumentParser:
    command = COMMANDS[name]
    parser: argparse.ArgumentParser = program.add_parser(
        name,
        help=command.summary,
        usage=usage() if name == "check" else f"torchlint {name} {command.usage}".rstrip(),
        description=command.description,
        epilog=f"Exit status: {command.status}, 2 the run itself failed." if command.status else None,
        formatter_class=partial(argparse.HelpFormatter, max_help_position=28, width=80),
        allow_abbrev=False,
    )
    add_options(parser, name)
    return parser


def add_options(parser: argparse.ArgumentParser, command: str, positional: bool = True) -> None:
    """Add to a parser what a command takes."""
    groups = {title: parser.add_argument_group(title) for title in COMMANDS[command].groups}
    for name, option in OPTIONS.items():
        if command in option.help and (positional or not option.positional):
            _add_option(groups.get(option.group, parser), name, option, option.help[command] or argparse.SUPPRESS)


def _add_option(parser: argparse._ActionsContainer, name: str, option: Option, text: str) -> None:
    kind, own = option.kind, f"--{name.replace('_', '-')}"
    if option.positional:
        parser.add_argument(name, nargs=option.positional, metavar=option.metavar, help=text)
    elif kind is SWITCH and option.in_files:
        _add_switch(parser, name, own, text, on=not option.default)
    elif kind is SWITCH:
        parser.add_argument(*(option.flags or (own,)), dest=name, action="store_true", help=text)
    else:
        parser.add_argument(
            *(option.flags or (own,)),
            dest=name,
            action="extend" if kind.many else "store",
            type=kind.from_text,
            default=None if option.in_files else option.default,
            metavar=option.metavar or kind.metavar or f"{{{','.join(kind.words)}}}",
            help=text,
        )


def _add_switch(parser: argparse._ActionsContainer, name: str, flag: str, text: str, on: bool) -> None:
    """Add both flags of a switch; the help shows the one that says something else than the default."""
    against = f"--no-{flag[2:]}"
    for each, value in ((flag, True), (against, False)):
        shown = text if value is on else argparse.SUPPRESS
        parser.add_argument(each, dest=name, action="store_const", const=value, help=shown)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)
