"""Notebooks of format 3 and 4 at random: cells of real code and of magics, and JSON that was tampered with."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_MAGICS = ("%matplotlib inline\n", "!ls *.py\n", "%%bash\necho hi\n", "x = !ls\n", "%time f()\n", "?x\n", "%%time\n")
_ODD: tuple[object, ...] = (None, 1, -1.5, True, "", "x", [], {}, [[]], [None], ["a", 1], {"a": {}}, 10**400, "\ud800")


def notebook(chance: Random, texts: list[str]) -> bytes:
    """Return a notebook's bytes with cells cut from the texts; one in three has been tampered with."""
    cells = [_cell(chance, chance.choice(texts)) for _ in range(chance.randint(0, 6))]
    made: dict[str, Any] = {"cells": cells, "metadata": _metadata(chance), "nbformat": 4, "nbformat_minor": 5}
    if chance.random() < 0.25:
        names = {"source": "input", "execution_count": "prompt_number"}
        old = [
            {names.get(key, key) if each["cell_type"] == "code" else key: each[key] for key in each} for each in cells
        ]
        made = {"worksheets": [{"cells": old}], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}
    if chance.random() < 0.33:
        for _ in range(chance.randint(1, 3)):
            made = _tampered(chance, made)
    try:
        text = json.dumps(made, indent=chance.choice((1, 1, 2, None, "\t")), ensure_ascii=chance.random() < 0.5)
        raw = text.encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        raw = b"{}"
    return _scratched(chance, raw) if chance.random() < 0.15 else raw


def _cell(chance: Random, text: str) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    start = chance.randrange(len(lines) + 1)
    kept = lines[start : start + chance.randint(0, 12)]
    while chance.random() < 0.3:
        kept.insert(chance.randrange(len(kept) + 1), chance.choice(_MAGICS))
    source: object = kept if chance.random() < 0.8 else "".join(kept)
    if isinstance(source, list) and source and chance.random() < 0.2:
        joined = "".join(kept)
        at = chance.randrange(len(joined) + 1)
        source = [joined[:at], joined[at:]]
    kind = chance.choice(("code", "code", "code", "markdown", "raw"))
    cell = {"cell_type": kind, "metadata": {}, "source": source}
    return {**cell, "outputs": [], "execution_count": None} if kind == "code" else cell


def _metadata(chance: Random) -> dict[str, Any]:
    language = chance.choice(("python", "python", "python", "R", None))
    return {"language_info": {"name": language}, "kernelspec": {"language": language}} if language else {}


def _tampered(chance: Random, value: Any) -> Any:
    """Change one thing somewhere in the tree."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        match chance.randrange(8):
            case 0:
                return {name: each for name, each in value.items() if name != key}
            case 1:
                return {**value, chance.choice(("source", "cells", "cell_type", "\u2028")): chance.choice(_ODD)}
            case _:
                return {**value, key: _tampered(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        return [*value[:at], _tampered(chance, value[at]), *value[at + 1 :]]
    return chance.choice(_ODD)


def _scratched(chance: Random, raw: bytes) -> bytes:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + chance.choice((b"", b"\\u00", b'"', b"\xff", b"\n", b"[", b"\xef\xbb\xbf")) + raw[at + 1 :]
