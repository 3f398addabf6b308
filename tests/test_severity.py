"""Severity: what each rule says happens, what a preset shows, and that nothing looks unused because of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torchlint
from torchlint.config import Config
from torchlint.diagnostics.model import Severity

Program = Callable[..., Any]
HEAD = "import torch\nfrom torch import nn\n\n"
MIXED = HEAD + (
    "w = torch.ones(2, requires_grad=True)\na = w.numpy()\n\n\ndef f(t):\n    return t.numpy()\n\n\n"
    "b = torch.Tensor([1, 2])\n"
)


def severities(code: str) -> list[tuple[str, str]]:
    return [(each.code, str(each.severity)) for each in torchlint.check(HEAD + code).findings]


STEP = "m = nn.Linear(2, 2)\ny = m(torch.ones(2))\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # legacy first: what works and is old
        ("a = torch.Tensor([1, 2])\n", [("TNS301", "legacy")]),
        ("a = torch.Tensor(2, 3)\n", [("TNS302", "legacy")]),
        ("t = torch.ones(2)\na = t.data.clone()\n", [("TNS201", "legacy")]),
        ("m = nn.Linear(2, 2)\nm.weight.data.zero_()\n", [("TNS202", "legacy")]),
        ("t = torch.ones(2)\nn = t.data.shape\n", [("TNS205", "legacy")]),
        ("t = torch.ones(2)\na = t.type(torch.LongTensor)\n", [("TNS307", "legacy")]),
        ("t = torch.ones(2)\na = torch.tensor(t)\n", [("TNS308", "legacy")]),
        # a condition that the code allows
        ("def f(t):\n    return t.numpy()\n", [("TNS103", "warning")]),
        ("t = torch.ones(2).cuda()\na = t.type(torch.LongTensor)\n", [("TNS307", "warning")]),
        ("w = torch.ones(2, requires_grad=True)\na = torch.tensor(w)\n", [("TNS308", "warning")]),
        ("m = nn.Linear(2, 2)\ny = m(torch.ones(2))\ny.data.clamp_(0)\ny.sum().backward()\n", [("TNS202", "warning")]),
        (f"{STEP}for p in m.parameters():\n    p.data.mul_(2)\ny.sum().backward()\n", [("TNS202", "warning")]),
        (f"{STEP}for p in m.parameters():\n    p.grad.data.zero_()\ny.sum().backward()\n", [("TNS202", "legacy")]),
        (
            f"{STEP}for p in m.parameters():\n    p.grad.data.zero_()\ny.sum().backward(create_graph=True)\n",
            [("TNS202", "warning")],
        ),
        (
            "m = nn.Linear(2, 2)\nloss = m(torch.ones(2)).sum()\nm.weight.data.clamp_(0)\nloss.backward()\n",
            [("TNS202", "warning")],
        ),
        # the same write where no graph can hold what it changes
        (
            "m = nn.Linear(2, 2)\nm.weight.data.clamp_(0)\nloss = m(torch.ones(2)).sum()\nloss.backward()\n",
            [("TNS202", "legacy")],
        ),
        # whenever it is reached
        ("w = torch.ones(2, requires_grad=True)\na = w.numpy()\n", [("TNS101", "error")]),
        ("a = torch.Tensor([1], dtype=torch.float64)\n", [("TNS305", "error")]),
        ("loss = torch.ones(2).sum()\na = loss.data[0]\n", [("TNS204", "error")]),
    ],
)
def test_severity_follows_from_facts_at_the_place(code: str, expected: list[tuple[str, str]]) -> None:
    assert severities(code) == expected


@pytest.mark.parametrize(("path", "severity"), [("total.py", "warning"), ("test_total.py", "legacy")])
def test_what_a_test_expects_needs_no_gradient(path: str, severity: str) -> None:
    code = HEAD + "w = torch.ones(2, requires_grad=True)\nexpected = torch.tensor([w.sum(), 1.0])\n"
    assert [(each.code, str(each.severity)) for each in torchlint.check(code, path=path).findings] == [
        ("TNS109", severity)
    ]


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, ["TNS101", "TNS103", "TNS301"]),
        ({"preset": "hazards"}, ["TNS101", "TNS103"]),
        ({"preset": "modernize"}, ["TNS301"]),
        ({"min_severity": Severity.ERROR}, ["TNS101"]),
        ({"min_severity": Severity.WARNING, "preset": "modernize"}, []),
    ],
)
def test_a_preset_shows_what_its_word_says(options: dict[str, Any], codes: list[str]) -> None:
    assert [each.code for each in torchlint.check(MIXED, config=Config(**options)).findings] == codes


def test_fixes_of_what_is_not_shown_are_not_applied() -> None:
    after = torchlint.fix(MIXED, config=Config(preset="hazards")).raw.decode()
    assert "w.detach().numpy()" in after
    assert "torch.Tensor([1, 2])" in after
    after = torchlint.fix(MIXED, config=Config(preset="modernize")).raw.decode()
    assert "torch.tensor([1, 2]" in after
    assert "a = w.numpy()" in after


def test_a_preset_makes_no_suppression_look_unused(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HEAD + "b = torch.Tensor([1, 2])  # noqa: TNS301\n")
    assert torchlint("--preset", "hazards").stdout == "All checks passed!\n"


def test_a_preset_makes_no_entry_of_a_baseline_look_gone(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(MIXED)
    torchlint("--baseline", "k.jsonl", "--write-baseline")
    done = torchlint("--baseline", "k.jsonl", "--preset", "hazards")
    assert (done.status, done.stdout, done.stderr) == (0, "All checks passed! 3 known.\n", "")


def test_torchlints_own_findings_are_always_shown(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("x = 1  # noqa: TNS101\n")
    (tmp_path / "b.py").write_text("def f(:\n")
    found = json.loads(torchlint("--min-severity", "error", "--output-format", "json").stdout)
    assert [each["code"] for each in found] == ["TNS901", "TNS900"]


@pytest.mark.parametrize(("level", "status"), [("legacy", 1), ("warning", 1), ("error", 0)])
def test_fail_on_decides_the_status_and_not_what_is_shown(
    tmp_path: Path, torchlint: Program, level: str, status: int
) -> None:
    (tmp_path / "a.py").write_text(HEAD + "\ndef f(t):\n    return t.numpy()\n\n\nb = torch.Tensor([1, 2])\n")
    done = torchlint("--fail-on", level, "--output-format", "concise")
    assert done.status == status
    assert [line.rpartition(" [")[2] for line in done.stdout.splitlines()[:2]] == [
        "warning, possible]",
        "legacy, certain]",
    ]


def test_the_configuration_takes_a_preset_and_names_a_misspelt_one(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(MIXED)
    (tmp_path / "torchlint.toml").write_text('preset = "hazards"\n')
    assert torchlint("-q", "--output-format", "concise").stdout.count("\n") == 2
    (tmp_path / "torchlint.toml").write_text('preset = "hazard"\n')
    done = torchlint()
    assert done.status == 2
    assert "did you mean `hazards`" in done.stderr


def test_what_is_unproven_is_shown_where_it_is_asked_for(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\n\n\nclass Held:\n    def read(self):\n        return self.kept.numpy()\n"
    )
    assert torchlint().stdout == "All checks passed!\n"
    told = "[warning, unproven]"
    assert told in torchlint("--min-confidence", "unproven", "--output-format", "concise").stdout
    (tmp_path / "torchlint.toml").write_text('min-confidence = "unproven"\n')
    assert told in torchlint("--output-format", "concise").stdout
