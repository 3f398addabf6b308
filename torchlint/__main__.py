"""The program: ``python -m torchlint`` is ``torchlint``."""

from __future__ import annotations

import sys

from torchlint.cli import main


def run() -> None:
    """Run the program and end the process with its exit status.

    :raises SystemExit: always, with that status.
    """
    sys.exit(main())


if __name__ == "__main__":  # a pool that spawns its processes imports this module again
    run()
