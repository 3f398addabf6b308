"""Where the cache of a run lies, and its removal by `torchlint clean`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from torchlint.config import CACHE, Config, ConfigError, Finder
from torchlint.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.cache.results import ResultCache


def place(flags: argparse.Namespace, config: Config, cwd: str) -> str | None:
    """Give the absolute folder of the cache; None where the run uses none.

    The flag wins over the configuration, whose folder it is in otherwise.
    """
    if getattr(flags, "no_cache", False):
        return None
    if flags.cache_dir is not None:
        return os.path.normpath(os.path.join(cwd, flags.cache_dir))
    return os.path.normpath(os.path.join(config.root or cwd, config.run.cache_dir or CACHE))


def result_cache_for(
    flags: argparse.Namespace, config: Config, cwd: str, clock: Callable[[], int]
) -> ResultCache | None:
    """Return what keeps results between runs; None where none is to be used."""
    folder = place(flags, config, cwd)
    if folder is None or flags.show_files or flags.verify:
        return None
    from torchlint.cache.results import ResultCache
    from torchlint.cache.store import Store

    return ResultCache(Store(folder, clock), clock)


def clean(flags: argparse.Namespace, cwd: str) -> str:
    """Remove the cache and give what there is to say.

    :raises ConfigError: where it cannot be removed.
    """
    from torchlint.cache import store

    folder = place(flags, Finder(Options(), cwd, flags.config, flags.isolated).of_folder(cwd), cwd)
    assert folder is not None
    shown = folder.removeprefix(cwd.rstrip(os.sep) + os.sep)
    try:
        found = store.clean(folder)
    except OSError as error:
        raise ConfigError(f"{shown}: {error.strerror or error}") from None
    if flags.quiet:
        return ""
    if found is None:
        return f"No cache at {shown}.\n"
    files, size = found
    return f"Removed {shown}: {files} file{'s' * (files != 1)}, {size / 1024:.0f} KiB.\n"
