"""What the fixes over the fixtures of a rule rest on."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from tests.nightly import ROOT
from torchlint.config import Config
from torchlint.diagnostics.assumptions import Assumption
from torchlint.diagnostics.model import Applicability
from torchlint.linter.engine import check_bytes

FIXTURES = ROOT / "tests" / "fixtures" / "rules"
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
def used(code: str) -> dict[Assumption, set[Applicability]]:
    """Return by assumption how far the fixes of a rule that rest on it are trusted."""
    found: dict[Assumption, set[Applicability]] = defaultdict(set)
    fixtures = {f"/alone/{code}/{path.name}": path.read_bytes() for path in sorted((FIXTURES / code).rglob("*.py"))}
    for path, raw in {str(FIXTURES / "more.py"): MORE.encode(), **fixtures}.items():
        for finding in check_bytes(path, raw, Config(select=(code,))).findings:
            for each in finding.fix.assumptions if finding.fix else ():
                found[each.assumption].add(finding.fix.applicability)
    return found
