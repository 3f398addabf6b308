"""What a ``with`` enters: where it is shown to be no device, constructors elsewhere need not say theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

USES = (
    "import torch\n\n\ndef make():\n    return torch.FloatTensor([3])\n\n\n"
    "def shown():\n    return [str(each.device) for each in (make(),)]\n"
)
SHOW = "import threading\nimport torch\n\nfrom uses import shown\n\n\n"
OWN = (
    "class Timer:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *_):\n        return None\n"
)
OTHERS = {
    "annotated": (
        "def at(lock: threading.Lock = threading.Lock()):\n    with lock:\n        print(shown())\n\n\nat()\n",
        {},
    ),
    "annotated, and kept": (
        "class View:\n    def __init__(self, lock: 'threading.Lock | None' = None):\n        self.lock = lock\n\n"
        "    def show(self):\n        with self.lock if self.lock is not None else threading.Lock():\n"
        "            print(shown())\n\n\nView().show()\n",
        {},
    ),
    "class of another file": (
        "from timers import Timer\n\n\ndef at(timer: Timer):\n    with timer:\n        print(shown())\n\n\n"
        "at(Timer())\n",
        {"timers.py": OWN},
    ),
    "used as no device is": (
        "from timers import Timer\n\n\ndef at(it):\n    it.__init__()\n    it.name = 1\n    print(it.name)\n"
        "    with it:\n        print(shown())\n\n\nat(Timer())\n",
        {"timers.py": OWN},
    ),
    "used as no device is, by its other name": (
        "def at(it):\n    with it as file:\n        print(shown(), file.name)\n\n\nat(open(__file__))\n",
        {},
    ),
    "attribute that another file sets": (
        "from timers import Holder\n\nholder = Holder()\nwith holder.timer:\n    print(shown())\n",
        {"timers.py": OWN + "\n\nclass Holder:\n    def __init__(self):\n        self.timer = Timer()\n"},
    ),
    "element of what a call gives": (
        "def some():\n    return [threading.Lock()]\n\n\nlocks = some()\nwith locks[0]:\n    print(shown())\n",
        {},
    ),
    "element of a container": (
        "locks = {}\nif 'a' not in locks:\n    locks['a'] = threading.Lock()\nwith locks['a']:\n    print(shown())\n",
        {},
    ),
}
"""What is entered that is no device, with the other files."""
DEVICES = {
    "parameter": ("def at(it):\n    with it:\n        print(shown())\n\n\nat(torch.device('meta'))\n", {}),
    "parameter of a general type": (
        "from typing import Any\n\n\ndef at(it: Any):\n    with it:\n        print(shown())\n\n\n"
        "at(torch.device('meta'))\n",
        {},
    ),
    "annotated as torch.device": (
        "def at(it: torch.device):\n    with it:\n        print(shown())\n\n\nat(torch.device('meta'))\n",
        {},
    ),
    "annotated with another name of the class": (
        "from places import Where\n\n\ndef at(it: Where):\n    with it:\n        print(shown())\n\n\n"
        "at(torch.device('meta'))\n",
        {"places.py": "import torch\n\nWhere = torch.device\n"},
    ),
    "attribute of an object": (
        "from places import Holder\n\nholder = Holder(torch.ones(1, device='meta'))\nwith holder.at:\n"
        "    print(shown())\n",
        {"places.py": "class Holder:\n    def __init__(self, x):\n        self.at = x.device\n"},
    ),
    "property": (
        "from places import Holder\n\nwith Holder().at:\n    print(shown())\n",
        {
            "places.py": "import torch\n\n\nclass Holder:\n    x = torch.ones(1, device='meta')\n\n    @property\n"
            "    def at(self):\n        return self.x.device\n"
        },
    ),
    "function's device": (
        "from places import of\n\nwith of(torch.ones(1, device='meta')):\n    print(shown())\n",
        {"places.py": "import torch\n\n\ndef of(x):\n    return x.device\n"},
    ),
    "used as no device is, in a branch": (
        "def at(it):\n    if hasattr(it, 'name'):\n        print(it.name)\n    with it:\n        print(shown())\n\n\n"
        "at(torch.device('meta'))\n",
        {},
    ),
    "used as no device is, where the error passes": (
        "from contextlib import suppress\n\n\ndef at(it):\n    with suppress(AttributeError):\n        it.start()\n"
        "    with it:\n        print(shown())\n\n\nat(torch.device('meta'))\n",
        {},
    ),
    "element of a container": (
        "places = {}\nplaces['a'] = torch.ones(1, device='meta').device\nwith places['a']:\n    print(shown())\n",
        {},
    ),
    "element of a container that is handed on": (
        "def fill(places):\n    places['a'] = torch.device('meta')\n\n\nplaces = {}\nfill(places)\n"
        "with places['a']:\n    print(shown())\n",
        {},
    ),
    "annotated with torch.device under another name": (
        "from torch import device as Where\n\n\ndef at(it: Where):\n    with it:\n        print(shown())\n\n\n"
        "at(torch.device('meta'))\n",
        {},
    ),
    "annotated from a module beside that has a standard module's name": (
        "from inside.at import at\n\nat(torch.device('meta'))\n",
        {
            "inside/__init__.py": "",
            "inside/queue.py": "import torch\n\nWhere = torch.device\n",
            "inside/at.py": "import torch\nfrom uses import shown\nfrom .queue import Where\n\n\n"
            "def at(it: Where):\n    with it:\n        print(shown(), torch.__name__)\n",
        },
    ),
    "device of a tensor beside an attribute of that name": (
        "class Holder:\n    def __init__(self):\n        self.device = 'cpu'\n\n\nhere = "
        "torch.ones(1, device='meta').device\nwith here:\n    print(shown())\n",
        {},
    ),
    "field that is None by default": (
        "from places import Holder\n\nwith Holder(torch.device('meta')).at:\n    print(shown())\n",
        {
            "places.py": "from dataclasses import dataclass\nfrom typing import Any\n\n\n@dataclass\nclass Holder:\n"
            "    at: Any = None\n"
        },
    ),
    "what a dictionary holds": (
        "places = {'a': torch.device('meta')}\nfor it in places.values():\n    with it:\n        print(shown())\n",
        {},
    ),
    "attributes that are bound to each other": (
        "from places import Holder\n\nholder = Holder(torch.ones(1, device='meta'))\nwith holder.one:\n    pass\n"
        "with holder.other:\n    print(shown())\n",
        {
            "places.py": "class Holder:\n    def __init__(self, x):\n        self.one = x.device\n"
            "        self.other = self.one\n        self.one = self.other\n"
        },
    ),
    "loop": ("for it in [torch.device('meta')]:\n    with it:\n        print(shown())\n", {}),
}


@pytest.mark.parametrize("way", OTHERS)
def test_what_is_no_device_leaves_constructors_plain(tmp_path: Path, way: str) -> None:
    main, others = OTHERS[way]
    changed = check_runs_alike(tmp_path, {"uses.py": USES, "main.py": SHOW + main, **others})
    assert "torch.tensor([3], dtype=torch.float32)" in changed["uses.py"]


@pytest.mark.parametrize("way", DEVICES)
def test_what_may_be_a_device_has_constructors_say_theirs(tmp_path: Path, way: str) -> None:
    main, others = DEVICES[way]
    changed = check_runs_alike(tmp_path, {"uses.py": USES, "main.py": SHOW + main, **others})
    assert 'device="cpu"' in changed.get("uses.py", 'device="cpu"')
