"""Which built-in functions `from module import *` replaces by others of their names, module by module.

Measured with Python 3.11, NumPy 2.4, torch 2.13 and Matplotlib 3.10; older ones replace some of these.
"""

from __future__ import annotations

import sys

_HIDDEN = {
    "numpy": "abs all any bool divmod max min pow round sum",
    "pylab": "all any divmod sum",
    "matplotlib.pylab": "all any divmod sum",
    "torch": "abs all any bool compile complex float int max min pow range round sum",
    "torch.jit": "isinstance",
    "torch.masked": "sum",
    "torch.special": "round",
    **dict.fromkeys("aifc bz2 codecs dbm gzip lzma os posix shelve sunau tarfile wave webbrowser".split(), "open"),
    "ast": "Ellipsis slice",
    "audioop": "max",
    "curses": "filter",
    "enum": "property",
    "fileinput": "input",
    "fnmatch": "filter",
    "locale": "format str",
    "math": "pow",
    "operator": "abs pow",
    "pdb": "help",
    "py_compile": "compile",
    "pydoc": "help",
    "re": "compile",
    "reprlib": "repr",
    "sys": "copyright exit",
    "threading": "enumerate",
}
_HIDING_NOTHING = frozenset(
    "IPython PIL cv2 ipywidgets matplotlib numpy pandas plotly seaborn sklearn sympy torch torchvision".split()
)
"""Libraries of whose other modules none is known to replace one."""


_OFTEN_HIDDEN = frozenset(_HIDDEN["numpy"].split())
"""What libraries of arrays replace, as they follow NumPy; `zip` and `next` nobody does."""


def may_hide(module: str, word: str) -> bool:
    """Whether a star import from a module that is not the project's may replace a built-in function."""
    if module in _HIDDEN:
        return word in _HIDDEN[module].split()
    top = module.partition(".")[0]
    return word in _OFTEN_HIDDEN and top not in _HIDING_NOTHING and top not in sys.stdlib_module_names
