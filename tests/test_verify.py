"""`torchlint verify` and `--fix --verify` as users meet them: verdicts, exit status, formats, what is left alone."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from tests.conftest import Program  # noqa: E402
from tests.known_values import tensor  # noqa: E402
from torchlint.cli.arguments import parser_of  # noqa: E402
from torchlint.verify import simulated  # noqa: E402
from torchlint.verify.binding import Choice, worlds  # noqa: E402
from torchlint.verify.extract import Hole  # noqa: E402

GOOD = """
import torch


def scale(x):
    x = x.detach()
    return torch.Tensor([1, 2, 3]) * x.numpy().sum()
"""
WRITE = """
import torch


def wipe(x: torch.Tensor):
    x.data.zero_()
"""
WRONG = """
import torch


def copied(x: torch.Tensor):
    made = torch.empty_like(x)
    return made + x
"""
PLACED = """
import torch
from torch import nn


def place(model: nn.Module, x: torch.Tensor, device: torch.device):
    y = x.to(device)
    return torch.tensor(y), model[0].weight.sum(), nn.Linear(3, 2).to(device).weight.data.sum()
"""
ROWS = """
import torch


def one_hot(labels, n):
    return [[1 if n in label else 0] for label in labels]


def encode(labels, n):
    rows = one_hot(labels, n)
    return [torch.FloatTensor(row).unsqueeze(0) for row in rows]
"""
BUILT = """
import torch
from torch import nn
from torch.nn import init


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.scale = nn.Parameter(torch.ones(3))
        self.scale.data.mul_(2)
        self.fc.weight.data.normal_(0, 0.02)
        self.fc.bias.data[0] = 0.5
        init.kaiming_uniform(self.fc.weight.data)
"""
FROZEN = """
import torch
from torch import nn


class Levels(nn.Module):
    def __init__(self, count=16):
        super().__init__()
        self.conv = nn.Conv2d(count, 1, 1, bias=False).requires_grad_(False)
        levels = torch.arange(count, dtype=torch.float)
        self.conv.weight.data[:] = nn.Parameter(levels.view(1, count, 1, 1))
"""
BROKEN = """
import torch


def doubles():
    return torch.Tensor([1, 2], dtype=torch.float64)
"""
UNLISTED = """
import torch


def swap(x: torch.Tensor, y: torch.Tensor):
    x.data.set_(y)
"""
FOREIGN = """
import torch
from elsewhere import keep


def store(x: torch.Tensor):
    keep(x.data)
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text.lstrip())


def fixes(program: Program, *arguments: str, status: int = 0) -> list[dict[str, object]]:
    ran = program("verify", "--output-format", "json", "--isolated", "--device", "cpu", *arguments)
    assert (ran.status, ran.stderr) == (status, "")
    document = json.loads(ran.stdout)
    assert set(document) == {"torch", "devices", "counts", "fixes"}
    assert document["torch"] == torch.__version__
    assert sum(document["counts"].values()) == len(document["fixes"])
    found: list[dict[str, object]] = document["fixes"]
    return found


