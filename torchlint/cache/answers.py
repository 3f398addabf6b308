"""Whether questions about all texts of a project still have their answers: asked anew only where a file has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from torchlint.cache.present import Present
from torchlint.cache.shelf import Shelf

Asked = tuple[tuple[tuple[str, ...], str | None], ...]
"""Questions with their answers: :attr:`FileResult.asked`."""


class Answers:
    """The answers of this run, and those of earlier runs as far as they still hold."""

    def __init__(self, shelf: Shelf, present: Present) -> None:
        self._shelf = shelf
        self._present = present
        self._known: dict[str, dict[str, str | None]] = {}
        self._signatures: dict[str, str | None] = {}
        self._stale: set[str] = set()

    def hold(self, asked: Asked) -> bool:
        """Whether all questions have the answers that they had."""
        return all(self._answer(question) == answer for question, answer in asked)

    def renew(self, present: Present) -> None:
        """Look at all files again when something is asked next: they may have changed."""
        self.write()
        self._present = present
        self._known.clear()
        self._signatures.clear()

    def write(self) -> None:
        """Keep what was asked anew for the next run."""
        for root in self._stale:
            if self._signatures[root] is not None:
                self._shelf.put(_key(root), [self._signatures[root], self._known[root]])
        self._stale.clear()

    def _answer(self, question: tuple[str, ...]) -> str | None:
        root, spelled = question[1], json.dumps(question)
        if root not in self._known:
            self._known[root] = self._held(root)
        answers = self._known[root]
        if spelled not in answers:
            from torchlint.inference.project_texts import ask, look_again  # here: most runs have nothing to ask

            if root not in self._stale:
                look_again()
            answers[spelled] = ask(question)
            self._stale.add(root)
        return answers[spelled]

    def _held(self, root: str) -> dict[str, str | None]:
        self._signatures[root] = self._signature(root)
        held = self._shelf.take(_key(root)) if self._signatures[root] is not None else None
        if not (isinstance(held, list) and len(held) == 2 and held[0] == self._signatures[root]):
            return {}
        answers = held[1] if isinstance(held[1], dict) else {}
        return {key: each for key, each in answers.items() if each is None or isinstance(each, str)}

    def _signature(self, root: str) -> str | None:
        """Return a text that changes with any file of a project; None where a file may change without its stamp."""
        from torchlint.inference.project_texts import python_files

        paths = python_files(root)
        return self._stamped(root, sorted(paths)) if paths is not None else None

    def _stamped(self, root: str, paths: Iterable[str]) -> str | None:
        from hashlib import sha256

        whole = sha256()
        for path in paths:
            stamp = self._present.lasting(path)
            if stamp is None:
                return None
            whole.update(f"{os.path.relpath(path, root)} {stamp}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()


def _key(root: str) -> str:
    return f"answers {root}"
