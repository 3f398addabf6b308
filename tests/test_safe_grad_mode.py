"""Programs run before and after `--fix`: where grad mode is on again in a block or function that turned it off."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.before_and_after import check_runs_alike

HEAD = """\
import contextlib

import torch

v = torch.ones(2, requires_grad=True)


class Recorded:
    def __enter__(self):
        torch._C._set_grad_enabled(True)

    def __exit__(self, *error):
        torch._C._set_grad_enabled(False)


def record():
    torch._C._set_grad_enabled(True)


def run():
    u = torch.zeros(2)
"""
SHOWN = "    return u.requires_grad\n\n\nprint(run())\n"

ON_AGAIN = {
    "torch's own switch": "with torch.no_grad():\n    torch._C._set_grad_enabled(True)\n    u.add_(v.data)\n",
    "a context": "with torch.no_grad():\n    with Recorded():\n        u.add_(v.data)\n",
    "beside the other": "with torch.no_grad(), Recorded():\n    u.add_(v.data)\n",
    "a function": "with torch.no_grad():\n    record()\n    u.add_(v.data)\n",
    "a stack": (
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(torch.no_grad())\n"
        "    stack.enter_context(Recorded())\n    u.add_(v.data)\n"
    ),
}
OFF = {
    "a block": "with torch.no_grad():\n    u.add_(v.data)\n",
    "torch's own switch": (
        "torch._C._set_grad_enabled(False)\ntry:\n    u.add_(v.data)\nfinally:\n    torch._C._set_grad_enabled(True)\n"
    ),
}


@pytest.mark.parametrize("body", ON_AGAIN.values(), ids=ON_AGAIN)
def test_where_grad_mode_is_on_again_the_value_stays_detached(body: str, tmp_path: Path) -> None:
    text = HEAD + indent(dedent(body), "    ") + SHOWN
    assert "u.add_(v)" not in check_runs_alike(tmp_path, {"main.py": text}).get("main.py", text)


@pytest.mark.parametrize("body", OFF.values(), ids=OFF)
def test_where_grad_mode_is_off_the_value_needs_no_detach(body: str, tmp_path: Path) -> None:
    text = HEAD + indent(dedent(body), "    ") + SHOWN
    assert "u.add_(v)" in check_runs_alike(tmp_path, {"main.py": text})["main.py"]
