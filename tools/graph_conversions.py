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
from torchlint.evaluation.judged_conversions import judge_value  # noqa: E402
from torchlint.evaluation.oracles import Oracles  # noqa: E402
from torchlint.models.library_rows import OTHER_FRAMEWORKS  # noqa: E402
from torchlint.semantic.graph import Node  # noqa: E402
from torchlint.semantic.module_graph import ModuleGraph  # noqa: E402
from torchlint.semantic.program import Program  # noqa: E402

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
        found = judge_value(self.oracles, node.ins[0].ins[0], node)
        if found is None or (not found.is_tensor and _is_of_another(file, call)):
            return None
        code = "TNS101" if found.detach and found.has_source_of_grad else "TNS102"
        if code == "TNS102" and not (found.cpu and found.has_source_of_device):
            code = "TNS103"
        words = " and ".join(w for w, yes in ((".detach()", found.detach), (".cpu()", found.cpu)) if yes)
        line, column = _place(file, call)
        return {
            "filename": file.path, "code": code, "confidence": str(found.confidence), "level": int(found.confidence),
            "message": f"{words} may be missing", "fix": None,
            "why": [f"{each.text}, line {each.node.at.lineno if each.node and each.node.at else '?'}" for each in found.why],
            "location": {"row": line, "column": column}, "end_location": {"row": line, "column": column + 5},
        }  # fmt: skip


def works_with_torch(file: ModuleGraph) -> bool:
    """Whether a file imports torch or a library on it, or may receive a tensor from one that does."""
    if any("torch" in each or each in _ON_TORCH for each in file.packages):
        return True
    return (
        not file.packages & OTHER_FRAMEWORKS and bool(file.packages - {"numpy", "os", "sys"}) and b"torch" in file.text
    )


_ON_TORCH = frozenset("fairseq allennlp timm fastai stable_baselines3 kornia ignite tianshou diffusers".split())


def _is_of_another(file: ModuleGraph, call: ast.Call) -> bool:
    if not file.packages & OTHER_FRAMEWORKS:
        return False
    words = set(ast.unparse(call.func).lower().replace(".", "_").replace("(", "_").split("_"))
    return bool(words & {"tf", "tfp", "tensorflow", "jax", "flax", "keras", "paddle", "mxnet", "mx", "eager", "np"})


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
