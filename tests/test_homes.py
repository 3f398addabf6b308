"""Where a project begins is the same to the cache as to inference."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint import homes
from torchlint.inference.imports import Place, shape

TREE = (
    "plain/a.py",
    "repo/pyproject.toml",
    "repo/src/kit/__init__.py",
    "repo/src/kit/deep/__init__.py",
    "repo/src/kit/deep/a.py",
    "repo/src/kit/loose/a.py",
    "repo/tests/a.py",
    "repo/kit.py",
    "repo/kit/__init__.py",
    "all/__init__.py",
    "all/setup.py",
    "long/a/b/c/d/e/f/g/h/i/j/k/l/m/n/a.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_the_home_of_a_folder_is_that_of_its_files(tree: Path) -> None:
    for folder in (tree, *(path for path in tree.rglob("*") if path.is_dir())):
        place = Place(str(folder / "a.py"))
        top = homes.above_packages(str(folder))
        assert (top, homes.root(top)) == (place.above_packages, place.root), folder
    deep = homes.above_packages(str(tree / "repo/src/kit/deep"))
    assert (deep, homes.root(deep)) == (str(tree / "repo/src"), str(tree / "repo"))


def test_what_there_is_of_a_module_is_told_alike(tree: Path) -> None:
    told = {name: homes.shape(str(tree / name)) for name in ("repo/kit", "repo/src", "plain/a", "none", "all")}
    assert told == {"repo/kit": "folder package module", "repo/src": "folder", "plain/a": "module", "none": None,
                    "all": "folder package"}  # fmt: skip
    assert told == {name: shape(str(tree / name)) for name in told}
