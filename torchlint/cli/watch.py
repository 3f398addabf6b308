"""The check that runs again whenever a file changes, until the user ends it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from torchlint.cli.session import Session
from torchlint.config import Finder
from torchlint.config.options import Options
from torchlint.discovery.walk import Discovery, Target

_PAUSE = 0.5
"""Seconds between two looks at the files."""
_CLEAR = "\x1b[2J\x1b[H"

Stamps = dict[str, tuple[int, int]]


def watch(options: Options, session: Session, check: Callable[[Options, Session], int], pause: float = _PAUSE) -> int:
    """Check now, and whenever a file that would be checked came, went or changed.

    :raises ConfigError: where the configuration cannot be used when the watch begins.
    """
    seen: Stamps | None = None
    status = 0
    try:
        while True:
            now = _stamps(options, session)
            if now != seen:
                if session.stdout.isatty():
                    print(_CLEAR, end="", file=session.stdout)
                status = check(options, session)
                session.say("info", "waiting for a file to change; Ctrl-C ends the watch")
                session.stdout.flush()
                seen = _stamps(options, session)  # a check with --fix has written files
            time.sleep(pause)
    except KeyboardInterrupt:
        return status


def _stamps(options: Options, session: Session) -> Stamps:
    """Return when each file, and each configuration of one, was changed, and how long it is."""
    finder = Finder(options, session.cwd)
    discovery = Discovery.of_run(finder, finder.of_folder(session.cwd), session.cwd)
    targets = [each for each in discovery.find(options.paths or ["."]) if isinstance(each, Target)]
    paths = {each.real for each in targets} | {each.config.path for each in targets if each.config.path}
    return {path: stamp for path in paths if (stamp := _stamp(path)) is not None}


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
