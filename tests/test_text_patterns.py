"""What texts say by patterns: whether one imports the module `main`, or only has its words."""

from __future__ import annotations

import pytest

from torchlint.inference.program.text_patterns import imports


@pytest.mark.parametrize(
    "text",
    [
        "import main",
        "import a, main as m",
        "import tool.main",
        "import \\\n    main",
        "from main import *",
        "from .main import run",
        "from.main import run",
        "from a.main.b import c",
        "from . import main",
        "from.. import main",
        "from tool import main as run",
        "from x.tool import a, main",
        "from x . tool import main",
        "from .tool import main",
        "from tool import(main)",
        "from tool import a, \\\r\n  main",
        "from . import (\n  a,  # first\n  main,\n)",
        "try: import main\nexcept ImportError: pass",
        "x = 1; from main import *",
        "x = 1\rimport main\r",
        '    "import main\\n",',
        '"import os\\nimport main"',
        "exec('import main')",
        ">>> import main\n",
        "importlib.import_module('tool.main')",
        "runpy.run_path('tool/main.py')",
    ],
)
def test_a_text_may_import_a_module(text: str) -> None:
    assert imports(text.encode(), "main")


@pytest.mark.parametrize(
    "text",
    [
        "Adapted from CLIP: https://example.org/CLIP/blob/main/clip/model.py",
        '"""\nfrom https://example.org/nets/blob/main/nets.py\n"""',
        "# import main",
        "the weights from main training",
        "  taken from the main loop, import it",
        "x = important.main",
    ],
)
def test_a_text_has_the_words_alone(text: str) -> None:
    assert not imports(text.encode(), "main")
