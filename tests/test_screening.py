"""Screens keep LibCST away from candidates that are proven right, and from nothing that a rule would report."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest

from benchmarks.whole import EVERYTHING, both_ways
from tests import nightly
from tests.conftest import ROOT
from tests.nightly import in_turn
from torchlint import engine
from torchlint.catalogue import CATALOGUE
from torchlint.config import Config
from torchlint.model import Settings
from torchlint.screening import screens
from torchlint.screening.arguments import is_untold
from torchlint.screening.plain_data import is_plain_data
from torchlint.screening.sight import Sight
from torchlint.source import decode
from torchlint.syntax.outline import outline
from torchlint.syntax.stretches import Stretch, stretches

FIXTURES = sorted((ROOT / "tests" / "fixtures").rglob("*.py"))
HEAD = "import torch\nimport numpy as np\n\n"

SILENT = [
    "def f(x: torch.Tensor):\n    return x.detach().cpu().numpy()\n",
    "with torch.no_grad():\n    print(torch.ones(2).numpy())\n",
    "def f(frame):\n    return frame.numpy(force=True)\n",
    "value = torch.tensor([1.0, 2.0])\n",
    "value = torch.tensor(np.zeros(3))\n",
    "def f(x):\n    return torch.tensor(len(x)), torch.tensor(0.1**2), torch.tensor(x, dtype=torch.long)\n",
    "def f(x):\n    return torch.tensor(torch.finfo(x.dtype).min), torch.tensor(-torch.iinfo(x.dtype).max / 2)\n",
    "def f(c):\n    x = 1\n    if c:\n        x = [0] * 3\n    x += 2\n    return torch.tensor(x)\n",
    "def f(n):\n    return torch.tensor([0] * n), torch.tensor(n * (1, 2)), torch.tensor([n for _ in n] + n)\n",
    "def f(x):\n    y = np.zeros(3)\n    y = torch.tensor(y)\n    return y\n",
    "NOISE = [0.1, 0.2]\n\n\ndef f():\n    return torch.tensor(NOISE), [torch.tensor(NOISE) for _ in 'ab']\n",
    "def f(n: int, name: str):\n    def g(m: float):\n        return torch.tensor(n), torch.tensor(m)\n    return g\n",
    "def f(x):\n    if not torch.is_tensor(x):\n        x = torch.tensor(x)\n    return x\n",
    "def f(x):\n    if not isinstance(x, torch.Tensor):\n        return torch.tensor(x)\n    return x\n",
    "def f(x):\n    if isinstance(x, (int, float)):\n        x = torch.tensor(x)\n    return x\n",
    "def f(x):\n    return type(x), x.type(torch.float32), x.type(), x.type(dtype=x.dtype)\n",
    "class Batch:\n    def __init__(self):\n        self.data = []\n\n    def f(self):\n        return self.data\n",
    "class C:\n    def new(self, a):\n        return self.new(a=1)\n",
    "def f(x, device):\n    return x.to(device, non_blocking=False)\n",
    "def f(x, queue):\n    return queue.put(x, non_blocking=True)\n",
    "def f(shapes):\n    return shapes.Tensor(3)\n",
    "import chainer\n\n\ndef f(x):\n    return x.data\n",
]
"""Code that holds candidates, none of which can be at fault: LibCST is not needed to tell."""

OPEN = [
    "def f(x):\n    return x.numpy()\n",
    "def f(x):\n    return x.numpy(force=False)\n",
    "def f(x):\n    return x.detach().cpu().numpy().item()\n",
    "def f(w: torch.Tensor):\n    return w.data\n",
    "def f(p):\n    return p.data\n",
    "def f(w: torch.Tensor | None):\n    return w.data.add_(1)\n",
    "def f(n):\n    return torch.Tensor(n)\n",
    "def f(n):\n    return torch.cuda.FloatTensor(n), torch.sparse.FloatTensor(n)\n",
    "from torch import FloatTensor as T\n\n\ndef f(n):\n    return T(n)\n",
    "def f(x):\n    return x.new(2)\n",
    "def f(x):\n    return x.type(torch.FloatTensor)\n",
    'def f(x):\n    return x.type("torch.cuda.LongTensor")\n',
    "def f(x, c):\n    return x.type(torch.cuda.FloatTensor if c else torch.FloatTensor)\n",
    "Kind = torch.DoubleTensor\n\n\ndef f(x):\n    return x.type(Kind)\n",
    "def f(x: torch.Tensor):\n    return torch.tensor(x)\n",
    "def f(x: torch.Tensor):\n    return torch.tensor(data=x)\n",
    "def f(x: torch.Tensor):\n    if x is not None:\n        x = torch.tensor(x)\n    return x\n",
    "def f(x: torch.Tensor):\n    if isinstance(x, torch.Tensor):\n        x = torch.tensor(x)\n    return x\n",
    "def f(c):\n    x = 1\n    if c:\n        x = torch.ones(3)\n        return torch.tensor(x)\n",
    "def f():\n    x = 1\n    for x in torch.ones(3):\n        print(torch.tensor(x))\n",
    "def f(w: torch.Tensor):\n    x = 1\n    x += w\n    return torch.tensor(x)\n",
    "def f(w: torch.Tensor):\n    x = 1\n    x, y = w, 2\n    return torch.tensor(x)\n",
    "X = [1]\nX = torch.ones(2)\n\n\ndef f():\n    return torch.tensor(X)\n",
    "X = [1]\n\n\nclass C:\n    X = torch.ones(3)\n    Y = torch.tensor(X)\n",
    "X = [1]\n\n\ndef f():\n    X = torch.ones(3)\n    return lambda: torch.tensor(X)\n",
    "X = 1\n\n\ndef f(x: torch.Tensor):\n    global X\n    X = x\n    return torch.tensor(X)\n",
    "def f(n: int):\n    n = torch.ones(3)\n    return torch.tensor(n)\n",
    "def _f(n: int):\n    return torch.tensor(n)\n\n\n_f(torch.ones(2))\n",
    "int = torch.Tensor\n\n\ndef f(n: int):\n    return torch.tensor(n)\n",
    "X = [1]\n\n\ndef f():\n    for X in torch.ones(3):\n        print(torch.tensor(X))\n",
    'def f(x):\n    return x.to("cpu", non_blocking=True)\n',
    "torch.set_default_tensor_type(torch.FloatTensor)\n",
    "from torch.autograd import Variable\n\n\ndef f(x):\n    return Variable(x)\n",
]
"""Code of which a screen says that a rule may speak about it."""

ALWAYS_ASKED = frozenset({"TNS310", "TNS401", "TNS402", "TNS403", "TNS404"})
"""Rules without a screen that speak of code above; others of that kind are left out, since they may speak of any."""


def opened(text: str, settings: Settings | None = None) -> list[Stretch]:
    made = outline(decode("some.py", text.encode()))
    codes = ALWAYS_ASKED | {*screens.BY_RULE}
    entries = [entry for entry in CATALOGUE if entry.words and entry.default and entry.code in codes]
    words = frozenset[str]().union(*(entry.words for entry in entries))
    called = words - frozenset[str]().union(*(entry.words for entry in entries if not entry.called))
    sight = Sight(made, settings or Settings(), "/nowhere/some.py")
    assert stretches(made, words, called)
    return stretches(made, words, called, screens.Screens(sight, entries).may_be_at_fault)


@pytest.mark.parametrize("text", SILENT)
def test_what_is_right_beyond_doubt_is_not_given_to_libcst(text: str) -> None:
    assert opened(HEAD + text) == []


@pytest.mark.parametrize("text", OPEN)
def test_what_may_be_at_fault_is(text: str) -> None:
    assert opened(HEAD + text)


def test_strict_settings_leave_every_conversion_of_a_tensor_to_the_rules() -> None:
    text = (
        HEAD + "def f(x: torch.Tensor):\n    return x.numpy()\n\n\nprint(np.ones(2).numpy(), torch.ones(2).numpy())\n"
    )
    assert len(opened(text, Settings(strict=True))) == 2
    assert len(opened(text)) == 1


def test_every_screen_is_that_of_a_rule() -> None:
    assert screens.BY_RULE.keys() <= {entry.code for entry in CATALOGUE if entry.words}


# ---------------------------------------------------------------------- the same findings
@pytest.mark.parametrize(
    "path",
    in_turn(FIXTURES, 4, "fixtures, parsed whole"),
    ids=lambda path: str(path.relative_to(ROOT / "tests" / "fixtures")),
)
def test_fixtures_give_the_same_findings_parsed_whole_and_unscreened(path: Path) -> None:
    found, whole = both_ways(path)
    assert found.findings == whole.findings
    assert found.troubles == whole.troubles


def test_nothing_is_told_without_a_walk_that_inference_knows_as_a_tensor() -> None:
    asked = plain = 0
    for path in FIXTURES:
        sight = Sight(outline(decode(path.name, path.read_bytes())), Settings(), str(path))
        for node in (argument for call in sight.outline.nodes(ast.Call) for argument in call.args):
            asked += 1
            if is_plain_data(node, sight) or is_untold(node, sight):
                plain += 1
                assert not sight.value(node).is_tensor, (path, ast.unparse(node))
    assert 0 < plain < asked


def of_the_environment() -> Iterator[Path]:
    """Give files of the installed torch that hold a candidate: working code, most of it converting safely."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return
    paths = sorted(Path(spec.origin).parent.rglob("*.py"))
    for path in paths[::3]:
        text = path.read_bytes()
        if len(text) < 60_000 and any(word in text for word in (b".numpy()", b".data", b"Tensor(", b"torch.tensor(")):
            yield path


