"""Where the cache of a run lies, and what earlier runs kept there."""

from __future__ import annotations

import os
from collections.abc import Callable

from torchlint.config import CACHE, Config
from torchlint.config.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.cache.results import ResultCache


def cache_folder(flags: Options, config: Config, cwd: str) -> str | None:
    """Return the absolute folder of the cache; None where the run uses none.

    The flag wins over the configuration, whose folder it is in otherwise.
    """
    if flags.no_cache:
        return None
    if flags.cache_dir is not None:
        return os.path.normpath(os.path.join(cwd, flags.cache_dir))
    return os.path.normpath(os.path.join(config.root or cwd, config.run.cache_dir or CACHE))


def result_cache_for(flags: Options, config: Config, cwd: str, clock: Callable[[], int]) -> ResultCache | None:
    """Return what keeps results between runs; None where none is to be used."""
    folder = cache_folder(flags, config, cwd)
    if folder is None or flags.show_files or flags.verify:
        return None
    from torchlint.cache.results import ResultCache
    from torchlint.cache.store import Store

    return ResultCache(Store(folder, clock), clock)
