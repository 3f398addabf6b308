"""`--target-torch`: fixes for code that must run on an old torch use nothing that it does not have."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from torchlint.config import Config
from torchlint.diagnostics.model import Settings
from torchlint.linter.engine import fix_bytes

RULES = Path(__file__).parent / "fixtures" / "rules"
FLAGGED = sorted(path for path in RULES.glob("*/*.py") if path.with_suffix(".unsafe.txt").exists())
OLDEST = (1, 13)
HAD = frozenset(
    "dequantize float item resolve_conj to_dense constant_ init zeros_ "
    "Tensor as_tensor bfloat16 bool clone copy= detach device= dtype= empty float16 float32 float64 force= int16 int32 "
    "int64 get_default_dtype new_empty new_tensor no_grad requires_grad_ set_default_dtype sub_ "
    "tensor to uint8 numpy new_zeros tolist zeros zeros_like "
    "add_ deepcopy".split()  # the last of the module copy
)
"""What torch 1.13 has of what fixes write; each was looked up in it."""


def words(text: str) -> set[str]:
    found = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    return found | {f"{node.arg}=" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword)}


def fixed(path: Path, target: tuple[int, int] | None, style: str = "chain") -> str:
    settings = Settings(numpy_style=style, target_torch=target)
    config = replace(Config(settings=settings), select=(path.parent.name,), unsafe_fixes=True)
    return fix_bytes(str(path), path.read_bytes(), config).raw.decode()


def test_fixes_for_the_oldest_torch_write_only_what_it_has() -> None:
    written = {word for path in FLAGGED for word in words(fixed(path, OLDEST, "force")) - words(path.read_text())}
    assert written == HAD
