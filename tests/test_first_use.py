"""What a demanding first user asked for: directives that are misspelt, baselines that shrink, parts, a shared file."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HIT = "import torch\n\nw = torch.ones(2, requires_grad=True)\n{} = w.numpy()\n"
Program = Callable[..., Any]


# ---------------------------------------------------------------------- comments
@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("# torchlint: noqa", "write `torchlint: ignore[CODE]`"),
        ("# torchlint: ignor[TNS101]", "did you mean `ignore`"),
        ("# torchlint:skip", "write `torchlint: ignore[CODE]`"),
        ("# why  # torchlint: please", "there are `ignore`"),
    ],
)
def test_words_that_are_no_order_are_a_finding(tmp_path: Path, torchlint: Program, comment: str, told: str) -> None:
    (tmp_path / "a.py").write_text(f"x = 1  {comment}\n")
    done = torchlint("--output-format", "concise", "-q")
    assert done.status == 1
    assert "TNS903" in done.stdout
    assert told in done.stdout


@pytest.mark.parametrize(
    "line", ["x = 1  # see torchlint", "x = '# torchlint: noqa'", "x = 1  # a torchlint : b", "# torchlint is nice"]
)
def test_other_words_are_none_of_our_business(tmp_path: Path, torchlint: Program, line: str) -> None:
    (tmp_path / "a.py").write_text(line + "\n")
    assert torchlint().status == 0


# ---------------------------------------------------------------------- the baseline
def test_a_baseline_is_pruned_and_takes_in_nothing_new(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text(HIT.format("a") + "b = w.numpy()\n")
    torchlint("--baseline", "k.jsonl", "--write-baseline")
    (tmp_path / "a.py").write_text(HIT.format("a") + "\n\ndef f(t):\n    return t.numpy()\n")
    done = torchlint("--baseline", "k.jsonl")
    assert "remove it with --prune-baseline" in done.stderr
    done = torchlint("--baseline", "k.jsonl", "--prune-baseline", "--output-format", "concise")
    assert done.status == 1
    assert "TNS103" in done.stdout
    assert done.stderr == "k.jsonl holds 1 known finding: 0 added, 1 gone.\n"
    assert torchlint("--baseline", "k.jsonl", "--prune-baseline", "--write-baseline").status == 2
    assert torchlint("--prune-baseline").status == 2


# ---------------------------------------------------------------------- parts of a run
def test_the_parts_of_a_run_are_all_of_it_and_share_nothing(tmp_path: Path, torchlint: Program) -> None:
    for number in range(20):
        (tmp_path / f"m{number}.py").write_text("x = 1\n")
    parts = [torchlint("--shard", f"{part}/3", "--show-files").stdout.splitlines() for part in (1, 2, 3)]
    assert sorted(path for part in parts for path in part) == sorted(torchlint("--show-files").stdout.splitlines())
    assert all(parts)
    (tmp_path / "more.py").write_text("x = 1\n")
    again = [torchlint("--shard", f"{part}/3", "--show-files").stdout.splitlines() for part in (1, 2, 3)]
    assert all(set(old) <= set(new) for old, new in zip(parts, again, strict=True))
    assert torchlint("--shard", "4/3").status == 2


# ---------------------------------------------------------------------- a shared configuration
def test_a_configuration_extends_another_one(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "base.toml").write_text('select = ["TNS1"]\nmin-confidence = "certain"\n')
    (tmp_path / "torchlint.toml").write_text('extend = "base.toml"\nmin-confidence = "possible"\n')
    (tmp_path / "a.py").write_text("import torch\n\n\ndef f(t):\n    return t.numpy(), torch.Tensor([1])\n")
    told = torchlint("--output-format", "concise", "-q").stdout
    assert "TNS103" in told
    assert "TNS301" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('extend = "torchlint.toml"\n', "leads back to this file"),
        ('extend = "gone.toml"\n', "gone.toml: cannot be read"),
        ("extend = 3\n", "expected the path of a configuration file"),
        ('extend = "pyproject.toml"\n', "has no `[tool.torchlint]`"),
        ('[tool.torchlint]\nselect = ["TNS1"]\n', "leave out `[tool.torchlint]`"),
    ],
)
def test_what_cannot_be_extended_is_named(tmp_path: Path, torchlint: Program, text: str, told: str) -> None:
    (tmp_path / "torchlint.toml").write_text(text)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "a.py").write_text("x = 1\n")
    done = torchlint()
    assert done.status == 2
    assert told in done.stderr


# ---------------------------------------------------------------------- looking again
def test_a_watch_checks_again_when_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from torchlint.cli.session import Session
    from torchlint.cli.watch import watch
    from torchlint.config.options import Options
    from torchlint.output.screen import Screen

    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    session = Session(str(tmp_path), io.BytesIO(), io.StringIO(), io.StringIO(), Screen(), 1)
    checked = []

    def check(_options: Options, _session: Session) -> int:
        checked.append(file.read_text())
        if len(checked) == 3:
            raise KeyboardInterrupt
        new = tmp_path / "new"
        new.write_text(file.read_text() + "y = 2\n")
        threading.Timer(0.02, new.replace, (file,)).start()
        return 1

    assert watch(Options(), session, check, pause=0.005) == 1
    assert [text.count("y") for text in checked] == [0, 1, 2]


# ---------------------------------------------------------------------- words
def test_a_family_is_listed_and_a_code_explained(torchlint: Program) -> None:
    listed = torchlint("explain", "TNS2").stdout
    assert len(listed.splitlines()) == 6
    assert listed.startswith("TNS201  data-read")
    assert torchlint("explain", "TNS201").stdout.startswith("# data-read (TNS201)")


def test_nothing_is_wrapped_or_cut_where_nobody_looks(tmp_path: Path, torchlint: Program) -> None:
    line = "a = " + "1 + " * 20 + "int(w.numpy()[0])" + " + 1" * 20
    (tmp_path / "a.py").write_text("import torch\n\nw = torch.ones(2, requires_grad=True)\n" + line + "\n")
    told = torchlint().stdout
    assert line in told
    assert "…" not in told


def test_a_style_that_an_old_torch_lacks_is_said_not_to_be_used(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nw = torch.ones(2, requires_grad=True)\na = w.numpy()\n")
    done = torchlint("--numpy-style", "force", "--target-torch", "1.8")
    assert done.stderr.startswith("torchlint: warning: `numpy-style = force` is not used: the code is to run on")
    assert "w.detach().numpy()" in done.stdout
    new = torchlint("--numpy-style", "force", "--target-torch", "1.13")
    assert "not used" not in new.stderr
    assert "w.numpy(force=True)" in new.stdout
