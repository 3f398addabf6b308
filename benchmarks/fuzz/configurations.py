"""Configurations and command lines at random: right keys, wrong types, near spellings, patterns that mean nothing."""

from __future__ import annotations

from random import Random

_KEYS = (
    "select", "ignore", "extend-select", "extend-ignore", "fixable", "unfixable", "min-confidence", "target-torch",
    "numpy-style", "strict", "exclude", "extend-exclude", "force-exclude", "respect-gitignore", "fix", "fix-only",
    "unsafe-fixes", "show-fixes", "output-format", "baseline", "cache-dir", "selcet", "per-file-ignores", "",
)  # fmt: skip
_VALUES = (
    "true", "false", "1", "-1.5", "inf", "1979-05-27", '""', '"ALL"', '"chain"', '"1.13"', '"likely"', '"concise"',
    '"json"', "[]", '["ALL"]', '["TNS1", "TNS901"]', '["TNS"]', '["TSN101"]', '["*.py"]', '["[", "{a,", "**", "!"]',
    '["/", "", "..", "\\\\"]', '["a[!]b]", "{,{a}}"]', "[1]", "[[]]", "{}", '{"*.py" = ["ALL"]}', '{"[" = ["TNS101"]}',
    '"\\u0000"', '"\\u001b[2J"', '"no/such/folder/file"', '"."', "nan", "'''\nx'''", "{a = {b = {c = 1}}}", '["\\n"]',
)  # fmt: skip
_FLAGS = (
    "--fix", "--unsafe-fixes", "--diff", "--fix-only", "--show-fixes", "--select=ALL", "--select=TNS1,TNS9",
    "--ignore=X", "--ignore=TNS101", "--output-format=json", "--output-format=sarif", "--output-format=junit",
    "--output-format=gitlab", "--output-format=github", "--output-format=rdjson", "--output-format=html",
    "--output-format=concise", "--statistics",
    "--show-files", "--show-settings", "--baseline=base.json", "--write-baseline", "--add-noqa", "--add-noqa=why",
    "--isolated", "--no-cache", "-q", "-v", "--color=always", "--exit-zero", "--exit-non-zero-on-fix",
    "--target-torch=1.9", "--numpy-style=force", "--min-confidence=certain", "--force-exclude",
    "--no-respect-gitignore", "--config=x.toml",
    "--per-file-ignores=*.py:TNS1", "--exclude=a", "--extend-exclude=[", "--jobs=1", "--jobs=0", "--wat", "-",
    "none.py",
    "--output-file=out.txt", "--fixable=TNS2", "--unfixable=ALL", ".", "a.py", "folder",
)  # fmt: skip


def configuration(chance: Random) -> tuple[str, bytes]:
    """Return the name and the bytes of a configuration file."""
    name = chance.choice(("torchlint.toml", "pyproject.toml", "folder/torchlint.toml"))
    head = "[tool.torchlint]\n" if name == "pyproject.toml" else ""
    if chance.random() < 0.1:
        head = chance.choice(("[tool]\ntorchlint = 1\n", "[project]\ndependencies = ['torch>=1.4', 'torch<']\n" + head))
    keys = chance.sample(_KEYS, chance.randint(0, 4))
    rows = "".join(f"{key or chr(34) * 2} = {chance.choice(_VALUES)}\n" for key in keys)
    raw = (head + rows).encode()
    if chance.random() < 0.1:
        at = chance.randrange(len(raw) + 1)
        raw = raw[:at] + chance.choice((b"\xff", b"\x00", b"=", b"[[", b'"', b"\r")) + raw[at:]
    return name, raw


def flags(chance: Random) -> list[str]:
    """Return a command line."""
    return chance.sample(_FLAGS, chance.randint(0, 4))
