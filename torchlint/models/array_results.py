"""What NumPy and the libraries that work on its arrays give: arrays and numbers, and containers of them."""

from __future__ import annotations

from typing import Final

from torchlint.models.descent import descend
from torchlint.syntax.places import leaf
from torchlint.values import abstract as a
from torchlint.values.abstract import A_SEQUENCE, A_TEXT, AN_ARRAY, AN_INTEGER, BOTTOM, Abstract, of_kind
from torchlint.values.asking import CallSite, Path
from torchlint.values.references import LibraryInstanceRef

NUMBERS: Final = of_kind(a.ARRAY | a.NUMBER)
_SEVERAL: Final = of_kind(a.ARRAY | a.SEQUENCE)
_MAKERS: Final = frozenset(
    """
    array asarray ascontiguousarray asanyarray zeros ones empty full arange linspace logspace eye identity stack
    concatenate vstack hstack dstack column_stack zeros_like ones_like empty_like full_like random_sample tile repeat
    transpose reshape expand_dims squeeze swapaxes moveaxis flip roll pad cumsum cumprod argsort sort where_ fromiter
    frombuffer loadtxt genfromtxt append insert delete block meshgrid_ indices diag triu tril rot90 flipud fliplr
    """.split()
)
_SEVERAL_ARRAYS: Final = frozenset(
    """
    array_split split vsplit hsplit dsplit meshgrid where nonzero unique histogram histogram2d histogramdd
    broadcast_arrays svd eig eigh qr slogdet lstsq unravel_index ix_ modf frexp divmod polyfit gradient
    indices apply_over_axes triu_indices tril_indices mgrid ogrid load
    """.split()
)
_NUMBERS_OF_NUMPY: Final = frozenset(
    "allclose isscalar array_equal shares_memory may_share_memory iscomplexobj".split()
)
_PLAIN: Final = {
    "shape": A_SEQUENCE, "ndim": AN_INTEGER, "size": AN_INTEGER, "save": of_kind(a.NONE), "savez": of_kind(a.NONE),
    "savez_compressed": of_kind(a.NONE), "savetxt": of_kind(a.NONE), "set_printoptions": of_kind(a.NONE),
    "seed": of_kind(a.NONE), "shuffle": of_kind(a.NONE), "array2string": A_TEXT, "array_repr": A_TEXT,
    "tolist": A_SEQUENCE,
    "copyto": of_kind(a.NONE), "imwrite": of_kind(a.SCALAR), "imshow": of_kind(a.NONE), "waitKey": AN_INTEGER,
}  # fmt: skip
GENERATOR: Final = "numpy.random.Generator"


def array_call(site: CallSite, name: str, path: Path) -> Abstract:
    """Return what a function or a class of NumPy, or of a library that works on arrays, gives."""
    word, is_numpy = leaf(name), name.startswith("numpy.")
    if (known := _PLAIN.get(word)) is not None:
        return descend(known, path)
    if word in _SEVERAL_ARRAYS:
        return _SEVERAL if not path else descend(NUMBERS, path[1:])
    if is_numpy and word in ("default_rng", "RandomState", "Generator"):
        return descend(of_kind(a.OTHER, frozenset([LibraryInstanceRef(GENERATOR)])), path)
    if is_numpy and name.startswith("numpy.random.") and not site.given.positional and not site.given.keywords:
        return descend(of_kind(a.SCALAR), path)
    if word in _NUMBERS_OF_NUMPY:
        return descend(of_kind(a.SCALAR), path)
    if is_numpy and word in _MAKERS:
        return descend(AN_ARRAY, path)
    if word[:1].isupper() and not is_numpy:
        return descend(of_kind(a.OTHER | a.ARRAY, frozenset([LibraryInstanceRef(name)])), path)
    if is_numpy:
        return descend(NUMBERS, path)
    return descend(of_kind(a.ARRAY | a.NUMBER | a.SEQUENCE | a.NONE), path) if not path else descend(NUMBERS, path)


_TEXTS_OF_ARRAYS: Final = frozenset("tobytes tostring dumps".split())
_NOTHING_OF_ARRAYS: Final = frozenset("sort fill resize put itemset setflags tofile setfield partition".split())


def array_method(word: str, path: Path) -> Abstract:
    """Return what a method of an array, or of a number of NumPy's, gives."""
    if word in _ONLY_OF_TENSORS:
        return BOTTOM
    if word == "item":  # an array of objects may hold anything
        return of_kind(a.NUMBER | a.OTHER | a.STRING) if not path else descend(of_kind(a.OTHER), path)
    if word == "tolist":  # of a number of NumPy it is a number
        return of_kind(a.SEQUENCE | a.NUMBER) if not path else of_kind(a.SEQUENCE | a.NUMBER | a.STRING)
    if word == "nonzero":
        return A_SEQUENCE if not path else descend(AN_ARRAY, path[1:])
    if word in _TEXTS_OF_ARRAYS:
        return descend(A_TEXT, path)
    if word in _NOTHING_OF_ARRAYS:
        return of_kind(a.NONE)
    return descend(NUMBERS if word in _REDUCING else AN_ARRAY if word in _LIKE else NUMBERS, path)


_ONLY_OF_TENSORS: Final = frozenset(
    "detach cpu cuda numpy requires_grad_ backward unsqueeze permute clone numel".split()
)
"""Methods that no array has: a call of one raises."""
_REDUCING: Final = frozenset("sum mean max min std var prod argmax argmin all any dot ptp trace".split())
_LIKE: Final = frozenset(
    """
    astype copy reshape transpose flatten ravel squeeze clip swapaxes repeat view byteswap conj conjugate cumsum cumprod
    argsort searchsorted take compress diagonal round choose argpartition
    """.split()
)


def generator_method(word: str, path: Path) -> Abstract:
    """Return what a generator of NumPy's random numbers gives."""
    if word in ("seed", "shuffle", "set_state"):
        return of_kind(a.NONE)
    return descend(of_kind(a.ARRAY | a.INTEGER) if word in ("integers", "randint") else NUMBERS, path)
