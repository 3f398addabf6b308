"""Every code block of the README and the pages is run or checked; the few that cannot be are listed with their reasons.

Blocks of the rules' pages are held by ``tests/test_docs.py``, those of ``docs/adding-a-rule.md`` by
``tests/test_adding_a_rule.py``, those of ``docs/editors.md`` by ``tests/test_editors_page.py``, those of
``docs/settings.md`` by ``tests/test_settings_page.py``; the steps of
docs/first-gate.md are followed by ``tests/test_newcomer.py``, those of docs/modernising.md by
``tests/test_modernising.py``, and those of a release by ``tests/test_release.py``.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.blocks import ROOT, Block, blocks, of
from tests.notebooks import code, notebook
from tests.shells import Said, Shell, commands
from torchlint.config import Config
from torchlint.linter.engine import check_bytes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ELSEWHERE = {"docs/adding-a-rule.md", "docs/editors.md", "docs/settings.md"}
PAGES = [
    each
    for each in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
    if str(each.relative_to(ROOT)) not in ELSEWHERE
]
EVERY = [block for page in PAGES for block in blocks(page)]

NOT_RUN = {
    (
        "docs/index.md",
        "pip install git+https://github.com/torchlint/torchlint",
    ): "needs a network; test_newcomer.py runs it on this tree",
    (
        "docs/verify.md",
        'pip install "torchlint[verify] @ git+https://github.com/torchlint/torchlint"',
    ): "brings torch, some gigabytes",
    ("docs/verify.md", "torchlint verify"): "takes minutes; test_verify.py runs it rule by rule",
    ("CONTRIBUTING.md", ".ci/run"): "is what runs these tests",
    (
        "CONTRIBUTING.md",
        '.venv/bin/pytest -q -n auto -m "not process and not torch and not hypothesis"',
    ): "is run by the gate with all the others",
    ("CONTRIBUTING.md", ".venv/bin/pytest tests/test_rules.py -k TNS201"): "is run by the gate with all the others",
    (
        "CONTRIBUTING.md",
        ".venv/bin/pre-commit install",
    ): "would put a hook into this repository; run by test_newcomer.py",
    ("docs/verify.md", "python benchmarks/proofs.py"): "fetches releases and takes hours",
    ("docs/verify.md", "python benchmarks/proofs.py --report"): "reports on what the line above left behind",
    ("docs/ci.md", "tox run -e lint"): "run by test_ci.py, with the file that is shown",
    ("docs/ci.md", "nox -s lint"): "run by test_ci.py, with the file that is shown",
}
"""Commands that are shown and not run here, each with the reason."""

BY_HAND = {
    ("README.md", "<!-- command: try -->"): "run by the gate's author and by test_docs.py in this tree",
    ("README.md", "<!-- command: tests -->"): "is how .ci/run runs these tests",
}
"""Blocks that the gate itself is, by the mark above them."""


def named(block: Block) -> str:
    return str(block)


def select(wanted: Callable[[Block], bool]) -> list[Block]:
    return [each for each in EVERY if wanted(each)]


def own(block: Block) -> bool:
    return f"<!-- {block.mark} -->" in {mark for page, mark in BY_HAND if page == block.page}


PROMPTED = select(lambda each: each.language == "console" and each.text.startswith("$ "))
BARE = select(
    lambda each: (
        each.language == "console"
        and not each.text.startswith("$ ")
        and not own(each)
        and not each.marked("step")
        and not each.marked("release")
    )
)
PYTHON = select(lambda each: each.language == "python")
TOML = select(lambda each: each.language == "toml")
YAML = select(lambda each: each.language == "yaml")


# ---------------------------------------------------------------------- nothing is passed over
def test_every_block_is_of_a_kind_that_is_checked() -> None:
    checked = [*PROMPTED, *BARE, *PYTHON, *TOML, *YAML, *select(own)]
    others = [(each.page, each.language) for each in EVERY if each not in checked]
    assert Counter(others) == Counter(
        {
            ("CONTRIBUTING.md", "console"): 2,  # test_release.py: the dry run, and what publishes
            ("docs/first-gate.md", "console"): 4,  # test_newcomer.py: the way to a green gate
            ("docs/modernising.md", "console"): 4,  # test_modernising.py: the way out of the years before torch 0.4
            ("README.md", "text"): 1,  # test_docs.py: what is printed of the example project
            ("README.md", "diff"): 4,  # test_docs.py: what the fixes do
            ("docs/ci.md", "ini"): 1,  # test_ci.py: tox runs it
            ("docs/baseline.md", "text"): 1,  # below
            ("docs/severity.md", "text"): 1,  # test_output.py: the closing line
            ("docs/usage.md", "ini"): 1,  # below: flake8 reads it
            ("docs/usage.md", "text"): 2,  # below: the synopsis, a finding in a notebook
        }
    )


def test_what_is_listed_as_not_run_is_still_shown() -> None:
    shown = {(each.page, line) for each in BARE for line in commands(each)}
    assert set(NOT_RUN) <= shown
    assert {(each.page, f"<!-- {each.mark} -->") for each in select(own)} == set(BY_HAND)
    assert all(re.fullmatch(r"[^\n]{10,}", reason) for reason in [*NOT_RUN.values(), *BY_HAND.values()])


# ---------------------------------------------------------------------- commands
@pytest.fixture
def project(tmp_path: Path) -> Shell:
    """An old project under git, as the pages assume one: ``src``, a default branch on a remote, a page's files."""
    shell = Shell(tmp_path / "project")
    shutil.copytree(ROOT / "examples" / "legacy_training", shell.folder / "src")
    shell.git("init", "-qb", "main")
    shell.git("add", "-A")
    shell.git("commit", "-qm", "old code")
    shell.git("update-ref", "refs/remotes/origin/main", "HEAD")
    return shell


