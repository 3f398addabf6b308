"""Of each assumption: programs in which it alone does not hold, and what is seen of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.assumed import used
from tests.assumption_worlds import World, findings, put, repair, seen, worlds
from tests.before_and_after import torch
from torchlint.diagnostics.assumptions import ASSUMPTIONS, Assumption, told
from torchlint.diagnostics.model import Applicability, Finding
from torchlint.diagnostics.registry import BY_CODE

WORLDS = worlds()
EACH = pytest.mark.parametrize("world", WORLDS, ids=[f"{each.name}: {each.title}" for each in WORLDS])
pytestmark = pytest.mark.filterwarnings("ignore")


def _open(finding: Finding) -> list[Assumption]:
    assert finding.fix is not None
    return [each.assumption for each in finding.fix.assumptions if not each.is_proven]


def _run(world: World, folder: Path) -> str:
    try:
        return seen(folder)
    finally:
        if world.devices:  # such a program may have set it
            torch.set_default_tensor_type(torch.FloatTensor)  # torchlint: ignore[TNS310] what undoes that very call


def _shown(said: str, wanted: str) -> bool:
    return said.startswith(wanted.removesuffix("...")) if wanted.endswith(" ...") else said == wanted


def test_there_is_a_world_for_each_assumption() -> None:
    assert {each.name for each in WORLDS} == set(ASSUMPTIONS)


@EACH
def test_a_world_leaves_this_assumption_open_first(world: World, tmp_path: Path) -> None:
    (finding,) = findings(put(tmp_path, world.files))
    assert finding.fix is not None
    assert (finding.code, told(finding.fix.assumptions)) == (world.code, world.clause)
    assert _open(finding)[0].name == world.name
    assert _rests_on(world, BY_CODE[world.code].assumes)


@EACH
def test_a_fix_shows_where_its_assumption_does_not_hold(world: World, tmp_path: Path) -> None:
    assert world.before != world.after
    if torch.cuda.device_count() < world.devices:
        pytest.skip(f"needs CUDA devices: {world.devices}")
    before = _run(world, put(tmp_path, world.files))
    assert repair(tmp_path, is_safe=False)
    after = _run(world, tmp_path)
    assert _shown(before, world.before), before
    assert _shown(after, world.after), after


@EACH
def test_the_twin_is_as_safe_as_is_said(world: World, tmp_path: Path) -> None:
    found = findings(put(tmp_path, world.twin))
    assert found
    assert {each.code for each in found} <= {code for code, rule in BY_CODE.items() if _rests_on(world, rule.assumes)}
    if world.twin_is_safe:
        assert {each.fix.applicability for each in found if each.fix} == {Applicability.SAFE}
    else:
        ((meant,),) = map(_open, found)
        assert meant.name == world.name
        assert Applicability.SAFE not in used(world.code)[meant]


def _rests_on(world: World, names: tuple[str, ...]) -> bool:
    return world.name in names or any(each.endswith(".ipynb") for each in world.files)  # decided for every fix there


@EACH
def test_a_fix_does_not_show_where_its_assumption_holds(world: World, tmp_path: Path) -> None:
    if torch.cuda.device_count() < world.devices:
        pytest.skip(f"needs CUDA devices: {world.devices}")
    before = _run(world, put(tmp_path, world.twin))
    assert repair(tmp_path, world.twin_is_safe)
    after = _run(world, tmp_path)
    if world.twin_raises:
        assert "Error: " in before
        assert "Error: " not in after
    else:
        assert before == after
        assert "Error: " not in before
