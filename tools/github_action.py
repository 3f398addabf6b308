"""Runs torchlint for ``action.yml``: findings as annotations, and as SARIF where it is wanted.

Reads ``TORCHLINT_ARGS``, the variables of :data:`INPUTS`, ``TORCHLINT_FOLDER`` and ``TORCHLINT_SARIF``, writes the
outputs ``exit-status`` and ``sarif-file``. GitHub takes paths from the top of the repository, torchlint says them from
where it runs: they are lengthened here. The exit status of this program is 0 whatever was found, so that the
upload still takes place.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

ANNOTATED = re.compile(r"^(::(?:error|warning|notice) (?:[^:]*?,)?file=)", re.MULTILINE)
OWN = ("--output-format", "--output-file")
INPUTS = {
    "TORCHLINT_PRESET": "--preset",
    "TORCHLINT_MIN_SEVERITY": "--min-severity",
    "TORCHLINT_FAIL_ON": "--fail-on",
}
"""Inputs that are handed on as flags, where they are given."""


def main() -> int:
    """Run torchlint once for the log and once more for code scanning."""
    try:
        arguments = shlex.split(os.environ["TORCHLINT_ARGS"])
    except ValueError as error:
        return _refused(f"the input `args` cannot be read ({error}): quote it as in a shell")
    sarif = os.environ["TORCHLINT_SARIF"]
    if sarif not in ("true", "false"):
        return _refused('the input `sarif` is neither "true" nor "false"')
    taken = [each for each in arguments if each.partition("=")[0] in OWN]
    if taken:
        return _refused(f"the input `args` has `{taken[0]}`: the action chooses the formats; use the input `sarif`")
    given = {flag: os.environ.get(name, "") for name, flag in INPUTS.items()}
    arguments = [*(f"{flag}={value}" for flag, value in given.items() if value), *arguments]
    folder = PurePosixPath(os.environ["TORCHLINT_FOLDER"].replace("\\", "/"))
    status = _annotate(arguments, folder)
    if sarif == "true" and status < 2:  # of half a run, code scanning would take what it lacks for repaired
        path = Path(os.environ["RUNNER_TEMP"], "torchlint.sarif")
        status = max(status, _sarif(arguments, folder, path))
    return _output("exit-status", str(status))


def _annotate(arguments: list[str], folder: PurePosixPath) -> int:
    done = _torchlint(["--output-format", "github", *arguments], subprocess.PIPE)
    prefix = "" if folder == PurePosixPath() else _escaped(f"{folder}/")
    sys.stdout.write(ANNOTATED.sub(lambda found: found[1] + prefix, done.stdout))
    sys.stdout.flush()
    if done.returncode not in (0, 1):
        print("::error title=torchlint::the run itself failed with status 2; the reason stands above")
        return 2
    return done.returncode


def _sarif(arguments: list[str], folder: PurePosixPath, path: Path) -> int:
    path.unlink(missing_ok=True)
    flags = ["--output-format", "sarif", "--output-file", str(path), "--exit-zero", "--quiet"]
    done = _torchlint([*flags, *arguments], None)
    if done.returncode or not path.is_file():
        print("::error title=torchlint::no SARIF file could be written; the reason stands above")
        return 2
    document = json.loads(path.read_text(encoding="utf-8"))
    for place in _places(document):
        place["uri"] = f"{quote(str(folder))}/{place['uri']}" if folder != PurePosixPath() else place["uri"]
    path.write_text(json.dumps(document), encoding="utf-8")
    return _output("sarif-file", str(path))


def _torchlint(arguments: list[str], stdout: int | None) -> subprocess.CompletedProcess[str]:
    # not `python -m torchlint`: that imports modules from the folder that is checked
    command = [str(Path(sys.executable).with_name("torchlint")), "check", *arguments]
    return subprocess.run(command, stdout=stdout, text=True, encoding="utf-8", check=False)


def _places(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the places in a SARIF document that count from the folder in which torchlint ran."""
    if isinstance(document, dict):
        if document.get("uriBaseId") == "SRCROOT" and "uri" in document:
            yield document
        document = list(document.values())
    if isinstance(document, list):
        for each in document:
            yield from _places(each)


def _escaped(text: str) -> str:
    """Spell a text as the properties of a workflow command want it."""
    for sign in "%\r\n:,":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _refused(message: str) -> int:
    print(f"::error title=torchlint::{message}")
    return _output("exit-status", "2")


def _output(name: str, value: str) -> int:
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}={value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