@pytest.mark.parametrize("block", PROMPTED, ids=named)
def test_commands_print_what_is_shown(block: Block, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "project")
    for each in of(block.page):
        if each.marked("file") and each.row < block.row:
            shell.write(each)
    assert [done.status for done in shell.replay(block) if done.status > 1] == []


@pytest.mark.parametrize("block", BARE, ids=named)
def test_commands_run(block: Block, project: Shell) -> None:
    ran = [line for line in commands(block) if (block.page, line) not in NOT_RUN]
    if not ran:
        pytest.skip("; ".join(NOT_RUN[block.page, line] for line in commands(block)))
    if any("completion" in line for line in ran) and find_spec("shtab") is None:
        pytest.skip("shtab, by which completion is written, is not installed")
    if any("--verify" in line or " verify" in line for line in ran) and find_spec("torch") is None:
        pytest.skip("torch, in which fixes are proven, is not installed")
    if block.page == "docs/verify.md":  # a trial of each fix takes a second: the least file will do
        for path in {*(project.folder / "src").iterdir()} - {project.folder / "src" / "data.py"}:
            path.unlink()
    for line in ran:
        done = project.run(line)
        assert done.status in (0, 1), f"{line}\n{done.text}"
        assert "Traceback" not in done.text


def test_the_synopsis_names_the_commands_that_there_are(tmp_path: Path) -> None:
    (synopsis,) = (each for each in of("docs/usage.md") if each.first.startswith("torchlint [check]"))
    words = [line.split()[1].strip("[]") for line in synopsis.text.splitlines()]
    shell = Shell(tmp_path / "project")
    said = re.findall(r"^(?:usage:|      ) torchlint (\S+)", shell.run("torchlint --help").text, re.MULTILINE)
    assert words == [word.strip("[]") for word in said]
    for word in words:
        assert shell.run(f"torchlint {word} --help").status == 0


# ---------------------------------------------------------------------- what is printed
def test_the_line_on_what_went_away_is_printed(tmp_path: Path) -> None:
    (shown,) = (each for each in of("docs/baseline.md") if each.language == "text")
    shell = Shell(tmp_path / "project")
    file = shell.folder / "a.py"
    file.write_text("import torch\n\nw = torch.ones(3, requires_grad=True)\na = w.numpy()\nb = torch.Tensor([1])\n")
    baseline = "torchlint --baseline torchlint-baseline.jsonl"
    assert shell.run(f"{baseline} --write-baseline .").status == 0
    file.write_text("import torch\n")
    done = shell.run(f"{baseline} .")
    assert done.status == 0
    assert shown.text in done.text


