"""What people are taught about tensor conversions, row by row: what torchlint says, and what torch does.

``tests/fixtures/tutorials/`` holds the code in this project's own words, in the format of the rules' fixtures with all
rules on. ``docs/tutorials.md`` is the page for readers; each of its claims about behaviour is executed here.
"""

# What is taught is executed as it is taught.
# torchlint: ignore-file[TNS1, TNS3, TNS4]

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from torchlint.config import Config
from torchlint.linter.engine import check_bytes, fix_bytes

TUTORIALS = Path(__file__).parent / "fixtures" / "tutorials"
CASES = sorted(TUTORIALS.glob("*.py"))
EXPECTED = re.compile(r"TNS\d{3}@\d+ (?:certain|likely|possible) (?:safe|unsafe|display|none)")
EVERYTHING = Config(select=("ALL",))
NEEDS_NO_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="shows what happens on a machine without a GPU")


def case(row: str) -> Path:
    return next(path for path in CASES if path.name.startswith(row))


# ---------------------------------------------------------------------- what torchlint says
def test_every_row_has_a_case() -> None:
    assert {int(path.name[3:5]) for path in CASES} == set(range(1, 20))
    page = (Path(__file__).parent.parent / "docs" / "tutorials.md").read_text(encoding="utf-8")
    assert [int(row) for row in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == list(range(1, 20))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_findings(path: Path) -> None:
    result = check_bytes(f"/alone/{path.name}", path.read_bytes(), EVERYTHING)
    assert result.source is not None
    said = []
    for each in result.findings:
        row, column = result.source.position(each.start)
        said.append((row, f"{each.code}@{column} {each.confidence} {each.fix.applicability if each.fix else 'none'}"))
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    assert said == [(row, found) for row, line in lines for found in EXPECTED.findall(line)]
    assert result.troubles == ()


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_text_after_the_fixes(path: Path, unsafe: bool) -> None:
    config = Config(select=("ALL",), unsafe_fixes=unsafe)
    outcome = fix_bytes(f"/alone/{path.name}", path.read_bytes(), config)
    choices = [path.with_suffix(".safe.txt"), path]
    if unsafe:
        choices.insert(0, path.with_suffix(".unsafe.txt"))
    wanted = next(each for each in choices if each.exists())
    assert outcome.raw == wanted.read_bytes()
    assert fix_bytes(str(path), outcome.raw, config).fixed == ()


@pytest.mark.parametrize("row", ["row01", "row03", "row08", "row18"])
def test_the_finding_names_what_is_missing(row: str) -> None:
    path = case(row)
    messages = [each.message for each in check_bytes(f"/alone/{path.name}", path.read_bytes(), Config()).findings]
    assert len(messages) == 1
    assert ".detach()" in messages[0]
    assert (".cpu()" in messages[0]) == (row == "row03")


def test_what_is_missing_on_a_gpu_is_only_the_copy() -> None:
    path = case("row07")
    (finding,) = check_bytes(f"/alone/{path.name}", path.read_bytes(), Config()).findings
    assert "`.cpu()`" in finding.message
    assert "`.detach()`" not in finding.message


def test_strict_asks_for_the_letter_also_where_the_host_is_proven() -> None:
    from torchlint.diagnostics.model import Settings

    path = case("row02")
    strict = check_bytes(f"/alone/{path.name}", path.read_bytes(), Config(settings=Settings(strict=True)))
    assert [each.code for each in strict.findings] != []


# ---------------------------------------------------------------------- what torch does
def run(path: Path, fixed: bool = False) -> dict[str, object]:
    raw = path.read_bytes()
    names: dict[str, object] = {"__name__": "case"}
    if fixed:
        raw = fix_bytes(str(path), raw, EVERYTHING).raw
    exec(compile(raw, str(path), "exec"), names)
    return names


@pytest.mark.parametrize("row", ["row01", "row08", "row18"])
def test_a_tensor_that_requires_grad_does_not_convert(row: str) -> None:
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        run(case(row))
    run(case(row), fixed=True)


@pytest.mark.parametrize("row", ["row02", "row05", "row09", "row11", "row12", "row16", "row17"])
def test_these_programs_run_as_they_are(row: str) -> None:
    run(case(row))


def test_both_orders_give_the_same_array(capsys: pytest.CaptureFixture[str]) -> None:
    run(case("row05"))
    before = capsys.readouterr().out
    run(case("row05"), fixed=True)
    run(case("row03"), fixed=True)
    assert capsys.readouterr().out == before * 2
    assert before == "[2.25 6.25]\n"
    assert np.array_equal(run(case("row06"))["result"], [2.25, 6.25])


@NEEDS_NO_GPU
@pytest.mark.parametrize("row", ["row07", "row19"])
def test_cuda_raises_without_a_gpu(row: str) -> None:
    with pytest.raises((AssertionError, RuntimeError), match=r"(?i)cuda|nvidia"):
        run(case(row))


def test_wrong_claim_tensor_copies_the_data() -> None:
    array: np.ndarray = np.zeros(3, dtype=np.float32)
    shared = torch.Tensor(array)
    shared[0] = 7
    assert array.tolist() == [7, 0, 0]
    other = np.zeros(3)
    torch.Tensor(other)[0] = 7
    assert other.tolist() == [0, 0, 0]


def test_the_successor_shares_as_the_legacy_call_did() -> None:
    for dtype in (np.float32, np.float64, np.int64):
        for make in (torch.Tensor, lambda given: torch.as_tensor(given, dtype=torch.float32)):
            array: np.ndarray = np.zeros(3, dtype=dtype)
            make(array)[0] = 7
            assert array[0] == (7 if dtype == np.float32 else 0)


def test_wrong_claim_the_constructors_are_interchangeable() -> None:
    assert torch.Tensor([1, 2]).dtype == torch.float32
    assert torch.tensor([1, 2]).dtype == torch.int64
    assert torch.as_tensor([1, 2]).dtype == torch.int64
    assert torch.Tensor(5).shape == (5,)
    assert torch.tensor(5).shape == ()
    assert torch.as_tensor(5).item() == 5
    with pytest.raises(TypeError):
        torch.Tensor(5.0)
    array = np.zeros(2)
    assert torch.as_tensor(array).data_ptr() == array.ctypes.data
    assert torch.tensor(array).data_ptr() != array.ctypes.data
    source = torch.zeros(2, dtype=torch.int64)
    assert torch.Tensor(source).dtype == torch.int64  # not even the dtype is its own


def wrong_gradient(write: str) -> list[float]:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    w = torch.tensor([4.0, 5.0], requires_grad=True)
    h = x * 1
    y = (h * w).sum()
    exec(write, {"h": h, "torch": torch})
    y.backward()
    assert w.grad is not None
    found: list[float] = w.grad.tolist()
    return found


def test_writes_through_data_make_gradients_silently_wrong() -> None:
    assert wrong_gradient("pass") == [2, 3]
    assert wrong_gradient("h.data.zero_()") == [0, 0]
    for write in ("h.detach().zero_()", "with torch.no_grad(): h.zero_()"):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            wrong_gradient(write)


def test_variable_does_nothing_but_detach() -> None:
    from torch.autograd import Variable

    live = torch.ones(2, requires_grad=True) * 1
    made = Variable(live)
    assert type(made) is torch.Tensor
    assert not made.requires_grad
    assert made.data_ptr() == live.data_ptr()
    assert isinstance(live, Variable)


def test_volatile_is_ignored() -> None:
    from torch.autograd import Variable

    layer = torch.nn.Linear(2, 1)
    with pytest.warns(UserWarning, match="volatile was removed"):
        rows = Variable(torch.ones(2), volatile=True)
    assert layer(rows).requires_grad


def test_item_needs_no_detach_and_is_no_array_element() -> None:
    loss = (torch.tensor([0.1], requires_grad=True) * 1).sum()
    assert loss.item() == loss.detach().cpu().numpy().item()
    assert torch.tensor(0.1).item() != 0.1
    assert torch.tensor(0.1).numpy() == 0.1
    names = run(case("row15"))
    names_after = run(case("row15"), fixed=True)
    assert type(names["loss"]) is type(names_after["loss"])


@pytest.mark.parametrize(("make", "shares"), [("from_numpy", True), ("as_tensor", True), ("tensor", False)])
def test_which_constructors_share_memory(make: str, shares: bool) -> None:
    array = np.zeros(3)
    getattr(torch, make)(array)[0] = 7
    assert (array[0] == 7) == shares


def test_numpy_shares_memory_and_a_clone_does_not() -> None:
    names = run(case("row17"))
    zeros, shared, independent = names["zeros"], names["shared"], names["independent"]
    zeros[0] = 7  # type: ignore[index]
    assert (shared[0], independent[0]) == (7, 0)  # type: ignore[index]


def test_a_clone_stays_in_the_graph() -> None:
    live = torch.ones(2, requires_grad=True)
    copy = live.clone()
    assert copy.requires_grad
    copy.sum().backward()
    assert live.grad is not None
    assert live.grad.tolist() == [1, 1]


def test_inside_no_grad_a_tensor_that_requires_grad_converts() -> None:
    live = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        row = live[:1]
        assert row.requires_grad
        assert row.numpy().tolist() == [1]
    with pytest.raises(RuntimeError, match="requires grad"):
        row.numpy()
