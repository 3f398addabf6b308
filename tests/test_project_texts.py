"""What the texts of a project say to a file's questions, and what becomes of a result when they change."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

import torchlint
from tests.conftest import Program
from tests.test_cache import known
from torchlint.inference.program import project_texts, source_files
from torchlint.inference.program.callers import Callee, call_index
from torchlint.inference.program.default_setters import DTYPE
from torchlint.inference.program.project_texts import IMPORTS, TAKES, TRACES, ask, look_again
from torchlint.inference.program.signals import ERROR
from torchlint.source.text import decode
from torchlint.syntax.ast_index import index_of

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


def takes(project: Path, name: str = "Variable", stars: str = "yes") -> str | None:
    look_again()
    return ask((TAKES, str(project), str(project / "uses.py"), name, stars))


def test_the_first_file_by_path_is_named_and_the_one_that_asks_is_not(project: Path) -> None:
    (project / "uses.py").write_text(SETS)
    assert sets(project) is None
    for name in ("tests/b.py", "tests/a.py"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(SETS)
    assert sets(project) == "`tests/a.py` may set the default dtype"
    (project / "tests/a.py").unlink()
    assert sets(project) == "`tests/b.py` may set the default dtype"


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
        "import torch\n\nkind = getattr(torch, 'float32')\n",
        "import torch\n\nx = torch.zeros(1, dtype=getattr(torch, name))\n",
        "import torch\n\nsettings['torch_dtype'] = getattr(torch, name)\n",
        "import torch\n\nwindow = getattr(torch, kind + '_window')\nother = getattr(torch, f'{kind}_window')\n",
        "import torch\n\nkinds = [getattr(torch, each) for each in names.split()]\n",
        "import torch\n\nclip = torch.__dict__.get('clip', None)\nold = 'clip' in vars(torch) or vars(torch)['min']\n",
        "import torch\n\nkind = take(getattr(torch, options['dtype'].replace('torch.', '')))\n",
        "import torch\n\n\nclass A:\n    def run(self):\n        with self:\n            pass\n",
        "import torch\n\nopened.return_value.__enter__.return_value = torch.ones(1)\n",
        "import torch\n\nwindow = getattr(torch, kind)(400)\nprint(getattr(torch, kind)(2))\n",
        "import lightning\n\ntrainer = Trainer(precision=32)\nother = Trainer(precision='16-mixed', devices=64)\n",
        "import numpy as np\n\nnp.set_printoptions(precision=64)\n",
        "import lightning\n\nprecisions = torch.float64\nprecision = x.float64\n",
        "import lightning\n\ntrainer = lightning.Trainer(precision='32-true', devices=devices)\n",
        "from transformers import Trainer\n\ntrainer = Trainer(**settings)\nother = Trainer(precision=x)\n",
        "import transformers\n\nclass A(transformers.PretrainedConfig):\n    pass\n\nclass B(ForAll):\n    pass\n",
        "self.init_tensor()\n\ndef init_tensor(self):\n    pass\n\nwith open(name):\n    tensor.init_tensor()\n",
        "from transformers import AutoModel, BertModel\n\nbert = BertModel.from_pretrained('bert')\n",
        "from pydantic import BaseModel\nimport transformers\n\nclass Settings(BaseModel):\n    pass\n",
    ],
)
def test_prose_and_other_words_set_nothing(project: Path, text: str) -> None:
    (project / "other.py").write_text(text)
    assert sets(project) is None


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\nfirst = 'set_'\ngetattr(torch, first + name)(1)\n",
        "import torch\n\ndef run(name):\n    getattr(torch, name)(1)\n\nrun('_'.join(('set', 'default', 'dtype')))\n",
        "import torch\n\nfor name, each in vars(torch).items():\n    each(1)\n",
        "import torch\n\ntorch.__dict__[name](1)\n",
        "import torch\n\nfor name, each in given.items():\n    getattr(torch, name)(getattr(torch, each))\n",
        "import torch\n\ntorch._C._set_default_dtype(torch.float64)\n",
        "import importlib\n\nt = importlib.import_module('torch')\ngetattr(t, '_'.join(['set', kind]))(1)\n",
        "import sys, torch\n\nt = sys.modules['torch']\ngetattr(t, name)(1)\n",
        "import lightning as L\n\ntrainer = L.Trainer(precision=64)\n",
        "from pytorch_lightning import Trainer\n\ntrainer = Trainer(devices=1, precision='64-true')\n",
        "from lightning.fabric import Fabric\n\nfabric = Fabric(precision='64')\n",
        "from pytorch_lightning import Trainer\n\nparser.add_argument('--precision', type=int, default=64)\n",
        "from pytorch_lightning import Trainer\n\ntrainer = Trainer(**{'precision': 64 if exact else 32})\n",
        "from pytorch_lightning.plugins import DoublePrecisionPlugin\n",
        "import lightning as L\n\ntrainer = L.Trainer(precision='bf16-true')\n",
        "import lightning as L\n\ntrainer = L.Trainer(callbacks=[Stop(kind=f(1))], precision=args.precision)\n",
        "from lightning import Fabric\n\nfabric = Fabric(**settings)\n",
        "with fabric.init_tensor():\n    x = made()\n",
        "stack.enter_context(self.fabric.init_tensor())\n",
        "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI(Net)\n",
        "import pytorch_lightning as pl\n\ntrainer = pl.Trainer.from_argparse_args(args)\n",
        "import hydra, pytorch_lightning\n\ntrainer = hydra.utils.instantiate(cfg.trainer, logger=log)\n",
        "from transformers import PreTrainedModel\n\nclass Net(PreTrainedModel):\n    pass\n",
        "import transformers as t\n\nclass Net(t.LlamaForCausalLM):\n    pass\n",
        "from diffusers import (\n    ModelMixin,\n)\n\nclass Net(ModelMixin, ConfigMixin):\n    pass\n",
    ],
)
def test_names_that_may_become_a_setters(project: Path, text: str) -> None:
    (project / "other.py").write_text(text)
    assert sets(project) == "`other.py` may set the default dtype"


@pytest.mark.parametrize("text", ["import torch\nset_default_dtype(1\n", "print torch.set_default_dtype\n"])
def test_a_file_that_does_not_parse_counts_by_its_words(project: Path, text: str) -> None:
    (project / "broken.py").write_text(text)
    assert sets(project) == "`broken.py` may set the default dtype"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_may_do_anything(project: Path) -> None:
    (project / "secret.py").write_text("")
    (project / "secret.py").chmod(0)
    assert sets(project) == "`secret.py` may set the default dtype"


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
        ("from .lib.uses import (*)\n", "`other.py` imports all names from here"),
        ("from others import *\nVariable = 1\n", None),
        ("from uses import make\nfrom torch.autograd import Variable\nVariable(make())\n", None),
        ("import torch, uses\nuses.make(torch.autograd.Variable)\n", None),
        ("import tensorflow as tf\nimport uses\nuses.make(tf.Variable)\n", None),
        ("from uses import make as Variable\n", None),
        ("print uses, Variable\n", "`other.py` may take `Variable` from here"),
        ("import lib.uses as u\nu.Variable\n", "`other.py` may take `Variable` from here"),
        ("def f(m):\n    return m.Variable\n", "`other.py` may take `Variable` from here"),
        ("class A:\n    def f(self):\n        return self.Variable\n", None),
        ("import uses\nimport inspect\ninspect.getmembers(uses)\n", "`other.py` may take `Variable` from here"),
        ("names = ['Variable']\n", "`other.py` may take `Variable` from here"),
        ('"""The Variable that uses takes."""\n', None),
        ("x = 'uses.Variable'\n", "`other.py` may take `Variable` from here"),
        ("exec(open('uses.py').read())\n", "`other.py` imports all names from here"),
    ],
)
def test_ways_to_take_a_name(project: Path, text: str, answer: str | None) -> None:
    (project / "other.py").write_text(text)
    assert takes(project) == answer
    if answer is not None and "all names" in answer:
        assert takes(project, stars="no") is None


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("from uses import Variable\n", True),
        ("from .lib.uses import make, Variable as V\n", True),
        ("from uses import *\nVariable(make())\n", True),
        ("from uses import *\nmake()\n", False),
        ("from uses import *\nfrom torch.autograd import Variable\nVariable(make())\n", False),
        ("from others import Variable\nimport uses\n", False),
        ("import uses\nuses.Variable\n", False),  # it may be asked for in a branch that nobody takes
    ],
)
def test_what_surely_imports_a_name(project: Path, text: str, *, does: bool) -> None:
    (project / "other.py").write_text(text)
    assert takes(project, stars="surely") == ("`other.py` imports `Variable` from here" if does else None)


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("import uses\n", True),
        ("import lib.uses as u\n", True),
        ("from uses import make\n", True),
        ("from . import (\n    others,\n    uses,\n)\n", True),
        ("from lib import others, uses\n", True),
        ("import importlib\nimportlib.import_module('uses')\n", True),
        ("import runpy\nrunpy.run_path('uses.py')\n", True),
        ("exec(open('uses.py').read())\n", True),
        ("import users\n", False),
        ("import torch  # it uses torch\n", False),
        ("uses = 1\nprint('uses')\n", False),
    ],
)
def test_ways_to_import_a_module(project: Path, text: str, *, does: bool) -> None:
    (project / "other.py").write_text(text)
    look_again()
    answer = ask((IMPORTS, str(project), str(project / "uses.py")))
    assert answer == ("`other.py` imports this module" if does else None)


def test_a_notebook_is_read_with_its_magics(project: Path) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["%run uses.py\n"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": SETS.splitlines(True)},
    ]
    (project / "look.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    assert sets(project) == "`look.ipynb` may set the default dtype"


def test_tracing_is_told(project: Path) -> None:
    (project / "export.py").write_text("import torch\n\ntorch.onnx.export(1, 2, 3)\n")
    look_again()
    assert ask((TRACES, str(project), str(project / "uses.py"))) == "`export.py` traces or scripts code"


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
    monkeypatch.setattr(project_texts, "facts_of", None)  # whoever reads a text fails
    monkeypatch.setattr(project_texts, "_LOOKS", {})
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


def test_asking_for_some_functions_says_the_same_of_them() -> None:
    every = Path(torchlint.__file__).parent / "inference" / "program"
    indices = [index_of(decode(str(path), path.read_bytes())) for path in sorted(every.glob("*.py"))]
    asked = {each.name for index in indices for each in index.nodes(ast.FunctionDef)}
    asked |= {each.name for index in indices for each in index.nodes(ast.ClassDef)}
    for index in indices:
        whole, some = call_index(index, ERROR), call_index(index, ERROR, asked)
        assert len(some.uses) < len(whole.uses) or not whole.uses
        for word in asked:
            for callee in (Callee(word, False), Callee(f"{word}()", False)):
                names = whole.names_of(callee)
                assert some.names_of(callee) == names
                for name in names:
                    assert len(some.uses.get(name, ())) == len(whole.uses.get(name, ()))
