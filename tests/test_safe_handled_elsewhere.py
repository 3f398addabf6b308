"""Projects run before and after `--fix`: an error that another file handles where the function is not named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike, fixed, written

HEAD = "import torch\n\nweight = torch.ones(2, requires_grad=True)\n\n\n"
SHOWN = f"{HEAD}def shown():\n    scaled = weight * 2\n    return scaled.numpy()\n"
PARTS = (
    f"{HEAD}class Parts:\n    def __getitem__(self, at):\n        scaled = weight * at\n        return scaled.numpy()\n"
    "\n    __add__ = __getitem__\n"
)
ARRAYS = f"{HEAD}def arrays():\n    scaled = weight * 2\n    yield scaled.numpy()\n"
PLOT = f"{HEAD}class Plot:\n    def __init__(self):\n        scaled = weight * 2\n        self.array = scaled.numpy()\n"
LOADED = f"{HEAD}ARRAY = (weight * 2).numpy()\n"
FIELD = f"{HEAD}class Plot:\n    ARRAY = (weight * 2).numpy()\n"
TRY = "try:\n    print({})\nexcept {}:\n    print('refused')\n"
BELOW = """
class Below(parts.Plot):
    def __init__(self):
        try:
            super().__init__()
        except {}:
            self.array = None


print(Below().array)
"""
FIRST = "def first(given):\n    {}\n\n\nmade = parts.arrays()\nprint(first(made))\n".format(
    TRY.replace("\n", "\n    ").format("next(given)", "{}")
)
LOOP = "for each in {}:\n    " + TRY.replace("\n", "\n    ").format("{}", "{{}}")

WAYS = {
    "a list": (SHOWN, LOOP.format("[parts.shown]", "each()")),
    "a table": (SHOWN, "table = {{'shown': parts.shown}}\n" + LOOP.format("table.values()", "each()")),
    "pairs": (SHOWN, "table = {{'shown': parts.shown}}\n" + LOOP.format("table.items()", "each[1]()")),
    "numbered": (SHOWN, LOOP.replace("each in", "at, each in").format("enumerate([parts.shown])", "each()")),
    "a part": (PARTS, "made = parts.Parts()\n" + TRY.format("made[2]", "{}")),
    "a part that a function asks for": (
        PARTS,
        "made = parts.Parts()\n\n\ndef part():\n    return made[1]\n\n\n" + TRY.format("part()", "{}"),
    ),
    "what is gone through later": (ARRAYS, FIRST),
    "a constructor below": (PLOT, BELOW),
    "an import": (LOADED, "try:\n    import loaded\n\n    print(loaded.ARRAY)\nexcept {}:\n    print('refused')\n"),
    "an import of a name": (
        FIELD,
        "try:\n    from loaded import Plot\n\n    print(Plot.ARRAY)\nexcept {}:\n    print('refused')\n",
    ),
    "an import by a text": (
        LOADED,
        "import importlib\n\n\ndef load(name):\n    try:\n        return importlib.import_module(name).ARRAY\n"
        "    except {}:\n        return 'refused'\n\n\nprint(load('loaded'))\n",
    ),
}  # fmt: skip


def project(way: str, error: str) -> dict[str, str]:
    """Return a project that does something another way where an error of one class is raised."""
    parts, main = WAYS[way]
    name = "loaded.py" if "import" in way else "parts.py"
    head = "" if "import" in way else "import parts\n\n\n"
    return {name: parts, "main.py": head + main.format(error)}


@pytest.mark.parametrize("error", ["RuntimeError", "Exception"])
@pytest.mark.parametrize("way", WAYS)
def test_an_error_that_another_file_handles_stays(tmp_path: Path, way: str, error: str) -> None:
    assert check_runs_alike(tmp_path, project(way, error)) == {}


@pytest.mark.parametrize("way", WAYS)
def test_a_handler_of_another_error_keeps_nothing(tmp_path: Path, way: str) -> None:
    assert fixed(written(tmp_path, project(way, "KeyError"))) != {}
