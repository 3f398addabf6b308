"""What is cut out of a user's code and run: only what is on the list, behind walls, whatever else the code does."""

from __future__ import annotations

import builtins
import importlib
import multiprocessing
import os
import signal
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from tests.known_values import tensor  # noqa: E402
from torchlint.config import Config  # noqa: E402
from torchlint.diagnostics.model import Applicability, Finding, Settings  # noqa: E402
from torchlint.linter.engine import check_bytes  # noqa: E402
from torchlint.source.text import Source  # noqa: E402
from torchlint.verify import allowed, sandbox  # noqa: E402
from torchlint.verify.binding import Bound, Choice  # noqa: E402
from torchlint.verify.compare import judge  # noqa: E402
from torchlint.verify.extract import Hole  # noqa: E402
from torchlint.verify.fragment import Uncut, fragments  # noqa: E402
from torchlint.verify.observe import observe  # noqa: E402
from torchlint.verify.run import Court  # noqa: E402
from torchlint.verify.verdicts import DIFFERS_AS_ANNOUNCED, NOT_TESTABLE, PROVEN, Verdict  # noqa: E402
from torchlint.verify.worlds import World, ordinary  # noqa: E402

HEAD = (
    "import os\nimport pickle\nimport subprocess\nimport numpy as np\nimport torch\nfrom torch import nn\nimport mine\n"
)


def proposed(body: str, head: str = HEAD, select: tuple[str, ...] = ()) -> list[tuple[Source, Finding, Settings]]:
    raw = (head + textwrap.dedent(body)).encode()
    result = check_bytes("user.py", raw, Config(**({"select": select} if select else {})))
    assert result.source is not None
    return [
        (result.source, each, Settings())
        for each in result.findings
        if each.fix and each.fix.applicability >= Applicability.UNSAFE
    ]


def cut(body: str, **options: Any) -> tuple[str, str]:
    """The fragment that is run first, before and after, without its first line."""
    (fix,) = proposed(body, **options)
    found = fragments(*fix)
    assert not isinstance(found, Uncut), found.reason
    return tuple("\n".join(each.splitlines()) for each in (found[0].before, found[0].after))  # type: ignore[return-value]


Fix = tuple[Source, Finding, Settings]


def ruled(fixes: list[Fix], seconds: float) -> dict[int, Verdict]:
    """Return the verdicts of a court in this process: only one in which nothing went back through a graph may fork."""
    return dict(Court(["cpu"], seconds).verdicts(fixes))


