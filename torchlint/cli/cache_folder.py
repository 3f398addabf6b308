"""Where the cache of a run lies, and what earlier runs kept there."""

from __future__ import annotations

import os
from collections.abc import Callable

from torchlint.config import CACHE, Config
from torchlint.config.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.cache.documents import Documents
    from torchlint.cache.memory import Memory


def cache_folder(flags: Options, config: Config, cwd: str) -> str | None:
    """Return the absolute folder of the cache; None where the run uses none.

    The flag wins over the configuration, whose folder it is in otherwise.
    """
    if flags.no_cache:
        return None
    return _by_flag(flags, cwd) or os.path.normpath(os.path.join(config.root or cwd, config.run.cache_dir or CACHE))


def _by_flag(flags: Options, cwd: str) -> str | None:
    return os.path.normpath(os.path.join(cwd, flags.cache_dir)) if flags.cache_dir is not None else None


def documents_for(flags: Options, cwd: str, clock: Callable[[], int]) -> Documents | None:
    """Return the configuration files that earlier runs read; None where they are not to be used."""
    if flags.no_cache or flags.isolated:
        return None
    from torchlint.cache.documents import Documents

    return Documents(clock, _by_flag(flags, cwd))


def memory_for(
    flags: Options, config: Config, cwd: str, clock: Callable[[], int], documents: Documents | None = None
) -> Memory | None:
    """Return what earlier runs found; None where it is not to be used. ``documents`` are kept with it."""
    folder = cache_folder(flags, config, cwd)
    if folder is None or flags.show_files or flags.verify:
        return None
    from torchlint.cache.memory import Memory
    from torchlint.cache.shelf import Shelf

    return Memory(Shelf(folder, clock), clock, documents)
