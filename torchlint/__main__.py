"""The program: ``python -m torchlint`` is ``torchlint``."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""What shells make of Ctrl-C: 128 and the number of the signal."""


def run() -> None:
    """Run the program and end the process with its exit status.

    :raises SystemExit: always, with that status.
    """
    try:
        from torchlint.cli import main  # here, as Ctrl-C may come while the program is loaded

        status = main()
    except KeyboardInterrupt:
        print("torchlint: error: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # to let go of all that is known of a large project would take seconds
    sys.exit(status)


if __name__ == "__main__":  # a pool that spawns its processes imports this module again
    run()
