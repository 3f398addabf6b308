"""The table itself: what a record puts into it, how it is written, and how two tables differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.operations_table.isolation import Died
from tools.operations_table.names import Operation, Unusable
from tools.operations_table.record import Record, reason
from tools.operations_table.trial import BOOL, FLOATING

LISTS = (
    "methods",
    "functions",
    "never_methods",
    "never_functions",
    "float_but_never",
    "keeps_grad_methods",
    "keeps_grad_functions",
    "keeps_grad_inplace",
    "keeps_grad_sometimes",
    "refuses_grad",
    "factories",
    "factory_methods",
    "takes_requires_grad",
    "takes_device",
    "follows_default_device",
    "bare_partial",
    "keeps_integers",
    "shares_memory",
    "takes_out",
    "takes_inplace",
)
"""Keys under which names are listed."""

MAPS = (
    "nontensor_methods",
    "nontensor_functions",
    "sometimes_no_tensor",
    "partial_methods",
    "partial_functions",
    "never_elements",
    "lengths",
    "writes",
    "untried",
)
"""Keys under which something is said of each name."""


Entries = dict[str, Any]
"""What the table says of one operation, by key; True for a name in a list."""


def entries(record: Record | Died) -> Entries:
    """Return what a record puts into the table."""
    operation = Operation(record.name)
    kind = "methods" if operation.is_method else "functions"
    found: Entries = {kind: True}
    if isinstance(record, Died):
        return found | {"untried": record.how}
    if record.changes_settings:
        return found | {"untried": "changes settings of the program"}
    if not record.accepted:
        # where no arguments are of the right types the name says what it is for
        why = next((word for word, _ in record.reasons.most_common(1)), reason(record.name))
        return found | {"untried": why}
    if not record.bare and not record.lengths:
        found[f"nontensor_{kind}"] = sorted(record.kinds)
        return found | ({"refuses_grad": True} if record.refuses_grad else {})
    for key, value in (*_grad(record, operation, kind), *_form(record), *_memory(record, operation)):
        if value:
            found[key] = value
    return found


def _grad(record: Record, operation: Operation, kind: str) -> Iterator[tuple[str, Any]]:
    makes = record.bare and not record.alive and bool(record.factory & {"plain", "requires_grad"})
    never = not record.alive and not makes
    if makes:
        yield "factory_methods" if operation.is_method else "factories", True
    yield "takes_requires_grad", "requires_grad" in record.factory
    yield "takes_device", "device" in record.factory
    yield "follows_default_device", "default" in record.factory
    yield f"never_{kind}", never
    elements = record.elements | record.from_integers
    yield "float_but_never", never and elements == {FLOATING}
    yield "never_elements", never and sorted(elements)
    yield "refuses_grad", record.refuses_grad
    kept = record.kept or record.kept_inplace
    yield f"keeps_grad_{kind}", kept and not operation.writes_by_name
    yield "keeps_grad_inplace", record.kept_inplace and not record.kept
    yield "keeps_grad_sometimes", record.kept and record.cut and not operation.writes_by_name
    partial = sorted(record.dead - record.alive - {-1})
    if partial and record.alive - {-1}:
        yield f"partial_{kind}", partial
        yield "bare_partial", record.bare


def _form(record: Record) -> Iterator[tuple[str, Any]]:
    yield "sometimes_no_tensor", sorted(record.kinds)
    yield "lengths", sorted(record.lengths)
    integers = record.from_integers
    yield "keeps_integers", bool(record.alive) and bool(integers) and FLOATING not in integers and integers != {BOOL}


def _memory(record: Record, operation: Operation) -> Iterator[tuple[str, Any]]:
    yield "shares_memory", record.shares and not operation.writes_by_name
    yield "writes", sorted(record.written) if not operation.writes_by_name else None
    yield "takes_inplace", record.written_inplace
    yield "takes_out", record.takes_out


# ---------------------------------------------------------------------- the file
def table(found: Mapping[str, Entries], torch: str, further: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of all operations."""
    made: dict[str, Any] = {"torch": torch, "tried": sum("untried" not in each for each in found.values())}
    for key in LISTS:
        made[key] = sorted(name for name, said in found.items() if key in said)
    for key in MAPS:
        made[key] = {name: said[key] for name, said in sorted(found.items()) if key in said}
    return made | dict(further)


def said_of(whole: Mapping[str, Any], name: str) -> Entries:
    """Return what a table says of one operation."""
    found: Entries = {key: True for key in LISTS if name in whole.get(key, ())}
    return found | {key: whole[key][name] for key in MAPS if name in whole.get(key, {})}


def text(whole: Mapping[str, Any]) -> str:
    """Return the table as it is kept: JSON with one name on a line, for readable differences."""
    return "{\n" + ",\n".join(f" {json.dumps(key)}: {_lines(value)}" for key, value in whole.items()) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"  {json.dumps(each)}" for each in value) + "\n ]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in value.items()) + "\n }"
    return json.dumps(value)


def read(path: Path) -> dict[str, Any]:
    """Read a table; :class:`Unusable` where the file is missing or no table."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}; --write makes it") from None
    except ValueError as error:
        raise Unusable(f"{path}: not JSON ({error}); --write makes it anew") from None
    if not isinstance(whole, dict):
        raise Unusable(f"{path}: not a table; --write makes it anew")
    return whole


# ---------------------------------------------------------------------- differences
def differences(whole: Mapping[str, Any], found: Mapping[str, Entries]) -> Iterator[str]:
    """Say where a table and what was measured now differ, one line for each operation and key."""
    for name, now in sorted(found.items()):
        before = said_of(whole, name)
        for key in sorted(before.keys() | now.keys()):
            if before.get(key) != now.get(key):
                yield f"{name}: {key}: the table says {_shown(before, key)}, measured {_shown(now, key)}"


def missing(whole: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Say which operations only the table or only the installed torch has."""
    listed, offered = {*whole.get("methods", ()), *whole.get("functions", ())}, set(names)
    yield from (f"{name}: not in the table" for name in sorted(offered - listed))
    yield from (f"{name}: in the table, but no operation of the installed torch" for name in sorted(listed - offered))


def _shown(said: Entries, key: str) -> str:
    value = said.get(key)
    return "nothing" if value is None else "yes" if value is True else json.dumps(value)
