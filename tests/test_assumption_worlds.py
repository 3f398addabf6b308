"""What the page "Fix safety" shows of each assumption: a program in which it alone does not hold, and what is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.assumed import used
from tests.assumption_worlds import World, findings, put, repair, seen, worlds
from tests.before_and_after import torch
from torchlint.diagnostics.assumptions import ASSUMPTIONS, SIBLINGS_ARE_REPAIRED, told
from torchlint.diagnostics.model import Applicability, Finding
from torchlint.diagnostics.registry import BY_CODE

WORLDS = worlds()
IN_NOTEBOOKS = {"cell-output-not-read"}
"""What no rule names, for it is decided for every fix in a notebook."""
EACH = pytest.mark.parametrize("world", WORLDS, ids=[each.name for each in WORLDS])
pytestmark = pytest.mark.filterwarnings("ignore")


def _open(finding: Finding) -> list[str]:
    assert finding.fix is not None
    return [each.name for each in finding.fix.assumptions if not each.is_proven]


def _run(world: World, folder: Path) -> str:
    try:
        return seen(folder)
    finally:
        if world.devices:  # such a program may have set it
            torch.set_default_tensor_type(torch.FloatTensor)  # torchlint: ignore[TNS310] what undoes that very call


def _shown(said: str, page: str) -> bool:
    return said.startswith(page.removesuffix("...")) if page.endswith(" ...") else said == page


def test_the_page_shows_a_world_for_each_assumption() -> None:
    without = {SIBLINGS_ARE_REPAIRED.name}  # it is about reading: the other fixes of the statement change nothing here
    assert [each.name for each in WORLDS] == [each for each in ASSUMPTIONS if each not in without]


@EACH
def test_a_world_leaves_this_assumption_open_and_no_other(world: World, tmp_path: Path) -> None:
    (finding,) = findings(put(tmp_path, world.files))
    assert finding.fix is not None
    assert (finding.code, told(finding.fix.assumptions)) == (world.code, world.clause)
    assert _open(finding) == [world.name]
    assert world.name in {*BY_CODE[world.code].assumes, *IN_NOTEBOOKS}


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
def test_the_twin_is_as_safe_as_the_page_says(world: World, tmp_path: Path) -> None:
    found = findings(put(tmp_path, world.twin))
    assert found
    assert {each.code for each in found} <= {code for code, rule in BY_CODE.items() if _rests_on(world, rule.assumes)}
    if world.twin_is_safe:
        assert {each.fix.applicability for each in found if each.fix} == {Applicability.SAFE}
    else:
        assert [_open(each) for each in found] == [[world.name]]
        assert Applicability.SAFE not in used(world.code)[world.name]


def _rests_on(world: World, names: tuple[str, ...]) -> bool:
    return world.name in names or world.name in IN_NOTEBOOKS


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
