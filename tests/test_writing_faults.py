"""What may happen while files are repaired: kills, full and read-only disks, other programs; no file loses a byte."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.kills import kill_often
from tests import nightly
from tests.conftest import Program
from tests.test_cache_faults import refuse
from torchlint.discovery.walk import Target
from torchlint.linter import runner
from torchlint.source import files

OLD = b"import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n"
NEW = OLD.replace(b"w.numpy", b"w.detach().numpy")
PLAIN = ("--isolated", "--no-cache", "-q")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in "abc":
        (tmp_path / f"{name}.py").write_bytes(OLD)
    return tmp_path


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# ---------------------------------------------------------------------- kills
def test_a_kill_at_any_moment_leaves_every_file_old_or_new(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kills = 15 if nightly.RUNS else 5
    record_property(f"{nightly.LEFT}more kills while files are repaired", 15 - kills)
    tally, wrong = kill_often(tmp_path / "work", 40, kills, random.Random(1))
    assert wrong == []
    assert tally.kills == kills
    assert tally.complete >= 1


@pytest.mark.parametrize("arguments", [("--fix",), ("--add-noqa",)])
def test_what_a_killed_run_left_is_removed_by_the_next_that_writes(
    tree: Path, in_process: Program, arguments: tuple[str, ...]
) -> None:
    left = tree / ".torchlint-0123456789ab.tmp"
    left.write_bytes(b"half")
    in_process(*PLAIN)
    in_process(*PLAIN, "--diff")
    assert left.exists()  # a run that writes nothing removes nothing
    in_process(*PLAIN, *arguments)
    assert not left.exists()


def test_what_another_run_is_about_to_rename_is_not_removed(tree: Path, in_process: Program) -> None:
    left = tree / ".torchlint-0123456789ab.tmp"
    with left.open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        in_process(*PLAIN, "--fix")
        assert left.exists()
    in_process(*PLAIN, "--fix")
    assert sorted(held(tree)) == ["a.py", "b.py", "c.py"]


def test_a_temporary_file_is_locked_while_it_is_one(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[list[str]] = []
    real = os.replace

    def rename(temporary: str, path: str) -> None:
        files.sweep([str(tree)])
        swept.append(sorted(name for name in os.listdir(tree) if name.startswith(".torchlint-")))
        real(temporary, path)

    monkeypatch.setattr("torchlint.source.files.os.replace", rename)
    files.replace(str(tree / "a.py"), OLD, NEW)
    assert [len(each) for each in swept] == [1]
    assert sorted(held(tree)) == ["a.py", "b.py", "c.py"]


def test_a_file_that_is_taken_for_abandoned_before_it_is_locked_is_made_again(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, removed = os.open, []

    def opened(path: str, flags: int, mode: int = 0o777) -> int:
        handle = real(path, flags, mode)
        if not removed:
            removed.append(path)
            os.unlink(path)  # as the other run does between the two calls
        return handle

    monkeypatch.setattr("torchlint.source.files.os.open", opened)
    files.replace(str(tree / "a.py"), OLD, NEW)
    assert held(tree) == {"a.py": NEW, "b.py": OLD, "c.py": OLD}


def test_without_locks_the_age_tells(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", refuse(errno.ENOLCK))
    old, young = tree / ".torchlint-0123456789ab.tmp", tree / ".torchlint-ba9876543210.tmp"
    old.write_bytes(b"")
    young.write_bytes(b"")
    os.utime(old, (10**9, 10**9))
    files.sweep([str(tree)])
    assert (old.exists(), young.exists()) == (False, True)


@pytest.mark.parametrize("moving", [True, False], ids=["posix", "windows"])
def test_only_files_are_swept(tree: Path, monkeypatch: pytest.MonkeyPatch, moving: bool) -> None:
    monkeypatch.setattr(files, "_OPEN_FILES_MOVE", moving)
    (tree / ".torchlint-folder.tmp").mkdir()
    (tree / ".torchlint-link.tmp").symlink_to(tree / "a.py")
    os.mkfifo(tree / ".torchlint-pipe.tmp")
    (tree / ".torchlint-notes").write_bytes(b"")
    before = sorted(os.listdir(tree))
    (tree / ".torchlint-left.tmp").write_bytes(b"")
    files.sweep([str(tree), str(tree / "none"), str(tree / "a.py")])
    assert sorted(os.listdir(tree)) == before


def test_where_open_files_do_not_move_the_file_is_closed_first(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    real, handles = os.replace, []

    def rename(temporary: str, path: str) -> None:
        handles.append(_open_files())
        real(temporary, path)

    monkeypatch.setattr(files, "_OPEN_FILES_MOVE", False)
    monkeypatch.setattr("torchlint.source.files.os.replace", rename)
    files.replace(str(tree / "a.py"), OLD, NEW)
    assert not any(".torchlint-" in path for path in handles[0])
    assert held(tree) == {"a.py": NEW, "b.py": OLD, "c.py": OLD}


def _open_files() -> list[str]:
    """Return the paths that this process has open."""
    handles = [f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")]
    return [os.readlink(handle) for handle in handles if os.path.lexists(handle)]


# ---------------------------------------------------------------------- what a file is beside its bytes
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o4755, 0o1644])
def test_mode_owner_and_attributes_are_kept(tree: Path, in_process: Program, mode: int) -> None:
    file = tree / "a.py"
    if os.geteuid() == 0:
        os.chown(file, 1234, 2345)
    file.chmod(mode)
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError as error:
        pytest.skip(f"this disk keeps no attributes: {error}")
    before = file.stat()
    assert in_process(*PLAIN, "--fix").status == 0
    after = file.stat()
    assert file.read_bytes() == NEW
    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert os.getxattr(file, "user.note") == b"mine"


def test_the_other_name_of_a_file_keeps_the_old_text(tree: Path, in_process: Program) -> None:
    os.link(tree / "a.py", tree / "kept.txt")
    in_process(*PLAIN, "--fix")
    assert held(tree) == {"a.py": NEW, "b.py": NEW, "c.py": NEW, "kept.txt": OLD}


def test_a_link_within_the_tree_stays_a_link_and_one_out_of_it_is_not_followed(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, in_process: Program
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "far.py").write_bytes(OLD)
    (outside / "folder").mkdir()
    (outside / "folder" / "deep.py").write_bytes(OLD)
    (tree / "near.py").symlink_to("a.py")
    (tree / "out.py").symlink_to(outside / "far.py")
    (tree / "twice.py").symlink_to("out.py")
    (tree / "away").symlink_to(outside / "folder")
    done = in_process(*PLAIN[:2], "--fix", ".")
    assert done.stderr.count("a link out of the given folder, so not fixed") == 1  # both links are one file
    assert done.status == 1
    assert (outside / "far.py").read_bytes() == (outside / "folder" / "deep.py").read_bytes() == OLD
    assert os.readlink(tree / "near.py") == "a.py"
    assert (tree / "a.py").read_bytes() == NEW
    assert sorted(os.listdir(outside)) == ["far.py", "folder"]


# ---------------------------------------------------------------------- disks
@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mount a small disk; a second call mounts it anew, with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.decode().strip()}")
        return folder

    yield mount
    subprocess.run(["umount", str(folder)], check=False, capture_output=True)


def test_a_full_disk_costs_no_file_and_is_told(disk: Callable[..., Path], in_process: Program) -> None:
    folder = disk("size=52k")
    for name in "abcd":
        (folder / f"{name}.py").write_bytes(OLD + b"# padding\n" * 1100)
    done = in_process(*PLAIN, "--fix", "disk")
    assert done.status == 2
    assert held(folder) == dict.fromkeys(["a.py", "b.py", "c.py", "d.py"], OLD + b"# padding\n" * 1100)
    reason = "cannot be written: No space left on device"
    assert done.stderr == "".join(f"torchlint: error: disk/{name}.py: {reason}\n" for name in "abcd")
    assert done.stdout.count("TNS101") == 4  # and what is not repaired is reported


def test_a_disk_that_is_read_only_is_told_for_each_file(disk: Callable[..., Path], in_process: Program) -> None:
    folder = disk("size=64k")
    for name in "ab":
        (folder / f"{name}.py").write_bytes(OLD)
    disk("remount,ro")
    done = in_process(*PLAIN, "--fix", "disk")
    assert done.status == 2
    assert held(folder) == {"a.py": OLD, "b.py": OLD}
    assert done.stderr.count("read-only") + done.stderr.count("Read-only") == 2
    assert done.stdout.count("TNS101") == 2  # and what is not repaired is reported


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["os.open", "os.fdopen", "os.fsync", "os.chmod", "os.replace"])
def test_a_fault_at_any_step_costs_one_file(
    tree: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    def failing(real: Callable[..., object]) -> Callable[..., object]:
        calls = []

        def once(*given: object, **more: object) -> object:
            if call != "os.open" or given[1] & os.O_CREAT:  # type: ignore[operator]  # not where a file is read
                calls.append(given)
                if len(calls) == 2:
                    raise OSError(number, os.strerror(number))
            return real(*given, **more)

        return once

    with monkeypatch.context() as patch:
        patch.setattr(files, "os", _Fake(call.removeprefix("os."), failing))
        done = in_process(*PLAIN, "--fix")
    assert done.status == 2
    assert done.stderr == f"torchlint: error: b.py: cannot be written: {os.strerror(number)}\n"
    assert done.stdout.startswith("b.py:4:9: TNS101") or "b.py:4:9" in done.stdout
    assert held(tree) == {"a.py": NEW, "b.py": OLD, "c.py": NEW}
    assert not any(path.startswith(str(tree)) for path in _open_files())


class _Fake:
    """The module `os` with one function replaced, for one module alone."""

    def __init__(self, name: str, failing: Callable[[Callable[..., object]], Callable[..., object]]) -> None:
        setattr(self, name, failing(getattr(os, name)))

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


# ---------------------------------------------------------------------- other programs
@pytest.mark.parametrize("what", ["other text", "gone", "a folder", "a link", "read-only"])
def test_a_file_that_changes_between_reading_and_writing_is_left_alone(
    tree: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    real = runner._written
    file = tree / "b.py"

    def change() -> None:
        if what == "read-only":
            file.chmod(0o444)
            return
        file.unlink()
        if what == "other text":
            file.write_bytes(b"mine = 1\n")
        elif what == "a folder":
            file.mkdir()
        elif what == "a link":
            (tree / "else.txt").write_bytes(b"mine = 2\n")
            file.symlink_to("else.txt")

    def written(target: Target, outcome: runner.Outcome) -> runner.Outcome:
        if target.path == "b.py":
            change()
        return real(target, outcome)

    monkeypatch.setattr(runner, "_written", written)
    done = in_process(*PLAIN, "--fix")
    assert done.status == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("torchlint: error: b.py: ")
    assert ("changed while" in line) == (what in ("other text", "a link"))
    assert {name: (tree / name).read_bytes() for name in ("a.py", "c.py")} == {"a.py": NEW, "c.py": NEW}
    assert not [name for name in os.listdir(tree) if name.startswith(".torchlint-")]
    if what == "other text":
        assert file.read_bytes() == b"mine = 1\n"
    elif what == "a link":
        assert (tree / "else.txt").read_bytes() == b"mine = 2\n"
        assert file.is_symlink()
