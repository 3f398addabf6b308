"""What a person reads of a project with much old code: what may break first, the rest in few lines, and true counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Program

OLD = "import torch\n\n\ndef f(x: torch.Tensor):\n" + "    x.data.add_(1)\n"
HAZARD = "import torch\n\ntorch.ones(1, requires_grad=True).numpy()\n"
WRAPPED = "import torch\nfrom torch.autograd import Variable\n\nx = Variable(torch.zeros(3))\n"


def test_what_may_break_stands_first_and_in_full(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(OLD)
    (tmp_path / "b.py").write_text(HAZARD)
    lines = torchlint().stdout.splitlines()
    assert lines[0].startswith("TNS101 [*] `.numpy()` on a tensor that requires grad")
    assert "  = fix: Insert `.detach()` before `.numpy()`" in lines
    old = [line for line in lines if line.startswith("a.py:5:7: TNS202")]
    assert len(old) == 1
    assert lines.index(old[0]) > lines.index(next(line for line in lines if "= fix" in line))
    assert lines[-1].startswith("Found 1 hazard (1 fixable), 1 legacy")


def test_much_that_is_old_takes_a_line_for_each_file(tmp_path: Path, torchlint: Program) -> None:
    for number in range(30):
        (tmp_path / f"a{number:02}.py").write_text(OLD + "    x.data.mul_(2)\n" * (number == 7))
    lines = torchlint().stdout.splitlines()
    assert lines[0] == "a07.py: 2 legacy (TNS202 × 2)"
    assert lines[1] == "a00.py: 1 legacy (TNS202 × 1)"
    assert lines[24:28] == [
        "a24.py: 1 legacy (TNS202 × 1)",
        "… and 5 more in 5 files",
        "To see each of them, use --output-format concise, or -v for reasons and repairs.",
        "",
    ]
    assert lines[-1].startswith("Found 31 legacy")
    assert torchlint("-v").stdout.count("data-mutation (legacy") == 31


def test_what_is_not_understood_is_no_hazard(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    (tmp_path / "b.py").write_text(HAZARD)
    done = torchlint("--output-format", "concise")
    assert done.status == 1
    assert done.stdout.splitlines()[-1] == "Found 1 syntax error, 1 hazard (1 fixable): fix with --fix."


@pytest.mark.parametrize("flag", ["--fix", "--diff", "--fix-only"])
def test_fixes_that_come_up_after_others_are_told(flag: str, tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(WRAPPED)
    assert "1 legacy (1 fixable)" in torchlint("--output-format", "concise").stdout
    done = torchlint(flag)
    assert "2 findings" in done.stdout + done.stderr
    assert "(1 of them came up after other fixes)" in done.stdout + done.stderr


def test_what_could_not_be_written_is_not_offered_again(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HAZARD)
    (tmp_path / "a.py").chmod(0o444)
    done = torchlint("--fix")
    assert done.status == 2
    assert done.stdout.splitlines()[-1] == "Found 1 hazard (1 fixable)."


@pytest.mark.parametrize("limit", [None, "0", "100000"])
def test_a_file_that_is_too_large_is_skipped_and_fails_nothing(
    limit: str | None, tmp_path: Path, torchlint: Program
) -> None:
    text = "import torch\n\nx = [" + "1, " * 60_000 + "]\ny = torch.Tensor([1.0])\n"
    (tmp_path / "a.py").write_text(text)
    done = torchlint("--output-format", "concise", *(["--max-file-size", limit] if limit else []))
    if limit == "100000":
        assert done.status == 0
        assert done.stdout.startswith(f"a.py:1:1: TNS904 not checked: {len(text):,} bytes of code, `max-file-size` is ")
        assert done.stdout.endswith("Found 1 file skipped.\n")
    else:
        assert (done.status, "TNS301" in done.stdout) == (1, True)