# ---------------------------------------------------------------------- verdicts on fixes
def test_a_proven_fix_is_reported_with_its_runs_and_exits_with_0(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    ran = forked("verify", "good.py", "--isolated")
    assert (ran.status, ran.stderr) == (0, "")
    first, second, closing = ran.stdout.splitlines()
    assert first.startswith("good.py:6:18: TNS301 (safe fix) proven: ")
    assert second.startswith("good.py:6:40: TNS103 (")
    assert closing == "2 fixes: 2 proven, 0 refuted, 0 not testable."


@pytest.mark.skipif(simulated.missing() is not None, reason=str(simulated.missing()))
def test_devices_modules_and_indices_are_made_on_the_simulated_device(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, placed=PLACED)
    ran = forked("verify", "placed.py", "--isolated", "--device", "simulated")
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "2 fixes: 2 proven, 0 refuted, 0 not testable."


def test_a_refuted_fix_names_the_world_and_both_values_and_exits_with_1(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, wrong=WRONG)
    ran = forked("verify", "wrong.py", "--isolated")
    assert (ran.status, ran.stderr) == (1, "")
    lines = ran.stdout.splitlines()
    told = re.fullmatch(
        r"wrong.py:5:18: TNS309 \(unsafe fix\) refuted: 1 world differs; pairwise, 1 of (\d+) worlds", lines[0]
    )
    assert told is not None, "the first world that refutes is enough"
    assert int(told[1]) > 300
    assert "    - made = torch.empty_like(x)" in lines
    assert "    + made = torch.zeros_like(x)" in lines
    assert "    = given: x: tensor" in lines
    assert "    = [cpu, leaf, grad, float32, scalar] made: elements: nan -> 0.0" in lines
    assert lines[-1] == "1 fix: 0 proven, 1 refuted, 0 not testable."


def test_a_difference_that_the_fix_announced_is_told_as_such_and_exits_with_0(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, write=WRITE)
    ran = forked("verify", "write.py", "--isolated")
    assert (ran.status, ran.stderr) == (0, "")
    first, closing = ran.stdout.splitlines()
    assert re.fullmatch(
        r"write.py:5:7: TNS202 \(unsafe fix\) differs as announced: the write becomes visible to autograd; "
        r"\d+ worlds differ(, \d+ do not apply)?; pairwise, \d+ of \d+ worlds",
        first,
    )
    assert closing == "1 fix: 0 proven, 1 differs as announced, 0 refuted, 0 not testable."
    lines = forked("verify", "write.py", "--isolated", "-v").stdout.splitlines()
    assert lines[0] == first
    assert {"    = given: x: tensor", "    - x.data.zero_()", "    +     x.zero_()"} <= set(lines)
    assert (
        "    = [cpu, leaf, grad, float32, scalar] input x: writes counted: 0 -> 1 (announced by no-live-graph)"
    ) in lines
    assert forked("verify", "write.py", "--isolated", "-q").stdout == ""


def test_a_write_to_a_module_that_is_being_built_is_run_on_new_tensors(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, built=BUILT)
    found = fixes(forked, "built.py")
    assert [(each["code"], each["applicability"], each["verdict"]) for each in found] == [
        ("TNS202", "safe", "proven")
    ] * 4
    scale, bias = (f"no graph holds `self.{each}` yet, as the rule found" for each in ("scale", "fc.bias"))
    alone = "no graph holds `self.fc.weight` yet, as the rule found"
    assert [each["reason"] for each in found] == [scale, alone, bias, alone]


def test_a_write_into_a_leaf_is_run_on_leaves(forked: Program, tmp_path: Path) -> None:
    lines = ("w[0] = 0", "w.zero_()", "flat = w.view(-1)\n    flat.mul_(2)")
    body = "".join(
        f"def f{at}(n: int):\n    w = torch.ones(n, requires_grad=True)\n    {line}\n    return w\n\n\n"
        for at, line in enumerate(lines)
    )
    write(tmp_path, leaf="import torch\n\n\n" + body)
    found = fixes(forked, "leaf.py")
    assert [(each["code"], each["applicability"], each["verdict"]) for each in found] == [
        ("TNS206", "safe", "proven")
    ] * len(lines)


def test_the_base_of_what_was_just_made_counts_no_writes_either(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, frozen=FROZEN)
    (found,) = fixes(forked, "frozen.py")
    assert (found["code"], found["applicability"], found["verdict"]) == ("TNS202", "safe", "proven")
    assert found["reason"] == "no graph holds `self.conv.weight` yet, as the rule found"


def test_lists_hold_what_inference_says_that_they_hold(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, rows=ROWS)
    (found,) = fixes(forked, "rows.py")
    assert (found["code"], found["applicability"], found["verdict"]) == ("TNS304", "safe", "proven")
    assert found["fragment"]["given"] == [  # type: ignore[index]
        {"name": "rows", "stands_for": "rows", "kind": "list [[1, 0.5], [2, 3]] or list []", "assumed": False}
    ]


def test_a_write_that_is_safe_by_nothing_is_run_on_tensors_that_graphs_hold(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, write=WRITE.replace("wipe", "reset_parameters"))
    (found,) = fixes(forked, "write.py")
    assert (found["applicability"], found["verdict"]) == ("unsafe", "differs as announced")


def test_what_cannot_be_tested_says_why_and_exits_with_0(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, foreign=FOREIGN, unlisted=UNLISTED)
    ran = forked("verify", ".", "--isolated", "--device", "cpu")
    assert (ran.status, ran.stderr) == (0, "")
    told, *others = ran.stdout.splitlines()
    assert told.startswith(
        "foreign.py:6:12: TNS201 (unsafe fix) differs as announced: a write through the value becomes visible to "
        "autograd; "
    )
    assert re.search(r" worlds agree; pairwise, .* worlds \(code that is not run may write it, row 6\)$", told)
    assert others == [
        "unlisted.py:5:7: TNS202 (unsafe fix) not testable: `.set_()` is not on the list",
        "2 fixes: 0 proven, 1 differs as announced, 0 refuted, 1 not testable.",
    ]


def test_code_that_always_raises_is_repaired_and_that_is_no_proof(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, broken=BROKEN)
    ran = forked("verify", "broken.py", "--isolated", "--device", "cpu")
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "broken.py:5:18: TNS305 (safe fix) repaired: the old code raises in all 3 worlds; the new code runs in 3 of "
        "them",
        "1 fix: 0 proven, 1 repaired, 0 refuted, 0 not testable.",
    ]
    (found,) = fixes(forked, "broken.py")
    assert [found[key] for key in ("verdict", "worlds", "ran", "differing", "repaired")] == ["repaired", 3, 0, 0, 3]
    (why,) = found["not_applying"]  # type: ignore[misc]
    assert why["worlds"] == 3
    assert why["reason"].startswith("the old code raises TypeError: new() received an invalid combination")
    ran = forked("--fix", "--verify", "--isolated", "broken.py")
    assert (ran.status, ran.stderr) == (0, "")
    assert "torch.tensor([1, 2], dtype=torch.float64)" in (tmp_path / "broken.py").read_text()


