"""Torch itself as the judge: whatever a run of the cases observes must lie within what was inferred.

The cases of ``tests/fixtures/inference`` are run on the CPU (and on CUDA where there is some), each for several worlds
of arguments; ``reveal`` then records what a value really is.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.known_values import of_kind, tensor
from tests.observed import Rows, faults, lacks_accelerator, quiet, revealed
from tests.worlds import calls
from torchlint.diagnostics.model import Settings
from torchlint.facts.value import Device, Dtype, Grad, Kind, Mode
from torchlint.knowledge import analyse
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

CASES = sorted((Path(__file__).parent / "fixtures" / "inference").glob("row*.py"))
RUNNABLE = [path for path in CASES if "Not run" not in path.read_text().split('"""')[1]]


def test_what_is_observed_can_be_refused() -> None:
    """The judge itself must be able to say no."""
    live, plain = torch.ones(2, requires_grad=True), torch.ones(2)
    detached = tensor(Grad.DETACHED, Device.HOST, Dtype.FLOATING)
    attached = tensor(Grad.ATTACHED, Device.HOST, Dtype.FLOATING)
    assert faults(plain, detached) == faults(live, attached) == []
    assert faults(live, detached)
    assert faults(plain, attached)
    assert faults(plain, detached.having(device=Device.ACCELERATOR))
    assert faults(plain, detached.having(dtype=Dtype.INTEGRAL))
    assert faults(plain, detached.having(exact="float64"))
    assert faults(plain, detached.having(rank=0))
    assert faults(plain, of_kind(Kind.ARRAY))
    assert faults([live], of_kind(Kind.SEQUENCE, items=(detached,)))
    assert faults([plain, live], of_kind(Kind.SEQUENCE, member=detached))
    assert faults({"a": live}, of_kind(Kind.SEQUENCE, member=detached))
    assert faults(torch.device("cuda"), of_kind(Kind.DEVICE, device=Device.HOST))
    assert faults(3, of_kind(Kind.INTEGER, const=4))


# ---------------------------------------------------------------------- the cases are run
@dataclass
class Ran:
    """What running a file of cases gave."""

    observed: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@cache
def ran(path: Path, folder: Path) -> Ran:
    """Run every case of a file in all its worlds."""
    text = path.read_text()
    analysis = analyse(index_of(decode(str(path), text.encode())), Settings())
    expressions = revealed(analysis.index.tree)
    result = Ran()

    def reveal(thing: object, row: int) -> object:
        result.observed.add(row)
        value = analysis.value(expressions[row])
        if not torch.is_grad_enabled() and analysis.mode(expressions[row]) == Mode.ON:
            value = value.having(grad=value.grad | Grad.DETACHED)  # a body is read as if called with grad mode on
        found = faults(thing, value)
        result.wrong.extend(f"{path.stem}:{row} {ast.unparse(expressions[row])}: {each}" for each in found)
        return thing

    code = compile(Rows().visit(ast.parse(text)), str(path), "exec")
    names: dict[str, object] = {"reveal": reveal, "__name__": f"cases_{path.stem}"}
    sys.modules[str(names["__name__"])] = SimpleNamespace(__dict__=names)  # type: ignore[assignment]
    with quiet():
        exec(code, names)
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
            _run(function, names, folder, result)
    return result


def _run(function: ast.FunctionDef, names: dict[str, object], folder: Path, result: Ran) -> None:
    errors = []
    runs = 0
    for positional, keywords in calls(function, names, folder):
        runs += 1
        torch.manual_seed(0)
        try:
            with quiet():
                names[function.name](*positional, **keywords)  # type: ignore[operator]
        except Exception as error:  # noqa: BLE001  # a world in which the case is not at home
            errors.append(error)
    if len(errors) == runs and not any(map(lacks_accelerator, errors)):
        result.failed.append(f"{function.name}: {errors[-1]!r}")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("states")


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_the_cases_run(path: Path, folder: Path) -> None:
    assert ran(path, folder).failed == []


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.stem)
def test_what_the_cases_show_lies_within_what_was_inferred(path: Path, folder: Path) -> None:
    assert sorted(set(ran(path, folder).wrong)) == []


def test_most_of_what_is_revealed_is_observed(folder: Path) -> None:
    rows = sum(len(revealed(ast.parse(path.read_text()))) for path in RUNNABLE)
    observed = sum(len(ran(path, folder).observed) for path in RUNNABLE)
    assert observed >= 0.9 * rows
