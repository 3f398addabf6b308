"""Projects run before and after `--fix`: what a block enters is a device only where somebody makes it one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written

USES = "import torch\n\n\ndef shown():\n    made = torch.FloatTensor([3])\n    return made.dtype, str(made.device)\n"
HEAD = "import torch\n\nfrom uses import shown\n\n"
AT = "from uses import shown\n\n# for torch\n\n\ndef at(place):\n    with place:\n        print(shown())\n"
KEPT = (
    "from uses import shown\n\n# for torch\n\n\nclass Base:\n    def __init__(self, place):\n"
    "        self.place = place\n\n    def run(self):\n        with self.place:\n            print(shown())\n"
)
BELOW = (
    "from base import Base\nfrom uses import shown\n\n# for torch\n\n\nclass Below(Base):\n    def go(self):\n"
    "        with self.place:\n            print(shown())\n"
)
DEVICES = {
    "handed over": {"at.py": AT, "main.py": "import torch\nfrom at import at\n\nat(torch.device('meta'))\n"},
    "by its name": {"at.py": AT, "main.py": "import torch\nfrom at import at\n\nat(place=torch.ones(1).device)\n"},
    "of another name": {
        "at.py": AT,
        "main.py": "import torch\nfrom at import at\n\nhere = torch.device('meta')\nat(here)\n",
    },
    "at second hand": {
        "at.py": AT + "\n\ndef outer(where):\n    at(where)\n",
        "main.py": "import torch\nfrom at import outer\n\nouter(torch.device('meta'))\n",
    },
    "by another name": {
        "at.py": AT,
        "main.py": "import torch\nfrom at import at\n\nrun = at\nrun(torch.device('meta'))\n",
    },
    "by a partial": {
        "at.py": AT,
        "main.py": "import functools\n\nimport torch\nfrom at import at\n\n"
        "functools.partial(at, torch.device('meta'))()\n",
    },
    "from a table": {
        "at.py": AT,
        "main.py": "import torch\nfrom at import at\n\n{1: at}[1](torch.device('meta'))\n",
    },
    "kept by an object": {
        "base.py": KEPT,
        "main.py": "import torch\nfrom base import Base\n\nBase(torch.device('meta')).run()\n",
    },
    "kept by a base": {
        "base.py": KEPT.replace("with self.place", "with open(__file__)"),
        "below.py": BELOW,
        "main.py": "import torch\nfrom below import Below\n\nBelow(torch.device('meta')).go()\n",
    },
    "of another file": {
        "base.py": "import torch\n\n\nclass Base:\n    place = torch.device('meta')\n",
        "below.py": BELOW,
        "main.py": "from below import Below\n\nBelow().go()\n",
    },
    "bound by the block": {"main.py": HEAD + "with torch.device('meta') as place:\n    print(shown(), place.type)\n"},
    "a global": {
        "main.py": HEAD + "place = None\n\n\ndef start():\n    global place\n    place = torch.device('meta')\n\n\n"
        "start()\nwith place:\n    print(shown())\n"
    },
}


@pytest.mark.parametrize("case", DEVICES)
@pytest.mark.parametrize("alone", [False, True], ids=["folder", "file"])
def test_a_device_that_is_entered_somewhere_is_reckoned_with(tmp_path: Path, case: str, alone: bool) -> None:
    files = {"uses.py": USES, **DEVICES[case]}
    changed = check_runs_alike(tmp_path, files, *(["uses.py"] if alone else []))
    assert 'torch.tensor([3], dtype=torch.float32, device="cpu")' in changed["uses.py"]


OTHERS = {
    "a lock": {"main.py": HEAD + "import threading\n\nlock = threading.Lock()\nwith lock:\n    print(shown())\n"},
    "handed over": {"at.py": AT, "main.py": "import threading\nfrom at import at\n\nat(threading.Lock())\n"},
    "at second hand": {
        "at.py": AT + "\n\ndef outer(where):\n    at(where)\n",
        "main.py": "import threading\nfrom at import outer\n\nouter(threading.Lock())\n",
    },
    "kept by an object": {
        "base.py": KEPT,
        "main.py": "import threading\nfrom base import Base\n\nBase(threading.Lock()).run()\n",
    },
    "kept by a base": {
        "base.py": KEPT.replace("with self.place", "with open(__file__)"),
        "below.py": BELOW,
        "main.py": "import threading\nfrom below import Below\n\nBelow(threading.Lock()).go()\n",
    },
    "another function's": {
        "main.py": HEAD
        + "\n\ndef sizes():\n    for p in ():\n        print(p)\n\n\ndef run():\n    p = open(__file__)\n"
        "    with p:\n        print(shown())\n\n\nrun()\n"
    },
    "used as a file": {
        "main.py": HEAD
        + "for each in (open(__file__),):\n    with each as text:\n        print(shown(), len(text.read()))\n"
    },
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_no_device_leaves_no_device_to_write(tmp_path: Path, case: str) -> None:
    changed = check_runs_alike(tmp_path, {"uses.py": USES, **OTHERS[case]})
    assert "torch.tensor([3], dtype=torch.float32)" in changed["uses.py"]


@pytest.mark.parametrize(("made", "is_device"), [("torch.device('meta')", True), ("open(__file__)", False)])
def test_a_fixture_gives_what_its_function_makes(tmp_path: Path, made: str, is_device: bool) -> None:
    tests = (
        "import pytest\nimport torch\n\nfrom uses import shown\n\n\n@pytest.fixture\ndef place():\n"
        f"    return {made}\n\n\n"
        "def test_shown(place):\n    with place:\n        shown()\n"
    )
    written(tmp_path, {"uses.py": USES, "tests/test_uses.py": tests})
    assert ('device="cpu"' in fixed(tmp_path, "uses.py")["uses.py"]) is is_device
