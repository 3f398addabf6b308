"""The `server` command: from flags to a language server, or to what keeps it from beginning."""

from __future__ import annotations

import argparse
import gc

from torchlint.flags import UsageError, options

_BETWEEN_COLLECTIONS = 100_000
"""Trees hold no garbage: looking for it every 700 objects takes a quarter of the time of a check."""


def serve(flags: argparse.Namespace, cwd: str) -> int:
    """Serve an editor until it ends, and give the exit status.

    :raises UsageError: where flags contradict each other or the library for the protocol is not installed.
    """
    if flags.isolated and flags.config:
        raise UsageError("--isolated and --config cannot be used together")
    try:
        import pygls.lsp.server  # noqa: F401  # only to see whether it is there, in a version that is understood
    except ImportError:
        raise UsageError('the server needs a package: pip install "torchlint[lsp]"') from None
    from torchlint.server.folders import Given
    from torchlint.server.program import run

    gc.set_threshold(_BETWEEN_COLLECTIONS)
    return run(Given(options(flags), flags.config, flags.isolated, cwd), flags.verbose)
