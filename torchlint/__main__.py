"""``python -m torchlint`` is ``torchlint``."""

import sys

from torchlint.cli import main

if __name__ == "__main__":  # a pool that spawns its processes imports this module again
    sys.exit(main())
