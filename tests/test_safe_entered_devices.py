"""Projects run before and after `--fix`: a default device that a block enters, and who reads what sets a default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

NETS = "import torch\n\n\ndef made():\n    return torch.Tensor(2, 3).zero_()\n"
FOLLOWING = NETS.replace("torch.Tensor(2, 3).zero_()", "torch.zeros(2, 3)")
ON_CPU = NETS.replace("torch.Tensor(2, 3).zero_()", 'torch.zeros(2, 3, device="cpu")')
MAIN = "import contextlib\nimport torch\nfrom nets import made\n\n{}"
ENTERED = {
    "a device": "with torch.device('meta'):\n    print(made().device)\n",
    "a name": "gpu = torch.device('meta')\nwith gpu:\n    print(made().device)\n",
    "a name that speaks of a device": "device = torch.device('meta')\nwith device:\n    print(made().device)\n",
    "one of several": "with contextlib.nullcontext(1), torch.device('meta'):\n    print(made().device)\n",
    "a stack": (
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.device('meta'))\n"
        "    print(made().device)\n"
    ),
    "a decorator": "@torch.device('meta')\ndef run():\n    print(made().device)\n\n\nrun()\n",
    "a setter by its name": "getattr(torch, 'set_default_device')('meta')\nprint(made().device)\n",
}
NOT_ENTERED = {
    "nothing": "print(torch.device('meta'), made().device)\n",
    "other contexts": "with torch.no_grad(), contextlib.suppress(KeyError):\n    print(made().device)\n",
    "a GPU that is meant": "with torch.cuda.device(-1):\n    print(made().device)\n",
    "a comment": "# torch.set_default_device('meta')\nprint(made().device)\n",
}


@pytest.mark.parametrize("way", NOT_ENTERED)
def test_what_enters_no_device_leaves_the_default(tmp_path: Path, way: str) -> None:
    files = {"nets.py": NETS, "main.py": MAIN.format(NOT_ENTERED[way])}
    assert check_runs_alike(tmp_path, files, "nets.py") == {"nets.py": FOLLOWING}


@pytest.mark.parametrize("way", ENTERED)
def test_where_a_device_is_entered_the_host_is_written(tmp_path: Path, way: str) -> None:
    files = {"nets.py": NETS, "main.py": MAIN.format(ENTERED[way])}
    assert check_runs_alike(tmp_path, files, "nets.py") == {"nets.py": ON_CPU}


@pytest.mark.parametrize(("first", "is_read"), [("#!/usr/bin/env python", True), ("Notes on the training:", False)])
def test_a_script_without_a_suffix_is_read(tmp_path: Path, first: str, is_read: bool) -> None:
    script = f"{first}\nimport torch\n\ntorch.set_default_dtype(torch.float64)\n"
    nets = "import torch\n\n\ndef made():\n    return torch.Tensor([1, 2])\n"
    run = "exec(open('train').read())" if is_read else "print(1)"
    main = f"import os\n\nfrom nets import made\n\nos.chdir(os.path.dirname(__file__))\n{run}\nprint(made().dtype)\n"
    changed = check_runs_alike(tmp_path, {"nets.py": nets, "train": script, "main.py": main}, "nets.py")
    dtype = "get_default_dtype()" if is_read else "float32"
    assert changed == {"nets.py": nets.replace("torch.Tensor([1, 2])", f"torch.tensor([1, 2], dtype=torch.{dtype})")}
