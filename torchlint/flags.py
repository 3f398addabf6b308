"""The command line's words: every flag, its help, and the options it stands for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from torchlint.options import NUMPY_STYLES, OUTPUT_FORMATS, OptionError, Options, Patterns, confidence, one_of, version
from torchlint.selectors import UnknownSelector, codes_meant, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


SUBCOMMANDS = ("check", "explain", "rules", "verify", "server", "clean", "completion")


class UsageError(Exception):
    """The command line makes no sense; the text says what to write instead."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a word that a flag does not take, as a wrong word in a configuration is refused."""
        if action.choices is None:
            return
        try:
            one_of(tuple(str(each) for each in action.choices))(value)
        except OptionError as error:
            raise argparse.ArgumentError(action, str(error)) from None


class Help(argparse.HelpFormatter):
    """Help that keeps to 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=80)


def parse(arguments: Sequence[str], command: str = "check") -> argparse.Namespace:
    """Read the arguments of a subcommand that has flags.

    :raises UsageError: on an unknown flag, with the nearest spelling, and on a value that a flag does not take.
    """
    parser = parser_of(command)
    names = [name for action in parser._actions for name in action.option_strings]
    found, unknown = parser.parse_known_intermixed_args(_with_reasons(arguments))
    if unknown:
        flag = unknown[0].split("=", 1)[0]
        raise UsageError(f"unknown flag `{flag}`{nearest(flag, names)}")
    return found


def _with_reasons(arguments: Sequence[str]) -> list[str]:
    """Let `--add-noqa` stand without a value: argparse would take the path behind it for one."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    return [f"{each}=" if each == "--add-noqa" and at < end else each for at, each in enumerate(arguments)]


def parser_of(command: str) -> argparse.ArgumentParser:
    """Build the parser of a subcommand that has flags: ``check``, ``verify``, ``server`` or ``clean``."""
    return {"check": _check, "verify": _verify, "server": _server, "clean": _clean}[command]()


def _parser(name: str, usage: str, description: str, epilog: str) -> _Parser:
    return _Parser(
        prog=name,
        usage=usage,
        description=description,
        epilog=f"Exit status: {epilog}, 2 the run itself failed.",
        formatter_class=Help,
        allow_abbrev=False,
    )


