"""Results kept between runs: the second run says the same to the byte, and looks again where anything has changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT, Program, Ran
from tests.notebooks import code, notebook, text
from torchlint.cache.file_state import FileState
from torchlint.config.options import OUTPUT_FORMATS

NETS = "import torch\n\n\ndef weights():\n    return torch.ones(3, requires_grad=True)\n"
USE = "from nets import weights\n\n\ndef used():\n    return weights().numpy()\n"
HIT = "import torch\n\n\ndef f(x):\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy(), x.data\n"
_KNOWN = re.compile(r"torchlint: info: (\d+) files known from earlier runs\n")


def known(done: Ran) -> int:
    """Tell of how many files a run with `-v` knew the result."""
    found = _KNOWN.search(done.stderr)
    assert found, done.stderr
    return int(found[1])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "setup.cfg").write_text("")
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "plain.py").write_text("import os\n\n\ndef f():\n    return os.getcwd()\n")
    return tmp_path


@pytest.fixture
def run(in_process: Program) -> Callable[..., int]:
    """Run with the cache, hold what is said against a run without, and give the number of files known."""

    def both(*arguments: str) -> int:
        cached, fresh = in_process("-v", *arguments), in_process("-v", "--no-cache", *arguments)
        assert (cached.status, cached.raw) == (fresh.status, fresh.raw)
        assert _KNOWN.sub("", cached.stderr) == fresh.stderr
        return known(cached)

    return both


# ---------------------------------------------------------------------- what makes a result invalid
def test_a_second_run_knows_every_file(project: Path, run: Callable[..., int]) -> None:
    assert [run("."), run("."), run(".")] == [0, 3, 3]


def test_a_changed_file_is_looked_at_again_alone(project: Path, run: Callable[..., int]) -> None:
    run(".")
    (project / "plain.py").write_text(HIT)
    assert [run("."), run(".")] == [2, 3]


def test_a_changed_import_counts_for_those_that_read_it(project: Path, run: Callable[..., int]) -> None:
    run(".")
    (project / "nets.py").write_text(NETS.replace(", requires_grad=True", ""))
    assert [run("."), run(".")] == [1, 3]
    (project / "nets.py").write_text(NETS)
    assert run(".") == 1


@pytest.mark.parametrize("text", [f"{NETS}# a comment\n", NETS.replace("():", "():  # made anew")])
def test_comments_and_lines_below_what_is_named_count_for_the_file_alone(
    project: Path, run: Callable[..., int], text: str
) -> None:
    run(".")
    (project / "nets.py").write_text(text)
    assert [run("."), run(".")] == [2, 3]


def test_named_places_in_other_files_stay_true(project: Path, run: Callable[..., int], in_process: Program) -> None:
    assert "nets.py line 5" in in_process(".", "--no-cache").stdout
    run(".")
    for above, known in (("# 1\n\n", 1), ("", 1), ("# one\n", 1), ("# 1\n", 2)):
        (project / "nets.py").write_text(NETS.replace("def", above + "def"))
        assert [run("."), run(".")] == [known, 3]


def test_a_comment_that_states_a_type_counts(project: Path, run: Callable[..., int]) -> None:
    (project / "nets.py").write_text(NETS.replace("weights()", "weights(n)").replace("(3, ", "(n, "))
    run(".")
    (project / "nets.py").write_text(NETS.replace("weights():", "weights(n):  # type: (int) -> torch.Tensor"))
    assert [run("."), run(".")] == [1, 3]


@pytest.mark.parametrize("name", ["nets.py", "nets/__init__.py"])
def test_an_import_that_appears_or_vanishes_counts(project: Path, run: Callable[..., int], name: str) -> None:
    (project / "nets.py").unlink()
    assert run("use.py") == 0
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(NETS)
    assert [run("use.py"), run("use.py")] == [0, 1]
    (project / name).unlink()
    assert [run("use.py"), run("use.py")] == [0, 1]


def test_a_package_that_takes_the_place_of_a_module_counts(project: Path, run: Callable[..., int]) -> None:
    assert [run("use.py"), run("use.py")] == [0, 1]
    (project / "nets").mkdir()
    (project / "nets" / "__init__.py").write_text(NETS.replace(", requires_grad=True", ""))
    assert [run("use.py"), run("use.py")] == [0, 1]


def test_a_submodule_that_appears_counts(project: Path, run: Callable[..., int]) -> None:
    (project / "nets.py").unlink()
    (project / "nets").mkdir()
    (project / "nets" / "__init__.py").write_text("")
    (project / "use.py").write_text("from nets import heads\n\n\ndef f():\n    return heads.weights().numpy()\n")
    assert [run("use.py"), run("use.py")] == [0, 1]
    (project / "nets" / "heads.py").write_text(NETS)
    assert [run("use.py"), run("use.py")] == [0, 1]


def test_the_edges_of_the_project_count(project: Path, run: Callable[..., int]) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "use.py").write_text(USE)
    assert [run("inner"), run("inner")] == [0, 1]
    (inner / "pyproject.toml").write_text("")  # `nets` lies outside from now on
    assert [run("inner"), run("inner")] == [0, 1]


def test_a_file_that_cannot_be_parsed_and_is_repaired_counts(project: Path, run: Callable[..., int]) -> None:
    (project / "nets.py").write_text("def weights(:\n")
    run("use.py")
    (project / "nets.py").write_text(NETS)
    assert [run("use.py"), run("use.py")] == [0, 1]


def test_a_renamed_file_is_looked_at_under_its_new_name(project: Path, run: Callable[..., int]) -> None:
    run(".")
    (project / "use.py").rename(project / "test_use.py")
    assert [run("."), run(".")] == [1, 3]  # `nets.py` makes a tensor of which it matters who calls for it


@pytest.mark.parametrize(
    "table",
    ['ignore = ["TNS1"]', 'min-confidence = "certain"', "strict = true", 'numpy-style = "force"\ntarget-torch = "2.0"',
     'unfixable = ["TNS101"]', 'target-torch = "1.0"', '[tool.torchlint.per-file-ignores]\n"hit.py" = ["TNS2"]'],
)  # fmt: skip
def test_another_configuration_counts(project: Path, run: Callable[..., int], table: str) -> None:
    (project / "hit.py").write_text(HIT)
    config = project / "pyproject.toml"
    config.write_text("[tool.torchlint]\n")
    assert [run(), run()] == [0, 4]
    config.write_text(f"[tool.torchlint]\n{table}\n")
    assert [run(), run()] == [0, 4]
    config.write_text("[tool.torchlint]\n")
    assert run() == 4


def test_a_changed_configuration_counts_at_once(tmp_path: Path, in_process: Program) -> None:
    (tmp_path / "hit.py").write_text(HIT)
    outcomes = []
    for select in ("TNS1", "TNS1", "TNS4", "TNS1", "TNS9999"):
        (tmp_path / "pyproject.toml").write_text(f'[tool.torchlint]\nselect = ["{select}"]\n')
        outcomes.append(in_process(".").status)
    assert outcomes == [1, 1, 0, 1, 2]


def test_flags_count_like_configuration(project: Path, run: Callable[..., int]) -> None:
    run(".")
    assert [run(".", "--select", "TNS2"), run(".", "--select", "TNS2"), run(".")] == [0, 3, 3]


def test_another_program_counts(project: Path, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    run(".")
    with monkeypatch.context() as patch:
        patch.setattr("torchlint.cache.version_key.VERSION", "99.0")
        assert [run("."), run(".")] == [0, 3]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "99.0")
        assert [run("."), run(".")] == [0, 3]
    with monkeypatch.context() as patch:
        patch.setattr("torchlint.cache.version_key.library", lambda _: "99.0")
        assert [run("."), run(".")] == [0, 3]
    assert run(".") == 3


def test_changed_code_of_torchlint_itself_counts(project: Path) -> None:
    shutil.copytree(ROOT / "torchlint", project / "lib" / "torchlint", ignore=shutil.ignore_patterns("__pycache__"))

    def start() -> int:
        command = [sys.executable, "-m", "torchlint", "--isolated", "-v", "use.py"]
        environment = {**os.environ, "PYTHONPATH": str(project / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False, timeout=120)
        assert done.returncode == 1
        return known(Ran(done.returncode, done.stdout, done.stderr.decode()))

    assert [start(), start()] == [0, 1]
    rule = project / "lib" / "torchlint" / "rules" / "data" / "data_read.py"
    rule.write_text(rule.read_text() + "# changed\n")
    assert [start(), start()] == [0, 1]


# ---------------------------------------------------------------------- what is said
@pytest.fixture
def motley(project: Path) -> Path:
    """A folder with every kind of result."""
    (project / "hit.py").write_text(HIT)
    (project / "quiet.py").write_text(HIT.replace("x.data", "x.data  # noqa: TNS103") + "    y = 1  # noqa: TNS203\n")
    (project / "broken.py").write_text("def f(:\n")
    (project / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe4\n" + HIT.encode().replace(b"\n", b"\r\n"))
    (project / "bytes.py").write_bytes(b"import torch\nx = '\xff'\n")
    (project / "nul.py").write_bytes(b"x = 1\n\x00\n")
    cells = (text("# T"), code("%matplotlib inline\n" + HIT), code("def g(:\n"), code("f(1)[1].data.shape"))
    (project / "book.ipynb").write_bytes(notebook(*cells))
    (project / "no.ipynb").write_bytes(b"{")
    other = {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}}
    (project / "other.ipynb").write_bytes(json.dumps({"cells": [], "metadata": other, "nbformat": 4}).encode())
    return project


@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_every_format_is_the_same_to_the_byte(motley: Path, run: Callable[..., int], output_format: str) -> None:
    arguments = (".", "--output-format", output_format, "--select", "ALL")
    assert [run(*arguments), run(*arguments)] == [0, 12]


@pytest.mark.parametrize(
    "arguments",
    [("--statistics",), ("--diff",), ("--diff", "--unsafe-fixes"), ("--unsafe-fixes", "--show-fixes"),
     ("--baseline", "base.jsonl"), ("--exit-zero", "-q"), ("--min-confidence", "certain"), ("--color", "always")],
)  # fmt: skip
def test_every_mode_is_the_same_to_the_byte(
    motley: Path, in_process: Program, run: Callable[..., int], arguments: tuple[str, ...]
) -> None:
    in_process("hit.py", "quiet.py", "--baseline", "base.jsonl", "--write-baseline", "--no-cache")
    run(".", *arguments)
    # Where fixes are to be applied nothing is taken from the cache.
    assert run(".", *arguments) == (7 if "--diff" in arguments else 12)


@pytest.mark.parametrize("arguments", [("--fix",), ("--fix", "--unsafe-fixes"), ("--add-noqa",), ("--fix-only",)])
def test_what_is_written_is_the_same_to_the_byte(motley: Path, in_process: Program, arguments: tuple[str, ...]) -> None:
    before = {path.name: path.read_bytes() for path in motley.iterdir()}
    fresh = in_process(".", "--no-cache", *arguments)
    wanted = {path.name: path.read_bytes() for path in motley.iterdir()}
    assert wanted != before
    for name, raw in before.items():
        (motley / name).write_bytes(raw)
    in_process(".")
    for _ in range(2):  # the first fills the cache with what is left, the second reads it
        for name, raw in before.items():
            (motley / name).write_bytes(raw)
        assert in_process(".", *arguments) == fresh
        assert {path.name: path.read_bytes() for path in motley.iterdir()} == wanted
    after = in_process(".", "-v", *arguments)
    # Files that got a comment are looked at once more, as they are then.
    assert known(after) == (7 if "--add-noqa" in arguments else 12)
    assert {path.name: path.read_bytes() for path in motley.iterdir()} == wanted


def test_a_fix_is_made_for_the_bytes_that_are_there(project: Path, in_process: Program) -> None:
    """Same size, same time: what is remembered is of another content."""
    file = project / "use.py"
    file.write_text("import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.numpy())\n")
    os.utime(file, (10**9, 10**9))
    in_process(".")
    file.write_text("import torch\n\nw = torch.ones(3, requires_grad=True)\nprint(w.digits)\n#")
    os.utime(file, (10**9, 10**9))
    before = file.read_bytes()
    assert in_process(".", "--fix").status == 0
    assert file.read_bytes() == before


def test_standard_input_leaves_nothing_behind(project: Path, in_process: Program) -> None:
    assert in_process("-", stdin=HIT.encode()).status == 1
    assert not Path(f"{project}.cache2").exists()


# ---------------------------------------------------------------------- what a warm run costs
LATER = "import sys, time; real = time.time_ns; time.time_ns = lambda: real() + 10**10\n"
"""Ten seconds on, so that no file is too young to be told by its times."""


def later(folder: Path, *arguments: str, **environment: str) -> tuple[set[str], set[str], str]:
    """Run the program and give the modules it loaded, the files below the folder it opened, and what it said."""
    program = (
        f"{LATER}opened = set()\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.add(str(args[0])))\n"
        f"from torchlint.cli import main\nstatus = main({list(arguments)!r})\n"
        "import json; print(json.dumps([sorted(sys.modules), sorted(opened)]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    modules, opened = json.loads(done.stderr.splitlines()[-1])
    inside = {os.path.relpath(each, folder) for each in opened if each.startswith(f"{folder}{os.sep}")}
    return set(modules), inside, done.stdout


def test_a_warm_run_opens_only_files_with_findings_and_imports_no_parser(motley: Path) -> None:
    arguments = (".", "--jobs", "1", "--isolated")
    cold, _, said = later(motley, *arguments)
    assert "libcst" in cold
    warm, opened, again = later(motley, *arguments)
    assert again == said
    heavy = {
        "libcst",
        "torchlint.linter.engine",
        "torchlint.rules.api",
        "torchlint.facts.value",
        "torchlint.answers.graph_knowledge",
        "concurrent.futures",
    }
    assert not warm & heavy
    assert not [name for name in warm if name.startswith("torchlint.rules.")]
    read = {each for each in opened if not each.startswith(".torchlint_cache") and each.endswith((".py", ".ipynb"))}
    assert read == {
        "use.py", "hit.py", "quiet.py", "broken.py", "latin.py", "bytes.py", "nul.py", "book.ipynb", "no.ipynb"
    }  # fmt: skip


def test_a_warm_fix_imports_no_parser_either(project: Path) -> None:
    later(project, ".", "--fix", "--isolated")
    warm, _, _ = later(project, ".", "--fix", "--isolated")
    assert not warm & {"libcst", "torchlint.linter.engine"}


# ---------------------------------------------------------------------- times
def test_a_young_file_is_told_by_its_content_an_old_one_by_its_times(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("a = 1\n")
    status = file.stat()
    now = max(status.st_mtime_ns, status.st_ctime_ns)
    assert FileState(lambda: now + 10**9).lasting(str(file)) is None
    old = FileState(lambda: now + 3 * 10**9)
    stamp = old.lasting(str(file))
    assert stamp is not None
    assert old.same(str(file), "another", stamp)
    file.write_text("a = 2\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not FileState(lambda: now + 3 * 10**9).same(str(file), "another", stamp)
    assert FileState(lambda: now - 10**12).lasting(str(file)) is None  # from the future
