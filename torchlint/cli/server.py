"""The `server` command: from flags to a language server, or to what keeps it from beginning."""

from __future__ import annotations

import gc

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config.options import Options

_BETWEEN_COLLECTIONS = 100_000
"""Trees hold no garbage: looking for it every 700 objects takes a quarter of the time of a check."""


def run(flags: Options, session: Session) -> int:
    """Serve an editor until it ends, and return the exit status.

    :raises UsageError: where the library for the protocol is not installed.
    """
    try:
        import pygls.lsp.server  # noqa: F401  # only to see whether it is there, in a version that is understood
    except ImportError:
        raise UsageError('the server needs pygls: pip install "pygls>=2.1,<3"') from None
    from torchlint.server.folders import FolderOptions
    from torchlint.server.language_server import serve

    gc.set_threshold(_BETWEEN_COLLECTIONS)
    return serve(FolderOptions(flags, session.cwd), flags.verbose)