def _check() -> argparse.ArgumentParser:
    parser = _parser(
        "torchlint",
        "torchlint [check] [PATH ...] [FLAGS]\n       torchlint explain CODE|NAME|--all\n       torchlint rules\n"
        "       torchlint verify [PATH ...] [FLAGS]\n       torchlint server [FLAGS]\n"
        "       torchlint clean [FLAGS]\n       torchlint completion SHELL",
        "Find the places where PyTorch code converts tensors unsafely, say why, and repair them.",
        "0 nothing left to report, 1 findings",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders (default: .); - reads standard input"
    )
    add_flags(parser)
    return parser


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give a parser every flag of ``torchlint check``."""
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    _fixing(parser.add_argument_group("fixing"))
    _selecting(parser.add_argument_group("rules"))
    _judging(parser.add_argument_group("judgement"))
    _discovering(parser.add_argument_group("files"))
    _narrowing(parser.add_argument_group("old code and pull requests"))
    _showing(parser.add_argument_group("output"))


def _verify() -> argparse.ArgumentParser:
    parser = _parser(
        "torchlint verify",
        "torchlint verify [PATH ...] [FLAGS]",
        "Run fixes before and after in every world here; without a path, those of the rules' own examples.",
        "0 all proven or not testable, 1 something refuted",
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files and folders whose proposed fixes, unsafe ones too, are run")
    add("--device", metavar="DEVICE", help="run on this device alone (default: all that are here)")
    add("--codes", type=_selectors, action="extend", metavar="RULES", help="codes, prefixes, names or ALL, with commas")
    add("--output-format", choices=("text", "json"), default="text")
    add("--time-limit", type=_seconds, default=30.0, metavar="SECONDS", help="for each fix (default: 30)")
    _configuring(parser)
    add("--jobs", "-j", type=_jobs, metavar="N", help="processes (default: one per CPU)")
    add("--color", choices=("auto", "always", "never"), default="auto")
    add("--quiet", "-q", action="store_true", help="say only what is refuted")
    return parser


def _server() -> argparse.ArgumentParser:
    parser = _parser(
        "torchlint server",
        "torchlint server [FLAGS]",
        "Serve an editor by the language server protocol, over standard input and output.",
        "0 the editor ended it, 1 the editor went away",
    )
    parser.set_defaults(**vars(_check().parse_args([])))
    _configuring(parser)
    parser.add_argument("--stdio", action="store_true", help="the only way, and so it may be left out")
    parser.add_argument("--verbose", "-v", action="store_true", help="write each check into the editor's log")
    _selecting(parser.add_argument_group("rules"))
    _judging(parser.add_argument_group("judgement"))
    return parser


def _clean() -> argparse.ArgumentParser:
    parser = _parser(
        "torchlint clean",
        "torchlint clean [FLAGS]",
        "Remove the cache that runs in the current folder use; nothing else is removed.",
        "0 there is none any more",
    )
    parser.add_argument("--cache-dir", metavar="DIR", help="remove this one (default: that of the configuration)")
    _configuring(parser)
    parser.add_argument("--quiet", "-q", action="store_true", help="say nothing")
    return parser


def _switch(group: argparse._ArgumentGroup, name: str, text: str) -> None:
    group.add_argument(f"--{name}", action="store_const", const=True, default=None, help=text)
    against = name.removeprefix("no-") if name.startswith("no-") else f"no-{name}"
    destination = name.replace("-", "_")
    group.add_argument(
        f"--{against}", dest=destination, action="store_const", const=False, default=None, help=argparse.SUPPRESS
    )


def _fixing(group: argparse._ArgumentGroup) -> None:
    _switch(group, "fix", "apply safe fixes, then report what remains")
    _switch(group, "unsafe-fixes", "let fixes through that may change something observable")
    _switch(group, "fix-only", "apply fixes and report nothing")
    group.add_argument("--diff", action="store_true", help="print what --fix would change; write nothing")
    group.add_argument("--verify", action="store_true", help="use only fixes that pass when run here (needs torch)")
    _switch(group, "show-fixes", "list what was fixed")


def _selecting(group: argparse._ArgumentGroup) -> None:
    def add(name: str, text: str) -> None:
        group.add_argument(f"--{name}", type=_selectors, action="extend", metavar="RULES", help=text)

    add("select", "the rules to use: codes, prefixes, names or ALL, with commas")
    add("ignore", "rules to leave out")
    add("extend-select", "rules to use besides those of the configuration")
    add("extend-ignore", "rules to leave out besides those of the configuration")
    add("fixable", "rules whose fixes may be applied (default: ALL)")
    add("unfixable", "rules whose fixes may not be applied")
    group.add_argument(
        "--per-file-ignores",
        type=_patterns,
        action="extend",
        metavar="GLOB:RULE,...",
        help="rules to leave out by file",
    )


def _judging(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--min-confidence", type=_read(confidence), metavar="LEVEL", help="certain, likely or possible (default)"
    )
    group.add_argument(
        "--target-torch",
        type=_read(version),
        metavar="X.Y",
        help="oldest torch the code must run on (default: from the project's dependencies)",
    )
    group.add_argument(
        "--numpy-style", choices=NUMPY_STYLES, help="write .detach().cpu().numpy() or .numpy(force=True)"
    )
    _switch(group, "strict", "report every .numpy() without its own .detach() and .cpu()")


def _configuring(group: argparse._ActionsContainer) -> None:
    group.add_argument("--config", metavar="FILE", help="use this configuration file")
    group.add_argument("--isolated", action="store_true", help="use no configuration file")


def _discovering(group: argparse._ArgumentGroup) -> None:
    _configuring(group)
    group.add_argument(
        "--exclude", type=_texts, action="extend", metavar="GLOBS", help="leave out, instead of the usual"
    )
    group.add_argument("--extend-exclude", type=_texts, action="extend", metavar="GLOBS", help="leave out these too")
    _switch(group, "force-exclude", "leave out excluded files even if they are named")
    group.add_argument(
        "--no-respect-gitignore",
        dest="respect_gitignore",
        action="store_const",
        const=False,
        help="look at ignored files",
    )
    group.add_argument("--respect-gitignore", action="store_const", const=True, default=None, help=argparse.SUPPRESS)
    group.add_argument("--stdin-filename", metavar="PATH", help="the name of what standard input holds")
    group.add_argument("--jobs", "-j", type=_jobs, metavar="N", help="processes (default: one per CPU)")
    group.add_argument("--cache-dir", metavar="DIR", help="where results are kept (default: .torchlint_cache)")
    group.add_argument("--no-cache", action="store_true", help="look at every file, and keep nothing")


def _narrowing(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--baseline", metavar="FILE", help="findings listed in FILE are known: counted, not failed")
    group.add_argument("--no-baseline", action="store_true", help=argparse.SUPPRESS)
    group.add_argument("--write-baseline", action="store_true", help="list what is found now in the baseline")
    group.add_argument("--diff-base", metavar="REV", help="only lines changed since a git revision, for pull requests")
    group.add_argument(
        "--add-noqa", metavar="[=REASON]", help="append a suppression to each flagged line (the reason after `=`)"
    )


def _showing(group: argparse._ArgumentGroup) -> None:
    formats = f"full (default), {', '.join(OUTPUT_FORMATS[1:-1])} or {OUTPUT_FORMATS[-1]}"
    group.add_argument("--output-format", choices=OUTPUT_FORMATS, metavar="FORMAT", help=formats)
    group.add_argument("--output-file", "-o", metavar="FILE", help="write the report there")
    group.add_argument("--statistics", action="store_true", help="show where to begin: counts by rule, folder and file")
    group.add_argument("--show-files", action="store_true", help="list the files that would be checked")
    group.add_argument("--show-settings", action="store_true", help="print the options that hold")
    group.add_argument(
        "--show-facts",
        metavar="FILE:LINE",
        help="print what is known of each expression there (notebooks: FILE:CELL:LINE)",
    )
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group.add_argument("--exit-zero", action="store_true", help="exit 0 even with findings")
    group.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit 1 if anything was fixed")
    group.add_argument("--quiet", "-q", action="store_true", help="print findings and nothing else")
    group.add_argument("--verbose", "-v", action="store_true", help="say what is done")


def options(found: argparse.Namespace) -> Options:
    """Give the options that the flags stand for."""

    def several(name: str) -> tuple[str, ...] | None:
        value = getattr(found, name)
        return None if value is None else tuple(value)

    patterns: Patterns | None = None if found.per_file_ignores is None else tuple(found.per_file_ignores)
    return Options(
        select=several("select"),
        ignore=several("ignore"),
        extend_select=several("extend_select"),
        extend_ignore=several("extend_ignore"),
        fixable=several("fixable"),
        unfixable=several("unfixable"),
        per_file_ignores=patterns,
        min_confidence=found.min_confidence,
        target_torch=found.target_torch,
        numpy_style=found.numpy_style,
        strict=found.strict,
        exclude=several("exclude"),
        extend_exclude=several("extend_exclude"),
        force_exclude=found.force_exclude,
        respect_gitignore=found.respect_gitignore,
        fix=found.fix,
        fix_only=found.fix_only,
        unsafe_fixes=found.unsafe_fixes,
        show_fixes=found.show_fixes,
        output_format=found.output_format,
    )


def _read(reader: Callable[[object], object]) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return reader(text)
        except OptionError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _texts(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _selectors(text: str) -> list[str]:
    found = _texts(text)
    try:
        for selector in found:
            codes_meant(selector)
    except UnknownSelector as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return found


def _patterns(text: str) -> list[tuple[str, tuple[str, ...]]]:
    pairs = []
    for each in _texts(text):
        pattern, colon, selector = each.rpartition(":")
        if not (pattern and colon):
            raise argparse.ArgumentTypeError(f"expected `GLOB:RULE`, got `{each}`")
        pairs.append((pattern, tuple(_selectors(selector))))
    return pairs


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got `{text}`")
    return found


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got `{text}`")
    return int(text)