def test_the_json_tells_what_was_run(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, wrong=WRITE)
    (found,) = fixes(forked, "wrong.py", "--exhaustive")
    assert {
        key: found[key] for key in ("filename", "location", "code", "name", "applicability", "verdict", "reason")
    } == {
        "filename": "wrong.py",
        "location": {"row": 5, "column": 7},
        "code": "TNS202",
        "name": "data-mutation",
        "applicability": "unsafe",
        "verdict": "differs as announced",
        "reason": None,
    }
    assert found["fragment"] == {
        "before": "def case(x):\n    x.data.zero_()",
        "after": "def case(x):\n    with torch.no_grad():\n        x.zero_()",
        "given": [{"name": "x", "stands_for": "x", "kind": "tensor", "assumed": False}],
    }
    distinct = worlds("cpu", (Hole("x", "x", tensor(), "read"),), (Choice("tensor"),), grad_is_off=False)
    assert found["worlds"] == found["ran"] == found["differing"] == len(distinct) > 300
    assert found["differences"][0] == {  # type: ignore[index]
        "world": "cpu, leaf, grad, float32, scalar",
        "observable": "input x: writes counted",
        "before": "0",
        "after": "1",
        "given": "",
        "announced_by": "no-live-graph",
    }
    assert found["announced"] == [{"assumption": "no-live-graph", "effect": "the write becomes visible to autograd"}]


def test_a_fix_is_judged_in_a_pairwise_choice_of_worlds_unless_all_are_asked_for(
    forked: Program, tmp_path: Path
) -> None:
    write(tmp_path, copied="import torch\n\n\ndef f(x: torch.Tensor):\n    y = x * 2\n    return torch.tensor(y)\n")
    (chosen,), (all_of_them,) = (fixes(forked, "copied.py", *more) for more in ([], ["--exhaustive"]))
    assert chosen["available"] == all_of_them["available"] == all_of_them["worlds"]
    assert 0 < chosen["worlds"] < all_of_them["worlds"] / 3  # type: ignore[operator]
    assert chosen["verdict"] == all_of_them["verdict"] == "proven"
    told = forked("verify", "copied.py", "--isolated", "--device", "cpu").stdout.splitlines()[0]
    assert told.endswith(f" worlds agree; pairwise, {chosen['worlds']} of {chosen['available']} worlds")
    assert "pairwise" not in forked("verify", "copied.py", "--isolated", "--device", "cpu", "--exhaustive").stdout


ON_THE_HOST = pytest.mark.skipif(
    sys.platform == "darwin" or bool(torch.version.cuda or torch.version.hip or getattr(torch.version, "xpu", None)),
    reason="only torch itself can tell which devices are here",
)


