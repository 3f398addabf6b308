"""The page "Modernising an old codebase", followed command by command in an old repository."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from tests.blocks import ROOT, of
from tests.shells import Shell, commands

PAGE = {each.mark: each for each in of("docs/modernising.md") if each.mark.startswith("step:")}


def test_the_page_leads_to_a_codebase_in_which_nothing_old_has_a_safe_fix(tmp_path: Path) -> None:
    people = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    shell = Shell(tmp_path / "old", **people)
    shutil.copytree(ROOT / "examples" / "legacy_training", shell.folder / "training")
    for command in ("git init -qb main", "git add -A", "git commit -qm 'six years of work'"):
        assert shell.run(command).status == 0
    said = {mark: [shell.run(line) for line in commands(block)] for mark, block in PAGE.items()}
    assert {each.status for block in said.values() for each in block} == {0}, said
    assert "Found 8 legacy (8 fixable): fix with --fix." in said["step: 1"][0].text
    assert "with --unsafe-fixes" in said["step: 4"][0].text
    assert said["step: 5"][0].text == "All checks passed!\n"
    changed = shell.run("git log --format=%s --stat=200").text
    for subject, lines in (("Drop Variable", "2 files"), ("Say dtype", "2 files"), ("Leave .data", "1 file")):
        assert lines in changed.partition(subject)[2].partition("\n\n")[2].partition("\n\n")[0], changed
    for path in (shell.folder / "training").glob("*.py"):
        ast.parse(path.read_text())
    assert shell.run("git status --porcelain").text == ""
