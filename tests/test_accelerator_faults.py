"""What TNS504 and TNS505 speak of happens on the simulated accelerator: copies are counted, errors raised."""

# torchlint: ignore-file[TNS5]

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
