"""What TNS504 and TNS505 speak of happens on the simulated accelerator: copies are counted, errors raised."""

# Faults are shown as they are.
# torchlint: ignore-file[TNS505]

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from torchlint.verify import simulated  # noqa: E402

pytestmark = [
    pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing())),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    with simulated.simulated():
        yield


class Waiting(TorchDispatchMode):
    """Counts what brings elements from the device to the host: each of them waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), keywords: Any = None) -> Any:
        to_host = str((keywords or {}).get("device")) == "cpu"
        if function.name() == "aten::_local_scalar_dense" or (function.name() == "aten::_to_copy" and to_host):
            self.count += 1
        return function(*given, **(keywords or {}))


def waits(read: Callable[[Any], object], found: Any) -> int:
    with Waiting() as counted:
        read(found)
    return counted.count


READING: dict[str, tuple[Callable[[Any], object], int]] = {
    "[each.item() for each in found]": (lambda found: [each.item() for each in found], 50),
    "int(each)": (lambda found: [int(each) for each in found], 50),
    "map(int, found)": (lambda found: list(map(int, found)), 50),
    "found[at].item()": (lambda found: [found[at].item() for at in range(50)], 50),
}


@pytest.mark.parametrize(("read", "count"), READING.values(), ids=READING)
def test_elements_are_brought_one_by_one(read: Callable[[Any], object], count: int) -> None:
    assert waits(read, torch.arange(50, device="cuda")) == count


def test_a_list_is_brought_at_once() -> None:
    found = torch.arange(50, device="cuda")
    assert waits(lambda found: found.tolist(), found) == 1
    assert found.tolist() == [each.item() for each in found]


# ---------------------------------------------------------------------- host tensors beside one on the device
def there(*shape: int) -> Any:
    return torch.ones(shape, device="cuda")


def chosen(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.int64, device="cuda")


HOST_INDEX = torch.zeros(2, 2, dtype=torch.int64)
F = torch.nn.functional
RAISING: dict[str, Callable[[], object]] = {
    "x + host": lambda: there(2) + torch.zeros(2),
    "host - x": lambda: torch.zeros(2) - there(2),
    "one element": lambda: there(2) * torch.zeros(1),
    "x without dimensions": lambda: there() * torch.zeros(2),
    "x += host": lambda: there(2).add_(torch.zeros(2)),
    "x @ host": lambda: there(2, 2) @ torch.eye(2),
    "x < host": lambda: there(2) < torch.arange(2),
    "x & host": lambda: (there(2) > 0) & torch.ones(2, dtype=torch.bool),
    "host[x]": lambda: torch.arange(3)[chosen(2)],
    "host[mask]": lambda: torch.arange(2)[there(2) > 0],
    "cat": lambda: torch.cat([there(2), torch.zeros(2)]),
    "stack": lambda: torch.stack([there(2), torch.zeros(2)]),
    "where": lambda: torch.where(there(2) > 0, there(2), torch.zeros(2)),
    "where's test": lambda: torch.where(torch.ones(2, dtype=torch.bool), there(2), there(2)),
    "matmul": lambda: torch.matmul(there(2, 2), torch.eye(2)),
    "bmm": lambda: torch.bmm(there(1, 2, 2), torch.eye(2)[None]),
    "einsum": lambda: torch.einsum("ij,jk->ik", there(2, 2), torch.eye(2)),
    "maximum": lambda: torch.maximum(there(2), torch.zeros(2)),
    "gather": lambda: there(2, 2).gather(1, HOST_INDEX),
    "scatter": lambda: there(2, 2).scatter(1, HOST_INDEX, 1.0),
    "scatter_add": lambda: torch.zeros(2).scatter_add(0, chosen(2), there(2)),
    "index_select": lambda: there(2).index_select(0, torch.arange(2)),
    "index_add": lambda: there(2).index_add(0, torch.arange(2), there(2)),
    "masked_fill": lambda: there(2).masked_fill(torch.ones(2, dtype=torch.bool), 0.0),
    "masked_select": lambda: there(2).masked_select(torch.ones(2, dtype=torch.bool)),
    "linear": lambda: F.linear(there(2, 2), torch.eye(2)),
    "embedding": lambda: F.embedding(torch.arange(2), there(2, 2)),
    "mse_loss": lambda: F.mse_loss(there(2), torch.zeros(2)),
    "cross_entropy": lambda: F.cross_entropy(there(2, 3), torch.arange(2)),
    "cdist": lambda: torch.cdist(there(2, 2), torch.eye(2)),
    "bucketize": lambda: torch.bucketize(there(2), torch.arange(2)),
    "isin": lambda: torch.isin(there(2), torch.arange(2)),
    "lerp": lambda: torch.lerp(there(2), torch.zeros(2), 0.5),
    "quantile": lambda: torch.quantile(there(2), torch.ones(2)),
    "tensordot": lambda: torch.tensordot(there(2, 2), torch.eye(2), 1),
    "atan2": lambda: torch.atan2(there(2), torch.ones(2)),
    "a layer": lambda: torch.nn.Linear(2, 2).cuda()(torch.zeros(1, 2)),
    "an embedding": lambda: torch.nn.Embedding(3, 2).cuda()(torch.arange(3)),
}
WORKING: dict[str, Callable[[], object]] = {
    "x[host]": lambda: there(3)[torch.arange(2)],
    "x[host] = number": lambda: there(3).__setitem__(torch.arange(2), 1.0),
    "x[0] = host": lambda: there(2, 3).__setitem__(0, torch.zeros(3)),
    "a number's tensor": lambda: there(2) * torch.tensor(0.5) + torch.ones(()),
    "a reduction": lambda: there(2) * torch.ones(3).sum(),
    "an element": lambda: there(2) * torch.arange(3)[1],
    "copy_": lambda: there(2).copy_(torch.zeros(2)),
    "where with numbers' tensors": lambda: torch.where(there(2) > 0, torch.tensor(0.5), there(2)),
}


@pytest.mark.parametrize("meet", RAISING.values(), ids=RAISING)
def test_host_tensors_raise_beside_one_on_the_device(meet: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match="same device"):
        meet()


@pytest.mark.parametrize("meet", WORKING.values(), ids=WORKING)
def test_what_is_silent_works(meet: Callable[[], object]) -> None:
    meet()