def test_a_finding_in_a_notebook_is_printed_as_shown(tmp_path: Path) -> None:
    (shown,) = (each for each in of("docs/usage.md") if each.first.startswith("train.ipynb"))
    shell = Shell(tmp_path / "project")
    last = "if True:\n    def f(w=torch.ones(2, requires_grad=True)):\n        return w.numpy()"
    last = "w = torch.ones(2, requires_grad=True)\n\nprint(  w .numpy())"
    cells = [code("import torch"), code("1"), code("2"), code("3"), code(last)]
    (shell.folder / "train.ipynb").write_bytes(notebook(*cells))
    done = shell.run("torchlint --output-format concise train.ipynb")
    assert done.text.splitlines(keepends=True)[0] == shown.text


# ---------------------------------------------------------------------- Python
PRELUDE = """\
import numpy as np
import torch
import torch.nn as nn
net = nn.Linear(2, 2)
x = torch.ones(2, 2)
"""
TALKED_OF = {"docs/inference.md": PRELUDE, "README.md": f"{PRELUDE}output = net(x)\n"}
"""Pages whose snippets speak of names that the text around them introduces."""


@pytest.mark.parametrize("block", PYTHON, ids=named)
def test_python_is_python(block: Block) -> None:
    compile(block.text, str(block), "exec")


TOLD = [each for each in PYTHON if re.search(r"# (silent|reported)\b", each.text)]


@pytest.mark.parametrize("block", TOLD, ids=named)
def test_what_is_called_silent_is_silent_and_what_is_called_reported_is_reported(block: Block) -> None:
    head = TALKED_OF[block.page]
    result = check_bytes("page.py", (head + block.text).encode(), Config())
    assert result.source is not None
    found = {result.source.position(each.start)[0] - head.count("\n") for each in result.findings}
    rows = list(enumerate(block.text.splitlines(), 1))
    assert found == {row for row, line in rows if "# reported" in line}
    assert any(re.search("# (silent|reported)", line) for _, line in rows)


def test_the_pages_that_say_silent_and_reported_are_known() -> None:
    assert {each.page for each in TOLD} == {"docs/inference.md"}


def test_the_suppressions_in_the_readme_silence() -> None:
    (block,) = (each for each in of("README.md") if each.language == "python")
    head = "import torch\n\n\ndef f(output: torch.Tensor):\n"
    for line in block.text.splitlines():
        told = check_bytes("page.py", f"{head}    {line}\n".encode(), Config())
        assert told.findings == ()
        bare = check_bytes("page.py", f"{head}    {line.partition('#')[0].rstrip()}\n".encode(), Config())
        assert [each.code for each in bare.findings] == ["TNS103"]


PRINTING = [each for each in PYTHON if re.search(r"^print\(.*\)  # ", each.text, re.MULTILINE)]


@pytest.mark.parametrize("block", PRINTING, ids=named)
def test_what_a_comment_says_is_printed_is_printed(block: Block) -> None:
    pytest.importorskip("torch", reason="the snippet runs torch, which is not installed")
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        exec(compile(block.text, str(block), "exec"), {"__name__": "page"})
    said = re.findall(r"^print\(.*\)  # (.*?)(?:, and .*)?$", block.text, re.MULTILINE)
    assert heard.getvalue().splitlines() == said


def test_each_piece_of_python_is_checked_beyond_its_syntax() -> None:
    files = [each for each in PYTHON if each.marked("file")]
    left = [each for each in PYTHON if each not in [*TOLD, *PRINTING, *files]]
    assert sorted((each.page, each.first) for each in left) == [
        ("README.md", "array = output.numpy()  # noqa: TNS103"),  # above
        ("docs/usage.md", "import torchlint"),  # test_docs.py runs it
        ("docs/verify.md", "self.kept[key(x)] = x.data * weight(x, 2) + self.bias  # in your code"),  # below
    ]


