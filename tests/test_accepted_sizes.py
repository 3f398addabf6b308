"""What torch takes for one number: the facts that :mod:`torchlint.rules.evidence.accepted_sizes` rests on."""

# Facts are shown as they are.
# torchlint: ignore-file[TNS3]

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.before_and_after import check_runs_alike

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from torch import nn  # noqa: E402

from torchlint.rules.evidence.accepted_sizes import _DRAWS_FLOATS, _FACTORIES, _LAYERS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

NUMBERS: dict[str, Any] = {"int": 4, "int64": np.int64(4), "int32": np.int32(4), "array": np.array(4)}
TENSORS: dict[str, Any] = {
    "int64": torch.tensor(4), "int32": torch.tensor(4, dtype=torch.int32), "one element": torch.tensor([4]),
}  # fmt: skip
OTHERS: dict[str, Any] = {
    "float": 4.0, "NumPy float": np.float64(4), "list": [4], "list of two": [4, 4], "tuple": (4,), "str": "4",
    "size": torch.Size([4]), "array": np.array([4]), "array of floats": np.array(4.0), "None": None,
    "tensor of floats": torch.tensor(4.0), "tensor of two": torch.tensor([4, 4]),
}  # fmt: skip


def takers() -> dict[str, Callable[[Any], Any]]:
    """Return each way of taking a number that counts as evidence, for each place of an argument."""
    found: dict[str, Callable[[Any], Any]] = {"range": range, "range from": lambda n: range(n, 9)}
    for name in sorted(_FACTORIES | {"torch.Tensor", "torch.LongTensor"}):
        found |= _both_places(name, getattr(torch, name.rpartition(".")[2]))
    for name in sorted(_LAYERS):
        more = [4] if "Conv" in name or "Bilinear" in name else []
        found |= _both_places(name, getattr(nn, name.rpartition(".")[2]), *more)
    return found


def _both_places(name: str, made: Callable[..., Any], *more: int) -> dict[str, Callable[[Any], Any]]:
    def first(value: Any) -> Any:
        return made(value, 4, *more)

    def second(value: Any) -> Any:
        return made(4, value, *more)

    return {f"{name} first": first, f"{name} second": second}


@pytest.mark.parametrize("take", takers().values(), ids=takers())
@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_what_is_taken_for_a_number_is_one_integer(take: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        take(value)


@pytest.mark.parametrize("value", NUMBERS.values(), ids=NUMBERS)
def test_a_legacy_constructor_takes_each_such_number_as_a_size(value: Any) -> None:
    for count in (value, value * 2, value + 1, value - 1, value // 2):
        assert torch.Tensor(count).shape == torch.empty(count).shape == (int(count),)
        assert torch.ByteTensor(count).shape == torch.empty(count).shape


@pytest.mark.parametrize("value", TENSORS.values(), ids=TENSORS)
def test_what_is_done_at_once_raises_for_a_tensor_of_integers(value: Any) -> None:
    assert torch.Tensor(value).dtype == value.dtype, "an alias: where nothing is done with it, it is none of this"
    for made in (torch.FloatTensor, torch.DoubleTensor, torch.HalfTensor, torch.BFloat16Tensor):
        with pytest.raises(TypeError):
            made(value)
    with pytest.raises(RuntimeError):
        nn.Parameter(torch.Tensor(value))
    for word in _DRAWS_FLOATS:
        with pytest.raises(RuntimeError):
            getattr(torch.Tensor(value), word)()


BIAS = (
    "import numpy as np\nimport torch\nfrom torch import nn\n\n\nclass Layer(nn.Module):\n"
    "    def __init__(self, n, m):\n        super().__init__()\n"
    "        self.weight = nn.Parameter(torch.zeros(n, m))\n"
    "        self.bias = nn.Parameter(torch.Tensor(m))\n        self.kept = torch.Tensor({kept})\n\n\n"
    "layer = Layer(3, {size})\nprint(layer.bias.shape, layer.bias.dtype, layer.kept.shape)\n"
)


@pytest.mark.parametrize("size", ["2", "np.int64(2)", "np.array(2)", "torch.tensor(2)", "[2]", "(2,)", "2.0"])
@pytest.mark.parametrize("kept", ["m", "[m]"])
def test_a_layer_is_built_alike_of_whatever_is_taken(tmp_path: Path, size: str, kept: str) -> None:
    files = {"main.py": BIAS.format(size=size, kept=kept)}
    if size == "torch.tensor(2)":  # raises, and is taken after the fix
        files["main.py"] = files["main.py"].partition("layer =")[0] + "print(Layer(3, 2).bias.shape)\n"
    assert "nn.Parameter(torch.empty(m))" in check_runs_alike(tmp_path, files)["main.py"]


SINCE = "import torch\nfrom torch import nn\n\n\ndef made(m, n):\n{body}\n\n\nprint(made({given}).shape)\n"
MISTAKEN = {
    "another path": ("    if n > 1:\n        torch.zeros(m, 2)\n    return nn.Parameter(torch.Tensor(m))", "[2, 3], 1"),
    "rebound": ("    torch.zeros(m, 2)\n    m = n\n    return nn.Parameter(torch.Tensor(m))", "2, [2, 3]"),
    "afterwards": ("    x = nn.Parameter(torch.Tensor(m))\n    m = n\n    range(m)\n    return x", "[2, 3], 1"),
    "never run": ("    n or range(m)\n    return nn.Parameter(torch.Tensor(m))", "[2, 3], 1"),
    "an alias": ("    torch.zeros(m, 2)\n    return torch.Tensor(m)", "torch.tensor(3), 1"),
    "an integer type": ("    torch.zeros(m, 2)\n    return torch.LongTensor(m)", "torch.tensor(3), 1"),
    "one size alone": ("    torch.zeros(m)\n    return nn.Parameter(torch.Tensor(m))", "[2, 3], 1"),
    "an error that is handled": (
        "    try:\n        range(m)\n    except TypeError:\n        pass\n    return nn.Parameter(torch.Tensor(m))",
        "[2, 3], 1",
    ),
}


@pytest.mark.parametrize(("body", "given"), MISTAKEN.values(), ids=MISTAKEN)
def test_what_may_be_no_number_stays_as_it_is(tmp_path: Path, body: str, given: str) -> None:
    files = {"main.py": SINCE.format(body=body, given=given), "user.py": "import main\n"}  # others may call it, too
    assert check_runs_alike(tmp_path, files) == {}
