"""Arrays that legacy constructors are given: what NumPy makes of tensors and numbers, and what fixes make of that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.before_and_after import check_runs_alike

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torchlint.rules.constructors.array_dimensions import DIMENSIONAL  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

GIVEN: dict[str, Any] = {
    "tensor": torch.tensor([3, 1]), "number tensor": torch.tensor(3), "matrix": torch.ones(2, 2), "array": np.array(3),
    "number": 3, "list": [1, 2], "tensors": [torch.tensor(1), torch.tensor(2)],
}  # fmt: skip


def applied(name: str) -> Callable[[Any], Any]:
    function: Any = np
    for word in name.split(".")[1:]:
        function = getattr(function, word)
    match name.rpartition(".")[2]:
        case "outer" | "append" | "repeat":
            return lambda x: function(x, 2)
        case "delete":
            return lambda x: function(x, 0)
        case "insert":
            return lambda x: function(x, 0, 1)
        case "linspace":
            return lambda x: function(0, x, 3)
        case word if "stack" in word or word == "concatenate":
            return lambda x: function([x, x])
    return function  # type: ignore[no-any-return]


@pytest.mark.parametrize("value", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("name", sorted(DIMENSIONAL))
def test_a_function_gives_an_array_with_dimensions_or_raises(name: str, value: Any) -> None:
    try:
        made = applied(name)(value)
    except (TypeError, ValueError, IndexError, RuntimeError, AttributeError):
        return
    assert isinstance(made, np.ndarray)
    assert made.ndim > 0


def test_some_functions_give_a_tensor_of_a_tensor() -> None:
    for name in ("numpy.repeat", "numpy.linspace", "numpy.cumprod", "numpy.argsort"):
        assert isinstance(applied(name)(torch.tensor([3, 1])), torch.Tensor), name


PROGRAM = (
    "import numpy as np\nimport torch\n\n\ndef made(x, n):\n    return {made}\n\n\n"
    "for x in ({given},):\n    t = made(x, 2)\n    print(t.dtype, t.shape, t.is_floating_point() and t.tolist())\n"
)
DOUBLE = "torch.tensor([[0.1, 0.7], [0.3, 0.2]], dtype=torch.float64)"
KEPT = {
    "a root of a tensor": ("torch.Tensor(np.sqrt(x)[:, 0])", DOUBLE),
    "a root of a flat tensor": ("torch.Tensor(np.sqrt(x.flatten()))", DOUBLE),
    "a tensor repeated": ("torch.Tensor(np.repeat(x, 2))", DOUBLE),
    "steps up to a tensor": ("torch.Tensor(np.linspace(0, x, 3))", f"{DOUBLE}[0, 0]"),
    "sums of a tensor": ("torch.Tensor(np.cumsum(x, 0))", DOUBLE),
    "a tensor in another shape": ("torch.Tensor(np.reshape(x, -1))", DOUBLE),
    "a shape that may be empty": ("torch.LongTensor(np.zeros(x, dtype=np.int64) + 3)", "()"),
    "a size that may be empty": ("torch.LongTensor(np.random.randint(2, 3, size=x))", "()"),
    "one number": ("torch.LongTensor(np.random.randint(2, 3))", "0"),
    "one number of an array": ("torch.LongTensor(np.sum(np.arange(x)))", "4"),
    "an element": ("torch.LongTensor(np.array([3, x])[n - 2])", "4"),
    "copies by no axis": ("torch.LongTensor(np.tile(3, x))", "()"),
    "an object out of an array": (
        "torch.Tensor(np.array([x, None], dtype=object)[0][:, 0])", DOUBLE,
    ),
    "where a number lay": ("torch.LongTensor(np.unique(x, return_inverse=True)[1] + 3)", "np.array(3)"),
    "places of a number": ("(lambda u: torch.LongTensor(u[1] + 2))(np.unique(x, return_inverse=True))", "np.array(3)"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "given"), KEPT.values(), ids=KEPT)
def test_what_may_be_a_tensor_or_a_number_stays_as_it_is(tmp_path: Path, made: str, given: str) -> None:
    assert check_runs_alike(tmp_path, {"main.py": PROGRAM.format(made=made, given=given)}) == {}


REPAIRED = {
    "integers of a shape": ("torch.LongTensor(np.zeros((x, 2), dtype=np.int64))", "3"),
    "of another type": ("torch.LongTensor(np.sort(np.array(x)).astype(np.int64))", "[3, 2, 1]"),
}


@pytest.mark.parametrize(("made", "given"), REPAIRED.values(), ids=REPAIRED)
def test_an_array_with_dimensions_is_repaired(tmp_path: Path, made: str, given: str) -> None:
    assert "as_tensor" in check_runs_alike(tmp_path, {"main.py": PROGRAM.format(made=made, given=given)})["main.py"]
