"""The GitHub Action: its scripts are taken out of ``action.yml`` and run by bash as GitHub runs them, offline."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import nightly
from tests.action import ACTION, BASH, STEPS, Runner
from tests.documents import read
from tests.installing import ROOT, copied

HIT = "import torch\n\n\ndef f():\n    w = torch.ones(3, requires_grad=True)\n    return w.numpy()\n"
GUARDED = HIT.replace("w.numpy()", "w.detach().numpy()")
OLD = "import torch\n\nx = torch.Tensor([1, 2])\n"
HOSTILE = "raise SystemExit('code of the checked project was run')\n"

pytestmark = pytest.mark.skipif(BASH is None, reason="the action's scripts need bash")


# ---------------------------------------------------------------------- the file
def test_the_file_is_valid_by_the_schema_of_actions() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema, which holds the schema, is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "ok -- validation done")


def test_no_input_is_pasted_into_a_script() -> None:
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []
    assert {step["shell"] for step in STEPS if "run" in step} == {"bash"}


def test_the_inputs_and_outputs_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(ACTION["inputs"]) == {
        *("version", "args", "preset", "min-severity", "fail-on", "working-directory", "sarif")
    }
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"| `{name}` |" in page, name


# ---------------------------------------------------------------------- runs
def test_findings_are_annotated_and_fail_the_job(runner: Runner) -> None:
    runner.write(a_py=HIT)
    done = runner.run()
    assert (done.status, done.outputs) == (1, {"exit-status": "1", "sarif-file": ""})
    assert [line for line in done.log.splitlines() if line.startswith("::")] == [
        "::error title=torchlint (TNS101),file=a.py,line=6,col=14,endLine=6,endColumn=19::a.py:6:14: TNS101 "
        "`.numpy()` on a tensor that requires grad: add `.detach()`"
    ]
    assert done.uploaded is None


def test_nothing_to_report_passes_and_the_action_s_own_revision_is_the_default(runner: Runner, tmp_path: Path) -> None:
    runner.write(a_py=GUARDED)
    runner.action = copied(tmp_path / "action")
    done = runner.run(version="", sarif="true")
    assert done.status == 0, done.log
    assert done.outputs["exit-status"] == "0"
    assert not re.search("^::", done.log, re.MULTILINE)
    assert done.uploaded == {"sarif_file": done.outputs["sarif-file"], "category": "torchlint"}
    document = read("sarif", Path(done.outputs["sarif-file"]).read_bytes())
    assert document["runs"][0]["results"] == []


def test_severities_are_inputs_and_a_wrong_one_is_refused(runner: Runner) -> None:
    runner.write(a_py=OLD)
    assert runner.run().status == 1
    assert runner.run(preset="hazards").status == runner.run(min_severity="warning").status == 0
    shown = runner.run(fail_on="warning", sarif="true")
    assert (shown.status, shown.outputs["exit-status"]) == (0, "0")
    assert "::notice title=torchlint (TNS301)" in shown.log
    wrong = runner.run(preset="hazard")
    assert wrong.status == 2
    assert 'got "hazard"; did you mean `hazards`?' in wrong.log


def test_paths_count_from_the_top_of_the_repository(runner: Runner) -> None:
    runner.write(**{"odd: a,b__src__a_py": HIT, "other_py": HIT})
    done = runner.run(working_directory="odd: a,b", sarif="true")
    assert (done.status, done.outputs["exit-status"]) == (1, "1")
    assert ["file=odd%3A a%2Cb/src/a.py,line=6" in line for line in done.log.splitlines() if "::error" in line] == [
        True
    ]
    document = read("sarif", Path(done.outputs["sarif-file"]).read_bytes())
    places = re.findall(r'"artifactLocation": (\{.*?\})', json.dumps(document))
    assert {json.loads(each)["uri"] for each in places} == {"odd%3A%20a%2Cb/src/a.py"}
    assert [each["ruleId"] for each in document["runs"][0]["results"]] == ["TNS101"]


def test_arguments_are_words_as_in_a_shell_and_nothing_is_expanded(runner: Runner) -> None:
    runner.write(**{"two words_py": HIT, "left out_py": HIT, "$(touch pwned)_py": HIT})
    done = runner.run(args="""'two words.py' "$(touch pwned).py" --select "TNS1, TNS2" --min-confidence=certain""")
    assert done.status == 1, done.log
    named = re.findall(r"file=([^,]*),", done.log)
    assert sorted(named) == ["$(touch pwned).py", "two words.py"]
    assert sorted(path.name for path in runner.workspace.iterdir() if path.name != ".torchlint_cache") == [
        "$(touch pwned).py",
        "left out.py",
        "two words.py",
    ]


def test_code_of_the_checked_project_is_not_run(runner: Runner) -> None:
    names = ("pip_py", "venv_py", "json_py", "ast_py", "shlex_py", "torchlint____init___py", "sitecustomize_py")
    runner.write(a_py=HIT, **dict.fromkeys(names, HOSTILE))
    done = runner.run(args="a.py", sarif="true")
    assert done.status == 1, done.log
    assert "was run" not in done.log
    assert "file=a.py,line=6" in done.log


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"args": "--slect TNS1"}, "--select"),
        ({"args": "missing.py", "sarif": "true"}, "missing.py"),
        ({"args": "'a.py"}, "::error title=torchlint::the input `args` cannot be read (No closing quotation)"),
        ({"args": ". --output-format=json"}, "::error title=torchlint::the input `args` has `--output-format=json`"),
        ({"sarif": "yes"}, '::error title=torchlint::the input `sarif` is neither "true" nor "false"'),
        ({"version": "latest"}, "::error title=torchlint::the input `version` is no version, specifier, path or URL"),
        pytest.param(
            {"version": "999.0"},
            "::error title=torchlint::pip could not install torchlint",
            marks=nightly.only("an environment for one more version that there is not"),
        ),
        ({"version": ">=999"}, "::error title=torchlint::pip could not install torchlint"),
        ({"version": "--index-url=https://example.org/x"}, "no version, specifier, path or URL"),
    ],
    ids=["flag", "path", "quote", "format", "sarif", "word", "version", "specifier", "option"],
)
def test_a_run_that_fails_says_why_and_ends_with_2(runner: Runner, inputs: dict[str, str], said: str) -> None:
    runner.write(a_py=HIT)
    done = runner.run(**inputs)
    assert done.status == 2, done.log
    assert said in done.log
    assert done.outputs["exit-status"] in ("2", "")
    assert done.uploaded is None


def test_without_a_python_that_is_new_enough_the_remedy_is_said(runner: Runner, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name in ("python3", "python"):
        (old / name).write_text("#!/bin/sh\nexit 1\n")
        (old / name).chmod(0o755)
    script = f'PATH="{old}:$PATH"\n' + STEPS[0]["run"]
    done, _ = runner.step(
        {**STEPS[0], "run": script}, {"inputs": {"version": str(runner.built)}, "steps": {}}, runner.temporary
    )
    assert done.returncode == 2
    assert "no Python 3.10 or newer: put a step with actions/setup-python before this one" in done.stdout
