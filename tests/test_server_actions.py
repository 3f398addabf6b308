"""What the language server offers to do, held against what the command line does to the same file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .editor import ABLE, ROOT, Editor, Message, applied

pytest.importorskip("pygls", reason="pygls is not installed")

FIX_ALL = "Fix all safe torchlint findings"
OLD = """\
import torch
from torch.autograd import Variable


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.Tensor(3, 3))
        self.weight.data.normal_(0, 1)

    def forward(self, x):
        return x @ self.weight


def noise(size):
    return Variable(torch.FloatTensor(size, 2).zero_())


def shown(net: Net, x):
    return net(x).cpu().numpy()
"""


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    made.kill()


def edits_of(action: Message, uri: str) -> list[Message]:
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == uri
    return change["edits"]


def run(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "torchlint", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=120,
    )


def opened(editor: Editor, text: str, able: Message | None = None) -> str:
    editor.start(able)
    path = editor.folder / "a.py"
    path.write_bytes(text.encode())
    editor.open(path.as_uri(), text)
    editor.diagnostics(path.as_uri(), 1)
    return path.as_uri()


# ---------------------------------------------------------------------- one repair
def test_every_fix_is_offered_with_its_applicability(editor: Editor) -> None:
    text = (
        "import torch\n\n\ndef f(net: torch.nn.Linear, x):\n    a = net(x).numpy()\n    b = net.weight.data\n"
        "    b.add_(1)\n    net.weight.data = b\n    return a\n"
    )
    uri = opened(editor, text)
    safe, silence, fix_all = editor.actions(uri, 4, 17)
    assert (safe["kind"], safe["isPreferred"], "edit" in safe) == ("quickfix", True, False)
    assert [each["code"] for each in safe["diagnostics"]] == ["TNS101"]
    assert silence["title"] == "Silence TNS101 on this line (# noqa)"
    assert "isPreferred" not in silence
    assert (fix_all["title"], fix_all["kind"]) == (FIX_ALL, "source.fixAll.torchlint")
    edited = applied(text, edits_of(editor.resolved(safe), uri))
    assert edited == text.replace("net(x).numpy()", "net(x).detach().cpu().numpy()")
    unsafe, *_ = editor.actions(uri, 5, 20)
    assert unsafe["title"].endswith(" (unsafe)")
    assert "isPreferred" not in unsafe
    assert applied(text, edits_of(editor.resolved(unsafe), uri)) == text.replace(
        "b = net.weight.data", "b = net.weight.detach()"
    )
    choice, *others = editor.actions(uri, 7, 17)
    assert choice["title"].startswith("Copy the values under `torch.no_grad()`")
    assert choice["title"].endswith(" (your choice)")
    assert "isPreferred" not in choice
    assert applied(text, edits_of(editor.resolved(choice), uri)) == text.replace(
        "    net.weight.data = b\n", "    with torch.no_grad():\n        net.weight.copy_(b)\n"
    )
    assert [each["title"] for each in others] == ["Silence TNS203 on this line (# noqa)", FIX_ALL]
    assert [each["title"] for each in editor.actions(uri, 0, 0)] == [FIX_ALL]


READINGS = {
    "torch.Tensor(x)": ("torch.as_tensor(x, dtype=torch.float32)", "torch.empty(x)"),
    "torch.LongTensor(x)": ("torch.as_tensor(x, dtype=torch.int64)", "torch.empty(x, dtype=torch.int64)"),
    "torch.Tensor(width)": ("torch.empty(width)", "torch.as_tensor(width, dtype=torch.float32)"),
    "torch.ones(2).new(x)": ("torch.ones(2).new_tensor(x)", "torch.ones(2).new_empty(x)"),
}


@pytest.mark.parametrize("code", READINGS)
def test_both_readings_of_a_constructor_are_offered(editor: Editor, code: str) -> None:
    text = f"import torch\n\n\ndef f(x, width):\n    return {code}\n"
    uri = opened(editor, text)
    choices = [each for each in editor.actions(uri, 4, 11 + code.rindex("(")) if "(your choice)" in each["title"]]
    results = [applied(text, edits_of(editor.resolved(each), uri)) for each in choices]
    assert results == [text.replace(code, each) for each in READINGS[code]]


def test_what_may_not_be_fixed_is_not_offered(editor: Editor) -> None:
    (editor.folder / "torchlint.toml").write_text('unfixable = ["TNS101"]\n')
    uri = opened(editor, "import torch\n\nprint(torch.ones(1, requires_grad=True).numpy())\n")
    assert [each["title"] for each in editor.actions(uri, 2, 41)] == ["Silence TNS101 on this line (# noqa)"]


def test_an_editor_that_resolves_nothing_gets_the_edits_at_once(editor: Editor) -> None:
    text = "import torch\n\nprint(torch.ones(1, requires_grad=True).numpy())\n"
    uri = opened(editor, text, {})
    found = editor.actions(uri, 2, 41)
    results = [applied(text, each["edit"]["changes"][uri]) for each in found]
    fixed = text.replace(".numpy()", ".detach().numpy()")
    silent = text.replace("())\n", "())  # noqa: TNS101\n")
    assert results == [fixed, silent, fixed]
    assert [("documentChanges" in each["edit"], "data" in each) for each in found] == [(False, False)] * 3


def test_an_action_of_an_old_text_is_refused(editor: Editor) -> None:
    text = "import torch\n\nprint(torch.ones(1, requires_grad=True).numpy())\n"
    uri = opened(editor, text)
    action = editor.actions(uri, 2, 41)[0]
    editor.change(uri, 2, {"text": "# first\n" + text})
    assert editor.refused("codeAction/resolve", action)["code"] == -32801
    again = editor.actions(uri, 3, 41)[0]
    resolved = editor.resolved(again)
    assert resolved["edit"]["documentChanges"][0]["textDocument"] == {"uri": uri, "version": 2}


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (["quickfix"], ["quickfix", "quickfix"]),
        (["source"], ["source.fixAll.torchlint"]),
        (["source.fixAll"], ["source.fixAll.torchlint"]),
        (["source.fixAll.torchlint"], ["source.fixAll.torchlint"]),
        (["source.fixAll.ruff"], []),
        (["refactor"], []),
        (["notebook.source.fixAll"], ["notebook.source.fixAll.torchlint"]),
    ],
)
def test_only_the_kinds_asked_for_come(only: list[str], kinds: list[str], editor: Editor) -> None:
    uri = opened(editor, "import torch\n\nprint(torch.ones(1, requires_grad=True).numpy())\n")
    assert [each["kind"] for each in editor.actions(uri, 2, 41, only)] == kinds


# ---------------------------------------------------------------------- all repairs
def test_fix_all_does_what_the_command_line_does(editor: Editor) -> None:
    uri = opened(editor, OLD)
    (action,) = editor.actions(uri, 0, 0, ["source.fixAll"])
    run(editor.folder, "--fix", "a.py")
    wanted = (editor.folder / "a.py").read_text()
    assert wanted != OLD
    assert "Variable" not in wanted  # the import goes in a round of its own
    edits = edits_of(editor.resolved(action), uri)
    assert applied(OLD, edits) == wanted
    editor.change(uri, 2, {"text": wanted})
    assert editor.actions(uri, 0, 0, ["source.fixAll"]) == []
    assert (editor.folder / "a.py").read_text() == wanted


def test_fix_all_is_safe_though_the_configuration_lets_unsafe_fixes_through(editor: Editor) -> None:
    (editor.folder / "torchlint.toml").write_text("unsafe-fixes = true\n")
    text = "import torch\n\n\ndef f(net: torch.nn.Module):\n    b = net.weight.data\n    b.add_(1)\n"
    uri = opened(editor, text)
    assert editor.actions(uri, 4, 20, ["source.fixAll"]) == []
    assert editor.actions(uri, 4, 20, ["quickfix"])[0]["title"].endswith("(unsafe)")


# ---------------------------------------------------------------------- a comment
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("print(w.numpy())", "print(w.numpy())  # noqa: TNS101"),
        ("print(w.numpy())  # noqa: E501", "print(w.numpy())  # noqa: E501, TNS101"),
        ("print(w.numpy())  # why not", "print(w.numpy())  # why not  # noqa: TNS101"),
        ("print(w.numpy(), w.numpy())", "print(w.numpy(), w.numpy())  # noqa: TNS101"),
        ('print(w.numpy(), """\n""")', 'print(w.numpy(), """\n""")  # noqa: TNS101'),
    ],
)
def test_a_comment_silences_where_the_command_line_puts_it(line: str, wanted: str, editor: Editor) -> None:
    before = "import torch\n\nw = torch.ones(1, requires_grad=True)\n"
    uri = opened(editor, f"{before}{line}\n")
    action = next(each for each in editor.actions(uri, 3, 9) if each["title"].startswith("Silence"))
    edited = applied(f"{before}{line}\n", edits_of(editor.resolved(action), uri))
    assert edited == f"{before}{wanted}\n"
    run(editor.folder, "--add-noqa", "a.py")
    assert (editor.folder / "a.py").read_text() == edited
    editor.change(uri, 2, {"text": edited})
    assert editor.diagnostics(uri, 2) == []


def test_only_the_rule_of_the_finding_is_silenced(editor: Editor) -> None:
    text = "import torch\n\nprint(torch.ones(1, requires_grad=True).numpy(), torch.Tensor(3))\n"
    uri = opened(editor, text)
    action = next(each for each in editor.actions(uri, 2, 55) if each["title"].startswith("Silence"))
    edited = applied(text, edits_of(editor.resolved(action), uri))
    assert edited.splitlines()[2].endswith("  # noqa: TNS302")
    editor.change(uri, 2, {"text": edited})
    assert [each["code"] for each in editor.diagnostics(uri, 2)] == ["TNS101"]


def test_findings_about_comments_are_fixed_not_silenced(editor: Editor) -> None:
    text = "import torch\n\nx = 1  # noqa: TNS101\n"
    uri = opened(editor, text)
    fix, fix_all = editor.actions(uri, 2, 17)
    assert (fix["kind"], fix_all["title"]) == ("quickfix", FIX_ALL)
    assert applied(text, edits_of(editor.resolved(fix), uri)) == "import torch\n\nx = 1\n"


# ---------------------------------------------------------------------- hover
HOVERED = """\
import torch

