"""Random projects run the same before and after ``--fix``, and a wrong fix is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests import nightly  # noqa: E402
from tests.known_differences import KNOWN, MENDED, Known, explains  # noqa: E402
from tests.random_pieces import PLAIN, USES, VARIABLES, WAYS  # noqa: E402
from tests.random_projects import Piece, Project  # noqa: E402
from tests.random_search import Search, without  # noqa: E402
from tests.watched_runs import Comparing, difference, watched  # noqa: E402
from torchlint.diagnostics.model import Finding  # noqa: E402
from torchlint.diagnostics.registry import RULES  # noqa: E402
from torchlint.diagnostics.splice import Spliced, splice  # noqa: E402
from torchlint.source.text import Source  # noqa: E402

PROGRAMS = 60
BLOCKS = 20


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("block", nightly.in_turn(range(BLOCKS), BLOCKS, "random projects"))
def test_random_projects_run_alike(block: int, tmp_path: Path) -> None:
    search = Search(tmp_path / "project")
    for seed in range(block * PROGRAMS, (block + 1) * PROGRAMS):
        search.run(seed)
    tally = search.tally
    new = [str(each) for each in tally.counterexamples if not explains(each.pieces)]
    assert not new, "\n\n".join(new)
    assert tally.ran >= PROGRAMS / 2, tally.errors
    assert tally.with_fix >= PROGRAMS / 2, tally.fixes


@pytest.mark.parametrize(
    "known",
    [pytest.param(each, id=each.name, marks=pytest.mark.xfail(strict=True, reason=each.reason)) for each in KNOWN],
)
def test_a_known_difference_is_gone(known: Known, tmp_path: Path) -> None:
    found = Comparing(tmp_path / "project").compare(known.files, [*known.files])
    if not found.ran:
        pytest.skip("it does not run")  # which is no difference: an expected failure must be one of the fix
    assert found.difference is None


@pytest.mark.parametrize("known", [pytest.param(each, id=each.name) for each in MENDED])
def test_a_mended_difference_stays_away(known: Known, tmp_path: Path) -> None:
    found = Comparing(tmp_path / "project").compare(known.files, [*known.files])
    assert found.ran
    assert found.difference is None


WRONG = {
    ".data is dropped": ("TNS201", ".detach()", "", "import torch\n\nw = torch.ones(3, requires_grad=True)\n"
                         "r = w.data.sum()\n"),
    "a wrapper is dropped": ("TNS401", ".detach()", "", "import torch\nfrom torch.autograd import Variable\n\n"
                             "w = torch.ones(3, requires_grad=True)\nr = [Variable(w * 2)]\n"),
    "a copy for an alias": ("TNS401", ".detach()", ".detach().clone()", "import torch\n"
                            "from torch.autograd import Variable\n\nw = torch.ones(3, requires_grad=True)\n"
                            "r = Variable(w)\n"),
    "a dtype is left out": ("TNS301", ", dtype=torch.float32", "", "import torch\n\nr = torch.Tensor([1, 2])\n"),
    "an array is copied": ("TNS301", "as_tensor", "tensor", "import numpy as np\nimport torch\n\n"
                           "array = np.ones((2, 3), dtype=np.float32)\nr = torch.Tensor(array)\n"),
    "a write is recorded": ("TNS202", "no_grad", "enable_grad", "import torch\nfrom torch import nn\n\n\n"
                            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                            "        self.w = nn.Parameter(torch.ones(2))\n        self.w.data.mul_(2)\n\n\nn "
                            "= Net()\n"),
    "a number stays a tensor": ("TNS204", ".item()", ".detach()", "import torch\n\n"
                                "w = torch.ones(3, requires_grad=True)\nr = float(w.sum().data)\n"
                                "s = w.sum().data.item()\n"),
    "the device is lost": ("TNS304", ', device="cuda"', "", "import torch\n\n"
                           "if torch.cuda.is_available():\n    r = torch.cuda.FloatTensor([1, 2])\n"),
    "a size is no number": ("TNS302", "empty", "tensor", "import torch\n\nr = torch.Tensor(3)\n"),
    "another error": ("TNS306", "new_tensor", "new_none", "import torch\n\nr = torch.ones(2).new([1, 2])\n"),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_fix_is_seen(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, right, wrong, text = WRONG[fault]
    comparing = Comparing(tmp_path / "project", ("--select", code))
    assert comparing.compare({"main.py": text}).fixes
    assert comparing.compare({"main.py": text}).difference is None
    _spoil(monkeypatch, right, wrong)
    assert comparing.compare({"main.py": text}).difference


def test_a_wrong_fix_is_seen_in_random_projects_and_made_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _spoil(monkeypatch, ".detach()", "")
    search = Search(tmp_path / "project")
    seed = 0
    while not any("the gradient" in str(each) or "True" in each.found.what for each in search.tally.counterexamples):
        search.run(seed)
        seed += 1
        assert seed < 3 * PROGRAMS, "no random project shows that `.data` was dropped"
    smallest = search.tally.counterexamples[-1]
    assert len("".join(smallest.found.files.values()).splitlines()) < 40


def _spoil(monkeypatch: pytest.MonkeyPatch, right: str, wrong: str) -> None:
    """Have what fixes make say ``wrong`` where it says ``right``."""

    def spoiled(source: Source, findings: Iterable[Finding]) -> Spliced:
        made = splice(source, findings)
        return replace(made, raw=made.raw.replace(right.encode(), wrong.encode()))

    monkeypatch.setattr("torchlint.linter.engine.splice", spoiled)


RUNS = {
    "a print": ("print(1)\n", "print(2)\n"),
    "an error": ("r = 1\n", "r = 1\nraise ValueError\n"),
    "a dtype": ("r = torch.ones(2)\n", "r = torch.ones(2).double()\n"),
    "a gradient": ("r = w * 2\n", "r = w + w.detach()\n"),
    "memory": ("a = torch.ones(2)\nr = a[:]\n", "a = torch.ones(2)\nr = a[:].clone()\n"),
    "memory of an array": ("a = torch.ones(2)\nr = a.numpy()\n", "a = torch.ones(2)\nr = a.numpy().copy()\n"),
    "an object": ("a = torch.ones(2)\nr = a\n", "a = torch.ones(2)\nr = a.detach()\n"),
    "a write": ("r = (w * w).sum()\nw.data.add_(0)\n", "r = (w * w).sum()\nw.detach().add_(0)\n"),
    "random numbers": ("r = 1\n", "r = 1\ntorch.rand(2)\n"),
    "a warning": ("r = torch.ones(2).clone()\n", "r = torch.tensor(torch.ones(2))\n"),
    "a default": ("r = 1\n", "r = 1\ntorch.set_default_dtype(torch.float64)\n"),
    "a member": ("r = [1, (2, {'a': 3})]\n", "r = [1, (2, {'a': 4})]\n"),
}


@pytest.mark.parametrize("what", RUNS)
def test_what_differs_is_seen(what: str, tmp_path: Path) -> None:
    head = "import torch\n\nw = torch.ones(3, requires_grad=True)\n"
    comparing = Comparing(tmp_path / "project")
    before, again, after = (comparing.seen({"main.py": head + each}) for each in (RUNS[what][0], *RUNS[what]))
    assert difference(before, again) is None
    assert difference(before, after)


def test_what_a_program_leaves_in_torch_is_gone_with_it(tmp_path: Path) -> None:
    text = "from torch import nn\n\nnn.init.zeros_ = print\nraise KeyError\n"
    (tmp_path / "main.py").write_text(text)
    zeros = torch.nn.init.zeros_
    assert watched(tmp_path).error == "KeyError"
    assert torch.nn.init.zeros_ is zeros


def test_the_pieces_reach_every_rule_and_fit_together() -> None:
    assert {each.code for each in USES} >= {each.code for each in RULES if each.code < "TNS9"} - {
        "TNS101", "TNS102", "TNS206", "TNS303", "TNS310", "TNS404"}  # fmt: skip
    assert all("@" in way for way in WAYS.values())
    assert {each.kind for each in USES} > {PLAIN}
    assert all(spelled.partition(".")[0] in text for text, spelled in VARIABLES.items())


def test_a_mark_is_no_part_of_the_text() -> None:
    project = Project([Piece("a", "r = torch.Tensor([1])  #!TNS301"), Piece("b", "s = 2", voids=("TNS4",))])
    assert project.files() == {"main.py": "import torch\n\n\nr = torch.Tensor([1])\ns = 2\n"}
    assert project.allowed() == {("main.py", 4, "TNS301")}
    project.pieces.append(Piece("c", "t = 3", voids=("TNS3",)))
    assert project.allowed() == set()


def test_a_statement_goes_with_its_block() -> None:
    text = "import a\nif a:\n    b = 1\nc = 2\n"
    assert [without(text, at) for at in range(5)] == [
        "if a:\n    b = 1\nc = 2\n",
        "import a\nc = 2\n",
        "import a\nif a:\n    b = 1\n",
        "import a\nif a:\n    pass\nc = 2\n",
        None,
    ]


def test_a_text_that_holds_an_address_is_no_difference(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("held = [bytearray(9) for _ in range(3)]\nshown = str(memoryview(held[0]))\n")
    first = watched(tmp_path)
    keep = memoryview(bytearray(9))
    assert first.facts["shown"] == watched(tmp_path).facts["shown"] != ("str", repr(str(keep)))
