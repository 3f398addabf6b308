"""Projects run before and after `--fix`: a default device that a block enters under another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

NETS = "import torch\n\n\ndef made():\n    return torch.Tensor(2, 3).zero_()\n"
FOLLOWING = NETS.replace("torch.Tensor(2, 3).zero_()", "torch.zeros(2, 3)")
ON_CPU = NETS.replace("torch.Tensor(2, 3).zero_()", 'torch.zeros(2, 3, device="cpu")')
PICK = "import torch\n\n\ndef pick(name='meta'):\n    return {}\n"
MAIN = "import contextlib\n\nfrom nets import made\nfrom places import pick\n\n{}"
ENTERED = {
    "a call": (PICK.format("torch.device(name)"), "with pick():\n    print(made().device)\n"),
    "a name": (PICK.format("torch.device(name)"), "gpu = pick()\nwith gpu:\n    print(made().device)\n"),
    "one of two": (
        PICK.format("torch.device(name)"),
        "with contextlib.nullcontext(1), pick('meta'):\n    print(made().device)\n",
    ),
    "one of several lines": (
        PICK.format("torch.device(name)"),
        "with (\n    contextlib.nullcontext(1),\n    pick(),\n):\n    print(made().device)\n",
    ),
    "a conditional": (
        PICK.format("torch.device(name) if name else None"),
        "with contextlib.nullcontext() if not made else pick():\n    print(made().device)\n",
    ),
    "a stack": (
        PICK.format("torch.device(name)"),
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(pick())\n    print(made().device)\n",
    ),
    "a device that is bound first": (
        "import torch\n\n\ndef pick():\n    chosen = torch.device('meta')\n    return chosen\n",
        "with pick():\n    print(made().device)\n",
    ),
    "a lambda": ("import torch\n\npick = lambda: torch.device('meta')\n", "with pick():\n    print(made().device)\n"),
    "a method": (
        "import torch\n\n\nclass Host:\n    def there(self):\n        return torch.device('meta')\n\n\npick = Host()\n",
        "with pick.there():\n    print(made().device)\n",
    ),
    "a table": (
        "import torch\n\npick = {'x': torch.device('meta')}\n",
        "with pick.get('x'):\n    print(made().device)\n",
    ),
    "its class": (
        PICK.format("torch.device(name)"),
        "import torch\n\nplace = pick()\ntype(place).__enter__(place)\nprint(made().device)\n"
        "type(place).__exit__(place, None, None, None)\n",
    ),
}
NOT_ENTERED = {
    "nothing": (PICK.format("torch.device(name)"), "print(pick(), made().device)\n"),
    "an argument": (
        PICK.format("torch.zeros(2, device=torch.device(name))"),
        "with contextlib.nullcontext(pick()):\n    print(made().device)\n",
    ),
    "a device of CUDA": (
        PICK.format("torch.cuda.device(None)"),
        "import torch\n\nwith torch.no_grad(), contextlib.suppress(KeyError):\n    print(made().device)\n",
    ),
    "a test": (
        PICK.format("contextlib.nullcontext() if torch.device(name) else None").replace(
            "import torch", "import contextlib\n\nimport torch"
        ),
        "with pick():\n    print(made().device)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", NOT_ENTERED)
def test_what_enters_no_device_leaves_the_default(tmp_path: Path, way: str) -> None:
    places, body = NOT_ENTERED[way]
    files = {"nets.py": NETS, "places.py": places, "main.py": MAIN.format(body)}
    assert check_runs_alike(tmp_path, files, "nets.py") == {"nets.py": FOLLOWING}


@pytest.mark.parametrize("way", ENTERED)
def test_a_device_that_is_entered_by_another_name_is_not_followed(tmp_path: Path, way: str) -> None:
    places, body = ENTERED[way]
    files = {"nets.py": NETS, "places.py": places, "main.py": MAIN.format(body)}
    assert check_runs_alike(tmp_path, files, "nets.py") == {"nets.py": ON_CPU}


def test_a_function_of_the_same_file_gives_the_device(tmp_path: Path) -> None:
    body = "\n\ndef on(name):\n    return torch.device(name)\n\n\nwith on('meta'):\n    print(made().device)\n"
    assert check_runs_alike(tmp_path, {"main.py": NETS + body}) == {"main.py": ON_CPU + body}


@pytest.mark.parametrize(("first", "is_read"), [("#!/usr/bin/env python", True), ("Notes on the training:", False)])
def test_a_script_without_a_suffix_is_read(tmp_path: Path, first: str, is_read: bool) -> None:
    script = f"{first}\nimport torch\n\ntorch.set_default_dtype(torch.float64)\n"
    nets = "import torch\n\n\ndef made():\n    return torch.Tensor([1, 2])\n"
    run = "exec(open('train').read())" if is_read else "print(1)"
    main = f"import os\n\nfrom nets import made\n\nos.chdir(os.path.dirname(__file__))\n{run}\nprint(made().dtype)\n"
    changed = check_runs_alike(tmp_path, {"nets.py": nets, "train": script, "main.py": main}, "nets.py")
    dtype = "get_default_dtype()" if is_read else "float32"
    assert changed == {"nets.py": nets.replace("torch.Tensor([1, 2])", f"torch.tensor([1, 2], dtype=torch.{dtype})")}
