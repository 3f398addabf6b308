"""What torch's functions were given is a tensor: what they refuse, and small projects before and after `--fix`."""

from __future__ import annotations

import warnings
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from tests.before_and_after import check_runs_alike, torch
from torchlint.rules.evidence.given_to_torch import REFUSING, REFUSING_LAYERS, REFUSING_TWICE

F, nn = torch.nn.functional, torch.nn
Record = namedtuple("Record", "data other")


class Like:
    """An object that answers to all that a tensor is asked for, and is none."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.data, name)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: Any) -> Any:
        return self.data[index]


def _others(tensor: Any) -> Iterator[Any]:
    """Yield what has a `data` too, and might be handed over in a tensor's place."""
    yield from (
        Like(tensor),
        Record(tensor, 1),
        MagicMock(),
        MagicMock(data=tensor),
        type("Own", (), {"data": tensor})(),
    )
    yield from (tensor.detach().numpy(), np.float64(1), np.array(1.0), tensor.tolist(), 1, 1.0, None)
    yield nn.utils.rnn.pack_sequence([torch.ones(3)])


X, Y, INDEX, WEIGHT = torch.rand(2, 3), torch.rand(2, 3), torch.tensor([0, 1]), torch.rand(4, 3)
IMAGES = {1: torch.rand(2, 4, 8), 2: torch.rand(2, 4, 8, 8), 3: torch.rand(2, 4, 8, 8, 8)}
KERNELS = {n: torch.rand(4, 4, *[3] * n) for n in (1, 2, 3)}
SQUARE, BATCH, ZERO = torch.rand(3, 3), torch.rand(2, 3, 3), torch.zeros(1, 3, dtype=torch.int64)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{f"{kind}_pool{n}d": (image, 2) for n, image in IMAGES.items()
       for kind in ("avg", "max", "adaptive_avg", "adaptive_max")},
    **{f"conv{n}d": (image, KERNELS[n]) for n, image in IMAGES.items()},
    **{f"conv_transpose{n}d": (image, KERNELS[n]) for n, image in IMAGES.items()},
    **dict.fromkeys("cross_entropy nll_loss".split(), (X, INDEX)),
    **dict.fromkeys(
        "allclose atan2 binary_cross_entropy binary_cross_entropy_with_logits cdist cosine_similarity dist equal "
        "huber_loss kl_div l1_loss maximum minimum mse_loss smooth_l1_loss".split(), (X, Y)
    ),
    **dict.fromkeys("argmax argmin argsort cumsum log_softmax logsumexp softmax unsqueeze".split(), (X, 1)),
    **dict.fromkeys("chunk kthvalue multinomial repeat_interleave roll topk".split(), (X, 1)),
    **dict.fromkeys("dot outer".split(), (X[0], Y[0])),
    **dict.fromkeys("dropout2d glu".split(), (IMAGES[2],)), "dropout3d": (IMAGES[3],),
    "batch_norm": (IMAGES[2], torch.zeros(4), torch.ones(4)), "group_norm": (IMAGES[2], 2), "layer_norm": (X, [3]),
    "instance_norm": (IMAGES[2],), "grid_sample": (IMAGES[2], torch.zeros(2, 8, 8, 2)), "interpolate": (IMAGES[2], 16),
    "pad": (X, (1, 1)), "pixel_shuffle": (IMAGES[2], 2), "unfold": (IMAGES[2], 3), "prelu": (X, torch.rand(1)),
    "embedding": (INDEX, WEIGHT), "one_hot": (INDEX,), "linear": (X, WEIGHT), "bincount": (INDEX,), "clamp": (X, 0.0),
    "mm": (X, SQUARE), "matmul": (X, SQUARE), "mv": (X, X[0]), "bmm": (BATCH, BATCH), "trace": (SQUARE,),
    "addmm": (SQUARE, SQUARE, SQUARE), "baddbmm": (BATCH, BATCH, BATCH), "flip": (X, [0]), "full_like": (X, 1.0),
    "gather": (X, 0, ZERO), "scatter": (X, 0, ZERO, 1.0), "index_select": (X, 0, INDEX), "take": (X, INDEX),
    "masked_fill": (X, X > 0, 0.0), "masked_select": (X, X > 0), "narrow": (X, 0, 0, 1), "permute": (X, (1, 0)),
    "reshape": (X, (-1,)), "transpose": (X, 0, 1),
}  # fmt: skip
LAYERS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    **{f"{kind}{n}d": ((4, 4, 3), (image,)) for n, image in IMAGES.items() for kind in ("Conv", "ConvTranspose")},
    **{f"{kind}{n}d": ((4,), (image,)) for n, image in IMAGES.items() for kind in ("BatchNorm", "InstanceNorm")},
    **{f"{kind}{n}d": ((2,), (image,)) for n, image in IMAGES.items() for kind in ("AvgPool", "AdaptiveAvgPool")},
    **{f"Dropout{n}d": ((), (image,)) for n, image in IMAGES.items()},
    "Linear": ((3, 2), (X,)), "LayerNorm": ((3,), (X,)), "GroupNorm": ((2, 4), (IMAGES[2],)),
    "Embedding": ((4, 3), (INDEX,)), "EmbeddingBag": ((4, 3), (INDEX[None],)), "PixelShuffle": ((2,), (IMAGES[2],)),
    "Upsample": ((16,), (IMAGES[2],)), "CrossEntropyLoss": ((), (X, INDEX)), "NLLLoss": ((), (X, INDEX)),
}  # fmt: skip


