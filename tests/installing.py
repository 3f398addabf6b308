"""Installing torchlint from this tree with the real pip: from a wheel, and without a package index."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
SHIPPED = ("torchlint", "docs", "tools", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE")
_INSTALLED = frozenset({"INSTALLER", "REQUESTED", "direct_url.json"})
"""What pip adds to a package when it installs it."""
HOOKS = (*SHIPPED, ".pre-commit-hooks.yaml", "action.yml")


def copied(folder: Path, names: tuple[str, ...] = HOOKS) -> Path:
    """Copy what is published into a folder."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def wheel(folder: Path) -> Path:
    """Build this tree's wheel into a folder, as a release is built."""
    tree = copied(folder / "tree")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    (built,) = (folder / "dist").glob("*.whl")
    return built


def shelf(folder: Path, *names: str) -> dict[str, str]:
    """Pack packages that are installed here, and what they need, as wheels.

    Gives an environment in which the real pip installs these into anything, and asks no index.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for each in _needed(names):
        _packed(each, folder)
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_COMPILE": "0",  # only a few of the modules are imported
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
