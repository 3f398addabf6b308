"""The same promises under atheris, which looks for inputs that reach code not reached before.

    python -m benchmarks.fuzz.guided SEEDS -max_total_time=600 -timeout=60

Needs `pip install atheris`. ``SEEDS`` is a folder of small files to begin with, to which atheris adds what it finds, so
that the next run goes on from there; the other words are libFuzzer's. An input that begins with a brace is a notebook.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["torchlint"]):
    from benchmarks.fuzz import properties
    from torchlint.diagnostics.registry import RULES
    from torchlint.rules import api

    for entry in RULES:
        if entry.words:
            api.load(entry.code)

NAMES = ("a.py", "a.ipynb")


class BrokenPromise(Exception):
    """What is wrong, in words."""


def judge(raw: bytes) -> None:
    """Raise where a promise is broken; atheris keeps the input.

    :raises BrokenPromise: naming all of them.
    """
    if not raw:
        return
    wrong = properties.broken(NAMES[raw[0] == ord("{")], raw)
    if wrong:
        raise BrokenPromise("\n".join(wrong))


if __name__ == "__main__":
    atheris.Setup(sys.argv, judge)
    atheris.Fuzz()
