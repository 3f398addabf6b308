"""Projects run before and after `--fix`: modules made elsewhere, errors that are expected, copies meant to overlap."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import check_runs_alike

# ---------------------------------------------------------------------- TNS108
QUEUE = """
import torch


class Queue(torch.nn.Linear):
    def to(self, *args, non_blocking=False, **kwargs):
        print("queued" if non_blocking else "waits")
        return self


layer = Queue(2, 2)
layer.to("cpu", non_blocking=True)
"""


def test_a_class_with_a_way_of_its_own_to_the_host_keeps_the_argument(tmp_path: Path) -> None:
    assert check_runs_alike(tmp_path, {"main.py": QUEUE}) == {}
