"""The fixtures' own code, run before and after its fixes on the host and on the simulated device.

What cannot be run of the safe fixes is listed with its reason in ``tests/fixtures/rules/untested.txt``; what becomes of
every piece that unsafe fixes change, in ``unsafe.txt`` beside it. ``python -m tests.fixture_runs`` writes both.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests import fixture_runs, nightly  # noqa: E402
from tests.fixture_runs import Outcome, Unit  # noqa: E402
from tests.proven import PROVEN, is_due  # noqa: E402
from torchlint.verify import simulated  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
DEVICES = [
    "cpu",
    pytest.param(
        "simulated", marks=pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing()))
    ),
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.cuda,
            pytest.mark.skipif(
                not torch.cuda.is_available(), reason="no CUDA device: run `pytest -m cuda` where one is"
            ),
        ],
    ),
]
LISTED = fixture_runs.UNTESTED.read_text().splitlines()
STATED = fixture_runs.UNSAFE.read_text().splitlines()
GIVEN_DATA = {"TNS302/likely_sizes Layer.__init__", "TNS302/names_alone losses", "TNS304/typed given"}
"""Pieces that run only with data for the parameter that its name calls a size: that is why their fixes are unsafe."""

GIVEN_OTHERS = {
    "TNS106/shown test_error",
    *(f"TNS401/absent {each}" for each in ("Memory.read", "default", "bound", "called", "tested")),
    "TNS202/applied_to_own_weight weights_init",
}
"""Pieces that run only with what makes their fixes unsafe: a tuple, a packed sequence, `None` for a tensor, a test for
the error."""


WITHOUT_CUDA = {"cpu: TNS307/expected (module)"}
"""What handles the error of a missing GPU: that is why its fix is unsafe."""
GIVEN_ARRAYS = {"simulated: TNS105/arguments brought"}
"""What runs on the simulated device with arrays alone, for which the fix writes a tensor's methods."""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", fixture_runs.repaired_fixtures(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_safe_fixes_of_a_fixture_hold_where_it_runs(path: Path, device: str) -> None:
    if not is_due(f"fixture {device}", *_texts(path)):
        pytest.skip(PROVEN)
    found = fixture_runs.outcomes(path, device)
    assert {label: each.detail for label, each in found.items() if each.verdict == "refuted"} == {}
    if device != "cuda":
        here = f"{device}: {path.parent.name}/{path.stem} "
        listed = {_piece(line) for line in LISTED if line.startswith(here)}
        seen = {_piece(line) for line in fixture_runs.untested(found, device)}
        assert seen <= listed or torch.cuda.is_available(), "run `python -m tests.fixture_runs`"
        assert seen == listed or torch.cuda.is_available(), "run `python -m tests.fixture_runs`"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", fixture_runs.unsafe_fixtures(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_the_unsafe_fixes_of_a_fixture_do_is_stated(path: Path, device: str) -> None:
    if device != "cpu" and not nightly.RUNS:
        pytest.skip(f"{nightly.LEFT}unsafe fixes of fixtures on other devices than the host")
    if not is_due(f"unsafe fixture {device}", *_texts(path)):
        pytest.skip(PROVEN)
    found = fixture_runs.unsafe_outcomes(path, device)
    assert found, "an unsafe fix changes something"
    if device == "cuda":
        return
    here = f"{device}: {path.parent.name}/{path.stem} "
    seen = {_piece(line): _stated(line) for line in fixture_runs.stated(found, device)}
    wanted = {_piece(line): _stated(line) for line in STATED if line.startswith(here)}
    for each in WITHOUT_CUDA:
        assert (each in seen) is (each in wanted)
        seen.pop(each, None), wanted.pop(each, None)
    assert seen == wanted or torch.cuda.is_available(), "run `python -m tests.fixture_runs`"


def _texts(path: Path) -> tuple[str, ...]:
    """Return all that the outcome rests on: the fixture, its texts after the fixes, and what is listed of it."""
    name = f"{path.parent.name}/{path.stem} "
    texts = [each for each in (path, path.with_suffix(".safe.txt"), path.with_suffix(".unsafe.txt")) if each.exists()]
    listed = (line for line in (*LISTED, *STATED) if name in line)
    return (name, *(each.read_text(encoding="utf-8") for each in texts), *listed)


