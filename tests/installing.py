"""Installing torchlint from this tree with the real pip: from a wheel, and without a package index.

What is costly is made once in a session, by the first of the processes that run tests.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

from filelock import FileLock

from tests.shells import Shell
from torchlint.version import VERSION

ROOT = Path(__file__).parents[1]
SHIPPED = ("torchlint", "docs", "tools", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")
_INSTALLED = frozenset({"INSTALLER", "REQUESTED", "direct_url.json"})
"""What pip adds to a package when it installs it."""
HOOKS = (*SHIPPED, ".pre-commit-hooks.yaml", "action.yml")
ADDRESS = "https://github.com/torchlint/torchlint"
TAG = f"v{VERSION}"


def once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Return a folder that all processes of a session share; the first to ask for it fills it."""
    done = folder.with_name(f"{folder.name}.done")
    with FileLock(f"{folder}.lock"):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)  # a process that failed may have left a part
            folder.mkdir(parents=True)
            make(folder)
            done.touch()
    return folder


def copied(folder: Path, names: tuple[str, ...] = HOOKS) -> Path:
    """Copy what is published into a folder."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def wheel(folder: Path) -> None:
    """Build this tree's wheel into a folder, as a release is built."""
    tree = copied(folder.with_name(f"{folder.name}.tree"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def shelf(folder: Path) -> None:
    """Pack, as wheels, what torchlint needs to be built, to be installed, and to run as a hook of pre-commit."""
    for each in _needed(("libcst", "pathspec", "rich", "hatchling", "pre-commit")):
        _packed(each, folder)


def without_index(*folders: Path) -> dict[str, str]:
    """Return an environment in which the real pip installs the wheels of some folders, and asks no index."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": " ".join(map(str, folders)),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_COMPILE": "0",  # only a few of the modules are imported
    }


def publish(folder: Path) -> None:
    """Make the published repository: a clone of this tree with the tag of its release."""
    published = Shell(copied(folder / "repository"))
    published.git("init", "-qb", "main")
    published.git("add", "-A")
    published.git("commit", "-qm", "release")
    published.git("tag", TAG)


def served_by(folder: Path) -> dict[str, str]:
    """Return an environment in which git finds the project's address in a published repository."""
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{folder / 'repository'}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
    }


def _packed(found: Distribution, folder: Path) -> None:
    tags = [each.split("-") for each in re.findall(r"^Tag: (\S+)", found.read_text("WHEEL") or "", re.MULTILINE)]
    tag = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    name = re.sub(r"[-_.]+", "_", found.metadata["Name"])
    with ZipFile(folder / f"{name}-{found.version}-{tag}.whl", "w") as wheel:
        for file in found.files or ():
            path = Path(str(found.locate_file(file)))
            if ".." not in file.parts and file.name not in _INSTALLED and file.suffix != ".pyc" and path.is_file():
                wheel.write(path, str(file))


def _needed(names: tuple[str, ...]) -> list[Distribution]:
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found or name == "torchlint":
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # meant for another Python or another system
            continue
        needs = [each for each in found[name].requires or () if "extra ==" not in each]
        waiting += [re.split(r"[\s;<>=!~\[(]", each, maxsplit=1)[0] for each in needs]
    return list(found.values())
