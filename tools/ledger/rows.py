"""The ledger: what was proven of each example of each rule, on which torch and device. Reading it needs no torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

LEDGER = Path(__file__).parents[2] / "torchlint" / "verify" / "ledger.json"


@dataclass(frozen=True, order=True, slots=True)
class Row:
    """One example of a rule, run before and after its fix in every ordinary world of one device."""

    code: str
    example: str
    """One line by which a reader knows the example."""
    kind: str
    """The kind of device: ``"cpu"``, ``"simulated"``, ``"cuda"``."""
    device: str
    """The device's own name, such as ``"NVIDIA A100"``; for the first two the kind again."""
    torch: str
    digest: str
    """The example, before and after the fixes; another digest means that something else was proven."""
    worlds: int
    ran: int
    """In how many worlds the old text ran: where it raised, the new one may do anything."""
    claims: str
    """What the rule says of this fix: ``"safe"``, ``"unsafe"``."""
    allows: str
    """The strongest claim that the worlds allow: ``"safe"``, ``"unsafe"``, ``"display"``."""
    date: str
    """When it was run, as in ``"2026-11-21"``."""


@dataclass(frozen=True, order=True, slots=True)
class Rare:
    """A difference in a rare world, of which no claim speaks: it is listed."""

    code: str
    world: str
    example: str
    observable: str
    before: str
    after: str
    torch: str


@dataclass(frozen=True, order=True, slots=True)
class Absent:
    """A device or a rare world that a version of torch does not have: nothing was run there."""

    torch: str
    world: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything that is written down."""

    rows: tuple[Row, ...] = ()
    rare: tuple[Rare, ...] = ()
    absent: tuple[Absent, ...] = ()


def read(path: Path = LEDGER) -> Ledger:
    """Read what was written down; nothing where there is no file."""
    if not path.exists():
        return Ledger()
    found = json.loads(path.read_text(encoding="utf-8"))
    rows, rare = (Row(**each) for each in found["rows"]), (Rare(**each) for each in found["rare"])
    return Ledger(tuple(rows), tuple(rare), tuple(Absent(**each) for each in found.get("absent", ())))


def write(ledger: Ledger, path: Path = LEDGER) -> None:
    """Write a ledger down, each row on a line of its own."""
    parts = (f'"{name}": [\n{_lines(getattr(ledger, name))}\n]' for name in ("rows", "rare", "absent"))
    path.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


def _lines(rows: Iterable[Row | Rare | Absent]) -> str:
    return ",\n".join(json.dumps(asdict(row)) for row in sorted(rows))


def merged(old: Ledger, new: Ledger, known: Iterable[str]) -> Ledger:
    """Put new rows in the place of older ones of the same example and device; ``known`` are today's examples' digests.

    A row whose facts did not change keeps its date on the host, so that nothing changes there without a cause. Rows of
    real devices for examples that have changed since are kept: they say how old the proof there is. What is known of
    rare worlds is replaced for the rules and the torch version that ran on the host.
    """
    today = set(known)
    before = {(row.digest, row.kind, row.device, series(row)): row for row in old.rows}
    kept = {key: row for key, row in before.items() if row.digest in today or row.kind not in ("cpu", "simulated")}
    for row in new.rows:
        key = row.digest, row.kind, row.device, series(row)
        earlier = before.get(key)
        same = earlier is not None and asdict(earlier) | {"date": row.date} == asdict(row)
        kept[key] = earlier if same and earlier is not None and row.kind != "cuda" else row
    tried = {(row.code, series(row)) for row in new.rows if row.kind == "cpu"}
    rare = [each for each in old.rare if (each.code, series(each)) not in tried]
    absent = [each for each in old.absent if series(each) not in {found for _, found in tried}]
    return Ledger(tuple(kept.values()), (*rare, *new.rare), (*absent, *new.absent))


def series(entry: Row | Rare | Absent) -> tuple[int, int]:
    """Return the first two parts of a torch version, ``(2, 13)``: what is known of another one stands beside."""
    first, second = entry.torch.split(".")[:2]
    return int(first), int(second)


def age(rows: Iterable[Row], today: date) -> str:
    """Say how old the rows of real accelerators are, in one line."""
    real = [row for row in rows if row.kind not in ("cpu", "simulated")]
    if not real:
        return "no row of a real accelerator yet: CUDA was only simulated"
    oldest = min(real, key=lambda row: row.date)
    days = (today - date.fromisoformat(oldest.date)).days
    devices = ", ".join(sorted({f"{row.device} with torch {row.torch}" for row in real}))
    return f"{len(real)} rows of real accelerators ({devices}), the oldest of {oldest.date}: {days} days ago"
