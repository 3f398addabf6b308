"""What may happen to the folder of the cache: whatever it is, the run says the same as without, and ends as that."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conftest import ROOT, Program
from tests.nightly import in_turn
from tests.test_cache import HIT, NETS, USE, known
from torchlint.cache import store
from torchlint.cache.serialize import Misread, load_entries

PLAIN = "import os\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "nets.py").write_text(NETS)
    (folder / "use.py").write_text(USE)
    (folder / "hit.py").write_text(HIT)
    return folder


@pytest.fixture
def cache(tmp_path: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch) -> Path:
    del in_process  # it sets the variable too
    folder = tmp_path / "cache"
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def run(in_process: Program, cache: Path) -> Callable[[], int]:
    """Run twice, with the cache and without, and give the number of files that were known."""
    del cache

    def both() -> int:
        cached, fresh = in_process("-v", "project"), in_process("--no-cache", "project")
        assert (cached.status, cached.raw) == (fresh.status, fresh.raw) == (1, fresh.raw)
        return known(cached) if "known from" in cached.stderr else -1

    return both


def shards(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.cache"))


# ---------------------------------------------------------------------- the folder
def test_the_folder_says_what_it_is(project: Path, cache: Path, run: Callable[[], int]) -> None:
    run()
    assert (cache / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (cache / ".gitignore").read_text() == "*\n"
    assert {path.suffix for path in cache.iterdir()} == {".TAG", "", ".cache"}


def test_the_usual_place_is_beside_the_configuration(project: Path, torchlint: Program) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    torchlint("project", TORCHLINT_CACHE_DIR="")
    assert (project.parent / ".torchlint_cache" / "CACHEDIR.TAG").is_file()
    (project.parent / "torchlint.toml").write_text('cache-dir = "kept/here"\n')
    torchlint("project", TORCHLINT_CACHE_DIR="")
    assert (project.parent / "kept" / "here" / "CACHEDIR.TAG").is_file()
    torchlint("project", "--cache-dir", "flag", TORCHLINT_CACHE_DIR="environment")
    assert (project.parent / "flag").is_dir()
    assert not (project.parent / "environment").exists()
    torchlint("project", "--no-cache", TORCHLINT_CACHE_DIR="environment")
    assert not (project.parent / "environment").exists()
    shown = torchlint("--show-settings", TORCHLINT_CACHE_DIR="environment")
    assert f"cache-dir = {project.parent / 'environment'}  # " in shown.stdout


def test_git_does_not_see_it_and_no_run_looks_into_it(project: Path, torchlint: Program) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project.parent, check=True)
    torchlint(".", TORCHLINT_CACHE_DIR="")
    (project.parent / ".torchlint_cache" / "stray.py").write_text(HIT)
    said = subprocess.run(["git", "status", "--porcelain"], cwd=project.parent, capture_output=True, check=True)
    assert said.stdout == b"?? project/\n"
    assert "stray" not in torchlint("--show-files", TORCHLINT_CACHE_DIR="").stdout


@pytest.mark.parametrize("kind", ["file", "link", "foreign folder", "parent is a file", "pipe"])
def test_a_place_that_cannot_be_a_cache_is_left_alone(
    project: Path, tmp_path: Path, cache: Path, in_process: Program, run: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch, kind: str,
) -> None:  # fmt: skip
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("mine")
    if kind == "file":
        cache.write_text("mine")
    elif kind == "link":
        cache.symlink_to(elsewhere)
    elif kind == "foreign folder":
        shutil.copytree(elsewhere, cache)
    elif kind == "parent is a file":
        cache.write_text("mine")
        monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(cache / "below"))
    else:
        os.mkfifo(cache)
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in (cache, elsewhere, *elsewhere.iterdir()))
    assert [run(), run()] == [-1, -1]
    assert "torchlint: info: " in in_process("-v", "project").stderr
    assert in_process("project").stderr == ""
    assert in_process("clean").status == 2 or kind == "parent is a file"
    assert sorted((str(path), path.lstat().st_mtime_ns) for path in (cache, elsewhere, *elsewhere.iterdir())) == before


# ---------------------------------------------------------------------- what lies in it
@pytest.mark.parametrize("seed", range(25))
def test_damaged_files_are_looked_past_and_replaced(
    project: Path, cache: Path, run: Callable[[], int], seed: int
) -> None:
    dice = random.Random(seed)
    run()
    for path in shards(cache):
        raw = bytearray(path.read_bytes())
        match dice.randrange(5):
            case 0:
                raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
            case 1:
                del raw[dice.randrange(len(raw)) :]
            case 2:
                raw = bytearray(dice.randbytes(len(raw)))
            case 3:
                raw += b"more"
            case _:
                raw = bytearray(len(raw))
        path.write_bytes(raw)
    assert [run(), run()] == [0, 3]


def test_strange_things_in_the_place_of_files_are_looked_past(
    project: Path, cache: Path, tmp_path: Path, run: Callable[[], int]
) -> None:
    run()
    secret = tmp_path / "secret"
    for make in (
        Path.mkdir,
        os.mkfifo,
        lambda path: path.symlink_to(secret),
        lambda path: path.symlink_to("/dev/zero"),
    ):
        for path in shards(cache):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            make(path)  # type: ignore[operator]
        assert run() in (0, -1)
    assert not secret.exists()


ONE = [["a", "b", None]]
WRONG: list[object] = [
    None, 1, "x", [], {}, {"entries": 1}, {"entries": {}, "files": 1, "bases": [], "homes": []},
    {"entries": {"a.py": []}, "files": [], "bases": [], "homes": []},
    {"entries": {"a.py": ["d", None, [0], [], [], [[], [], "", []]]}, "files": [], "bases": [], "homes": []},
    {"entries": {"a.py": ["d", None, [-1], [], [], [[], [], "", []]]}, "files": ONE, "bases": [], "homes": []},
    {"entries": {"a.py": ["d", [1, 2, 3], [], [], [], [[], [], "", []]]}, "files": [], "bases": [], "homes": []},
    {"entries": {"a.py": ["d", None, [True], [], [], [[], [], "", []]]}, "files": ONE, "bases": [], "homes": []},
]  # fmt: skip


@pytest.mark.parametrize("data", WRONG, ids=lambda each: json.dumps(each)[:40])
def test_data_of_another_form_is_refused(data: object) -> None:
    with pytest.raises(Misread):
        load_entries(data)


BAD = [
    ["TNS999", 0, 1, "m", 0, [], None], ["TNS101", 5, 1, "m", 0, [], None], ["TNS101", 0, 10**9, "m", 0, [], None],
    ["TNS101", 0, 1, "m", 7, [], None], ["TNS101", 0, 1, None, 0, [], None], ["TNS101", 0, 1, "m", 0, [1], None],
    ["TNS101", 0, 1, "m", 0, [], ["t", 2, [[0, 10**9, "x"]]]], ["TNS101", 0, 1, "m", 0, [], ["t", 9, []]], "TNS101", [],
]  # fmt: skip


@pytest.mark.parametrize("finding", BAD, ids=lambda each: json.dumps(each)[:40])
def test_a_forged_finding_is_looked_past(project: Path, cache: Path, run: Callable[[], int], finding: object) -> None:
    """The checksum is right, so this is nothing that happens by itself."""
    run()
    for path in shards(cache):
        key, value = json.loads(path.read_bytes().partition(b"\n")[2])
        if isinstance(value, dict):
            value["entries"]["hit.py"][-1][0] = [finding]
            store.Store(str(cache), lambda: 10**18).put(key, value)
    assert [run(), run()] == [2, 3]


def test_a_forged_dependency_does_not_keep_the_run_waiting(project: Path, cache: Path, run: Callable[[], int]) -> None:
    run()
    for path in shards(cache):
        key, value = json.loads(path.read_bytes().partition(b"\n")[2])
        if isinstance(value, dict):
            value["files"] = [["/dev/zero", "0", None, "0", []]] * len(value["files"])
            store.Store(str(cache), lambda: 10**18).put(key, value)
    assert run() == 1  # the one that rests on no other file


# ---------------------------------------------------------------------- writing
def refuse(number: int) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["_opened", "_take_over", "os.replace", "os.chmod"])
def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    project: Path, cache: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    fresh = in_process("project", "--no-cache")
    with monkeypatch.context() as patch:
        patch.setattr(f"torchlint.source.files.{call}", refuse(number))
        assert in_process("project") == fresh
        said = in_process("project", "-v").stderr
    reason = f"the cache was not written: cannot be written: {os.strerror(number)}"
    assert said.count(f"torchlint: info: {cache}: {reason}\n") == 1
    assert in_process("project", "-v").stderr.endswith("0 files known from earlier runs\n")


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(
    project: Path, cache: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = in_process("project", "--no-cache")
    with monkeypatch.context() as patch:
        patch.setattr("torchlint.cache.store.os.makedirs", refuse(errno.EROFS))
        assert in_process("project") == fresh
    assert not cache.exists()


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_no_half_files(
    project: Path, tiny: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHLINT_CACHE_DIR", str(tiny))
    for at in range(40):
        (project / f"p{at}").mkdir()
        (project / f"p{at}" / "hit.py").write_text(HIT)
    fresh = in_process("project", "--no-cache")
    for _ in range(3):
        assert in_process("project") == fresh
    assert "No space left on device" in in_process("project", "-v").stderr
    assert not list(tiny.glob(".torchlint-*"))


# ---------------------------------------------------------------------- two runs, and half a run
def wide(project: Path) -> None:
    for at in range(30):
        folder = project / f"p{at % 5}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{at}.py").write_text(HIT if at % 3 else PLAIN)


def start(project: Path, cache: Path, *arguments: str, before: str = "") -> subprocess.Popen[bytes]:
    program = f"{before}\nimport sys\nfrom torchlint.cli import main\nsys.exit(main({[*arguments, 'project']!r}))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TORCHLINT_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=project.parent, env=environment, stdout=subprocess.PIPE
    )


def test_two_runs_at_once_do_not_disturb_each_other(project: Path, cache: Path, in_process: Program) -> None:
    wide(project)
    fresh = in_process("project", "--no-cache").raw
    for _ in range(2):
        runs = [start(project, cache) for _ in range(3)]
        for each in runs:
            assert each.communicate(timeout=120)[0] == fresh
            assert each.returncode == 1
    assert known(in_process("project", "-v")) == 33
    assert not list(cache.glob(".torchlint-*"))


@pytest.mark.parametrize("call", in_turn(range(1, 12), 4, "renames at which a run is killed"))
def test_a_run_that_is_killed_while_it_writes_leaves_nothing_wrong(
    project: Path, cache: Path, in_process: Program, call: int
) -> None:
    """Killed at the n-th rename: the tag, the ignore file, and one file for each folder."""
    wide(project)
    die = (
        "import os, signal\nreal, left = os.replace, [" + str(call) + "]\n"
        "def replace(*given):\n    left[0] -= 1\n"
        "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n    real(*given)\n"
        "os.replace = replace"
    )
    killed = start(project, cache, "--jobs", "1", before=die)
    killed.communicate(timeout=120)
    assert killed.returncode in (-signal.SIGKILL, 1)
    fresh = in_process("project", "--no-cache")
    for _ in range(2):
        assert in_process("project") == fresh
    assert known(in_process("project", "-v")) == 33


def test_what_a_killed_run_left_is_removed_in_time(project: Path, cache: Path, run: Callable[[], int]) -> None:
    run()
    left, fresh = cache / ".torchlint-old.tmp", cache / ".torchlint-new.tmp"
    left.write_bytes(b"half")
    fresh.write_bytes(b"half")
    os.utime(left, (10**9, 10**9))
    (project / "more.py").write_text(PLAIN)
    run()
    assert not left.exists()
    assert fresh.exists()


# ---------------------------------------------------------------------- bounds
def test_the_folder_is_bounded(
    project: Path, cache: Path, run: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide(project)
    run()
    whole = sum(path.stat().st_size for path in shards(cache))
    oldest = shards(cache)[0]
    os.utime(oldest, (oldest.stat().st_atime, oldest.stat().st_mtime - 3600))
    monkeypatch.setattr(store, "MOST_BYTES", whole - 1)
    (project / "more.py").write_text(PLAIN)
    run()
    assert not oldest.exists() or oldest.stat().st_mtime > 10**9
    assert sum(path.stat().st_size for path in shards(cache)) <= whole - 1


def test_what_is_not_used_for_long_is_removed_and_what_is_used_is_not(
    project: Path, cache: Path, run: Callable[[], int]
) -> None:
    run()
    unused = cache / "0123456789abcdef.cache"
    unused.write_bytes(b"old")
    for path in shards(cache):
        os.utime(path, (10**9, 10**9))
    assert run() == 3
    (project / "p").mkdir()
    (project / "p" / "more.py").write_text(PLAIN)
    assert run() == 3
    assert not unused.exists()
    assert run() == 4


def test_files_that_are_gone_are_forgotten(project: Path, cache: Path, run: Callable[[], int]) -> None:
    run()
    (project / "hit.py").rename(project / "hit2.py")
    run()
    text = b"".join(path.read_bytes() for path in shards(cache))
    assert b'"hit2.py"' in text
    assert b'"hit.py"' not in text


# ---------------------------------------------------------------------- clean
def test_clean_removes_the_cache_and_nothing_else(project: Path, cache: Path, in_process: Program) -> None:
    assert in_process("clean").raw == f"No cache at {cache.name}.\n".encode()
    in_process("project")
    size = sum(path.stat().st_size for path in shards(cache))
    done = in_process("clean")
    assert (done.status, done.stdout) == (0, f"Removed cache: 1 file, {size / 1024:.0f} KiB.\n")
    assert not cache.exists()
    in_process("project")
    (cache / "mine.txt").write_text("mine")
    assert in_process("clean", "-q").raw == b""
    assert [path.name for path in cache.iterdir()] == ["mine.txt"]
    assert (project / "hit.py").read_text() == HIT


@pytest.mark.parametrize("flag", ["--cache-dir", "--bogus"])
def test_clean_refuses_what_is_no_cache_and_what_it_does_not_know(
    project: Path, in_process: Program, flag: str
) -> None:
    done = in_process("clean", flag, "project")
    assert done.status == 2
    assert ("no cache of torchlint's: nothing was removed" if flag == "--cache-dir" else "--bogus") in done.stderr
    assert len(list(project.iterdir())) == 3