def _refuses(function: Any, arguments: tuple[Any, ...], at: int) -> list[str]:
    """Return what a function takes in the place of a tensor; it must take the tensor."""
    function(*arguments)
    taken = []
    for other in _others(arguments[at]):
        try:
            function(*arguments[:at], other, *arguments[at + 1 :])
        except Exception:  # noqa: BLE001 - whatever is raised, control does not go on
            continue
        taken.append(type(other).__name__)
    return taken


def _function(name: str) -> Any:
    found: Any = torch
    for word in name.split(".")[1:]:
        found = getattr(found, word, None)
    return found


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_a_function_refuses_all_but_tensors(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not _refuses(_function(name), ARGUMENTS.get(name.rpartition(".")[2], (X,)), 0)


@pytest.mark.parametrize("name", sorted(REFUSING_TWICE))
def test_a_function_refuses_all_but_tensors_as_its_second_argument(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not _refuses(_function(name), ARGUMENTS[name.rpartition(".")[2]], 1)


@pytest.mark.parametrize("name", sorted(REFUSING_LAYERS))
def test_a_layer_refuses_all_but_tensors(name: str) -> None:
    made, given = LAYERS.get(name.rpartition(".")[2], ((), (X, Y) if name.endswith("Loss") else (X,)))
    for layer in (_function(name)(*made), _function(name)(*made).eval()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not any(_refuses(layer, given, at) for at in range(len(given)))


HEAD = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\nclass Own:\n"
    "    def __init__(self, data):\n        self.data = data\n\n\n"
)
TENSOR = "print(shown(torch.ones(2, 3, requires_grad=True)))\n"
OTHER = "print(shown(torch.ones(2, 3)), shown(Own(torch.ones(2, 3))))\n"
SAFE = {
    "a function before": "def shown(x):\n    y = F.relu(x)\n    return x.data.sum() + y.sum().item()\n\n\n",
    "a loss before": "def shown(x):\n    loss = F.mse_loss(x, torch.zeros(2, 3))\n    print(loss.item())\n"
    "    return x.data.max(1)[1]\n\n\n",
    "the second argument": "def shown(x):\n    F.mse_loss(torch.zeros(2, 3), x)\n    return x.data.cpu().sum()\n\n\n",
    "a loss of this file": "criterion = nn.MSELoss()\n\n\ndef shown(x):\n    loss = criterion(x, torch.zeros(2, 3))\n"
    "    print(loss.item())\n    return x.data.max(1)[1]\n\n\n",
    "under no_grad": "def shown(x):\n    with torch.no_grad():\n        print(torch.exp(x).sum())\n"
    "    return x.data.sum()\n\n\n",
    "in a loop": "def shown(x):\n    for each in [x, x]:\n        print(torch.exp(each).sum())\n"
    "        print(each.data.sum())\n\n\n",
    "in a branch behind": "def shown(x):\n    y = torch.exp(x)\n    if y.sum() > 2:\n        x = x.data.sum()\n"
    "    return x\n\n\n",
}
OPEN = {
    "a function that calls a method": "def shown(x):\n    if not isinstance(x, Own):\n        F.softmax(x, 1)\n"
    "    return x.data.sum()\n\n\n",
    "in a branch": "def shown(x):\n    if not isinstance(x, Own):\n        torch.exp(x)\n    return x.data.sum()\n\n\n",
    "in a condition": "def shown(x):\n    y = None if isinstance(x, Own) else torch.exp(x)\n"
    "    return x.data.sum()\n\n\n",
    "behind an or": "def shown(x):\n    y = isinstance(x, Own) or torch.exp(x)\n    return x.data.sum()\n\n\n",
    "in a comprehension": "def shown(x):\n    y = [torch.exp(x) for _ in range(0 if isinstance(x, Own) else 1)]\n"
    "    return x.data.sum()\n\n\n",
    "in a lambda": "def shown(x):\n    y = lambda: torch.exp(x)\n    return x.data.sum()\n\n\n",
    "in a loop": "def shown(x):\n    for _ in range(0 if isinstance(x, Own) else 1):\n        torch.exp(x)\n"
    "    return x.data.sum()\n\n\n",
    "an error that is caught": "def shown(x):\n    try:\n        torch.exp(x)\n    except TypeError:\n        pass\n"
    "    return x.data.sum()\n\n\n",
    "an error that is suppressed": "import contextlib\n\n\ndef shown(x):\n    with contextlib.suppress(TypeError):\n"
    "        torch.exp(x)\n    return x.data.sum()\n\n\n",
    "bound in between": "def shown(x):\n    first = x\n    x = torch.ones(2)\n    torch.exp(x)\n    x = first\n"
    "    return x.data.sum()\n\n\n",
    "bound in between in a branch": "def shown(x):\n    first = x\n    x = torch.ones(2)\n    torch.exp(x)\n"
    "    if first is not x:\n        x = first\n    return x.data.sum()\n\n\n",
    "bound in a loop": "def shown(x):\n    first, x = x, torch.ones(2)\n    torch.exp(x)\n    for _ in range(2):\n"
    "        found = x.data.sum()\n        x = first\n    return found\n\n\n",
    "another of the same name": "def shown(x):\n    found = x\n    for x in [torch.ones(2)]:\n        torch.exp(x)\n"
    "    return [x.data.sum() for x in [found]]\n\n\n",
    "later": "def shown(x):\n    found = x.data.sum()\n    if not isinstance(x, Own):\n        torch.exp(x)\n"
    "    return found\n\n\n",
    "in another function": "def shown(x):\n    def inner(x):\n        return torch.exp(x)\n\n    inner(torch.ones(2))\n"
    "    return x.data.sum()\n\n\n",
    "a function of the same name": "def exp(x):\n    return x\n\n\ndef shown(x):\n    exp(x)\n"
    "    return x.data.sum()\n\n\n",
    "a class of torch's protocol": "class Taken(Own):\n    @classmethod\n"
    "    def __torch_function__(cls, function, types, given=(), named=None):\n        return 0\n\n\n"
    "def shown(x):\n    torch.exp(Taken(x.data) if isinstance(x, Own) else x)\n    return x.data.sum()\n\n\n",
    "a layer with a hook": "layer = nn.ReLU()\nlayer.register_forward_pre_hook(lambda m, given: torch.ones(2))\n\n\n"
    "def shown(x):\n    layer(x)\n    return x.data.sum()\n\n\n",
    "a layer of its own": "class Any(nn.ReLU):\n    def forward(self, x):\n        return x\n\n\nlayer = Any()\n\n\n"
    "def shown(x):\n    layer(x)\n    return x.data.sum()\n\n\n",
    "a layer by its class": "class Any(nn.ReLU):\n    def forward(self, x):\n        return x\n\n\n"
    "def run(layer, x):\n    if isinstance(layer, nn.ReLU):\n        layer(x)\n        return x.data.sum()\n\n\n"
    "def shown(x):\n    return run(Any(), x)\n\n\n",
}


@pytest.mark.parametrize("name", SAFE)
def test_what_torch_was_given_is_repaired(name: str, tmp_path: Path) -> None:
    assert ".detach()" in check_runs_alike(tmp_path, {"main.py": HEAD + SAFE[name] + TENSOR})["main.py"]


@pytest.mark.parametrize("name", OPEN)
def test_what_torch_may_not_have_seen_is_left(name: str, tmp_path: Path) -> None:
    assert not check_runs_alike(tmp_path, {"main.py": HEAD + OPEN[name] + OTHER})


def test_a_class_of_torchs_protocol_in_another_file_counts(tmp_path: Path) -> None:
    main = "import torch\n\nfrom lib import Taken\n\n\ndef shown(x):\n    torch.exp(x)\n    return x.data.sum()\n\n\n"
    lib = "class Taken:\n    def __init__(self, data):\n        self.data = data\n\n    @classmethod\n"
    lib += "    def __torch_function__(cls, function, types, given=(), named=None):\n        return 0\n"
    use = "print(shown(Taken(torch.ones(2))))\n"
    assert not check_runs_alike(tmp_path, {"main.py": main + use, "lib.py": lib})