@ON_THE_HOST
def test_verdicts_on_an_unchanged_file_are_kept_and_need_no_torch(program: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    arguments = "verify", "good.py", "--isolated", "--output-format", "json"
    first = program(*arguments)
    assert json.loads(first.stdout)["counts"]["proven"] == 2
    write(tmp_path, sitecustomize="import sys\n\nsys.modules['torch'] = None\n")
    without = {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[1]}"}
    assert program(*arguments, **without) == first
    assert program(*arguments, "--no-cache", **without).status == 2
    write(tmp_path, good=GOOD.replace("[1, 2, 3]", "[1, 2]"))
    assert "torch" in program(*arguments, **without).stderr, "what is run is another code"


def test_nothing_is_kept_where_nobody_wants_it(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    fixes(forked, "good.py", "--cache-dir", "kept", "--no-cache")
    assert [each.name for each in tmp_path.iterdir()] == ["good.py"]
    fixes(forked, "good.py", "--cache-dir", "kept")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["good.py", "kept"]


def test_worlds_that_do_not_apply_are_counted_and_the_reasons_told_on_request(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, number="import torch\n\n\ndef f(x: torch.Tensor):\n    return x.data[0].tolist()\n")
    short, long = (
        forked("verify", "number.py", "--isolated", "--device", "cpu", *more).stdout.splitlines()
        for more in ([], ["-v"])
    )
    told = re.fullmatch(
        r"number.py:5:14: TNS201 \((?:un)?safe fix\) proven: (\d+) worlds agree, (\d+) do not apply; pairwise, .*",
        short[0],
    )
    assert told is not None
    assert long[0] == short[0]
    reasons = [
        re.fullmatch(r"    = (\d+) do not apply: the old code raises IndexError: .*", each) for each in long[1:-1]
    ]
    assert sum(int(each[1]) for each in reasons if each) == int(told[2]) > 0
    (found,) = fixes(forked, "number.py")
    assert found["worlds"] - found["ran"] == int(told[2])  # type: ignore[operator]
    assert sum(each["worlds"] for each in found["not_applying"]) == int(told[2])  # type: ignore[attr-defined]
    assert found["not_applying"][0]["reason"].startswith("the old code raises IndexError")  # type: ignore[index]


def test_codes_are_chosen(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD, wrong=WRITE)
    assert {each["code"] for each in fixes(forked, ".", "--codes", "TNS3,TNS103")} == {"TNS301", "TNS103"}


def test_a_fragment_that_takes_too_long_is_stopped(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, slow="import torch\n\n\ndef f(x: torch.Tensor):\n    return x.data + sum(range(10**11))\n")
    (found,) = fixes(forked, "slow.py", "--time-limit", "2")
    assert (found["verdict"], found["reason"]) == ("not testable", "stopped: it took longer than 2 s of processor time")


# ---------------------------------------------------------------------- the rules' own examples
def test_without_a_path_the_rules_are_proven(forked: Program) -> None:
    ran = forked("verify", "--codes", "TNS104,data-rebinding", "--output-format", "json")
    assert (ran.status, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    first, second = document["rules"]
    assert (first["code"], first["verdict"], second["code"], second["verdict"], second["reason"]) == (
        "TNS104", "proven", "TNS203", "not testable", "its fixes are only shown, never applied",
    )  # fmt: skip
    assert first["examples"] == 5
    assert document["counts"] == {
        "proven": 1,
        "differs as announced": 0,
        "repaired": 0,
        "refuted": 0,
        "not testable": 1,
    }
    lines = forked("verify", "--codes", "TNS203").stdout.splitlines()
    assert lines[-1].startswith(f"Run with torch {torch.__version__} on cpu")


# ---------------------------------------------------------------------- trouble
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "abacus"], "--device abacus: not on this machine, which has cpu"),
        (["--codes", "TNS777"], "unknown rule `TNS777`: the families are TNS1, "),
        (["--time-limit", "0"], "expected a number of seconds above 0, got `0`"),
        (["--output-format", "yaml"], 'expected one of text, json, got "yaml"'),
        (["--tempo", "3"], "unknown flag `--tempo`"),
        (["nowhere.py"], "nowhere.py: "),
        (["-"], "`verify` reads files, not standard input"),
    ],
)
def test_a_run_that_makes_no_sense_exits_with_2(torchlint: Program, arguments: list[str], message: str) -> None:
    ran = torchlint("verify", *arguments)
    assert ran.status == 2
    assert message in ran.stderr
    assert ran.stderr.startswith("torchlint: error: ")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "good.py"], ["--fix", "--verify", "good.py"]])
def test_without_torch_one_line_says_what_to_install(program: Program, tmp_path: Path, arguments: list[str]) -> None:
    write(tmp_path, good=GOOD, sitecustomize="import sys\n\nsys.modules['torch'] = None\n")
    root = Path(__file__).parents[1]
    ran = program(*arguments, PYTHONPATH=f"{tmp_path}:{root}")
    assert (ran.status, ran.stdout, ran.stderr) == (
        2, "", "torchlint: error: running fixes needs torch, which is not installed: pip install numpy torch\n",
    )  # fmt: skip
    assert (tmp_path / "good.py").read_text() == GOOD.lstrip()


def test_files_named_like_modules_that_torch_wants_are_not_run(program: Program, tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'canary')!r}, 'w').close()\n"
    write(tmp_path, good=GOOD, numpy=trap, torch=trap, queue=trap, cProfile=trap)
    assert [each["verdict"] for each in fixes(program, "good.py")] == ["proven", "proven"]
    assert not (tmp_path / "canary").exists()


