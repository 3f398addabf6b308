"""What the texts of a project say to a file's questions, and what becomes of a result when they change."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import Program
from tests.test_cache import known
from torchlint.texts import project_texts, source_files, word_index
from torchlint.texts.default_setters import DTYPE
from torchlint.texts.name_takers import importers
from torchlint.texts.project_texts import SUBCLASSES, SURELY, TAKES, TRACES, ask, look_again
from torchlint.texts.word_index import WordIndex

USES = "import torch\n\n\ndef make():\n    return torch.Tensor([1, 2])\n"
SETS_MORE = "import torch\n\ntorch.set_default_tensor_type(kind)\ntorch.set_default_device(device)\n"
SETS = "import torch\n\ntorch.set_default_dtype(torch.float64)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "setup.cfg").write_text("")
    (tmp_path / "uses.py").write_text(USES)
    return tmp_path


def sets(project: Path) -> str | None:
    look_again()
    return ask((DTYPE, str(project), str(project / "uses.py")))


def takes(project: Path, name: str = "Variable") -> str | None:
    look_again()
    return ask((TAKES, str(project), str(project / "uses.py"), name))


def test_the_first_file_by_path_is_named_and_the_one_that_asks_is_not(project: Path) -> None:
    (project / "uses.py").write_text(SETS)
    assert sets(project) is None
    for name in ("tests/b.py", "tests/a.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(SETS)
    assert sets(project) == "`tests/a.py` sets the default dtype"
    (project / "tests/a.py").unlink()
    assert sets(project) == "`tests/b.py` sets the default dtype"


@pytest.mark.parametrize("folder", [".venv", "node_modules", "__pycache__", "lib/site-packages", "made"])
def test_environments_and_hidden_folders_are_no_part_of_a_project(project: Path, folder: str) -> None:
    (project / folder).mkdir(parents=True)
    (project / folder / "a.py").write_text(SETS)
    (project / "made").mkdir(exist_ok=True)
    (project / "made/pyvenv.cfg").write_text("")
    assert sets(project) is None


def test_a_link_to_a_folder_above_is_not_followed(project: Path) -> None:
    (project / "again").symlink_to(project, target_is_directory=True)
    assert sets(project) is None


@pytest.mark.parametrize(
    "text",
    [
        "# torch.set_default_dtype is for others\nimport torch\n",
        '"""Call `torch.set_default_dtype` first."""\nimport torch\n',
        "import torch\n\n\ndef set_default_mininterval(x):\n    pass\n",
        "import torch\n\n\nclass A:\n    def run(self):\n        with self:\n            pass\n",
    ],
)
def test_prose_and_other_words_set_nothing(project: Path, text: str) -> None:
    (project / "other.py").write_text(text)
    assert sets(project) is None


@pytest.mark.parametrize("text", ["import torch\nset_default_dtype(1\n", "print torch.set_default_dtype\n"])
def test_a_file_that_does_not_parse_counts_by_its_words(project: Path, text: str) -> None:
    (project / "broken.py").write_text(text)
    assert sets(project) == "`broken.py` sets the default dtype"


def test_links_that_lead_nowhere_say_nothing(project: Path) -> None:
    (project / "itself.py").symlink_to("itself.py")
    (project / "gone.py").symlink_to("nowhere.py")
    (project / "around").symlink_to(".", target_is_directory=True)
    assert sets(project) is None


def test_too_many_files_leave_it_open(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        (project / f"a{at}.py").write_text("")
    monkeypatch.setattr(source_files, "MOST_FILES", 4)
    assert sets(project) == "the project has too many files to look through"


def test_a_folder_where_no_project_begins_may_hold_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        (tmp_path / f"a{at}.py").write_text("")
    monkeypatch.setattr(source_files, "MOST_LOOSE_FILES", 3)
    assert source_files.python_files(str(tmp_path)) is None
    (tmp_path / "setup.cfg").write_text("")
    assert len(source_files.python_files(str(tmp_path)) or ()) == 4


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("from uses import *\n", "`other.py` imports all names from here"),
        ("from .lib.uses import (*)\n", None),  # no Python
        ("from others import *\nVariable = 1\n", None),
        ("from uses import make\nfrom torch.autograd import Variable\nVariable(make())\n", None),
        ("import torch, uses\nuses.make(torch.autograd.Variable)\n", None),
        ("import tensorflow as tf\nimport uses\nuses.make(tf.Variable)\n", None),
        ("from uses import make as Variable\n", None),
        ("from uses import Variable as V\n", "`other.py` takes `Variable` from here"),
        ("import lib.uses as u\nu.Variable\n", "`other.py` takes `Variable` from here"),
        ("from . import uses\ngetattr(uses, 'Variable')\n", "`other.py` takes `Variable` from here"),
        ("class A:\n    def f(self):\n        return self.Variable\n", None),
        ('"""The Variable that uses takes."""\n', None),
    ],
)
def test_ways_to_take_a_name(project: Path, text: str, answer: str | None) -> None:
    (project / "other.py").write_text(text)
    assert takes(project) == answer


def test_all_files_of_a_chain_of_stars_are_named(project: Path) -> None:
    texts = {"a.py": "from uses import *\n", "b.py": "from a import *\n", "c.py": "from b import Variable\n"}
    for name, text in texts.items():
        (project / name).write_text(text)
    expected = "`c.py` takes `Variable` from here, `a.py` and `b.py` import all names from here"
    assert takes(project) == expected


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("from uses import Variable\n", True),
        ("from .lib.uses import make, Variable as V\n", True),
        ("from uses import *\nmake()\n", False),
        ("from others import Variable\nimport uses\n", False),
        ("import uses\nuses.Variable\n", False),  # it may be asked for in a branch that nobody takes
    ],
)
def test_what_surely_imports_a_name(project: Path, text: str, *, does: bool) -> None:
    (project / "other.py").write_text(text)
    look_again()
    answer = ask((SURELY, str(project), str(project / "uses.py"), "Variable"))
    assert answer == ("`other.py` imports `Variable` from here" if does else None)


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("import uses\n", True),
        ("import lib.uses as u\n", True),
        ("from uses import make\n", True),
        ("from . import (\n    others,\n    uses,\n)\n", True),
        ("from lib import others, uses\n", True),
        ("from lib \\\n    import uses\n", True),
        ("x = 1; import uses\n", True),
        ("import importlib\nimportlib.import_module('uses')\n", True),
        ("import runpy\nrunpy.run_path('uses.py')\n", True),
        ("import users\n", False),
        ("import torch  # it uses torch\n", False),
        ("uses = 1\nprint('uses')\n", False),
    ],
)
def test_ways_to_import_a_module(project: Path, text: str, *, does: bool) -> None:
    (project / "other.py").write_text(text)
    words = WordIndex(str(project))
    words.refresh()
    found = importers(words, str(project / "uses.py"))
    assert [each.shown for each in found] == (["other.py"] if does else [])


def test_a_notebook_is_read_with_its_magics(project: Path) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["%run uses.py\n"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SETS.splitlines(True)},
    ]
    (project / "look.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    assert sets(project) == "`look.ipynb` sets the default dtype"


@pytest.mark.parametrize(("imported", "does"), [("import uses", True), ("import other", False)])
def test_tracing_counts_for_what_the_file_imports(project: Path, imported: str, *, does: bool) -> None:
    (project / "export.py").write_text(f"import torch\n{imported}\n\ntorch.onnx.export(1, 2, 3)\n")
    look_again()
    answer = ask((TRACES, str(project), str(project / "uses.py")))
    assert answer == ("`export.py` traces code and imports this module" if does else None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("class Metres(torch.Tensor):\n    pass\n", "other.py Metres"),
        ("class Metres(Sized, Tensor):\n    pass\nclass Feet(Metres):\n    pass\n", "other.py Feet\nother.py Metres"),
        ("Metres = type('Metres', (torch.Tensor,), {})\n", "other.py Metres"),
        ("class Metres(Generic[Tensor]):\n    pass\n", None),
        ("class Metres(TensorDataset):\n    pass\n", None),
    ],
)
def test_classes_below_tensor(project: Path, text: str, answer: str | None) -> None:
    (project / "other.py").write_text(text)
    look_again()
    assert ask((SUBCLASSES, str(project), str(project / "uses.py"))) == answer


# ---------------------------------------------------------------------- results that rest on it
def applicability(program: Program, *arguments: str) -> list[str]:
    done = program("--output-format", "json", "uses.py", *arguments)
    return [each["fix"]["applicability"] for each in json.loads(done.stdout)]


def test_a_kept_result_ends_when_another_file_sets_a_default(project: Path, in_process: Program) -> None:
    assert [applicability(in_process) for _ in range(2)] == [["safe"], ["safe"]]
    (project / "main.py").write_text(SETS_MORE)
    assert [applicability(in_process) for _ in range(2)] == [["unsafe"], ["unsafe"]]
    assert known(in_process("-v", "uses.py")) == 1
    (project / "main.py").unlink()
    assert applicability(in_process) == ["safe"] == applicability(in_process, "--no-cache")


def test_answers_are_kept_while_no_file_changes(
    project: Path, in_process: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = 1_000_000_000
    for path in project.iterdir():
        os.utime(path, (old, old))
    monkeypatch.setattr("torchlint.cache.file_state._SLACK", -(10**18))  # what was written just now counts as old
    assert applicability(in_process) == ["safe"]
    assert known(in_process("-v", "uses.py")) == 1
    monkeypatch.setattr(word_index, "code_in", None)  # whoever reads a text fails
    monkeypatch.setattr(project_texts, "_PROJECTS", {})
    assert known(in_process("-v", "uses.py")) == 1


def test_a_folder_a_file_and_a_list_of_files_give_the_same(project: Path, in_process: Program) -> None:
    (project / "main.py").write_text(SETS)
    (project / "more.py").write_text(USES)
    told = [in_process("--no-cache", "--output-format", "json", *paths) for paths in ((".",), ("uses.py", "more.py"))]
    assert told[0].stdout == told[1].stdout
    alone = json.loads(in_process("--no-cache", "--output-format", "json", "uses.py").stdout)
    assert alone == [each for each in json.loads(told[0].stdout) if each["filename"] == "uses.py"]


def test_a_text_without_a_place_is_a_project_of_its_own(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchlint import check

    (project / "main.py").write_text(SETS_MORE)
    monkeypatch.chdir(project)
    assert [str(each.fix and each.fix.applicability) for each in check(USES).findings] == ["safe"]
    assert [str(each.fix and each.fix.applicability) for each in check(USES, path="new.py").findings] == ["unsafe"]
