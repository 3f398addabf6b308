"""LibCST reads only the regions of a file that hold a candidate: the rules find there what they find in all of it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.conftest import ROOT
from tests.nightly import LEFT, RUNS, in_turn, is_turn_of
from torchlint.config import Config
from torchlint.diagnostics.model import FileResult
from torchlint.linter import engine
from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.regions import Region, candidate_regions, whole

EVERYTHING = Config(select=("ALL",))
FIXTURES = sorted((ROOT / "tests" / "fixtures").rglob("*.py"))
HEAD = "import torch\nimport numpy as np\n\n"

SOUND = [
    "def f(x: torch.Tensor):\n    return x.detach().cpu().numpy()\n",
    "with torch.no_grad():\n    print(torch.ones(2).numpy())\n",
    "def f(frame):\n    return frame.numpy(force=True)\n",
    "value = torch.tensor([1.0, 2.0])\n",
    "value = torch.tensor(np.zeros(3))\n",
    "def f(x):\n    return torch.tensor(len(x)), torch.tensor(0.1**2), torch.tensor(x, dtype=torch.long)\n",
    "def f(x):\n    return torch.tensor(torch.finfo(x.dtype).min), torch.tensor(-torch.iinfo(x.dtype).max / 2)\n",
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
"""Code that holds a rule's words and is right beyond doubt."""


def both_ways(path: Path) -> tuple[FileResult, FileResult]:
    """Return what is found in a file by its regions, and as a whole."""
    raw = path.read_bytes()
    found = engine.check_bytes(str(path), raw, EVERYTHING)
    with mock.patch.object(engine, "candidate_regions", _whole):
        return found, engine.check_bytes(str(path), raw, EVERYTHING)


def _whole(made: AstIndex, *words: Any) -> list[Region]:
    return [whole(made)] if candidate_regions(made, *words) else []


@pytest.mark.parametrize(
    "path", in_turn(FIXTURES, 4, "fixtures parsed whole"), ids=lambda path: str(path.relative_to(ROOT))
)
def test_regions_give_what_the_whole_file_gives(path: Path) -> None:
    found, full = both_ways(path)
    assert found.findings == full.findings
    assert found.troubles == full.troubles


def of_torch() -> Iterator[Path]:
    """Yield files of the installed torch that hold a candidate: working code, most of it converting safely."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return
    for path in sorted(Path(spec.origin).parent.rglob("*.py"))[::3]:
        text = path.read_bytes()
        if len(text) < 60_000 and any(word in text for word in (b".numpy()", b".data", b"Tensor(", b"torch.tensor(")):
            yield path


def test_regions_of_an_installed_package_give_what_its_whole_files_give(
    record_property: Callable[[str, object], None],
) -> None:
    every = list(islice(of_torch(), 60))
    if not every:
        pytest.skip("torch is not installed")
    paths = [each for each in every if is_turn_of("/".join(each.parts[-3:]), 12)]
    record_property(f"{LEFT}files of torch parsed whole", len(every) - len(paths))
    findings = 0
    for path in paths:
        found, full = both_ways(path)
        assert found.findings == full.findings, path
        findings += len(full.findings)
    assert findings or not RUNS, "a share may have none"


@pytest.mark.parametrize("text", SOUND)
def test_what_is_right_beyond_doubt_gives_no_finding(text: str) -> None:
    result = engine.check_bytes("some.py", (HEAD + text).encode(), EVERYTHING)
    assert (result.findings, result.troubles) == ((), ())


def test_where_another_file_makes_a_rule_silent_that_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("import torch\n\n\ndef made():\n    return torch.ones(2)\n")
    text = "import torch\nfrom made import made\n\nprint(made().numpy())\n"
    (tmp_path / "use.py").write_text(text)
    result = engine.check_bytes(str(tmp_path / "use.py"), text.encode(), Config())
    assert result.findings == ()
    assert str(tmp_path / "made.py") in dict(result.reads)


def test_a_file_without_a_candidate_is_checked_without_libcst_and_the_engine(tmp_path: Path) -> None:
    (tmp_path / "safe.py").write_text(
        HEAD + "def f(text):\n    '''Make `x.numpy()`.'''\n    return text.data_types()\n"
    )
    program = (
        "import sys\nfrom torchlint.cli import main\n"
        "print(main(['safe.py', '--no-cache']), 'libcst' in sys.modules, 'torchlint.evaluation' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 False False"
