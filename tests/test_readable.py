"""What verdicts show of values: numbers as Python writes them, short, and apart where they differ."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torchlint.verify.compare import ABSENT  # noqa: E402
from torchlint.verify.observables import Writer, elements  # noqa: E402
from torchlint.verify.readable import pair, readable  # noqa: E402
from torchlint.verify.worlds import Inputs  # noqa: E402


def seen(before: Any, after: Any) -> list[tuple[str, object, object]]:
    """Return what differs between two values of one name."""
    one, other = (Writer(Inputs({})).write({"x": each}) for each in (before, after))
    found = [(name, one.get(name, ABSENT), other.get(name, ABSENT)) for name in {**one, **other}]
    return [each for each in found if each[1] != each[2]]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (torch.tensor(0.1), torch.tensor(1.0), ("0.1", "1.0")),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), ("[1, 2]", "[1, 3]")),
        (torch.tensor([[True], [False]]), torch.tensor([[True], [True]]), ("[[True], [False]]", "[[True], [True]]")),
        (torch.tensor(0.1).half(), torch.tensor(0.2).half(), ("0.1", "0.2")),
        (torch.tensor(0.1).bfloat16(), torch.tensor(0.2).bfloat16(), ("0.1", "0.2")),
        (torch.tensor(1 + 2j), torch.tensor(1 - 2j), ("(1+2j)", "(1-2j)")),
        (torch.tensor(0.0), torch.tensor(-0.0), ("0.0", "-0.0")),
        (torch.tensor([1.0]), torch.tensor([1.0]).double(), ("[1.0] (torch.float32)", "[1.0] (torch.float64)")),
        (torch.zeros(0, 3), torch.zeros(0, 2), ("[] (0, 3)", "[] (0, 2)")),
        (torch.zeros(2, 0), torch.zeros(2), ("[[], []]", "[0.0, 0.0]")),
        (torch.zeros(40), torch.arange(40.0), ("0.0 at [1] and 38 more", "1.0 at [1] and 38 more")),
        (np.array([0.5], np.float32), np.array([1.5], np.float32), ("[0.5]", "[1.5]")),
    ],
)
def test_elements_are_numbers(before: Any, after: Any, expected: tuple[str, str]) -> None:
    (found,) = [each for each in readable(seen(before, after)) if each[0].endswith("elements")]
    assert found[1:] == expected


def test_bits_stand_where_numbers_would_look_alike() -> None:
    odd = torch.tensor([0x7FC00001], dtype=torch.int32).view(torch.float32)
    one, other = pair("x: elements", elements(torch.tensor([float("nan")])), elements(odd))
    assert (one, other) == ("0000c07f", "0100c07f")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (3, 4, ("3", "4")),
        (np.float64(0.5), np.float64(1.5), ("0.5", "1.5")),
        (np.float32(0.5), 0.5, ("0.5 (float32)", "0.5 (float)")),
        (1, True, ("1", "True")),
        (None, 0.5, ("None", "0.5")),
        ("a", "b", ("'a'", "'b'")),
    ],
)
def test_values_stand_without_wrappers(before: Any, after: Any, expected: tuple[str, str]) -> None:
    assert readable(seen(before, after)) == [("x: value", *expected)]


def test_a_tensor_that_becomes_a_number_is_one_difference() -> None:
    assert readable(seen(torch.tensor(0.5), 0.5)) == [("x", "0.5 (Tensor)", "0.5 (float)")]
    assert readable(seen(np.array([1, 2]), 3)) == [("x", "[1, 2] (ndarray)", "3 (int)")]
    shared = ("x: shares memory with", ("x", "y"), ("y",))
    assert readable([*seen(torch.tensor(0.5), 0.5), shared])[1:] == []
    memory = ("input y: shares memory with", ("x", "y"), ("y",))
    assert readable([*seen(torch.tensor(0.5), 0.5), memory])[1:] == []
    assert readable([memory]) == [("input y: shares memory with", "x, y", "y")]


def test_lists_of_names_and_sizes_are_told_apart() -> None:
    assert pair("a: shares memory with", ("x",), ()) == ("x", "none")
    assert pair("the result is an input", ("",), ("x",)) == ("none", "x")
    assert pair("a: shape", (), (1,)) == ("()", "(1,)")
    assert pair("a: class", ("list", 2), ("tuple", 3)) == ("list of 2", "tuple of 3")
    assert pair("exception", None, "TypeError: no") == ("none", "TypeError: no")
    assert pair("printed", "", "1\n2\n") == ("nothing", "1 2")
