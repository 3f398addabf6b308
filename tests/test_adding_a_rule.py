"""The walk-through for a new rule is followed word by word, in a copy of the repository."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests import nightly
from tests.blocks import ROOT, Block, of
from tests.shells import Shell, prompts
from torchlint.diagnostics.registry import BY_CODE, BY_NAME

PAGE = of("docs/adding-a-rule.md")
COPIED = ("torchlint", "docs", "tests", "tools", "README.md", "CHANGELOG.md", "mkdocs.yml", "pyproject.toml", ".ci")
CODE, NAME = "TNS199", "repeated-detach"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("copy") / "torchlint"
    for name in COPIED:
        if (ROOT / name).is_dir():
            left = shutil.ignore_patterns("__pycache__", ".*_cache")
            shutil.copytree(ROOT / name, folder / name, ignore=left)
        else:
            shutil.copy(ROOT / name, folder / name)
    return Shell(folder, tree=folder)


def insert(folder: Path, block: Block) -> None:
    """Put a block's lines before or behind the first line that holds the text which its mark names."""
    found = re.fullmatch(r"(\S+) (before|behind) (.+)", block.marked("insert"))
    assert found, block.mark
    path = folder / found[1]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if found[3] in line) + (found[2] == "behind")
    path.write_text("".join([*lines[:at], block.text, *lines[at:]]), encoding="utf-8")


def unproven(block: Block) -> Block:
    """Return a block without the proof, which takes half a minute."""
    return replace(block, text=block.text.replace("tools/regenerate.py\n", "tools/regenerate.py --pages\n"))


def test_the_code_and_the_name_are_free() -> None:
    assert CODE not in BY_CODE, f"{CODE} is kept for docs/adding-a-rule.md: take the next free code of the family"
    assert NAME not in BY_NAME, "docs/adding-a-rule.md must show a rule that there is not"


def test_every_block_of_the_page_is_followed() -> None:
    """A block without a mark would be one that the test below passes over."""
    assert [str(each) for each in PAGE if not each.mark and each.language != "console"] == []
    assert [each.mark.partition(":")[0] for each in PAGE if each.mark] == [
        *("file", "file", "file", "file", "insert", "file", "file")
    ]
    asked = [command for each in PAGE if each.language == "console" for command, _ in prompts(each)]
    assert [" ".join(command.split()[:3]) for command in asked] == [
        "python tools/regenerate.py",
        "python -m torchlint",
        "python -m torchlint",
        "python -m pytest",
    ]


def test_the_walk_leads_to_a_rule_that_is_found_fixed_proven_and_documented(
    shell: Shell, record_property: Callable[[str, object], None]
) -> None:
    record_property(f"{nightly.LEFT}proving the rule of docs/adding-a-rule.md", int(not nightly.RUNS))
    pytest.importorskip("torch", reason="the proof of a fix runs torch, which is not installed")
    said: dict[str, str] = {}
    statuses: dict[str, int] = {}
    for block in PAGE if nightly.RUNS else map(unproven, PAGE):
        if block.marked("file"):
            assert shell.write(block)
        elif block.marked("insert"):
            insert(shell.folder, block)
        else:
            for (command, _), done in zip(prompts(block), shell.replay(block), strict=True):
                said[command], statuses[command] = done.text, done.status
    regenerate, lint, fix, check = said
    for command, status in {regenerate: 0, lint: 1, fix: 0, check: 0}.items():
        assert statuses[command] == status, f"$ {command}\n{said[command]}"
    assert "losses.detach().cpu().sum()" in (shell.folder / "tried" / "try.py").read_text()
    _is_whole(shell, said[check])


def _is_whole(shell: Shell, tests: str) -> None:
    # two fixtures in four tests of cases, one more for both being there, the page's tests, and the house's
    assert re.search(r"^\d+ passed, \d+ deselected", tests, re.MULTILINE), tests
    page = (shell.folder / "docs" / "rules" / f"{CODE}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {CODE}: {NAME}\n")
    assert not nightly.RUNS or re.search(
        r"^\| cpu \| \S+ \| 1 \| \d+ \| \d+ \| 1 safe \| 1 safe \|$", page, re.MULTILINE
    ), page
    for name in ("docs/index.md", "docs/rules/index.md"):
        assert f"| {NAME} |" in (shell.folder / name).read_text(encoding="utf-8")
    assert f"- {CODE} {NAME}: rules/{CODE}.md" in (shell.folder / "mkdocs.yml").read_text(encoding="utf-8")
    explained = shell.run(f"torchlint explain {CODE}")
    assert explained.status == 0
    assert "`.detach()` is called on the result of `.detach()`." in explained.text
    collected = shell.run("python -m pytest -q --collect-only tests/test_rules.py -k TNS199").text
    assert sorted(re.findall(r"test_rules\.py::(\S+)", collected)) == [
        "test_a_second_run_fixes_nothing_more[TNS199/chains]",
        "test_detach_is_advised_where_the_fix_writes_it[TNS199/chains]",
        "test_every_rule_has_silent_and_flagged_fixtures[TNS199]",
        "test_exact_text_after_the_fixes[TNS199/chains-safe]",
        "test_exact_text_after_the_fixes[TNS199/chains-unsafe]",
        "test_findings_and_their_places[TNS199/chains]",
        "test_silent[TNS199/silent]",
        "test_what_is_said_stands_in_one_line[TNS199/chains]",
    ]