def test_what_is_cut_out_for_a_trial_is_what_the_page_shows() -> None:
    pytest.importorskip("torch", reason="fragments are made for torch, which is not installed")
    from torchlint.diagnostics.model import Settings
    from torchlint.verify.fragment import Uncut, fragments

    (block,) = (each for each in of("docs/verify.md") if each.language == "python")
    line, _, rest = block.text.partition("\n")
    statement, shown = line.partition("  #")[0], rest.replace("  # what is run", "").strip()
    head = "import torch\n\n\nclass Kept:\n    def keep(self, x: torch.Tensor, key, weight):\n        "
    result = check_bytes("page.py", f"{head}{statement}\n".encode(), Config())
    assert result.source is not None
    (finding,) = result.findings
    made = fragments(result.source, finding, Settings())
    assert not isinstance(made, Uncut), made.reason
    assert shown in made[0].before


# ---------------------------------------------------------------------- configuration
@pytest.mark.parametrize("block", TOML, ids=named)
def test_toml_is_taken_by_the_tool_that_it_configures(block: Block, tmp_path: Path) -> None:
    tools = set(tomllib.loads(block.text)["tool"])
    shell = Shell(tmp_path / "project")
    (shell.folder / "pyproject.toml").write_text(block.text)
    (shell.folder / "empty.py").write_text("")
    assert tools <= {"torchlint", "ruff"}
    if "torchlint" in tools:
        shell.run("torchlint --isolated --baseline torchlint-baseline.jsonl --write-baseline .")
        done = shell.run("torchlint --show-settings")
        assert done.status == 0, done.text
        assert done.text.startswith(f"configuration = {shell.folder / 'pyproject.toml'}\n")
        assert shell.run("torchlint .") == Said(0, "All checks passed!\n")
    if "ruff" in tools:
        if shell.run("ruff --version").status:
            pytest.skip("ruff, whose configuration this is, is not installed")
        (shell.folder / "some.py").write_text("x = 1  # noqa: TNS101\n")
        assert shell.run("ruff check --no-cache --select RUF100,RUF102 some.py").status == 0
        assert shell.run("ruff check --no-cache --isolated --select RUF100,RUF102 some.py").status == 1


def test_flake8_takes_the_options_of_the_page(tmp_path: Path) -> None:
    pytest.importorskip("flake8", reason="flake8, whose configuration this is, is not installed")
    (block,) = (each for each in of("docs/usage.md") if each.language == "ini")
    (tmp_path / ".flake8").write_text(block.text)
    (tmp_path / "a.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()\n")
    command = [sys.executable, "-m", "flake8", "--select", "TNS", "a.py"]
    quiet = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    (tmp_path / ".flake8").unlink()
    assert "TNS103" in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout


# ---------------------------------------------------------------------- YAML
@cache
def schema(name: str) -> tuple[str, ...]:
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema, which holds the schemas, is not installed")
    return (sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{name}")


def valid(name: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.yml")
        path.write_text(text)
        done = subprocess.run([*schema(name), str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def hooks(text: str) -> None:
    """Hold a configuration of pre-commit to pre-commit itself, and its hooks to those that there are."""
    pytest.importorskip("pre_commit", reason="pre-commit, whose configuration this is, is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.yaml")
        path.write_text(text)
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    known = {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    used = [hook["id"] for repo in yaml.safe_load(text)["repos"] for hook in repo["hooks"]]
    assert set(used) <= known


@pytest.mark.parametrize("block", YAML, ids=named)
def test_yaml_is_valid_for_the_program_that_reads_it(block: Block) -> None:
    read = yaml.safe_load(block.text)
    if block.marked("workflow") or block.marked("write").startswith(".github/"):
        valid("github-workflows", block.text)
    elif block.marked("pipeline"):
        valid("gitlab-ci", block.text)
    elif block.marked("part of") == ".pre-commit-config.yaml":
        hooks(f"{block.text}repos: []\n")
    elif "repos" in read:
        hooks(block.text)
    else:
        assert all({"uses", "run"} & set(step) for step in read), "steps of a workflow"
        valid("github-workflows", json.dumps(_job(read)))


def _job(steps: object) -> object:
    return {"on": "push", "jobs": {"check": {"runs-on": "ubuntu-latest", "steps": steps}}}


def test_the_release_that_is_named_is_this_one() -> None:
    from torchlint.version import VERSION

    told = [(str(each), found) for each in YAML for found in re.findall(r"(?:rev: |torchlint@)(\S+)", each.text)]
    assert [each for each in told if each[1] != f"v{VERSION}"] == []
    assert told
