"""Names that are `Variable` only on some ways, and values that only some callers make a tensor: no safe fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torchlint.config import Config
from torchlint.diagnostics.model import Applicability, Confidence
from torchlint.linter.engine import check_bytes

HEAD = "import os\n\nimport torch\nfrom torch.autograd import Variable\n\nmodern = os.environ.get('MODERN')\n"
SHIM = "lambda x, **kw: x"
FORMS = {
    "a test of the version": f"if torch.__version__ >= '0.4':\n    Variable = {SHIM}\n",
    "an else": f"if modern:\n    pass\nelse:\n    Variable = {SHIM}\n",
    "a try": f"try:\n    import functorch\n\n    Variable = {SHIM}\nexcept ImportError:\n    pass\n",
    "a conditional expression": f"Variable = Variable if modern else ({SHIM})\n",
    "a loop": f"for _ in modern or '':\n    Variable = {SHIM}\n",
    "a loop over both": f"for Variable in [Variable, {SHIM}]:\n    pass\n",
    "a walrus": f"if modern and (Variable := {SHIM}):\n    pass\n",
    "a function": "def same(x):\n    return x\n\n\nif modern:\n    Variable = same\n",
    "an object": "class Same:\n    def __call__(self, x):\n        return x\n\n\nif modern:\n    Variable = Same()\n",
    "an unknown call": "if modern:\n    Variable = make()\n",
}
USES = ("print(Variable(torch.relu(torch.ones(2))))\n", "def run(w):\n    return Variable(torch.relu(w))\n")


def safe_fixes(program: str, *codes: str) -> list[str]:
    config = replace(Config(min_confidence=Confidence.UNPROVEN), select=codes)
    result = check_bytes("<example>", program.encode(), config)
    assert result.troubles == ()
    fixes = (each.fix for each in result.findings)
    return [each.title for each in fixes if each is not None and each.applicability is Applicability.SAFE]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("use", USES, ids=["module", "function"])
def test_a_name_is_what_all_its_bindings_say(form: str, use: str) -> None:
    assert safe_fixes(HEAD + form + "\n\n" + use, "TNS401") == []


@pytest.mark.parametrize(
    "body",
    [
        f"make = Variable\n    if flag:\n        make = {SHIM}\n    return make(torch.relu(w))",
        f"make = Variable if flag else ({SHIM})\n    return make(torch.relu(w))",
        f"make = Variable\n    for _ in 'ab':\n        w = make(torch.relu(w))\n        make = {SHIM}\n    return w",
    ],
)
def test_so_is_a_name_of_a_function(body: str) -> None:
    assert safe_fixes(f"{HEAD}\n\ndef run(w, flag):\n    {body}\n", "TNS401") == []


def test_a_name_that_is_missing_on_one_way_is_the_other_one() -> None:
    form = "try:\n    import torch.autograd\nexcept ImportError:\n    Variable = None\n"
    assert safe_fixes(HEAD + form + USES[0], "TNS401") != []


def test_an_attribute_may_be_another_one_in_a_class_below() -> None:
    own = "class Net:\n    wrap = Variable\n\n    def run(self, w):\n        return self.wrap(torch.relu(w))\n"
    assert safe_fixes(f"{HEAD}\n\n{own}", "TNS401") == []


@pytest.mark.parametrize("default", ["0.0", "1", "False", "None"])
def test_a_default_that_contradicts_its_annotation_makes_no_tensor(default: str) -> None:
    body = f"def run(low: torch.Tensor = {default}):\n    return torch.tensor(low)\n"
    assert safe_fixes(f"{HEAD}\n\n{body}", "TNS308") == []


def test_an_annotation_alone_is_no_proof() -> None:
    assert safe_fixes(f"{HEAD}\n\ndef run(x: torch.Tensor):\n    return torch.tensor(x)\n", "TNS308") == []
    assert safe_fixes(f"{HEAD}\n\ndef run(x: torch.Tensor):\n    return torch.tensor(torch.relu(x))\n", "TNS308") != []


CHECK = "def run(x):\n    return isinstance(x, Variable)\n"


def test_a_type_check_is_repaired() -> None:
    assert safe_fixes(f"{HEAD}\n\n{CHECK}", "TNS403") != []


@pytest.mark.parametrize("decorator", ["@torch.compile", "@torch.compile(dynamic=True)", "@torch.jit.script"])
def test_a_type_check_in_compiled_code_is_no_safe_repair(decorator: str) -> None:
    assert safe_fixes(f"{HEAD}\n\n{decorator}\n{CHECK}", "TNS403") == []
