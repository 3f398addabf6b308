"""The command that proves the rules' claims and writes the ledger: ``python -m tools.ledger``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from tools.ledger.proving import digests, prove_all
from tools.ledger.rows import LEDGER, age, merged, read, series, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove every rule's claim on the devices of this machine; exit status 1 where one claims too much."""
    parser = argparse.ArgumentParser(prog="python -m tools.ledger", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write the rows into the ledger")
    parser.add_argument("--to", type=Path, default=LEDGER, metavar="FILE", help="the ledger to write to")
    parser.add_argument("--device", action="append", help="only this device; may be given several times")
    parser.add_argument("--codes", nargs="*", help="only these rules")
    options = parser.parse_args(arguments)
    today = datetime.now(timezone.utc).date()
    new = prove_all(options.codes, options.device, today.isoformat())
    old = read(options.to)
    ledger = merged(old, new, digests({series(row) for row in old.rows}))
    print(age(ledger.rows, today))
    if options.write:
        write(ledger, options.to)
    return int(any(_is_stronger(row.claims, row.allows) for row in new.rows))


def _is_stronger(claim: str, allowed: str) -> bool:
    order = ("display", "unsafe", "safe")
    return order.index(claim) > order.index(allowed)


if __name__ == "__main__":
    sys.exit(main())
