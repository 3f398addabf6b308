"""Discovery: which files a folder gives, what is left out, and what is said about the rest."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from torchlint.config import Finder
from torchlint.config.options import Options
from torchlint.diagnostics.model import Trouble
from torchlint.discovery.walk import Discovery, Found, Notice, Target


def find(folder: Path, *paths: str, force: bool = False, gitignore: bool = True, **flags: object) -> list[Found]:
    finder = Finder(Options(**flags), str(folder))  # type: ignore[arg-type]
    return list(Discovery(finder, str(folder), force, gitignore).find(paths or ["."]))


def names(found: list[Found]) -> list[str]:
    assert all(isinstance(each, Target) for each in found), found
    return [each.path for each in found]


def plant(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def test_python_files_of_a_folder_in_order(tmp_path: Path) -> None:
    plant(tmp_path, "b.py", "a/z.py", "a/y.pyi", "c.txt", "d.pyc", "e.py/inner.py", ".hidden/h.py", "c/d/e/f.py")
    assert sorted(names(find(tmp_path))) == [".hidden/h.py", "a/y.pyi", "a/z.py", "b.py", "c/d/e/f.py", "e.py/inner.py"]
    assert names(find(tmp_path)) == names(find(tmp_path, str(tmp_path)))


def test_what_an_editor_or_a_system_puts_beside_a_file_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "._a.py", "in/._b.ipynb")
    (tmp_path / ".#a.py").symlink_to("me@machine.123:456")  # Emacs' lock of a file that is being edited
    assert names(find(tmp_path)) == ["a.py"]
    assert names(find(tmp_path, "._a.py")) == ["._a.py"]


@pytest.mark.parametrize("folder", [".git", ".venv", "venv", "build", "dist", "node_modules", "site-packages", ".tox"])
def test_the_usual_folders_are_left_out_unless_they_are_named(folder: str, tmp_path: Path) -> None:
    plant(tmp_path, f"sub/{folder}/a.py", f"{folder}/sub/b.py", "c.py")
    assert names(find(tmp_path)) == ["c.py"]
    assert names(find(tmp_path, folder)) == [f"{folder}/sub/b.py"]
    assert names(find(tmp_path, f"{folder}/sub/b.py")) == [f"{folder}/sub/b.py"]
    assert names(find(tmp_path, f"{folder}/sub/b.py", folder, "c.py", force=True)) == ["c.py"]


def test_a_project_inside_a_folder_called_build_is_checked(tmp_path: Path) -> None:
    plant(tmp_path, "build/project/a.py")
    project = tmp_path / "build" / "project"
    assert names(find(project)) == ["a.py"]
    assert names(find(project, "a.py", force=True)) == ["a.py"]


def test_exclude_takes_the_place_of_the_usual_and_extend_exclude_adds(tmp_path: Path) -> None:
    plant(tmp_path, "build/a.py", "old/b.py", "sub/old/c.py", "sub/x_pb2.py", "d.py")
    assert sorted(names(find(tmp_path, exclude=("old",)))) == ["build/a.py", "d.py", "sub/x_pb2.py"]
    assert names(find(tmp_path, extend_exclude=("sub/old", "*_pb2.py", "./old/"))) == ["d.py"]


def test_gitignore_files_count_from_the_repository_down(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "gen.py", "sub/gen.py", "sub/keep.py", "sub/own.py", "out/x.py", "sub/deep/gen.py")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("gen.py\n/out/\n# comment\n\n[\n")
    (tmp_path / "sub" / ".gitignore").write_text("own.py\n!deep/gen.py\n")
    assert sorted(names(find(tmp_path))) == ["a.py", "sub/deep/gen.py", "sub/keep.py"]
    assert sorted(names(find(tmp_path / "sub"))) == ["deep/gen.py", "keep.py"]
    assert names(find(tmp_path, "gen.py", "out")) == ["gen.py", "out/x.py"]
    assert len(find(tmp_path, gitignore=False)) == 7


def test_gitignore_above_a_folder_outside_a_repository_has_no_say(tmp_path: Path) -> None:
    plant(tmp_path, "sub/a.py", "sub/b.py")
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("b.py\n")
    assert names(find(tmp_path / "sub")) == ["a.py"]


def test_each_real_file_comes_once(tmp_path: Path) -> None:
    plant(tmp_path, "b.py", "sub/c.py")
    (tmp_path / "a.py").symlink_to("b.py")
    assert sorted(names(find(tmp_path, ".", "b.py", "./sub", "sub/../b.py"))) == ["b.py", "sub/c.py"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    plant(tmp_path, "in/a.py", "out/b.py")
    (tmp_path / "in" / "loop").symlink_to("..")
    (tmp_path / "in" / "away.py").symlink_to("../out")
    assert names(find(tmp_path, "in")) == ["in/a.py"]
    (tmp_path / "door").symlink_to("out")
    assert names(find(tmp_path, "door")) == ["door/b.py"]


def test_a_link_out_of_the_folder_is_not_writable(tmp_path: Path) -> None:
    plant(tmp_path, "in/a.py", "inner/b.py")
    (tmp_path / "in" / "link.py").symlink_to("../inner/b.py")
    found = {each.path: each.writable for each in find(tmp_path, "in") if isinstance(each, Target)}
    assert found == {"in/a.py": True, "in/link.py": False}
    (named,) = find(tmp_path, "in/link.py")
    assert isinstance(named, Target)
    assert (named.real, named.writable) == (str(tmp_path.resolve() / "inner" / "b.py"), True)


def test_what_cannot_be_looked_at_is_said(tmp_path: Path) -> None:
    plant(tmp_path, "a.py")
    (tmp_path / "broken.py").symlink_to("nowhere.py")
    (tmp_path / "self.py").symlink_to("self.py")
    os.mkfifo(tmp_path / "pipe.py")
    found = {each.path: each for each in find(tmp_path)}
    assert isinstance(found["a.py"], Target)
    assert found["broken.py"] == Trouble("broken.py", "broken link to `nowhere.py`")
    assert found["self.py"] == Trouble("self.py", "cannot be read: Too many levels of symbolic links")
    assert found["pipe.py"] == Notice("pipe.py", "skipped: not a regular file")
    (pipe,) = find(tmp_path, "pipe.py")
    assert pipe == Trouble("pipe.py", "not a regular file: give a file or a folder, or `-` for standard input")
    assert find(tmp_path, "none.py") == [Trouble("none.py", "no such file or folder")]


def test_an_unreadable_folder_is_a_trouble_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, "shut/a.py", "open/b.py")
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("torchlint.discovery.walk.os.scandir", refuse)
    assert [each.path for each in find(tmp_path)] == ["open/b.py", "shut"]
    assert find(tmp_path)[1] == Trouble("shut", "cannot be read: Permission denied")


def test_deep_folders_do_not_end_the_walk(tmp_path: Path) -> None:
    here = tmp_path
    for _ in range(150):
        here /= "d"
    here.mkdir(parents=True)
    (here / "a.py").touch()
    assert names(find(tmp_path)) == ["d/" * 150 + "a.py"]


def test_notebooks_are_found_beside_python_files_and_their_checkpoints_are_not(tmp_path: Path) -> None:
    plant(tmp_path, "a.ipynb", "b.py", ".ipynb_checkpoints/a-checkpoint.ipynb")
    assert names(find(tmp_path)) == ["a.ipynb", "b.py"]
    assert names(find(tmp_path, "a.ipynb")) == ["a.ipynb"]
