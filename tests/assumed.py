"""What the fixes over all fixtures rest on."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from tests.nightly import ROOT
from torchlint.config import Config
from torchlint.diagnostics.model import Applicability
from torchlint.linter.engine import check_bytes

FILES = sorted((ROOT / "tests" / "fixtures" / "rules").rglob("*.py"))
MORE = """\
import numpy as np
import torch


def convert(t: torch.Tensor, sizes: list[int], array: np.ndarray, use_cuda: bool):
    kind = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor
    a = t.cuda().numpy()
    b = torch.LongTensor(*sizes), torch.LongTensor(*sizes, device=t.device), torch.LongTensor(array)
    return a, b, kind([1.0], requires_grad=True)
"""
"""What no fixture has."""


@cache
def used() -> dict[str, dict[str, set[Applicability]]]:
    """Return by rule and assumption how far the fixes that name it are trusted."""
    found: dict[str, dict[str, set[Applicability]]] = defaultdict(lambda: defaultdict(set))
    texts = {"more.py": MORE.encode(), **{str(path): path.read_bytes() for path in FILES}}
    for path, raw in texts.items():
        for finding in check_bytes(path, raw, Config(select=("ALL",))).findings:
            for each in finding.fix.assumptions if finding.fix else ():
                found[finding.code][each.name].add(finding.fix.applicability)
    return found
