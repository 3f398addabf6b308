"""Notebooks through every door of the program, and notebooks that are none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Program
from tests.documents import read
from tests.notebooks import PYTHON, code, document, notebook, sources, text

SETUP = "import torch\n\nw = torch.ones(3, requires_grad=True)"
HIT = "w.numpy()"
MESSAGE = "`.numpy()` on a tensor that requires grad: add `.detach()`"
TOLD = f"TNS101 [*] {MESSAGE} [error, certain]"
FAULTY = notebook(text("# Title"), code(SETUP), code(f"%matplotlib inline\né = 1; {HIT}"))


def refused(torchlint: Program, folder: Path, raw: bytes) -> str:
    """Check bytes as a notebook beside a sound one; hold that only they are reported and kept, and give the report."""
    (folder / "bad.ipynb").write_bytes(raw)
    (folder / "good.ipynb").write_bytes(FAULTY)
    ran = torchlint("--fix", "--output-format", "concise", "-q", ".")
    assert (ran.status, ran.stderr) == (1, "")
    assert (folder / "bad.ipynb").read_bytes() == raw
    assert sources((folder / "good.ipynb").read_bytes())[2] == "%matplotlib inline\né = 1; w.detach().numpy()"
    (line,) = ran.stdout.splitlines()
    return line.removesuffix(" [error, certain]")


# ---------------------------------------------------------------------- what is no notebook
@pytest.mark.parametrize(
    ("raw", "place", "words"),
    [
        (b"", "1:1", "this notebook is empty: remove it, or save it from Jupyter again"),
        (b" \n", "1:1", "this notebook is empty: remove it, or save it from Jupyter again"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "1:1",
            "this is a pointer of Git LFS where a notebook should be: run `git lfs pull`",
        ),
        (b"import torch\n", "1:1", "this notebook is no valid JSON: Expecting value"),
        (b'{"cells": [\n {"x": }]}', "2:8", "this notebook is no valid JSON: Expecting value"),
        (b'{"cells": []\n "x": 1}', "2:2", "this notebook is no valid JSON: Expecting ',' or '}'"),
        (b'{"cells": [}', "1:12", "this notebook is no valid JSON: Expecting value"),
        (b'{"cells": [], "x": "\n"}', "1:21", "this notebook is no valid JSON: Invalid control character at"),
        (b'{"cells": [], x: 1}', "1:15", "this notebook is no valid JSON: Expecting '\"'"),
        (b'{"cells": []} x', "1:15", "this notebook is no valid JSON: something follows behind its end"),
        (b"[]", "1:1", "this is no Jupyter notebook: it begins with no object"),
        (b"{}", "1:1", "this is no Jupyter notebook: it has no `cells`"),
        (b'{"cells": 3}', "1:11", "this is no Jupyter notebook: `cells` is no list"),
        (b'{"cells": ["x"]}', "1:12", "this is no Jupyter notebook: a cell is no object"),
        (
            b'{"cells": [{"cell_type": "code", "source": [1]}]}',
            "1:44",
            "this is no Jupyter notebook: the source of a cell holds what is no text",
        ),
        (
            b'{"cells": [{"cell_type": "code", "source": {}}]}',
            "1:44",
            "this is no Jupyter notebook: the source of a cell is neither text nor a list of texts",
        ),
        (b'{"cells": [], "nbformat": 5}', "1:1", "this notebook is of format 5; formats 2 to 4 can be read"),
        (b'{"worksheets": [{"cells": {}}], "nbformat": 3}', "1:27", "this is no Jupyter notebook: `cells` is no list"),
        (b'{"a": "\xff"}', "1:8", "byte 0xff is not UTF-8, which notebooks are stored in: save it as UTF-8"),
        (FAULTY.decode().encode("utf-16"), "1:1", "this notebook is UTF-16 or UTF-32, not UTF-8: save it as UTF-8"),
        (FAULTY.decode().encode("utf-32-le"), "1:1", "this notebook is UTF-16 or UTF-32, not UTF-8: save it as UTF-8"),
    ],
)
def test_what_is_no_notebook_is_a_finding_at_its_place(
    torchlint: Program, tmp_path: Path, raw: bytes, place: str, words: str
) -> None:
    assert refused(torchlint, tmp_path, raw) == f"bad.ipynb:{place}: TNS900 {words}"


def test_json_nested_without_end_is_a_finding(torchlint: Program, tmp_path: Path) -> None:
    raw = b'{"cells": [], "metadata": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert refused(torchlint, tmp_path, raw) == "bad.ipynb:1:27: TNS900 the notebook's JSON is nested too deeply"


def test_code_nested_without_end_is_a_finding_of_its_cell(torchlint: Program, tmp_path: Path) -> None:
    write = notebook(code(SETUP), code("x = " + "(" * 5000 + ")" * 5000), code("y = " + "-" * 50_000 + "1"), code(HIT))
    (tmp_path / "a.ipynb").write_bytes(write)
    lines = torchlint("--output-format", "concise", "-q", "a.ipynb").stdout.splitlines()
    assert [line[:16] for line in lines] == ["a.ipynb:cell 2:1", "a.ipynb:cell 3:1", "a.ipynb:cell 4:1"]
    assert ["TNS900" in line for line in lines] == [True, True, False]


def test_of_a_key_that_comes_twice_the_last_counts(torchlint: Program, tmp_path: Path) -> None:
    cell = json.dumps(code(HIT))[:-1] + ', "source": ["w = 1\\n", "w.numpy()"], "source": ' + json.dumps([HIT]) + "}"
    other = json.dumps(document(code("x.numpy()")))
    raw = other[:-1] + f', "cells": [{json.dumps(code(SETUP))}, {cell}]}}'
    (tmp_path / "a.ipynb").write_text(raw)
    assert json.loads(raw)["cells"][1]["source"] == [HIT]
    assert torchlint("--output-format", "concise", "-q", "a.ipynb").stdout == f"a.ipynb:cell 2:1:3: {TOLD}\n"
    assert torchlint("--fix", "a.ipynb").status == 0
    at = raw.rindex(HIT)
    assert (tmp_path / "a.ipynb").read_text() == raw[:at] + "w.detach().numpy()" + raw[at + len(HIT) :]


def test_half_characters_and_nuls_are_kept(torchlint: Program, tmp_path: Path) -> None:
    made = [code(SETUP), code("s = '\ud800'; w.numpy()"), code("x = '\0'"), code("\ud83d\ude00 = 1"), code(HIT)]
    before = json.dumps(document(*made)).encode()
    (tmp_path / "a.ipynb").write_bytes(before)
    ran = torchlint("--fix", "--output-format", "concise", "-q", "a.ipynb")
    assert [line.partition(": TNS")[0] for line in ran.stdout.splitlines()] == [
        "a.ipynb:cell 3:1:1",
        "a.ipynb:cell 4:1:1",
    ]
    assert (tmp_path / "a.ipynb").read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")


def test_a_notebook_in_another_language_is_passed_over_with_a_word(torchlint: Program, tmp_path: Path) -> None:
    for name, metadata in (
        ("r.ipynb", {"kernelspec": {"language": "R", "name": "ir"}}),
        ("julia.ipynb", {"language_info": {"name": "julia"}}),
    ):
        (tmp_path / name).write_bytes(notebook(code("x <- w.numpy(", outputs=[]), metadata=metadata))
    (tmp_path / "nothing.ipynb").write_bytes(notebook(code(SETUP), code(HIT), metadata={}))
    ran = torchlint("--output-format", "concise", "-q", ".")
    assert (ran.status, ran.stdout, ran.stderr) == (1, f"nothing.ipynb:cell 2:1:3: {TOLD}\n", "")
    ran = torchlint("-v", "r.ipynb", "julia.ipynb")
    assert (ran.status, ran.stdout) == (0, "All checks passed!\n")
    assert "torchlint: info: r.ipynb: not checked: its language is R\n" in ran.stderr
    assert "torchlint: info: julia.ipynb: not checked: its language is julia\n" in ran.stderr


def test_a_cell_in_another_language_is_passed_over(torchlint: Program, tmp_path: Path) -> None:
    sql = code("select w.numpy(", metadata={"vscode": {"languageId": "sql"}})
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), sql, code(HIT)))
    assert torchlint("--output-format", "concise", "-q", ".").stdout == f"a.ipynb:cell 3:1:3: {TOLD}\n"


def test_a_hundred_megabytes_are_read_and_fixed(torchlint: Program, tmp_path: Path) -> None:
    image = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo" * 900_000}}
    before = notebook(code(SETUP), *(code(f"x = {number}", outputs=[image]) for number in range(10)), code(HIT))
    assert len(before) > 95_000_000
    (tmp_path / "a.ipynb").write_bytes(before)
    assert torchlint("--fix", "a.ipynb").status == 0
    assert (tmp_path / "a.ipynb").read_bytes() == before.replace(b"w.numpy()", b"w.detach().numpy()")


# ---------------------------------------------------------------------- doors
def test_standard_input_is_a_notebook_where_its_name_says_so(torchlint: Program, tmp_path: Path) -> None:
    flags = ("--stdin-filename", "x/a.ipynb")
    ran = torchlint("--output-format", "concise", "-q", *flags, "-", stdin=FAULTY)
    assert (ran.status, ran.stdout) == (1, f"x/a.ipynb:cell 3:2:10: {TOLD}\n")
    ran = torchlint("--fix", "-q", *flags, "-", stdin=FAULTY)
    assert (ran.status, ran.raw) == (0, FAULTY.replace(b"w.numpy()", b"w.detach().numpy()"))
    ran = torchlint("-q", "--output-format", "concise", "-", stdin=FAULTY)  # JSON is also Python, of a kind
    assert ran.stdout == ""


def test_a_diff_is_one_that_git_applies(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(FAULTY)
    ran = torchlint("--diff", "-q", "a.ipynb")
    assert ran.status == 1
    assert '-    "é = 1; w.numpy()"\n+    "é = 1; w.detach().numpy()"\n' in ran.stdout
    subprocess.run(["git", "apply", "-p0"], cwd=tmp_path, input=ran.raw, check=True)
    assert (tmp_path / "a.ipynb").read_bytes() == FAULTY.replace(b"w.numpy()", b"w.detach().numpy()")


def test_full_shows_the_cell_and_its_line_as_it_is_written(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), code("\n%time y = w.numpy()\n!ls")))
    assert torchlint("a.ipynb").stdout == (
        "TNS101 [*] `.numpy()` on a tensor that requires grad: add `.detach()`\n"
        " --> a.ipynb:cell 2:2:13 numpy-on-grad-tensor (error, certain)\n"
        "  |\n"
        "2 | %time y = w.numpy()\n"
        "  |             ^^^^^\n"
        "  = why: `torch.ones(3, requires_grad=True)` requires grad, cell 1, line 3\n"
        "  = fix: Insert `.detach()` before `.numpy()`\n"
        "    - %time y = w.numpy()\n"
        "    + %time y = w.detach().numpy()\n"
        "\n"
        "Found 1 hazard (1 fixable): fix with --fix.\n"
    )


def test_json_has_the_cell_and_counts_within_it(torchlint: Program, tmp_path: Path) -> None:
    last = code("x = 1\nfrom torch.autograd import Variable")
    (tmp_path / "a.ipynb").write_bytes(notebook(text("t"), code("import torch"), code(""), last, code("y = 1")))
    ran = torchlint("--output-format", "json", "a.ipynb")
    (told,) = read("json", ran.raw)
    assert (told["cell"], told["noqa_row"]) == (4, 2)
    assert (told["location"], told["end_location"]) == ({"row": 2, "column": 28}, {"row": 2, "column": 36})
    assert told["fix"]["edits"] == [
        {"content": "", "location": {"row": 2, "column": 1}, "end_location": {"row": 3, "column": 1}}
    ]


@pytest.mark.parametrize(
    "output_format", ["github", "gitlab", "sarif", "rdjson", "pylint", "junit", "html", "json-lines", "grouped"]
)
def test_programs_are_told_the_lines_of_the_file_itself(torchlint: Program, tmp_path: Path, output_format: str) -> None:
    (tmp_path / "a.ipynb").write_bytes(FAULTY)
    lines = FAULTY.decode().splitlines()
    row = next(number for number, line in enumerate(lines, 1) if HIT in line)
    column = lines[row - 1].index("numpy") + 1
    ran = torchlint("--output-format", output_format, "a.ipynb")
    assert ran.status == 1
    told = ran.stdout
    if output_format == "github":
        spot = f"line={row},col={column},endLine={row},endColumn={column + 5}"
        assert told == f"::error title=torchlint (TNS101),file=a.ipynb,{spot}::a.ipynb:cell 3:2:10: TNS101 {MESSAGE}\n"
    elif output_format == "pylint":
        assert told == f"a.ipynb:{row}: [TNS101] {MESSAGE}\n"
    elif output_format == "gitlab":
        (issue,) = read("gitlab", ran.raw)
        assert issue["location"]["positions"]["begin"] == {"line": row, "column": column}
    elif output_format == "rdjson":
        (each,) = read("rdjson", ran.raw)["diagnostics"]
        assert each["location"]["range"]["start"] == {"line": row, "column": column + 1}  # bytes, and `é` has two
        assert "suggestions" not in each
    elif output_format == "sarif":
        (result,) = read("sarif", ran.raw)["runs"][0]["results"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"], region["snippet"]) == (row, column, {"text": "numpy"})
        assert (result["properties"]["cell"], result["properties"]["row"]) == (3, 2)
        (step, _) = result["codeFlows"][0]["threadFlows"][0]["locations"]
        line = step["location"]["physicalLocation"]["region"]["startLine"]
        assert "requires_grad=True" in lines[line - 1]
        (change,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
        assert change["deletedRegion"]["startLine"] == row
        at = change["deletedRegion"]["startColumn"] - 1
        fixed = lines[row - 1][:at] + change["insertedContent"]["text"] + lines[row - 1][at:]
        assert fixed == '    "é = 1; w.detach().numpy()"'
    else:
        spots = {"junit": "TNS101 cell 3:2:10", "json-lines": '"cell": 3', "grouped": "  cell 3:2:10  TNS101"}
        assert spots.get(output_format, "cell 3:2:10") in told


def test_comments_in_cells_silence(torchlint: Program, tmp_path: Path) -> None:
    rows = f"{HIT}  # noqa: TNS101\n%time {HIT}  # torchlint: ignore[TNS101] once\n(\n  {HIT}\n)  # noqa\n{HIT}"
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), code(rows), code(HIT)))
    ran = torchlint("--output-format", "concise", "-q", "a.ipynb")
    assert [line[:19] for line in ran.stdout.splitlines()] == ["a.ipynb:cell 2:6:3:", "a.ipynb:cell 3:1:3:"]
    ignored = code("# torchlint: ignore-file[TNS1] teaches what fails")
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), code(rows), ignored, code(HIT)))
    assert torchlint("a.ipynb").status == 0


def test_suppressions_that_silence_nothing_are_taken_away_in_cells_of_python_only(
    torchlint: Program, tmp_path: Path
) -> None:
    cells = ["# noqa: TNS101\nx = 1  # noqa: TNS101\n!ls  # noqa: TNS101", "%%bash\nls  # noqa: TNS101", "y = 1"]
    (tmp_path / "a.ipynb").write_bytes(notebook(*map(code, cells)))
    ran = torchlint("--output-format", "concise", "-q", "a.ipynb")
    assert [line.partition(" `")[0] for line in ran.stdout.splitlines()] == [
        "a.ipynb:cell 1:1:9: TNS901 [*]",
        "a.ipynb:cell 1:2:16: TNS901 [*]",
    ]
    assert torchlint("--fix", "a.ipynb").status == 0
    assert sources((tmp_path / "a.ipynb").read_bytes()) == ["x = 1\n!ls  # noqa: TNS101", *cells[1:]]
    (tmp_path / "a.ipynb").write_bytes(notebook(*map(code, cells), code("def f(:")))  # which may be what it is for
    assert "TNS901" not in torchlint("--output-format", "concise", "-q", "a.ipynb").stdout


def test_suppressions_are_added_to_cells(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), code(f"%time {HIT}\ny = {HIT}")))
    assert torchlint("--add-noqa", "a.ipynb").status == 0
    added = f"%time {HIT}  # noqa: TNS101\ny = {HIT}  # noqa: TNS101"
    assert sources((tmp_path / "a.ipynb").read_bytes()) == [SETUP, added]
    assert torchlint("a.ipynb").status == 0


def test_a_baseline_knows_a_finding_in_a_cell_that_has_moved(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), code(HIT)))
    assert torchlint("--baseline", "known", "--write-baseline", "a.ipynb").status == 0
    (tmp_path / "a.ipynb").write_bytes(
        notebook(text("new"), code(SETUP), code("%who"), code(f"\n{HIT}"), code(f"y = {HIT}"))
    )
    ran = torchlint("--baseline", "known", "--output-format", "concise", "-q", "a.ipynb")
    assert (ran.status, ran.stdout) == (1, f"a.ipynb:cell 5:1:7: {TOLD}\n")


def test_changed_lines_are_those_of_the_json(torchlint: Program, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    old = code(f"a = {HIT}\nw.data.fill_(1)\nb = {HIT}")
    (tmp_path / "a.ipynb").write_bytes(notebook(code(SETUP), old))
    git("add", "-A")
    git("commit", "-qm", "old")
    new = code(f"a = {HIT}\nw.data.fill_(2)\nb = {HIT}")
    (tmp_path / "a.ipynb").write_bytes(notebook(text("more"), code(SETUP), new, code(f"c = (\n  {HIT}\n)")))
    ran = torchlint("--diff-base", "HEAD", "--output-format", "concise", "-q", "a.ipynb")
    assert [line[:26] for line in ran.stdout.splitlines()] == [
        "a.ipynb:cell 3:2:3: TNS202",
        "a.ipynb:cell 4:2:5: TNS101",
    ]
    torchlint("--diff-base", "HEAD", "--fix", "--unsafe-fixes", "a.ipynb")
    assert sources((tmp_path / "a.ipynb").read_bytes())[2:] == [
        f"a = {HIT}\nwith torch.no_grad():\n    w.fill_(2)\nb = {HIT}",
        "c = (\n  w.detach().numpy()\n)",
    ]


def test_fixes_of_cells_are_proven_where_that_is_asked_for(torchlint: Program, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    before = notebook(text("t"), code("import torch"), code("%who\nx = torch.FloatTensor([1, 2])"))
    (tmp_path / "a.ipynb").write_bytes(before)
    ran = torchlint("verify", "a.ipynb")
    assert ran.status == 0
    assert ran.stdout.endswith("1 fix: 1 proven, 0 refuted, 0 not testable.\n")
    assert ran.stdout.startswith("a.ipynb:cell 3:2:11: TNS304 (safe fix) proven: ")
    assert torchlint("--fix", "--verify", "a.ipynb").status == 0
    assert sources((tmp_path / "a.ipynb").read_bytes())[2] == ("%who\nx = torch.tensor([1, 2], dtype=torch.float32)")


def test_configuration_leaves_notebooks_out_by_file_and_by_rule(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(FAULTY)
    (tmp_path / "a.py").write_text(f"{SETUP}\n{HIT}\n")
    config = tmp_path / "torchlint.toml"
    config.write_text('[per-file-ignores]\n"*.ipynb" = ["TNS101"]\n')
    assert torchlint("--output-format", "concise", "-q", ".").stdout == f"a.py:4:3: {TOLD}\n"
    config.write_text('extend-exclude = ["*.ipynb"]\n')
    assert torchlint("--show-files").stdout == "a.py\n"
    assert torchlint("--output-format", "concise", "-q", ".").stdout == f"a.py:4:3: {TOLD}\n"
    assert torchlint("-q", "--force-exclude", "a.ipynb").status == 0
    assert torchlint("-q", "a.ipynb").status == 1


def test_facts_are_told_for_a_line_of_a_cell(torchlint: Program, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(FAULTY)
    for place in ("a.ipynb:3:2", "a.ipynb:cell 3:2"):
        ran = torchlint("--show-facts", place)
        assert (ran.status, ran.stderr) == (0, "")
        assert ran.stdout.startswith("a.ipynb:cell 3:2  é = 1; w.numpy()\n  grad mode: on\n")
        assert "requires grad, cell 2, line 3\n" in ran.stdout
    for place, words in (
        ("a.ipynb:2", "expected FILE:CELL:LINE for a notebook, for example train.ipynb:3:12"),
        ("a.ipynb:1:1", "cell 1 holds no Python code"),
        ("a.ipynb:9:1", "cell 9 holds no Python code"),
        ("a.ipynb:2:9", "cell 2 has 3 lines"),
        ("a.ipynb:2:0", "expected FILE:LINE, for example train.py:12"),
    ):
        ran = torchlint("--show-facts", place)
        assert (ran.status, ran.stdout) == (2, "")
        assert ran.stderr == f"torchlint: error: --show-facts {place}: {words}\n"


def test_flake8_says_nothing_of_notebooks(tmp_path: Path) -> None:
    """flake8 looks at Python files only: the page on usage says what to do instead."""
    (tmp_path / "a.ipynb").write_bytes(FAULTY)
    done = subprocess.run(
        [sys.executable, "-m", "flake8", "--isolated", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_from_python(tmp_path: Path) -> None:
    import torchlint

    result = torchlint.check(FAULTY, path="a.ipynb")
    (found,) = result.findings
    assert result.source is not None
    row = result.source.position(found.start)[0]
    assert (result.source.cell(row), result.source.address(found.start)) == (3, (2, 10))
    assert torchlint.fix(FAULTY, path="a.ipynb").raw == FAULTY.replace(b"w.numpy()", b"w.detach().numpy()")
    assert json.loads(FAULTY)["metadata"] == PYTHON
