"""What makes a tensor on the host where no device is said, and whether what it makes has dimensions."""

from __future__ import annotations

import ast

from torchlint.rules.api import LEGACY_DTYPES, FileContext, Kind, leaf
from torchlint.rules.constructors.array_dimensions import FOLLOWING
from torchlint.rules.constructors.array_dimensions import has_dimensions as is_array_with_dimensions
from torchlint.rules.local_bindings import names_of
from torchlint.rules.wording import in_a_line

_SIZED = frozenset("zeros ones full empty rand randn randint normal".split())
"""Factories that are given a size."""
_DIMENSIONAL = frozenset(
    "randperm arange linspace logspace eye tril_indices triu_indices hann_window hamming_window blackman_window "
    "bartlett_window kaiser_window".split()
)
"""Factories whose result has dimensions, whatever they are given."""
_OF_ROWS = frozenset({"eye", "tril_indices", "triu_indices"})
"""Those of them that make rows and columns."""
_LEGACY = frozenset({"Tensor", *LEGACY_DTYPES})
"""Constructors that take sizes or data, and no device."""
_OF_DATA = frozenset({"tensor", "as_tensor", "asarray", "from_numpy"}) | _LEGACY
FACTORIES = tuple(sorted(_SIZED | _DIMENSIONAL | _OF_DATA))
_NAMES = frozenset(f"torch.{each}" for each in FACTORIES)


def is_factory(call: ast.Call, context: FileContext) -> bool:
    """Whether a call makes a tensor on the host because no device is said."""
    names = context.qualified_names(call.func)  # a function is walked for nothing where a method has the word
    return bool(names) and names <= _NAMES and not any(each.arg in ("device", "out", None) for each in call.keywords)


def takes_device(call: ast.Call) -> bool:
    """Whether a factory may be told a device."""
    return _word(call) not in _LEGACY | {"from_numpy"}


def copies(call: ast.Call, context: FileContext) -> bool:
    """Whether what is made may be a copy of a tensor, and where that is: `from_numpy` takes none."""
    return _word(call) in _OF_DATA - {"from_numpy"} and bool(call.args) and context.value(call.args[0]).may(Kind.TENSOR)


def least_dimensions(call: ast.Call, word: str, context: FileContext) -> int:
    """Return how many dimensions what a factory makes has at least, by what it is given: sizes, a list or an array."""
    if word in _DIMENSIONAL:
        return 2 if word in _OF_ROWS else 1
    named = {each.arg: each.value for each in call.keywords}
    first = call.args[0] if call.args else None
    if word in _OF_DATA:
        data = named.get("data", first)
        if word == "from_numpy" and (isinstance(data, ast.Subscript) or _follows_an_array(data, context)):
            return 1  # one number of an array is none, and is refused
        if word in _LEGACY and _makes_dimensions(call, context):
            return max(1, _nested(data), len(call.args))
        return max(1, _nested(data)) if _is_data_with_dimensions(data, context) else 0
    is_last = word in ("randint", "normal") and call.args
    sizes = named.get("size", call.args[-1] if is_last else first)
    if isinstance(sizes, ast.List | ast.Tuple):
        return max(int(bool(sizes.elts)), _counted(sizes.elts))
    if sizes is None or (word == "normal" and "size" not in named):
        return 0
    return 1 if is_last or word == "full" or "size" in named else max(1, _counted(call.args))


def _counted(sizes: list[ast.expr]) -> int:
    """Return how many sizes are written down one by one."""
    return sum(not isinstance(each, ast.Starred) for each in sizes)


def _nested(data: ast.expr | None) -> int:
    """Return how deep a list is that is written down: no deeper than its first member."""
    depth = 0
    while isinstance(data, ast.List | ast.Tuple | ast.ListComp):
        depth += 1
        data = data.elt if isinstance(data, ast.ListComp) else next(iter(data.elts), None)
    return depth


def _makes_dimensions(call: ast.Call, context: FileContext) -> bool:
    """Whether a legacy constructor makes a tensor with dimensions: of sizes or data, as it refuses a float."""
    return len(call.args) > 1 or (len(call.args) == 1 and not context.value(call.args[0]).is_tensor)


def _is_data_with_dimensions(data: ast.expr | None, context: FileContext) -> bool:
    """Whether data is a list or an array with dimensions: of a name nobody knows it may be a number."""
    if data is None or isinstance(data, ast.List | ast.Tuple | ast.ListComp):
        return data is not None
    return context.value(data).must(Kind.SEQUENCE) or is_array_with_dimensions(data, context)


def _follows_an_array(data: ast.expr | None, context: FileContext) -> bool:
    """Whether what `from_numpy` is given has dimensions, as it takes no tensor: ``np.cumprod(a).astype(float)``."""
    while isinstance(data, ast.Call) and isinstance(data.func, ast.Attribute) and data.func.attr == "astype":
        data = data.func.value
    names = names_of(data.func, context) if isinstance(data, ast.Call) else frozenset[str]()
    return bool(names) and names <= FOLLOWING


def _word(call: ast.Call) -> str:
    return leaf(in_a_line(call.func))
