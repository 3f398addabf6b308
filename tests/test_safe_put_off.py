"""Programs run before and after `--fix`: names that are rebound before a generator or a lambda is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike
from tests.module_programs import cases

HEAD = "import torch\n\n\n"

BOUND_ANEW = cases("""
# case: behind a generator
def run():
    v = [1, 2]
    found = (torch.Tensor(v).shape for _ in range(1))
    v = 3
    return list(found)

print(run())
# case: behind a generator of tensors
def run():
    h = torch.ones(2)
    found = (torch.tensor(h) for _ in range(1))
    h = 3
    return list(found)

print(run())
# case: from a part of itself
def run(data, size):
    dims = [len(data), size]
    found = (torch.LongTensor(dims) for _ in data[::size])
    dims = dims[0]
    return [each.shape for each in found]

print(run([1, 2, 3], 2))
# case: the function that a generator calls
def run():
    made = torch.FloatTensor
    found = (made([1.5]) for _ in range(1))
    made = torch.LongTensor
    return list(found)

print(run())
# case: a condition of a generator
def run():
    v = [1, 2]
    found = (1 for _ in range(1) if print(torch.Tensor(v).shape))
    v = 3
    return list(found)

print(run())
# case: the second source of a generator
def run():
    v = [1, 2]
    found = (each for _ in range(1) for each in torch.Tensor(v).shape)
    v = 3
    return list(found)

print(run())
# case: behind a lambda that is called before and after
def run():
    v = [1, 2]
    made = lambda: torch.Tensor(v).shape
    before = made()
    v = 3
    return before, made()

print(run())
# case: by the next round of a loop
def run():
    made = []
    for v in ([1, 2], 3):
        made.append(torch.Tensor(v).shape for _ in range(1))
    return [list(each) for each in made]

print(run())
# case: at the end of a round
def run():
    made, v = [], [1, 2]
    for _ in range(2):
        made.append(lambda: torch.Tensor(v).shape)
        v = 3
    return [each() for each in made]

print(run())
# case: behind a test
def run(v):
    if torch.is_tensor(v):
        found = (torch.tensor(v) for _ in range(1))
        v = 3
        return list(found)

print(run(torch.ones(2)))
# case: in a loop around a test
def run(given):
    made = []
    for v in given:
        if torch.is_tensor(v):
            made.append(torch.tensor(v) for _ in range(1))
    return [list(each) for each in made]

print(run([torch.ones(2), 3]))
# case: by a def
def run():
    made = torch.FloatTensor
    found = (made([1.5]) for _ in range(1))
    def made(values):
        return values
    return list(found)

print(run())
# case: an attribute
class Box:
    pass

def run():
    box = Box()
    box.v = [1, 2]
    found = (torch.Tensor(box.v).shape for _ in range(1))
    box.v = 3
    return list(found)

print(run())
# case: of the module
v = [1, 2]
found = (torch.Tensor(v).shape for _ in range(1))
v = 3
print(list(found))
# case: in a finally
def run():
    v = [1, 2]
    try:
        return (torch.Tensor(v).shape for _ in range(1))
    finally:
        v = 3

print(list(run()))
""")

KEPT = cases("""
# case: a generator that is used up
def run():
    v = [1, 2]
    found = list(torch.Tensor(v).shape for _ in range(1))
    v = 3
    return found, v

print(run())
# case: a sum in a loop
def run():
    total = 0
    for v in ([1, 2], [3, 4]):
        total += sum(torch.Tensor(v) for _ in range(2))
    return total

print(run())
# case: a list
def run():
    v = [1, 2]
    found = [torch.Tensor(v).shape for _ in range(1)]
    v = 3
    return found, v

print(run())
# case: the first source of a generator
def run():
    v = [1, 2]
    found = (each for each in torch.Tensor(v))
    v = 3
    return list(found), v

print(run())
# case: a lambda that sorts
def run():
    for v in ([1, 2], [3, 4]):
        print(sorted([2, 1], key=lambda at: float(torch.Tensor(v)[at - 1])))

run()
# case: a lambda that a map calls
def run():
    for v in ([1, 2], [3, 4]):
        print(list(map(lambda at: at * torch.Tensor(v), [1, 2])))

run()
# case: given back before
def run(early):
    v = [1, 2]
    if early:
        return (torch.Tensor(v) for _ in range(1))
    v = 3
    return v

print(list(run(True)))
# case: another name rebound
def run():
    v, w = [1, 2], 2
    found = (torch.Tensor(v) for _ in range(1))
    w = 3
    return list(found), w

print(run())
# case: its own name rebound
def run():
    found = (torch.Tensor(v) for v in ([1], [2]))
    v = 3
    return list(found), v

print(run())
""")


@pytest.mark.parametrize("case", BOUND_ANEW)
def test_what_is_run_later_asks_for_names_later(tmp_path: Path, case: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": HEAD + BOUND_ANEW[case]}) == {}


@pytest.mark.parametrize("case", KEPT)
def test_what_is_run_at_once_or_keeps_its_names_is_repaired(tmp_path: Path, case: str) -> None:
    assert list(check_runs_alike(tmp_path, {"main.py": HEAD + KEPT[case]})) == ["main.py"]
