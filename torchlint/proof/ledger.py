"""The ledger: which claims were proven, on which torch and device, and for which cases."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from torchlint.proof.cases import digest, repaired
from torchlint.proof.judge import judge
from torchlint.proof.observe import Snippet
from torchlint.proof.table import CLAIMING, of_rule
from torchlint.proof.worlds import device_name, devices, telling

LEDGER = Path(__file__).with_name("ledger.json")

HOLDS, REFUTED = "holds", "refuted"


@dataclass(frozen=True, order=True, slots=True)
class Row:
    """One rule's safe fixes, tried on one device."""

    code: str
    device: str
    torch: str
    digest: str
    """The cases, before and after the fixes; another digest means that something else was proven."""
    cases: int
    worlds: int
    """Runs of a case in a world."""
    ran: int
    """How many of them the old text survived: the others ask nothing of the new one."""
    verdict: str


def prove(code: str, device: str) -> Row:
    """Run every case of a rule in every ordinary world of a device."""
    cases = of_rule(code)
    worlds = ran = refuted = 0
    for case in cases:
        before = Snippet(case.text)
        verdict = judge(before, Snippet(repaired(case)), telling(device, before.given))
        worlds, ran, refuted = worlds + verdict.worlds, ran + verdict.ran, refuted + len(verdict.refutations)
        for each in verdict.refutations[:1]:
            print(f"{case.title}\n    {each}", file=sys.stderr)
    result = REFUTED if refuted else HOLDS
    return Row(code, device_name(device), torch.__version__, digest(cases), len(cases), worlds, ran, result)


def read(path: Path = LEDGER) -> tuple[Row, ...]:
    """Read the rows that were written down."""
    if not path.exists():
        return ()
    return tuple(Row(**each) for each in json.loads(path.read_text(encoding="utf-8")))


def write(rows: Iterable[Row], path: Path = LEDGER) -> None:
    """Write rows down, each on a line of its own, in the place of older ones for the same rule and device."""
    known = {(row.code, row.device): row for row in read(path)} | {(row.code, row.device): row for row in rows}
    lines = ",\n".join(json.dumps(asdict(row)) for row in sorted(known.values()) if row.code in CLAIMING)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove every rule's claim on the devices of this machine; exit status 1 where one is refuted."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.proof.ledger", description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="write the rows into the ledger")
    parser.add_argument("--to", type=Path, default=LEDGER, metavar="FILE", help="the ledger to write to")
    options = parser.parse_args(arguments)
    rows = []
    for device in devices():
        for code in CLAIMING:
            rows.append(prove(code, device))
            print(" ".join(f"{name}={value}" for name, value in asdict(rows[-1]).items()), flush=True)
    if options.write:
        write(rows, options.to)
    return int(any(row.verdict == REFUTED for row in rows))


if __name__ == "__main__":
    sys.exit(main())
