"""Inference across files where the files are odd: circles, broken modules, names that hide each other, many files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.observed import revealed as rows_of
from tests.projects import check_reveals, written
from torchlint.knowledge import Knowledge, look_again

LIVE = "import torch\n\nw = torch.ones(2, requires_grad=True)\n"
CLEAN = "import torch\n\n\ndef clean(x):\n    return x.detach().cpu()\n"


def test_two_files_that_import_each_other(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": LIVE + "from b import doubled\n\n\ndef clean(x):\n    return x.detach()\n\n\n"
            "def use():\n    reveal(doubled(w))  # tensor, attached, host\n"
            "    reveal(clean(doubled(w)))  # tensor, detached, host\n",
            "b.py": "import a\nfrom a import clean\n\n\ndef doubled(x):\n    return x * 2\n\n\n"
            "def use():\n    reveal(clean(a.w))  # tensor, detached, host\n    reveal(a.w)  # tensor, attached, host\n"
            "    reveal(a.clean(doubled(a.w)))  # tensor, detached, host\n",
        },
    )
    check_reveals(tmp_path / "a.py")
    check_reveals(tmp_path / "b.py")


def test_recursion_over_two_files(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": LIVE + "import b\n\n\ndef one(x, n):\n    return x if n == 0 else b.other(x, n - 1)\n\n\n"
            "def use(n: int):\n    reveal(one(w, n))  # tensor?, detached | attached, unknown place\n"
            "    reveal(b.other(w, n))  # tensor?, detached | attached, unknown place\n",
            "b.py": "import a\n\n\ndef other(x, n):\n    return x.detach() if n == 0 else a.one(x, n - 1)\n",
        },
    )
    check_reveals(tmp_path / "a.py")


def test_stars_that_import_each_other(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": "from b import *\n" + LIVE + "reveal(clean(w))  # tensor, detached, host\n"
            "def use():\n    reveal(nowhere(w))  # tensor?, unknown grad, unknown place\n",
            "b.py": "from a import *\n" + CLEAN + "\n\ndef use():\n    reveal(clean(w))  # tensor, detached, host\n"
            "    reveal(w)  # tensor, attached, host\n    reveal(nowhere)  # tensor?, unknown grad, unknown place\n",
        },
    )
    check_reveals(tmp_path / "a.py")
    check_reveals(tmp_path / "b.py")


def test_a_name_that_is_imported_in_a_circle(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": "from b import x\n\n\ndef use():\n    reveal(x)  # tensor?, unknown grad, unknown place\n",
            "b.py": "from c import x\n",
            "c.py": "from a import x\n",
        },
    )
    check_reveals(tmp_path / "a.py")


def test_classes_that_derive_in_a_circle(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "a.py": "from b import B\n\n\nclass A(B):\n    pass\n\n\n"
            "def use():\n    reveal(A().x)  # tensor?, unknown grad, unknown place\n",
            "b.py": "from a import A\n\n\nclass B(A):\n    pass\n",
        },
    )
    check_reveals(tmp_path / "a.py")


def ring(number: int) -> dict[str, str | bytes]:
    """Write files each of which imports the next, the last one the first."""
    files: dict[str, str | bytes] = {}
    for at in range(number):
        after = (at + 1) % number
        files[f"ring/m{at}.py"] = (
            f"import torch\nfrom ring.m{after} import clean as next_clean\n\n"
            f"w{at} = torch.ones(2, requires_grad=True)\n\n\n"
            f"def clean(x):\n    return x.detach()\n\n\n"
            f"def handed(x):\n    return next_clean(x) if x.ndim == 1 else x * w{at}\n\n\n"
            f"def use():\n    reveal(next_clean(w{at}))  # tensor, detached, host\n"
            f"    reveal(handed(w{at}))  # tensor, detached | attached, host\n"
        )
    return {"ring/__init__.py": "", **files}


def test_sixty_files_in_a_circle(tmp_path: Path) -> None:
    written(tmp_path, ring(60))
    for at in (0, 30, 59):
        check_reveals(tmp_path / "ring" / f"m{at}.py")


def chain(number: int) -> dict[str, str | bytes]:
    """Write files each of which hands on what the next one makes."""
    files: dict[str, str | bytes] = {f"m{at}.py": f"from m{at + 1} import made\n" for at in range(number)}
    return {**files, f"m{number}.py": "import torch\n\nmade = torch.zeros(2)\n"}


def test_a_name_is_followed_through_many_files(tmp_path: Path) -> None:
    written(tmp_path, {**chain(20), "a.py": "from m0 import made\n\nreveal(made)  # tensor, detached, host\n"})
    check_reveals(tmp_path / "a.py")


def test_an_annotation_says_more_than_a_call_whose_value_is_only_not_none(tmp_path: Path) -> None:
    called = "def called(made):\n    if made is None:\n        return\n    _annotated(made)\n\n\n"
    written(tmp_path, {"a.py": called + "def _annotated(x: int):\n    reveal(x)  # integer\n"})
    check_reveals(tmp_path / "a.py")


def unknown(folder: Path, broken: str | bytes) -> Knowledge:
    """Use two names of a broken module, and one of a whole module beside it."""
    written(
        folder,
        {
            "broken.py": broken,
            "whole.py": CLEAN,
            "a.py": "from broken import clean, made\nimport whole\n" + LIVE + "\n\ndef use():\n"
            "    reveal(clean(w))  # tensor?, unknown grad, unknown place\n"
            "    reveal(made)  # tensor?, unknown grad, unknown place\n"
            "    reveal(whole.clean(w))  # tensor, detached, host\n",
        },
    )
    return check_reveals(folder / "a.py")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(CLEAN + "def broken(:\n", id="does not parse"),
        pytest.param(CLEAN.encode() + b"made = '\xff\xfe'\n", id="is not UTF-8"),
        pytest.param(CLEAN.encode() + b"\x00", id="holds a null byte"),
        pytest.param("# -*- coding: no-such-encoding -*-\n" + CLEAN, id="has an unknown encoding"),
        pytest.param(CLEAN + "made = " + "(" * 3000 + ")" * 3000 + "\n", id="is nested too deeply"),
        pytest.param("", id="is empty"),
    ],
)
def test_a_module_that_cannot_be_used(tmp_path: Path, broken: str | bytes) -> None:
    analysis = unknown(tmp_path, broken)
    assert str(tmp_path / "broken.py") in analysis.reads  # when it changes, what was found may change


def test_an_unreadable_module(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(CLEAN)
    (tmp_path / "broken.py").chmod(0)
    try:
        (tmp_path / "broken.py").read_bytes()
    except OSError:
        pass
    else:
        pytest.skip("this user may read every file")
    written(
        tmp_path,
        {"a.py": "from broken import clean\n" + LIVE + "reveal(clean(w))  # tensor?, unknown grad, unknown place\n"},
    )
    analysis = check_reveals(tmp_path / "a.py")
    assert analysis.reads[str(tmp_path / "broken.py")] is None


def test_a_symbolic_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "broken.py").symlink_to(tmp_path / "broken.py")
    (tmp_path / "again").symlink_to(tmp_path)
    text = "from broken import clean\nfrom again.again.whole import clean as far\n" + LIVE
    text += "reveal(clean(w))  # tensor?, unknown grad, unknown place\nreveal(far(w))  # tensor, detached, host\n"
    written(tmp_path, {"whole.py": CLEAN, "a.py": text})
    check_reveals(tmp_path / "a.py")


def test_a_module_in_another_encoding(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n" + CLEAN + "word = 'é'\n"
    uses = "from other import clean\n" + LIVE + "reveal(clean(w))  # tensor, detached, host\n"
    written(tmp_path, {"other.py": text.encode("latin-1"), "a.py": uses})
    check_reveals(tmp_path / "a.py")


def test_a_missing_module_is_remembered_as_missing(tmp_path: Path) -> None:
    text = "from beside import clean\n" + LIVE + "reveal(clean(w))  # tensor?, unknown grad, unknown place\n"
    written(tmp_path, {"a.py": text})
    reads = check_reveals(tmp_path / "a.py").reads
    assert reads[str(tmp_path / "beside")] is None
    (tmp_path / "beside.py").write_text(CLEAN)
    (tmp_path / "a.py").write_text(text.replace("tensor?, unknown grad, unknown place", "tensor, detached, host"))
    look_again()
    assert str(tmp_path / "beside.py") in check_reveals(tmp_path / "a.py").reads


def test_nothing_above_the_root_is_read(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(CLEAN)
    text = "from ..outside import clean\nfrom ...outside import clean as other\nimport outside\n" + LIVE
    rows = [
        f"reveal({word}(w))  # tensor?, unknown grad, unknown place\n" for word in ("clean", "other", "outside.clean")
    ]
    (tmp_path / "project").mkdir()
    written(tmp_path / "project", {"package/__init__.py": "", "package/a.py": text + "".join(rows)})
    check_reveals(tmp_path / "project" / "package" / "a.py")


def test_a_folder_called_like_a_library_is_not_that_library(tmp_path: Path) -> None:
    text = "import numpy as np\nimport torch\n"
    text += "reveal(torch.zeros(2))  # tensor, detached, host\nreveal(np.ones(2))  # array\n"
    lie = "def zeros(*sizes):\n    return 3\n\n\ndef ones(*sizes):\n    return 3\n"
    written(tmp_path, {"torch/__init__.py": lie, "numpy.py": lie, "a.py": text})
    check_reveals(tmp_path / "a.py")


def test_a_package_wins_over_a_module_of_the_same_name(tmp_path: Path) -> None:
    text = "from both import made\nreveal(made)  # tensor, detached, host\n"
    live = LIVE.replace("w =", "made =")
    written(tmp_path, {"both.py": live, "both/__init__.py": "import torch\n\nmade = torch.zeros(2)\n", "a.py": text})
    check_reveals(tmp_path / "a.py")


def test_a_name_that_a_module_binds_twice(tmp_path: Path) -> None:
    other = "import torch\n\nx = torch.ones(2, requires_grad=True)\nx = x.detach()\n\n\ndef get():\n    return x\n"
    other += "\n\nlate = torch.zeros(2)\n\n\ndef get_late():\n    return late\n\n\n"
    other += "late = torch.ones(2, requires_grad=True)\n"
    text = "import other\n\n\ndef use():\n    reveal(other.x)  # tensor, detached | attached, host\n"
    text += "    reveal(other.get())  # tensor, detached | attached, host\n"
    text += "    reveal(other.late)  # tensor, detached | attached, host\n"
    text += "    reveal(other.get_late())  # tensor, detached | attached, host\n"
    written(tmp_path, {"other.py": other, "a.py": text})
    check_reveals(tmp_path / "a.py")


def test_a_name_that_another_file_changes(tmp_path: Path) -> None:
    other = "import torch\n\nx = torch.zeros(2)\nkept = torch.zeros(2)\n\n\n"
    other += "def put(y):\n    x.add_(y)\n    global z\n    z = y\n\n\nz = None\n"
    text = "import other\n\n\ndef use():\n    reveal(other.x)  # tensor, unknown grad, host\n"
    text += "    reveal(other.kept)  # tensor, detached, host\n"
    text += "    reveal(other.z)  # tensor?, unknown grad, unknown place\n"
    written(tmp_path, {"other.py": other, "a.py": text})
    check_reveals(tmp_path / "a.py")


# ---------------------------------------------------------------------- reasons
def test_reasons_name_the_other_file_and_its_line(tmp_path: Path) -> None:
    agents = "import torch\n\n\nclass Agent:\n"
    agents += "    def __init__(self, device='cuda'):\n        self.device = torch.device(device)\n"
    agents += "\n    def moved(self, x):\n        return x.to(self.device)\n"
    live = "import torch\n\n\ndef live(x):\n    return x * torch.ones(2, requires_grad=True)\n"
    text = "import torch\nfrom deep.agents import Agent\nfrom deep.live import live\n\n\ndef use():\n"
    text += "    reveal(Agent().moved(torch.zeros(2)))  # tensor, detached, accelerator\n"
    text += "    reveal(live(torch.zeros(2)))  # tensor, attached, host\n"
    written(tmp_path, {"deep/agents.py": agents, "deep/live.py": live, "a.py": text})
    analysis = check_reveals(tmp_path / "a.py")
    nodes = rows_of(analysis.index.tree)
    place = analysis.why(analysis.value(nodes[7]).why_device)
    grad = analysis.why(analysis.value(nodes[8]).why_grad)
    assert f"{Path('deep', 'agents.py')} line " in " ".join(place).replace(str(tmp_path) + "/", "")
    assert any(step.endswith(f"{tmp_path / 'deep' / 'live.py'} line 5") for step in grad), grad
    assert grad[-1].endswith(", line 8")
    assert str(tmp_path) not in grad[-1]


RECORD = "import torch\n\n\nclass Image:\n    def __init__(self, data: torch.Tensor):\n        self.data = data\n"


def test_a_class_in_a_module_of_its_name(tmp_path: Path) -> None:
    use = "def use(x: {0}):\n    reveal(x)  # other\n    reveal({0}(torch.ones(2)))  # other\n"
    written(
        tmp_path,
        {
            "pkg/__init__.py": "from pkg.Image import Image\n",
            "pkg/Image.py": RECORD,
            "pkg/beside.py": "import torch\nfrom pkg.Image import Image\n\n\n" + use.format("Image"),
            "a.py": "import torch\nfrom pkg import Image\n\n\n" + use.format("Image"),
            "b.py": "import torch\nimport pkg\nfrom pkg.Image import Image as Made\n\n\n" + use.format("pkg.Image"),
            "c.py": "import torch\nimport pkg.Image\n\n\n" + use.format("pkg.Image"),
        },
    )
    for name in ("a.py", "b.py", "c.py", "pkg/beside.py"):
        check_reveals(tmp_path / name)


def test_a_module_stays_one_where_its_package_binds_its_name_to_it(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "pkg/__init__.py": "from pkg import tools\nfrom . import other\n",
            "pkg/tools.py": CLEAN,
            "pkg/other.py": CLEAN,
            "a.py": LIVE + "from pkg import other, tools\nimport pkg.other\n\n\ndef use():\n"
            "    reveal(tools.clean(w))  # tensor, detached, host\n"
            "    reveal(other.clean(w))  # tensor, detached, host\n"
            "    reveal(pkg.other.clean(w))  # tensor, detached, host\n",
        },
    )
    check_reveals(tmp_path / "a.py")


def test_a_call_whose_result_nobody_takes_may_change_what_it_is_given(tmp_path: Path) -> None:
    helpers = "import torch\n\n\nLIVE = torch.ones(2, requires_grad=True)\n"
    helpers += "\n\ndef told(x):\n    print(x.shape)\n    if x is None:\n        return 1\n    return 0\n"
    helpers += "\n\ndef filled(values):\n    values[0] = LIVE\n"
    helpers += "\n\ndef handed(values):\n    filled(values)\n    return None\n"
    used = "import torch\nfrom helpers import filled, handed, told\n\n\ndef use():\n    values = [torch.zeros(2)]\n"
    used += "    told(values[0])\n    reveal(values[0])  # tensor, detached, host\n"
    used += "    handed(values)\n    reveal(values[0])  # tensor, attached, host\n"
    written(tmp_path, {"helpers.py": helpers, "a.py": used})
    check_reveals(tmp_path / "a.py")
