"""The command line: where arguments, streams, environment and current folder come in, and the exit status goes out."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from torchlint.config import ConfigError
from torchlint.flags import SUBCOMMANDS, UsageError, parse, parser_of
from torchlint.output.screen import Screen, printable
from torchlint.selectors import UnknownSelector, nearest
from torchlint.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from torchlint.checking import Session

FAILED = 2

_BETWEEN_COLLECTIONS = 1_000_000
"""A check leaves next to nothing in circles (``tests/test_letting_go.py``), and looking for them takes long."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit status: 0 clean, 1 findings, 2 the run itself failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            # A name or a line that the terminal's encoding lacks must not end the run.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # absent under a test's stand-in
    try:
        status = _dispatch(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        _complain(f"output cannot be written: {error.strerror or error}")
        with suppress(OSError):  # else the interpreter complains a second time when it flushes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        _complain("interrupted")
        return FAILED
    return status


def _dispatch(given: list[str]) -> int:
    command, rest = (given[0], given[1:]) if given and given[0] in SUBCOMMANDS else ("check", given)
    try:
        if command in _WITH_FLAGS and ("-h" in rest or "--help" in rest):
            print(_first_help() if given[:1] != [command] else parser_of(command).format_help(), end="")
            return 0
        return _COMMANDS[command](rest)
    except (UsageError, ConfigError, UnknownSelector) as error:
        _complain(str(error))
        return FAILED


def _first_help() -> str:
    from torchlint.welcome import TEXT

    return TEXT


def _check(given: list[str]) -> int:
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    found = parse(given)
    if found.version:
        print(f"torchlint {VERSION}")
        return 0
    from torchlint.checking import check  # here: --version and --help need none of it

    jobs = found.jobs or (1 if os.environ.get("PRE_COMMIT") else _processors())
    return check(_with_cache(found), _session(found.color, jobs))


def _verify(given: list[str]) -> int:
    found = parse(given, "verify")
    from torchlint.verifying import verify

    return verify(found, _session(found.color, found.jobs or _processors()))


def _session(color: str, jobs: int) -> Session:
    from torchlint.checking import Session

    screen = _screen(sys.stdout, color, os.environ)
    return Session(os.getcwd(), sys.stdin.buffer, sys.stdout, sys.stderr, screen, jobs)


def _server(given: list[str]) -> int:
    found = parse(given, "server")
    from torchlint.serving import serve

    return serve(found, os.getcwd())


def _clean(given: list[str]) -> int:
    found = parse(given, "clean")
    from torchlint.caching import clean

    print(clean(_with_cache(found), os.getcwd()), end="")
    return 0


def _with_cache(found: argparse.Namespace) -> argparse.Namespace:
    found.cache_dir = found.cache_dir or os.environ.get("TORCHLINT_CACHE_DIR") or None
    return found


def _explain(given: list[str]) -> int:
    from torchlint.registry import BY_CODE
    from torchlint.rule_docs import page
    from torchlint.selectors import codes_meant

    wanted = [each for each in given if each != "--all"]
    flags = [each for each in wanted if each.startswith("-")]
    if flags or not given:
        print("usage: torchlint explain CODE|NAME|--all")
        if flags in (["-h"], ["--help"]):
            return 0
        near = nearest(flags[0], ("--all", "--help")) if flags else ""
        raise UsageError(f"unknown flag `{flags[0]}`{near}" if flags else "say which rule, or --all")
    codes = set(BY_CODE) if "--all" in given else set().union(*(codes_meant(each) for each in wanted))
    screen = _screen(sys.stdout, "auto", os.environ)
    for number, code in enumerate(sorted(codes)):
        entry = BY_CODE[code]
        print("\n" * (number > 0) + screen.paint(f"# {entry.name} ({code})", "bold") + "\n")
        print(page(entry).strip())
    return 0


def _rules(given: list[str]) -> int:
    from torchlint.registry import RULES
    from torchlint.rule_docs import summary

    if given:
        print("usage: torchlint rules")
        if given in (["-h"], ["--help"]):
            return 0
        raise UsageError(f"unexpected `{given[0]}`{nearest(given[0], ('--help',))}")
    screen = _screen(sys.stdout, "auto", os.environ)
    width = max(len(entry.name) for entry in RULES)
    print(f"{'code':<8}{'name':<{width + 2}}{'default':<9}summary")
    for entry in RULES:
        default = "on" if entry.default else "off"
        print(f"{screen.paint(entry.code, 'red')}  {entry.name:<{width + 2}}{default:<9}{summary(entry)}")
    return 0


def _completion(given: list[str]) -> int:
    if given in (["-h"], ["--help"]) or len(given) != 1:
        print("usage: torchlint completion SHELL\nPrint the script that makes a shell complete torchlint's words.")
        if given and given[0] in ("-h", "--help"):
            return 0
        raise UsageError("say for which shell, for example `torchlint completion bash`")
    from torchlint.completion import script

    print(script(given[0]))
    return 0


_WITH_FLAGS = ("check", "verify", "server", "clean")

_COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "check": _check,
    "explain": _explain,
    "rules": _rules,
    "verify": _verify,
    "server": _server,
    "clean": _clean,
    "completion": _completion,
}


def _screen(stream: TextIO, color: str, environment: Mapping[str, str]) -> Screen:
    terminal = stream.isatty()
    width = 80
    if terminal:
        from shutil import get_terminal_size

        width = min(get_terminal_size().columns, 100)
    return Screen(_colored(terminal, color, environment), max(width, 40))


def _colored(terminal: bool, color: str, environment: Mapping[str, str]) -> bool:
    if color != "auto":
        return color == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") != "0":
        return True
    return terminal and environment.get("TERM") != "dumb"


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _complain(message: str) -> None:
    with suppress(OSError):
        print(f"torchlint: error: {printable(message)}", file=sys.stderr)