def test_a_file_that_cannot_be_read_does_not_hide_the_others(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    ran = forked("verify", "good.py", "missing.py", "--isolated")
    assert ran.status == 2
    assert "missing.py" in ran.stderr
    assert ran.stdout.splitlines()[-1] == "2 fixes: 2 proven, 0 refuted, 0 not testable."


def test_every_flag_stands_on_the_page_and_no_other() -> None:
    page = (Path(__file__).parents[1] / "docs" / "verify.md").read_text(encoding="utf-8")
    known = {flag for action in parser_of("verify")._actions for flag in action.option_strings if flag.startswith("--")}
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page))
    assert known - {"--help"} <= said | {"--quiet"}
    harness = {"--write", "--report"}  # of the commands that write the ledger and the figures on real code
    assert said - known <= {"--fix", "--diff", "--verify", "--unsafe-fixes", "--verbose"} | harness


# ---------------------------------------------------------------------- --fix --verify
def test_what_is_refuted_or_cannot_be_tested_is_not_applied(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD, wrong=WRONG, foreign=FOREIGN, unlisted=UNLISTED)
    ran = forked("--fix", "--verify", "--unsafe-fixes", "--isolated", ".", "--output-format", "concise")
    assert ran.status == 1
    assert "torch.tensor([1, 2, 3], dtype=torch.float32)" in (tmp_path / "good.py").read_text()
    assert (tmp_path / "wrong.py").read_text() == WRONG.lstrip()
    assert (tmp_path / "unlisted.py").read_text() == UNLISTED.lstrip()
    assert (tmp_path / "foreign.py").read_text() == FOREIGN.lstrip().replace(".data", ".detach()")
    assert ran.stderr.splitlines() == [
        "torchlint: warning: wrong.py:5:18: fix of TNS309 not applied, refuted in [cpu, leaf, grad, float32, scalar] "
        "made: elements: nan -> 0.0",
        "torchlint: warning: 1 fix not applied, not testable (--verbose names the places): `.set_()` is not on the "
        "list",
    ]
    assert [line.split(" ")[0] for line in ran.stdout.splitlines()[:2]] == ["unlisted.py:5:7:", "wrong.py:5:18:"]


def test_what_differs_as_announced_is_applied_and_told_of_on_request(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, write=WRITE)
    ran = forked("--fix", "--verify", "--isolated", "write.py")
    assert (tmp_path / "write.py").read_text() == WRITE.lstrip()
    ran = forked("--fix", "--verify", "--unsafe-fixes", "--isolated", "write.py", "-v", "--no-cache")
    assert (tmp_path / "write.py").read_text() == WRITE.lstrip().replace(
        "    x.data.zero_()", "    with torch.no_grad():\n        x.zero_()"
    )
    assert (
        "torchlint: info: write.py:5:7: fix of TNS202 let through, differs as announced: the write becomes visible to "
        "autograd"
    ) in ran.stderr.splitlines()


def test_each_round_is_verified_before_it_is_applied(forked: Program, tmp_path: Path) -> None:
    text = """
    import torch
    from torch.autograd import Variable


    def f():
        return Variable(torch.Tensor([1, 2]))
    """
    write(tmp_path, rounds=textwrap.dedent(text))
    ran = forked("--fix", "--verify", "--isolated", "rounds.py")
    assert (ran.status, ran.stderr) == (0, "")
    assert (tmp_path / "rounds.py").read_text() == (
        "import torch\n\n\ndef f():\n    return torch.tensor([1, 2], dtype=torch.float32)\n"
    )


def test_a_diff_shows_proven_fixes_only(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, both=GOOD + WRONG.removeprefix("\nimport torch\n"))
    ran = forked("--diff", "--verify", "--unsafe-fixes", "--isolated", "both.py", "--quiet")
    assert (ran.status, ran.stderr) == (1, "")
    changed = [line for line in ran.stdout.splitlines() if line[:1] in "+-"]
    assert len(changed) == 4
    assert not any("made" in line for line in changed)


def test_standard_input_is_screened_too(forked: Program) -> None:
    ran = forked("--fix", "--verify", "--unsafe-fixes", "--isolated", "-", stdin=WRONG.lstrip().encode())
    assert ran.raw == WRONG.lstrip().encode()
    assert "-:5:18: fix of TNS309 not applied, refuted in" in ran.stderr


def test_verifying_without_fixing_is_another_command(forked: Program, tmp_path: Path) -> None:
    write(tmp_path, good=GOOD)
    ran = forked("--verify", "good.py")
    assert ran.status == 2
    assert "torchlint verify PATH" in ran.stderr