@pytest.fixture(scope="module", autouse=True)
def court_room() -> Iterator[None]:
    """A process of its own for all courts of this module: other tests have used autograd in this one."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        _ROOMS.append(pool)
        yield
        _ROOMS.clear()


_ROOMS: list[ProcessPoolExecutor] = []


def verdicts_on(fixes: list[Fix], seconds: float = 60) -> dict[int, Verdict]:
    return _ROOMS[0].submit(ruled, fixes, seconds).result()


def judged(body: str, seconds: float = 60, **options: Any) -> list[Verdict]:
    found = verdicts_on(proposed(body, **options), seconds)
    return [found[at] for at in range(len(found))]


# ---------------------------------------------------------------------- what is cut out
def test_a_statement_is_cut_out_with_the_assignments_it_rests_on() -> None:
    body = """
    def f(path):
        size = (2, 3)
        other = mine.read(path)
        counts = torch.Tensor(size[0], len(size))
        return counts
    """
    assert cut(body) == (
        "def case():\n    size = (2, 3)\n    counts = torch.Tensor(size[0], len(size))",
        "def case():\n    size = (2, 3)\n    counts = torch.empty(size[0], len(size))",
    )


def test_what_is_not_on_the_list_becomes_a_name() -> None:
    body = """
    class Net(nn.Module):
        def f(self, x: torch.Tensor):
            self.kept[mine.key(x)] = x.data * mine.weight(x, 2) + self.bias
    """
    before, after = cut(body)
    assert before == (
        "def case(x, mine_weight_x_2, self_bias, self_kept, mine_key_x):\n"
        "    self_kept[mine_key_x] = x.data * mine_weight_x_2 + self_bias"
    )
    assert after == before.replace("x.data", "x.detach()")


def test_a_fix_inside_a_call_of_foreign_code_is_cut_out_alone() -> None:
    assert cut("def f(x: torch.Tensor):\n    mine.keep(x.data.sum(), os.getcwd())\n") == (
        "def case(x):\n    return x.data.sum()",
        "def case(x):\n    return x.detach().sum()",
    )


def test_a_block_that_a_fix_makes_is_compared_with_the_statements_in_it() -> None:
    body = """
    def f(w: torch.Tensor, keep):
        if keep:
            w.data.clamp_(0, 1)
    """
    assert cut(body) == (
        "def case(w):\n    w.data.clamp_(0, 1)",
        "def case(w):\n    with torch.no_grad():\n        w.clamp_(0, 1)",
    )


def test_names_are_followed_through_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # away from this project, whose tests set defaults
    head = "import torch as T\nfrom torch import FloatTensor as FT\nimport torch.nn.functional as F\n"
    assert cut("x = F.relu(FT([1, 2]))\n", head=head) == (
        "def case():\n    x = torch.nn.functional.relu(torch.FloatTensor([1, 2]))",
        "def case():\n    x = torch.nn.functional.relu(torch.tensor([1, 2], dtype=torch.float32))",
    )


def test_an_assignment_counts_only_where_nothing_else_gives_the_name_its_value() -> None:
    body = """
    def f(n):
        found = []
        for each in range(n):
            found.append(each)
        return torch.Tensor([sum(found), 1])
    """
    assert cut(body)[0] == "def case(found):\n    return torch.Tensor([sum(found), 1])"


# ---------------------------------------------------------------------- what is concluded
def test_what_inference_proved_is_believed() -> None:
    (verdict,) = judged(
        "from torch.autograd import Variable\n\n\ndef f(x):\n    y = x.detach()\n    return Variable(y)\n"
    )
    assert (verdict.outcome, verdict.given[0]) == (PROVEN, ("x", "x", "tensor", True))


def test_a_write_through_what_a_fix_makes_is_not_overlooked() -> None:
    body = """
    def f(x: torch.Tensor):
        kept = x.data
        kept.mul_(2)
    """
    (verdict,) = judged(body, select=("TNS201",))
    assert (verdict.outcome, verdict.reason) == (DIFFERS_AS_ANNOUNCED, "code that is not run may write it, row 11")
    assert verdict.announced == (("only-read", "a write through the value becomes visible to autograd"),)


def test_every_kind_that_an_argument_may_have_is_tried() -> None:
    (verdict,) = judged("def f(n):\n    return nn.Parameter(torch.Tensor(n))\n")
    assert verdict.outcome == DIFFERS_AS_ANNOUNCED
    assert verdict.given == (("n", "n", "tensor or int 3 or list [2, 3] or array", True),)
    assert verdict.differences[0].announced_by == "argument-is-data"
    assert "TypeError: empty()" in verdict.differences[0].after


def test_code_that_never_runs_proves_nothing() -> None:
    (verdict,) = judged("def f(x: torch.Tensor):\n    x[0, 0, 0, 0].data.zero_()\n")
    assert verdict.outcome == NOT_TESTABLE
    assert verdict.reason.startswith("the old code raises in every world: IndexError: too many indices")


def test_where_a_statement_never_runs_the_part_that_does_is_proven_and_said_to_be_one() -> None:
    (verdict,) = judged("def f(x: torch.Tensor):\n    return x.data.sum() + [1][2]\n")
    assert (verdict.outcome, verdict.reason) == (PROVEN, "for the part of the statement that could be run")
    assert verdict.before == "def case(x):\n    return x.data.sum()"


def test_an_import_that_goes_is_proven_where_nothing_speaks_of_it() -> None:
    (verdict,) = judged("", head="import torch\nfrom torch.autograd import Variable\n\nprint(torch.ones(2))\n")
    assert (verdict.outcome, verdict.before) == (PROVEN, "def case():\n    imported = torch.autograd.Variable")


def test_an_annotation_is_said_to_do_nothing() -> None:
    head = "import torch\nfrom torch.autograd import Variable\n\n\n"
    (verdict,) = judged("def f(x: Variable):\n    return x + 1\n", head=head, select=("TNS403",))
    assert (verdict.outcome, verdict.reason) == (NOT_TESTABLE, "an annotation does nothing at run time")


def test_code_that_needs_dimensions_finds_worlds_that_have_them() -> None:
    body = """
    def f(x: torch.Tensor):
        y = torch.zeros_like(x, requires_grad=True)
        return y.data.flatten(1).norm(p=2, dim=1)
    """
    (verdict,) = judged(body)
    assert (verdict.outcome, verdict.reason) == (PROVEN, "")
    assert 0 < verdict.ran < verdict.worlds


def test_values_that_cannot_be_made_are_no_failure_of_the_code() -> None:
    """Such as of a device that a driver does not find."""
    hole = Hole("x", "x", tensor(), "read")
    snippet = Bound("def case(x):\n    return x", (hole,), (Choice("tensor"),))
    plain = World("cpu", "leaf", "grad", "float32", "matrix")
    judged = judge(snippet, snippet, [plain, replace(plain, device="abacus")])
    assert (judged.worlds, judged.ran, judged.holds) == (2, 1, True)
    ((reason, count),) = judged.passed_over
    assert reason.startswith("no such values here: RuntimeError: ")
    assert count == 1


# ---------------------------------------------------------------------- hostile code
HOSTILE = {
    "writes a file": "open({canary}, 'w').write(str(x.data))",
    "writes a file beside": "x.data.sum() + open({canary}, 'w').write('x')",
    "runs a program": "os.system('touch ' + {canary} + str(x.data))",
    "runs a program beside": "x.data.sum() * os.system('touch ' + {canary})",
    "starts a process": "subprocess.run(['touch', {canary}, x.data.sum()])",
    "imports by name": "__import__('os').system('touch ' + {canary} + str(x.data))",
    "imports beside": "x.data + __import__('pathlib').Path({canary}).touch()",
    "evaluates": "eval('open(%r, \"w\")' % {canary}, {{'x': x.data}})",
    "executes beside": "x.data + exec('open(%r, \"w\")' % {canary})",
    "asks for an attribute by name": "getattr(x.data, '__class__').__init__.__globals__",
    "saves a tensor": "torch.save(x.data, {canary})",
    "loads a tensor": "torch.load({canary}, x.data)",
    "loads code": "torch.hub.load({canary}, 'model', x.data)",
    "saves an array": "np.save({canary}, x.data.numpy())",
    "writes an array": "x.data.numpy().tofile({canary})",
    "maps a file": "np.memmap({canary}, mode='w+', shape=(3,)) + x.data",
    "pickles": "pickle.dump(x.data, open({canary}, 'wb'))",
    "calls user code": "mine.run(x.data, {canary})",
    "calls user code through an attribute": "x.data.hook.run({canary})",
    "calls user code by operator": "mine.Evil({canary}) + x.data",
    "reaches for a class": "'{{0.__class__.__init__.__globals__}}'.format(x.data)",
    "formats with a computed width": 'x.data.sum() + len(f"{{1:{{mine.width({canary})}}}}")',
    "reaches for dunders": "x.data.__class__.__mro__[-1].__subclasses__()",
    "passes a function": "x.data.sum().apply_(lambda y: open({canary}, 'w'))",
    "sorts by a function": "sorted(x.data, key=lambda y: open({canary}, 'w'))",
    "prints into a file": "print(x.data, file=open({canary}, 'w'))",
}
NEVER_IN_A_FRAGMENT = ("open", "os.", "subprocess", "__", "eval", "exec", "getattr", "save", "load", "hub", "mine.",
                       "pickle", "memmap", "tofile", "lambda", "format", "apply_")  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_cut_away_or_refused_and_never_run(name: str, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    code = HOSTILE[name].format(canary=repr(str(canary)))
    fixes = proposed(f"def f(x: torch.Tensor):\n    return {code}\n", select=("TNS201", "TNS103"))
    assert fixes
    for fix in fixes:
        found = fragments(*fix)
        for each in () if isinstance(found, Uncut) else found:
            words = f"{each.before}\n{each.after}".replace(str(canary), "").replace("('x')", "")
            body = "\n".join(line for line in words.splitlines() if not line.startswith("def case("))
            told = {hole.name for hole in each.holes}
            for name_ in sorted(told, key=len, reverse=True):
                body = body.replace(name_, "_")
            assert not [word for word in NEVER_IN_A_FRAGMENT if word in body], body
    verdicts = verdicts_on(fixes)
    assert len(verdicts) == len(fixes)
    assert not canary.exists()
    assert os.listdir(tmp_path) == []


STOPPED = {
    "counts for ever": ("x.data.sum() + sum(range(10**12))", "stopped: it took longer than 3 s of processor time"),
    "computes for ever": ("x.data.sum() + 7 ** 10 ** 9 % 2", "stopped: it took longer than 3 s of processor time"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_code_that_wants_too_much_is_stopped(name: str) -> None:
    code, reason = STOPPED[name]
    (verdict,) = judged(f"def f(x: torch.Tensor):\n    return {code}\n", seconds=3)
    assert verdict.outcome == NOT_TESTABLE
    assert reason in verdict.reason


@pytest.mark.parametrize("code", ["torch.ones(10**11)", "len([0] * 10**12)", "torch.ones(2).expand(10**11, 2).clone()"])
def test_code_that_wants_too_much_memory_raises_as_on_a_small_machine(code: str) -> None:
    (verdict,) = judged(f"def f(x: torch.Tensor):\n    return x.data.sum() + {code}\n")
    assert (verdict.outcome, verdict.reason) == (PROVEN, "for the part of the statement that could be run")
    assert verdict.before == "def case(x):\n    return x.data.sum()"


def test_a_loop_that_may_never_end_is_not_run() -> None:
    body = """
    def f(w: torch.Tensor):
        while True:
            w.data.mul_(2)
            w.data.add_(1)
    """
    for source, finding, settings in proposed(body):
        found = fragments(source, finding, settings)
        assert not isinstance(found, Uncut)
        assert not any("while" in each.before for each in found)


# ---------------------------------------------------------------------- the list
def test_everything_on_the_list_exists_and_nothing_on_it_is_dangerous() -> None:
    forbidden = ("save", "load", "file", "exec", "eval", "open", "import", "hook", "apply", "map", "pickle",
                 "dump", "tofile", "share", "format", "getattr", "compile", "input", "globals", "vars")  # fmt: skip
    harmless = {"eval", "contiguous_format", "preserve_format"}  # `model.eval()`, memory formats
    for module, words in allowed.ROOTS.items():
        space = builtins if module == "builtins" else importlib.import_module(module)
        assert [word for word in words if not hasattr(space, word)] == [], module
        assert not [word for word in words if word.startswith("_")], module
        assert not [word for word in words - harmless if any(each in word for each in forbidden)], module
    for word in allowed.METHODS - harmless:
        assert not word.startswith("_")
        assert not any(each in word for each in forbidden), word
    assert not [word for word in allowed.ATTRIBUTES if word.startswith("_")]


@pytest.mark.parametrize("name", ["os.system", "builtins.open", "builtins.getattr", "torch.load", "torch.hub.load",
                                  "numpy.save", "torch.storage", "mine.f", "torch", "", "torch.ops.x.y"])  # fmt: skip
def test_nothing_else_may_be_named(name: str) -> None:
    assert not allowed.callable_name(name)
    assert allowed.callable_name("torch.nn.functional.relu")


# ---------------------------------------------------------------------- the walls, without the list before them
def walled(work: Callable[[], Any], seconds: float = 20) -> Any:
    ((number, came),) = sandbox.each([(7, work)], seconds)
    assert number == 7
    return came


def test_a_walled_run_gives_its_result() -> None:
    assert walled(lambda: {"sum": float(torch.ones(3).sum())}) == {"sum": 3.0}


@pytest.mark.parametrize(
    "act",
    [
        lambda path: Path(path).write_text("x"),
        lambda path: os.open(path, os.O_CREAT | os.O_WRONLY),
        os.mkdir,
        lambda path: os.system(f"touch {path}"),
        lambda path: importlib.import_module("subprocess").run(["touch", path]),
        lambda path: os.posix_spawn("/usr/bin/touch", ["touch", path], {}),
        lambda path: os.symlink("/", path),
        lambda path: importlib.import_module("socket").socket(),
        lambda path: np.save(path, np.ones(2)),
        lambda path: torch.save(torch.ones(2), path, _use_new_zipfile_serialization=False),
    ],
)
def test_walls_keep_from_files_programs_and_network(act: Callable[[str], Any], tmp_path: Path) -> None:
    came = walled(lambda: act(str(tmp_path / "canary")))
    assert isinstance(came, sandbox.Stopped)
    assert came.reason.startswith("stopped: PermissionError: a fragment may not ")
    assert os.listdir(tmp_path) == []


def test_walls_keep_c_code_from_filling_a_file(tmp_path: Path) -> None:
    walled(lambda: torch.save(torch.ones(2), str(tmp_path / "canary")))
    assert all(each.stat().st_size == 0 for each in tmp_path.iterdir())


def test_walls_end_what_takes_memory_time_or_its_own_life() -> None:
    assert walled(lambda: bytearray(1 << 40)).reason == "stopped: it asked for more than 2 GiB of memory"
    begun = time.monotonic()
    assert walled(lambda: sum(range(10**12)), 0.5).reason == "stopped: it took longer than 0.5 s of processor time"
    assert walled(lambda: time.sleep(600), 0.5).reason == "stopped: it did not end within 10 s"
    assert time.monotonic() - begun < 300
    killed = walled(lambda: signal.raise_signal(signal.SIGKILL))
    assert killed.reason == "stopped: its process died (SIGKILL)"


def test_time_in_which_a_run_does_not_compute_is_not_counted() -> None:
    assert walled(lambda: time.sleep(2) or "done", 0.5) == "done"


def test_several_walled_runs_keep_their_numbers() -> None:
    works = [(at, lambda at=at: at * at) for at in range(5)]  # type: ignore[misc]
    assert dict(sandbox.each(works, 20, jobs=2)) == {at: at * at for at in range(5)}


@pytest.mark.parametrize("text", ["open('canary')", "getattr(torch, 'save')", "exec('1')", "import wave"])
def test_a_fragment_finds_none_of_pythons_own_words_but_those_on_the_list(text: str) -> None:
    seen = observe(Bound(f"def case():\n    {text}\n"), ordinary("cpu")[0])
    assert seen.error is not None
    assert seen.error.startswith(("NameError: name '", "ImportError: a fragment may not import"))


def test_each_fix_is_told_the_row_of_its_own_code() -> None:
    body = "def f(x: torch.Tensor):\n    mine.keep(x.data)\n\n\ndef g(x: torch.Tensor):\n    mine.keep(x.data)\n"
    rows = [each.reason.partition("row ")[2] for each in judged(body)]
    assert rows == ["9", "13"]


def test_one_run_serves_all_fixes_with_the_same_fragment(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    begin = sandbox._started
    monkeypatch.setattr(sandbox, "_started", lambda number, *others: started.append(number) or begin(number, *others))
    body = "def f(x: torch.Tensor):\n    return x.data.sum()\n\n\ndef g(x: torch.Tensor):\n    return x.data.sum()\n"
    first, second = ruled(proposed(body), 60).values()
    assert first == second
    assert started == [0]


def test_a_text_may_name_a_device() -> None:
    (verdict,) = judged("""
        def numbers(x: torch.Tensor, device: str):
            found = torch.argmax(x.to(device), -1).flatten()
            return [each.item() for each in found]
    """)
    assert (verdict.outcome, verdict.differing) == (PROVEN, 0)