net = torch.nn.Linear(2, 2)
x = net(torch.ones(2))
a = x.detach().numpy()
b = x.numpy()
"""


def test_hover_tells_what_is_known_and_what_the_rule_is_about_in_short(editor: Editor) -> None:
    uri = opened(editor, HOVERED)
    silent = editor.hover(uri, 4, 7)
    assert silent["contents"] == {
        "kind": "markdown",
        "value": "`x`: tensor, requires grad, on the host\n\n"
        "- grad: `net(torch.ones(2))` is the output of a module with parameters, line 4\n\n"
        "`x.detach()`: tensor, detached, on the host\n\ngrad mode: on",
    }
    assert silent["range"] == {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 14}}
    told = editor.hover(uri, 5, 8)["contents"]["value"]
    facts, page = told.split("\n\n---\n\n")
    assert "`x.numpy()`: array" in facts
    title, message, does, fix, address = page.split("\n\n")
    assert title == "### TNS101 numpy-on-grad-tensor (error, certain)"
    assert message == "`.numpy()` on a tensor that requires grad: add `.detach()`"
    assert does.startswith("Finds `.numpy()` on a tensor that is a parameter, was created with `requires_grad=True`, ")
    assert "\n" not in does
    assert fix == "Fix (safe): Insert `.detach()` before `.numpy()`"
    assert address == "https://torchlint.readthedocs.io/rules/TNS101/"


HOVERED_FIXES = """\
import torch