@nightly.only("files of installed packages, parsed whole")
def test_an_installed_package_gives_the_same_findings_parsed_whole_and_unscreened() -> None:
    paths = list(islice(of_the_environment(), 120))
    if not paths:
        pytest.skip("torch is not installed")
    findings = 0
    for path in paths:
        found, whole = both_ways(path)
        assert found.findings == whole.findings, path
        findings += len(whole.findings)
    assert findings


# ---------------------------------------------------------------------- failures, and what is loaded
def test_where_a_screen_fails_the_rule_still_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(node: ast.AST, sight: Sight) -> bool:
        raise ValueError(f"{node} {sight}")

    monkeypatch.setattr(screens, "BY_RULE", dict.fromkeys(screens.BY_RULE, failing))
    text = HEAD + "def f():\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy(), torch.tensor([1])\n"
    result = engine.check_bytes("some.py", text.encode(), EVERYTHING)
    assert [each.code for each in result.findings] == ["TNS101"]
    assert result.troubles == ()


def test_a_question_too_deep_is_told_as_one() -> None:
    def failing(node: ast.AST, sight: Sight) -> bool:
        raise RecursionError

    with mock.patch.object(screens, "BY_RULE", dict.fromkeys(screens.BY_RULE, failing)):
        (finding,) = engine.check_bytes(
            "some.py", (HEAD + "def f(x):\n    return x.data\n").encode(), Config()
        ).findings
    assert (finding.code, "too deeply" in finding.message) == ("TNS900", True)


def test_a_file_of_safe_conversions_is_checked_without_libcst(tmp_path: Path) -> None:
    (tmp_path / "safe.py").write_text(HEAD + "".join(SILENT[:7]))
    flags = ["safe.py", "--no-cache", "--select", ",".join(screens.BY_RULE)]
    program = (
        "import sys\nfrom torchlint.cli import main\n"
        f"print(main({flags}), 'libcst' in sys.modules, 'torchlint.inference' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 False True"


def test_findings_name_the_files_that_a_screen_read(tmp_path: Path) -> None:
    """What is silent because of another file must be looked at anew when that file changes."""
    (tmp_path / "made.py").write_text("import torch\n\n\ndef made():\n    return torch.ones(2)\n")
    text = "import torch\nfrom made import made\n\nprint(made().numpy())\n"
    (tmp_path / "use.py").write_text(text)
    result = engine.check_bytes(str(tmp_path / "use.py"), text.encode(), Config())
    assert result.findings == ()
    assert str(tmp_path / "made.py") in dict(result.reads)
