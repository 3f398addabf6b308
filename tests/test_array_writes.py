"""`.cpu()` before `.numpy()` where the array goes to code out of sight: who may write into it, and who reads."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.before_and_after import fixed, written

_MAIN = "{}\n\n\ndef shared(x: torch.Tensor):\n    {}\n"
MAY_WRITE = {
    "a function of another file": ("import torch\n\nfrom tools import spread", "spread(x.numpy())"),
    "a function of another module": ("import tools\nimport torch", "tools.spread(x.numpy())"),
    "MPI": ("import torch\nfrom mpi4py import MPI", "MPI.COMM_WORLD.Bcast(x.numpy(), root=0)"),
}
READ = {
    "a library that draws": ("import matplotlib.pyplot as plt\nimport torch", "plt.imshow(x.numpy())"),
}
TOOLS = "def spread(array):\n    array[...] = 0\n"


@pytest.mark.parametrize("name", MAY_WRITE)
def test_an_array_that_others_may_write_into_is_left_on_the_tensor(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {"main.py": _MAIN.format(*MAY_WRITE[name]), "tools.py": TOOLS})
    assert fixed(folder) == {}


@pytest.mark.parametrize("name", READ)
def test_an_array_that_is_read_is_copied_to_the_host(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {"main.py": _MAIN.format(*READ[name]), "tools.py": TOOLS})
    assert ".detach().cpu().numpy()" in fixed(folder)["main.py"]