def f(x, y: torch.Tensor):
    y.requires_grad_()
    a = torch.Tensor(x)
    b = y.data
    return a, b
"""


def test_hover_says_how_far_a_fix_may_be_trusted(editor: Editor) -> None:
    uri = opened(editor, HOVERED_FIXES)
    told = []
    for row, column in ((5, 15), (6, 11)):
        page = editor.hover(uri, row, column)["contents"]["value"].split("\n\n---\n\n")[-1]
        assert "](" not in page  # a link to another page would lead nowhere in an editor
        told.append((page.split()[1], page.split("\n\n")[-2].partition(";")[0]))
    assert told == [
        (
            "TNS303",
            "Fix (your choice): Use `torch.as_tensor(..., dtype=torch.float32)` if `x` holds values, "
            "`torch.empty` if it is a size",
        ),
        ("TNS201", "Fix (unsafe): Replace `.data` with `.detach()`"),
    ]


def test_hover_agrees_with_show_facts(editor: Editor) -> None:
    uri = opened(editor, HOVERED)
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "--show-facts", "a.py:6"],
        cwd=editor.folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    (line,) = (each for each in done.stdout.splitlines() if re.match(r" +x  ", each))
    value = line.split("  ", 2)[-1].strip().removeprefix("x").strip()
    assert editor.hover(uri, 5, 4)["contents"]["value"].startswith(f"`x`: {value}\n")


def test_an_editor_without_markdown_reads_plain_text(editor: Editor) -> None:
    able = {"textDocument": {**ABLE["textDocument"], "hover": {"contentFormat": ["plaintext"]}}}
    uri = opened(editor, HOVERED, able)
    told = editor.hover(uri, 5, 8)["contents"]
    assert told["kind"] == "plaintext"
    assert not re.search(r"^(#|```)", told["value"], re.MULTILINE)
    assert "TNS101 numpy-on-grad-tensor (error, certain)" in told["value"]
    assert told["value"].endswith("\n\nhttps://torchlint.readthedocs.io/rules/TNS101/")


def test_hover_is_silent_where_nothing_is_to_be_said(editor: Editor) -> None:
    uri = opened(editor, HOVERED)
    assert editor.hover(uri, 1, 0) is None
    other = (editor.folder / "b.py").as_uri()
    editor.open(other, "import os\n\nprint(os.getcwd())\n")  # no torch: the type checker of the editor says more
    assert editor.hover(other, 2, 10) is None
    assert editor.hover("file:///nowhere.py", 0, 0) is None
