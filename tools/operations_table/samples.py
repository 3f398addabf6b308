"""Arguments that torch's own tests use: the samples of its operator database, by public name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import torch

from tools.operations_table.names import ROOMS, Operation, Unusable
from tools.operations_table.trial import Call

MOST_SAMPLES = 48
_DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool)


@cache
def _database() -> list[Any]:
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        raise Unusable(
            f"torch's operator database needs the package {error.name!r}: python -m pip install {error.name}"
        ) from None
    return list(op_db)


@cache
def _by_name() -> dict[str, list[Any]]:
    """Return the entries of the database by the names under which the public knows them."""
    public = defaultdict(list)
    for room, module in ROOMS.items():
        for word in dir(module):
            public[id(getattr(module, word))].append(f"{room}.{word}")
    found: dict[str, list[Any]] = defaultdict(list)
    for entry in _database():
        names = {name for each in [entry, *entry.aliases] for name in [*public[id(each.op)], *_spelled(each.name)]}
        for name in names:
            found[name].append(entry)
    return found


def _spelled(name: str) -> Iterator[str]:
    """Yield the names that an entry's own name stands for; a wrapper of the tests is not the function itself."""
    bare = name.removeprefix("torch.").lstrip("_")
    yield from (f"torch.{bare}", f"torch.{bare}_")
    if "." not in bare:
        yield from (bare, f"{bare}_", f"torch.nn.functional.{bare}")


def of(operation: Operation) -> Iterator[Call]:
    """Yield the calls that torch's tests make of an operation."""
    for entry in _by_name().get(operation.name, ()):
        for dtype in _DTYPES:
            if dtype in entry.supported_dtypes("cpu"):
                yield from _calls(entry, dtype)


def _calls(entry: Any, dtype: Any) -> Iterator[Call]:
    torch.manual_seed(0)
    grad = entry.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        for sample in islice(entry.sample_inputs("cpu", dtype, requires_grad=grad), MOST_SAMPLES):
            yield Call((sample.input, *sample.args), dict(sample.kwargs))
    except Exception:  # noqa: BLE001 - some samples are made for other devices only
        return
