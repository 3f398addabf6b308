"""Conversions to NumPy by the value-flow graph alone, in the JSON of the command line: to compare it with what rules say.

usage: python tools/graph_conversions.py check [--min-confidence LEVEL] [--output-format json] PATH...
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from torchlint.diagnostics.model import Confidence  # noqa: E402
from torchlint.evaluation import grading, reasons  # noqa: E402
from torchlint.evaluation.oracles import Oracles  # noqa: E402
from torchlint.models.library_rows import OTHER_FRAMEWORKS  # noqa: E402
from torchlint.semantic.graph import ATTR, CALL, Node  # noqa: E402
from torchlint.semantic.module_graph import ModuleGraph  # noqa: E402
from torchlint.semantic.program import Program  # noqa: E402
from torchlint.values import abstract as a  # noqa: E402
from torchlint.values.asking import OFF, ON  # noqa: E402

_MARKERS = ("setup.py", "pyproject.toml", "setup.cfg", ".git", "requirements.txt", "environment.yml")


class Judge:
    """Judges the conversions of one project."""

    def __init__(self, root: str) -> None:
        self.program = Program(root)
        self.oracles = Oracles(self.program)

    def findings(self, path: str) -> Iterator[dict[str, object]]:
        """Yield the findings of a file."""
        file = self.program.file(path)
        if file is None or b"numpy" not in file.text or not works_with_torch(file):
            return
        for written in file.calls.get("numpy", ()):
            call = written.node
            if not isinstance(call.func, ast.Attribute) or call.args or any(not _is_false(e) for e in call.keywords):
                continue
            node = file.node_of_call(written)
            found = self._judge(file, call, node) if node is not None else None
            if found is not None:
                yield found

    def _judge(self, file: ModuleGraph, call: ast.Call, node: Node) -> dict[str, object] | None:
        receiver, guards = node.ins[0].ins[0], node.fn.guards.get(node, ())
        strict, callers = self.oracles.strict, self.oracles.callers
        with strict.question():
            if not strict.feasible(guards, None):
                return None
        value = strict.ask(receiver)
        if value is None:
            value = a.unknown(a.OF_ATTR, receiver)
        if not value.kind & a.TENSOR or (value.kind != a.TENSOR and _is_of_another(file, call)):
            return None
        mode = ON | OFF
        with strict.question():
            mode = strict.mode(node, None)
        missing = grading.missing(value, mode)
        if not any(missing):
            return None
        by_calls, calls_mode, is_called = value, mode, False
        with callers.question():
            by_calls = callers.value(receiver)
            calls_mode = callers.mode(node, None)
            is_called = bool(callers.callers(node.fn))
        if not by_calls.kind & a.TENSOR:
            by_calls = by_calls.but(grad=a.SAFE, device=a.SAFE)
            is_called = True
        level = grading.grade(
            value, mode, by_calls, calls_mode, node.fn, is_called=is_called, has_written_cpu=_has_cpu(receiver)
        )
        if level is None:
            return None
        strong = a.SURE | a.MODULE_OUT | a.OPTION | a.OF_MODE | a.OF_MODEL
        code = "TNS101" if missing.detach and value.grad & strong else "TNS102" if missing.cpu and value.device & strong else "TNS103"
        words = " and ".join(w for w, yes in ((".detach()", missing.detach), (".cpu()", missing.cpu)) if yes)
        why = []
        with strict.question():
            for axis, yes in ((reasons.GRAD, missing.detach), (reasons.DEVICE, missing.cpu)):
                if yes:
                    why += [f"{axis}: {reasons.told(e)}, line {getattr(e.at, 'lineno', '?')}" for e in reasons.chain(strict, receiver, axis)]
        line, column = _place(file, call)
        return {
            "filename": file.path, "code": code, "confidence": str(level), "message": f"{words} may be missing",
            "why": [*why, repr(value), repr(by_calls)], "fix": None, "level": int(level),
            "location": {"row": line, "column": column}, "end_location": {"row": line, "column": column + 5},
        }  # fmt: skip


def works_with_torch(file: ModuleGraph) -> bool:
    """Whether a file imports torch or a library on it, or may receive a tensor from one that does."""
    if any("torch" in each or each in _ON_TORCH for each in file.packages):
        return True
    return not file.packages & OTHER_FRAMEWORKS and bool(file.packages - {"numpy", "os", "sys"}) and b"torch" in file.text


_ON_TORCH = frozenset("fairseq allennlp timm fastai stable_baselines3 kornia ignite tianshou diffusers".split())


def _is_of_another(file: ModuleGraph, call: ast.Call) -> bool:
    if not file.packages & OTHER_FRAMEWORKS:
        return False
    words = set(ast.unparse(call.func).lower().replace(".", "_").replace("(", "_").split("_"))
    return bool(words & {"tf", "tfp", "tensorflow", "jax", "flax", "keras", "paddle", "mxnet", "mx", "eager", "np"})


def _has_cpu(receiver: Node) -> bool:
    while receiver.op == CALL and receiver.ins[0].op == ATTR:
        if receiver.ins[0].data == "cpu":
            return True
        receiver = receiver.ins[0].ins[0]
    return False


def _is_false(keyword: ast.keyword) -> bool:
    return keyword.arg == "force" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False


def _place(file: ModuleGraph, call: ast.Call) -> tuple[int, int]:
    function = call.func
    assert isinstance(function, ast.Attribute)
    line, end = function.end_lineno or 1, function.end_col_offset or 1
    text = file.text.split(b"\n")[line - 1][:end]
    return line, len(text.decode("utf-8", "replace")) - 4


def root_of(path: str, given: str) -> str:
    """Return the folder of the project that a file belongs to, at most what was given to check."""
    top = given if os.path.isdir(given) else os.path.dirname(given)
    best, child, folder = None, None, os.path.dirname(path)
    while folder.startswith(top):
        if any(os.path.exists(os.path.join(folder, each)) for each in _MARKERS):
            best = folder
        if folder == top:
            break
        child, folder = folder, os.path.dirname(folder)
    return best or child or top


def main(arguments: list[str]) -> int:
    """Run ``check PATH...``."""
    level, paths = "possible", []
    words = iter(arguments[1:] if arguments[:1] == ["check"] else arguments)
    for word in words:
        if word.startswith("--min-confidence"):
            level = word.partition("=")[2] or next(words)
        elif word in ("--output-format", "--select", "--preset", "--jobs"):
            next(words)
        elif not word.startswith("-"):
            paths.append(os.path.abspath(word))
    judges: dict[str, Judge] = {}
    found = []
    for given in paths:
        for path in [given] if os.path.isfile(given) else sorted(map(str, Path(given).rglob("*.py"))):
            root = root_of(path, given)
            if root not in judges:
                judges.clear()
                judges[root] = Judge(root)
            found += [each for each in judges[root].findings(path) if each["level"] >= Confidence[level.upper()]]
    json.dump(found, sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
