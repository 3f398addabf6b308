"""The program: ``python -m torchlint`` is ``torchlint``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from torchlint.cli import main

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run() -> NoReturn:
    """Run the program and end the process with its exit status.

    :raises SystemExit: where somebody watches the run.
    """
    status = main()
    if _is_watched():
        sys.exit(status)
    # All is written and closed. The interpreter would now take apart, object by object, what the system takes as one.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError, ValueError):  # there is none, or nobody to read it
            stream.flush()
    os._exit(status)


def _is_watched() -> bool:
    """Whether a debugger, a profiler or a measurer of coverage waits for the interpreter's own end."""
    monitoring = getattr(sys, "monitoring", None)  # from Python 3.12 on
    tools = [monitoring.get_tool(each) for each in range(6)] if monitoring is not None else []
    return any([sys.gettrace(), sys.getprofile(), sys.flags.inspect, *tools])


if __name__ == "__main__":  # a pool that spawns its processes imports this module again
    run()
