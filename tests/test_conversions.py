"""``.numpy()`` calls beyond the fixtures: the settings, the three rules together, what messages and reasons name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Confidence, Finding, Settings
from torchlint.linter.engine import check_bytes, fix_bytes

RULES = Path(__file__).parent / "fixtures" / "rules"
CODES = ("TNS101", "TNS102", "TNS103")
SILENT = [path for code in CODES for path in sorted((RULES / code).glob("silent*.py"))]
HEAD = "import torch\n"
LIVE = HEAD + "w = torch.ones(2, requires_grad=True)\n"
BOTH = HEAD + 'w = torch.ones(2, requires_grad=True, device="cuda")\n'


def found(text: str, **settings: object) -> list[Finding]:
    config = replace(Config(), select=CODES, settings=replace(Settings(), **settings))  # type: ignore[arg-type]
    result = check_bytes("a.py", text.encode(), config)
    assert result.troubles == ()
    return list(result.findings)


def fixed(text: str, **settings: object) -> str:
    inner = replace(Settings(), **settings)  # type: ignore[arg-type]
    config = replace(Config(), select=CODES, unsafe_fixes=True, settings=inner)
    return fix_bytes("a.py", text.encode(), config).raw.decode()


@pytest.mark.parametrize("path", SILENT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_silent_files_of_each_rule_are_silent_under_all_three(path: Path) -> None:
    assert [each.code for each in found(path.read_text())] == []


@pytest.mark.parametrize(
    ("head", "codes"),
    [
        (LIVE, ["TNS101"]),
        (BOTH, ["TNS101"]),
        (HEAD + 'w = torch.ones(2, device="cuda")\n', ["TNS102"]),
        (HEAD + "def f(w): return w.numpy()\nw = torch.ones(2)\n", ["TNS103"]),
    ],
)
def test_a_conversion_has_one_finding_the_strongest(head: str, codes: list[str]) -> None:
    assert [each.code for each in found(head + "a = w.numpy()\n")] == codes


@pytest.mark.parametrize(
    ("chain", "missing"),
    [
        ("w", "add `.detach().cpu()`"),
        ("w.detach()", "add `.cpu()`"),
        ("w.cpu()", "add `.detach()`"),
    ],
)
def test_the_message_names_what_is_missing(chain: str, missing: str) -> None:
    (finding,) = found(BOTH + f"a = {chain}.numpy()\n")
    assert finding.message.endswith(missing)


def test_the_message_of_a_loss_warns_of_the_gradient() -> None:
    (finding,) = found(HEAD + "def loss():\n    w = torch.ones(2, requires_grad=True)\n    return w.numpy()\n")
    assert "cuts the gradient" in finding.message


def test_the_reason_goes_back_to_the_first_cause() -> None:
    (finding,) = found(LIVE + "x = w * 2\na = x.numpy()\n")
    assert "line 2" in finding.why[0]


def test_the_reason_goes_through_a_property() -> None:
    scaled = "class Scaled:\n    def __init__(self, w):\n        self.w = w\n"
    scaled += "    @property\n    def doubled(self):\n        return self.w * 2\n"
    (finding,) = found(LIVE + scaled + "Scaled(w).doubled.numpy()\n")
    assert finding.why == ("`torch.ones(2, requires_grad=True)` requires grad, line 2",)


# ---------------------------------------------------------------------- numpy-style
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("w.numpy()", "w.numpy(force=True)"),
        ("w.cpu().numpy()", "w.cpu().numpy(force=True)"),
        ("(w * 2).numpy()", "(w * 2).numpy(force=True)"),
        ("w.numpy(  )", "w.numpy(  force=True)"),
        ("w.detach().numpy()", "w.detach().numpy()"),
    ],
)
def test_numpy_style_force(before: str, after: str) -> None:
    assert fixed(LIVE + f"a = {before}\n", numpy_style="force") == LIVE + f"a = {after}\n"


def test_numpy_style_chain_is_the_default() -> None:
    assert fixed(LIVE + "a = w.numpy()\n") == LIVE + "a = w.detach().numpy()\n"


@pytest.mark.parametrize(("oldest", "written"), [((1, 12), ".detach().numpy()"), ((1, 13), ".numpy(force=True)")])
def test_force_is_written_only_where_every_supported_torch_has_it(oldest: tuple[int, int], written: str) -> None:
    text = fixed(LIVE + "a = w.numpy()\n", numpy_style="force", target_torch=oldest)
    assert text == LIVE + f"a = w{written}\n"


# ---------------------------------------------------------------------- strict
@pytest.mark.parametrize(
    ("chain", "missing"),
    [
        ("x", ".detach().cpu()"),
        ("x.detach()", ".cpu()"),
        ("x.cpu()", ".detach()"),
        ("x.argmax()", ".detach().cpu()"),
        ("x.detach().cpu()", ""),
        ("x.detach().cpu().squeeze()", ""),
        ('x.detach().to("cpu")', ""),
    ],
)
def test_strict_goes_by_the_letter(chain: str, missing: str) -> None:
    text = HEAD + f"x = torch.zeros(2)\na = {chain}.numpy()\n"
    assert found(text) == []
    findings = found(text, strict=True)
    assert [each.code for each in findings] == (["TNS103"] if missing else [])
    if findings:
        assert findings[0].fix is not None
        assert sorted(missing.replace("()", "() ").split()) == sorted(
            findings[0].fix.title.partition("`")[2].partition("`")[0].replace("()", "() ").split()
        )


def test_strict_leaves_another_frameworks_values_alone() -> None:
    text = "import tensorflow as tf\nimport torch\nx = tf.zeros([2])\na = x.numpy()\n"
    assert found(text, strict=True) == []


def test_strict_leaves_force_alone() -> None:
    assert found(HEAD + "a = torch.zeros(2).numpy(force=True)\n", strict=True) == []


# ---------------------------------------------------------------------- what is no call of this kind
@pytest.mark.parametrize(
    "code", ["w.numpy", "w.numpy(force=True)", "w.numpy(force=flag)", "w.numpy(True)", "numpy(w)", "w['numpy']()"]
)
def test_other_uses_of_the_word(code: str) -> None:
    assert found(LIVE + f"a = {code}\n") == []


LOADED = HEAD + "from kit import load\nnet, x = load(0)\nwith torch.no_grad():\n    y = net(x).numpy()\n"
GUARD = "\nif __name__ == '__main__':\n    print(y)\n"


def of_file(path: str, text: str, least: Confidence = Confidence.UNPROVEN) -> list[str]:
    if path.endswith(".ipynb"):
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    result = check_bytes(path, text.encode(), replace(Config(min_confidence=least), select=CODES))
    assert result.troubles == ()
    return [each.code for each in result.findings]


def shown(path: str, text: str) -> list[str]:
    """Return what is reported where nobody asks for what is unproven, too."""
    return of_file(path, text, Config().min_confidence)


@pytest.mark.parametrize(("path", "end"), [("a.ipynb", ""), ("a.py", GUARD)])
def test_a_program_that_speaks_of_no_device_runs_on_the_host(path: str, end: str) -> None:
    assert of_file(path, LOADED + end) == []
    assert of_file("a.py", LOADED) == ["TNS103"], "others may import it"
    assert of_file(path, LOADED + "other = net.cuda()\n" + end) == ["TNS103"]
    live = LOADED.replace("with torch.no_grad():", "if True:")
    assert of_file(path, live + end) == ["TNS101"], "nothing is said of grad"


@pytest.mark.parametrize(("path", "end"), [("a.ipynb", ""), ("a.py", GUARD)])
@pytest.mark.parametrize(
    ("code", "speaks"),
    [
        ("# Copyright The Lightning team. It's for GPUs.", False),
        ("other = 1  # on the GPU", False),
        ("other = y.to(torch.float64)", False),
        ("other = y.to(dtype=torch.int64)", False),
        ("other = y.to(x.dtype)", False),
        ("other = y.to(x)", True),
        ("other = y.to(torch.float64, x)", True),
        ("other = '#', y.cuda()", True),
        ("other = y.to('mps')", True),
        ("other = kit.dumps(y)", False),
    ],
)
def test_a_program_speaks_of_a_device_in_its_code(path: str, end: str, code: str, speaks: bool) -> None:
    assert of_file(path, LOADED + code + "\n" + end) == (["TNS103"] if speaks else [])


@pytest.mark.parametrize(("path", "end"), [("a.ipynb", ""), ("a.py", GUARD)])
def test_functions_of_a_program_are_known_by_their_calls(path: str, end: str) -> None:
    text = HEAD + "def f(x):\n    return x.numpy()\ny = f(torch.ones(2))\n"
    assert shown(path, text + end) == []
    assert of_file("a.py", text) == ["TNS103"]
    assert of_file(path, text + "f(torch.ones(2, requires_grad=True))\n" + end) != []


@pytest.mark.parametrize(("path", "end"), [("a.ipynb", ""), ("a.py", GUARD)])
def test_what_only_has_the_name_of_a_function_is_no_call_of_it(path: str, end: str) -> None:
    text = HEAD + "import sys\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots()\n"
    text += "def plot(x):\n    y = x.numpy()\n    ax.plot(y)\n    plt.plot(y)\ny = plot(torch.ones(2))\n"
    live = "(torch.ones(2, requires_grad=True))\n"
    assert shown(path, text + end) == []
    assert shown(path, text + "ax.plot" + live + end) == []
    assert of_file(path, text + "plot" + live + end) != []
    assert of_file(path, text + "sys.modules[__name__].plot" + live + end) != []
    assert of_file(path, text + "import __main__\n__main__.plot" + live + end) != []
    assert of_file(path, text + "ax.plot = plot\nax.plot" + live + end) != []


@pytest.mark.parametrize(("path", "end"), [("a.ipynb", ""), ("a.py", GUARD)])
def test_functions_of_one_name_are_known_by_all_calls_of_it(path: str, end: str) -> None:
    text = HEAD + "def f(x):\n    return x.numpy()\ny = f(torch.ones(2))\n"
    again = "def f(x, s=1):\n    return x.numpy() * s\n"
    live = "f(torch.ones(2, requires_grad=True))\n"
    assert shown(path, text + again + "f(torch.zeros(3))\n" + end) == []
    assert len(of_file(path, text + again + live + end)) == 2
    assert len(of_file(path, text + live + again + end)) == 2


def test_what_the_calls_hand_over_is_unproven_where_it_is_harmless() -> None:
    text = HEAD + "def f(x):\n    return x.numpy()\n\n\nargs = ()\nkept = f(torch.ones(2), *args)\n"
    guarded = text + "if __name__ == '__main__':\n    pass\n"
    runs_itself = text + "print(f(torch.ones(2), *args))\n"
    config = replace(Config(min_confidence=Confidence.UNPROVEN), select=CODES)
    for script in (text, guarded, runs_itself):
        (run,) = check_bytes("a.py", script.encode(), config).findings
        assert run.confidence is Confidence.UNPROVEN


@pytest.mark.parametrize("hidden", ["f(w) +", "y = %timeit -o f(w)", "%lprun -f f f(w)", "%run other.py", "print(1)"])
def test_no_fix_in_a_notebook_rests_on_the_calls_that_are_seen(hidden: str) -> None:
    shown = "import torch\nfrom torch.autograd import Variable\ndef f(x):\n    return Variable(x)\nf(torch.ones(2))"
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in (shown, hidden)
    ]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    (found,) = (each for each in check_bytes("a.ipynb", raw, Config()).findings if each.code == "TNS401")
    assert found.fix is not None
    assert ".detach()" in [each.text for each in found.fix.edits]


@pytest.mark.parametrize(
    ("said", "is_silent"),
    [
        ("Args:\n        x (`torch.LongTensor` of shape `(batch, length)`): words", True),
        ("Args:\n        x (torch.IntTensor, CPU): voxels", True),
        ("Args:\n        x (LongTensor or BoolTensor): a mask", True),
        (":param torch.LongTensor x: labels", True),
        (":param x: labels\n    :type x: LongTensor", True),
        ("Args:\n        x (torch.FloatTensor): scores", False),
        ("Args:\n        x (LongTensor or FloatTensor): classes, or their weights", False),
        ("Args:\n        x (Tensor): scores", False),
    ],
)
def test_a_docstring_that_says_integers_says_no_graph(said: str, *, is_silent: bool) -> None:
    text = f'{HEAD}def show(x):\n    """Show.\n\n    {said}\n    """\n    return x.cpu().numpy()\n'
    assert (of_file("a.py", text) == []) is is_silent