def test_unsafe_fixes_are_run_and_shown_to_differ() -> None:
    verdicts = Counter(_stated(line).partition(" ")[0] for line in STATED)
    assert set(verdicts) == {"holds", "repaired", "untested", "differs"}
    assert verdicts["differs"] + verdicts["holds"] + verdicts["repaired"] > 2 * verdicts["untested"]
    codes = {path.parent.name for path in fixture_runs.unsafe_fixtures()}
    assert {line.split()[1].partition("/")[0] for line in STATED} == codes
    raising = {_piece(line) for line in STATED if line.endswith("it raises wherever the old text ran")}
    expected = {f"{each}: {piece}" for each in fixture_runs.HOSTED for piece in GIVEN_DATA | GIVEN_OTHERS}
    assert raising == expected | WITHOUT_CUDA | GIVEN_ARRAYS


def _stated(line: str) -> str:
    """Return what became of a piece; why torch refuses is worded otherwise by other versions, and so it is cut off."""
    said = line.split(": ", 2)[2]
    return said.partition(":")[0] if said.startswith(("untested", "holds")) else said


def _piece(line: str) -> str:
    """Return the device and the piece of a line: reasons are worded otherwise by other versions of torch."""
    return ":".join(line.split(":")[:2])


def test_few_pieces_cannot_be_run_on_any_device() -> None:
    pieces = [{_piece(line).partition(": ")[2] for line in LISTED if line.startswith(each)} for each in ("cpu", "sim")]
    assert all(": " in line.partition(": ")[2] for line in LISTED), "each has a reason"
    assert len(pieces[0] & pieces[1]) <= 6


def _outcome(before: str, after: str, name: str) -> Outcome:
    head = "import torch\nfrom torch import nn\n\n\n"
    return fixture_runs.run(Unit(Path("case.py"), name, head + before, head + after), "cpu")


@pytest.mark.parametrize(
    ("after", "verdict"), [('to("cpu", torch.float64)', "holds"), ("to(torch.float64)", "refuted")]
)
def test_a_move_to_the_cpu_that_is_left_out_is_refuted_on_an_accelerator(after: str, verdict: str) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.relu(x).{}\n"
    unit = Unit(Path("case.py"), "f", text.format("type(torch.DoubleTensor)"), text.format(after))
    assert fixture_runs.run(unit, "simulated").verdict == verdict


def test_a_wrong_fix_in_a_function_a_method_and_a_module_is_refuted() -> None:
    function = "def f(x: torch.Tensor, scale):\n    return x.{} * scale\n"
    maker = "class A:\n    def __init__(self, w: nn.Module):\n        self.w = w\n\n"
    method = maker + "    def g(self):\n        return self.w[0].weight{}\n"
    module = "w = torch.ones(2, requires_grad=True)\na = w{}\n"
    for text, name, right, wrong in (
        (function, "f", ("data", "detach()"), ("data", "clone()")),
        (method, "A.g", (".data", ".detach()"), (".data", "")),
        (module, fixture_runs.MODULE, (".data", ".detach()"), (".data", "")),
    ):
        assert _outcome(text.format(right[0]), text.format(right[1]), name).verdict == "holds"
        assert _outcome(text.format(wrong[0]), text.format(wrong[1]), name).verdict == "refuted"


def test_statements_that_raise_do_not_hide_the_others() -> None:
    before = "def f(x: torch.Tensor):\n    a = x.data\n    b = x.no_such_thing()\n    return a\n"
    outcome = _outcome(before, before.replace("x.data", "x"), "f")
    assert outcome.verdict == "refuted"
    assert _outcome(before, before.replace("x.data", "x.detach()"), "f").detail == "without statements that raise"


def test_what_never_runs_is_repaired_or_untested() -> None:
    before = "def f():\n    return torch.Tensor([1], dtype=torch.float64)\n"
    assert _outcome(before, before.replace("Tensor", "tensor"), "f").verdict == "repaired"
    outcome = _outcome(before, before.replace("Tensor", "nothing"), "f")
    assert outcome.verdict == "untested"
    assert outcome.detail.startswith("TypeError: new() received an invalid combination")
