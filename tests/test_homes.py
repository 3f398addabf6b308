"""Where a project begins is the same to the cache as to inference."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.source.project_root import Homes
from torchlint.texts.module_files import Imports, Location

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
    "set/__init__.py",
    "set/pyproject.toml",
    "many/.git/HEAD",
    "many/one/__init__.py",
    "many/one/pyproject.toml",
    "own/.git/HEAD",
    "own/__init__.py",
    "own/nets/__init__.py",
    "own/loose/a.py",
    "other.py",
    "owner.py",
    "repo/src/kit/built/__init__.py",
    "repo/src/kit/built/setup.py",
    "repo/src/kit/lent/__init__.py",
    "repo/src/kit/lent/.git",
    "long/a/b/c/d/e/f/g/h/i/j/k/l/m/n/a.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_the_home_of_a_folder_is_that_of_its_files(tree: Path) -> None:
    for homes in (Homes(), Homes()):
        for folder in (tree, *(path for path in tree.rglob("*") if path.is_dir())):
            place = Location(str(folder / "a.py"))
            top = homes.above_packages(str(folder))
            assert (top, homes.root(str(folder))) == (place.above_packages, place.root), folder
        deep = str(tree / "repo/src/kit/deep")
        assert (homes.above_packages(deep), homes.root(deep)) == (str(tree / "repo/src"), str(tree / "repo"))


@pytest.mark.parametrize(
    ("file", "root"),
    [
        ("own/a.py", "own"),
        ("own/nets/a.py", "own"),
        ("own/loose/a.py", "own"),
        ("all/a.py", "all"),
        ("repo/src/kit/built/a.py", "repo"),
        ("set/a.py", "set"),
        ("many/one/a.py", "many"),
        ("repo/src/kit/lent/a.py", "repo"),
        ("plain/a.py", "plain"),
    ],
)
def test_a_checkout_that_is_a_package_is_a_project_and_its_neighbours_are_not_read(
    tree: Path, file: str, root: str
) -> None:
    assert Location(str(tree / file)).root == str(tree / root)


def test_imports_lead_to_a_checkout_by_its_own_name_and_not_to_its_neighbours(tree: Path) -> None:
    imports = Imports(Location(str(tree / "own/nets/a.py")), Homes().shape)
    asked = ("own.nets", "own", "..nets", "nets", "other", "plain.a", "owner", "...plain.a")
    found = {each: imports.base(each) for each in asked}
    nets = str(tree / "own/nets")
    assert found == {**dict.fromkeys(asked), "own": str(tree / "own"), "own.nets": nets, "..nets": nets, "nets": nets}


def test_what_there_is_of_a_module_is_told(tree: Path) -> None:
    told = {name: Homes().shape(str(tree / name)) for name in ("repo/kit", "repo/src", "plain/a", "none", "all")}
    assert told == {"repo/kit": "folder package module", "repo/src": "folder", "plain/a": "module", "none": None,
                    "all": "folder package"}  # fmt: skip


def test_nothing_is_looked_for_twice(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    def counting(name: str, real: Callable[[str], bool]) -> Callable[[str], bool]:
        def counted(path: str) -> bool:
            asked[f"{name} {path}"] += 1
            return real(path)

        return counted

    for name in ("exists", "isfile", "isdir"):
        monkeypatch.setattr(os.path, name, counting(name, getattr(os.path, name)))
    homes = Homes()
    places = [Location(str(tree / name), homes) for name in TREE]
    found = [(each.above_packages, each.root, homes.shape(each.folder)) for each in places]
    assert found == [(each.above_packages, each.root, homes.shape(each.folder)) for each in places]
    assert asked
    assert {path: times for path, times in asked.items() if times > 1} == {}
