"""A release by CONTRIBUTING.md: wheel and source distribution are built, checked, installed and run, not published."""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import ZipFile

from tests import nightly
from tests.blocks import ROOT, Block, of
from tests.installing import copied
from tests.shells import Shell, commands
from torchlint.version import VERSION


def block(name: str) -> Block:
    (found,) = (each for each in of("CONTRIBUTING.md") if each.marked("release") == name)
    return found


def test_what_is_published_is_what_was_tried() -> None:
    tag, push, upload = commands(block("publish"))
    assert tag == f'git tag -a v{VERSION} -m "torchlint {VERSION}"'
    assert push == f"git push origin v{VERSION}"
    assert upload.endswith(" upload dist/*")
    assert any(each.endswith("check --strict dist/*") for each in commands(block("dry run")))


@nightly.only("the dry run of a release")
def test_the_dry_run_of_a_release(tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree")
    shutil.copytree(ROOT / "examples", tree / "examples")
    shell = Shell(tree, PYTHONPATH="")
    said = {}
    for line in commands(block("dry run")):
        done = shell.run(line)
        assert done.status == 0, f"{line}\n{done.text}"
        said[line] = done.text
    *_, version, first = said.values()
    assert version.strip() == f"torchlint {VERSION}"
    assert "legacy (" in first
    (wheel,) = (tree / "dist").glob("*.whl")
    (source,) = (tree / "dist").glob("*.tar.gz")
    assert wheel.name == f"torchlint-{VERSION}-py3-none-any.whl"
    assert source.name == f"torchlint-{VERSION}.tar.gz"
    assert "torchlint/output/html.css" in ZipFile(wheel).namelist()
