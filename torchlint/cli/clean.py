"""The `clean` command: the cache is removed, and nothing else."""

from __future__ import annotations

import os

from torchlint.cache import store
from torchlint.cli.cache_folder import cache_folder
from torchlint.cli.session import Session
from torchlint.config import ConfigError, Finder
from torchlint.config.options import Options


def run(flags: Options, session: Session) -> int:
    """Remove the cache and say so.

    :raises ConfigError: where it cannot be removed.
    """
    folder = cache_folder(flags, Finder(flags, session.cwd).of_folder(session.cwd), session.cwd)
    assert folder is not None
    shown = folder.removeprefix(session.cwd.rstrip(os.sep) + os.sep)
    try:
        found = store.clean(folder)
    except OSError as error:
        raise ConfigError(f"{shown}: {error.strerror or error}") from None
    if not flags.quiet:
        print(f"No cache at {shown}." if found is None else _removed(shown, *found), file=session.stdout)
    return 0


def _removed(shown: str, files: int, size: int) -> str:
    return f"Removed {shown}: {files} file{'s' * (files != 1)}, {size / 1024:.0f} KiB."
