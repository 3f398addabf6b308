"""The measured columns of ``operations.json``: what each operation of torch does to gradients, memory and elements.

Methods are listed by their word, functions by their full name. The table is made by ``tools/operations_table``, which
calls every operation of the installed torch and watches.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, Final

from torchlint.values import abstract as a

_KINDS: Final = {
    "ARRAY": a.ARRAY, "DEVICE": a.DEVICE, "DTYPE": a.DTYPE, "INTEGER": a.INTEGER, "NONE": a.NONE, "OTHER": a.OTHER,
    "SCALAR": a.SCALAR, "SEQUENCE": a.SEQUENCE, "SIZE": a.SIZE, "STRING": a.STRING,
}  # fmt: skip
_ELEMENTS: Final = {"BOOL": a.BOOL, "INTEGRAL": a.INTEGRAL, "FLOATING": a.FLOATING, "QUANTIZED": a.INTEGRAL}
_MOST_ARGUMENTS: Final = 16


def _read() -> dict[str, Any]:
    # not by importlib.resources, whose import takes longer than reading the table
    with open(os.path.join(os.path.dirname(__file__), "operations.json"), "rb") as stream:
        table: dict[str, Any] = json.load(stream)
    return table


_TABLE: Final = _read()


def _names(*columns: str) -> frozenset[str]:
    return frozenset(name for column in columns for name in _TABLE[column])


def _bits(bits: dict[str, int], *columns: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for column in columns:
        for name, words in _TABLE[column].items():
            found[name] = sum({bits[word] for word in words})
    return found


METHODS: Final = _names("methods")
"""All methods and attributes of a tensor, by their word."""
FUNCTIONS: Final = _names("functions")
"""All functions of torch that were tried, by their full name."""
NEVER: Final = _names("never_methods", "never_functions")
"""Whose results never require grad."""
NEVER_ELEMENTS: Final = _bits(_ELEMENTS, "never_elements")
"""What the elements of these are, as bits of dtypes."""
KEEPS_GRAD: Final = _names("keeps_grad_methods", "keeps_grad_functions")
"""Which hand on the argument itself or a view of it, so that it requires grad even without grad mode."""
KEEPS_GRAD_INPLACE: Final = _names("keeps_grad_inplace")
"""Which do so only with ``inplace=True``."""
KEEPS_GRAD_SOMETIMES: Final = _names("keeps_grad_sometimes")
"""Which may make a copy as well, depending on the argument."""
FACTORIES: Final = _names("factories")
FACTORY_METHODS: Final = _names("factory_methods")
TENSOR_MAKERS: Final = FACTORIES | FACTORY_METHODS | {"torch.sparse_coo_tensor"}
"""These, and what makes a tensor of values, whose grad it takes over."""
FOLLOWS_DEFAULT_DEVICE: Final = _names("follows_default_device")
KEEPS_INTEGERS: Final = _names("keeps_integers")
"""Which give integers where they are given integers; what others give may be floating."""
SHARES_MEMORY: Final = _names("shares_memory")
"""Whose results may share the memory of an argument."""
TAKES_INPLACE: Final = _names("takes_inplace")
NO_TENSOR: Final = _bits(_KINDS, "nontensor_methods", "nontensor_functions")
"""Which give no tensor, and the kinds of what they give."""
PARTIAL: Final[dict[str, tuple[int, ...]]] = {
    name: tuple(each) for column in ("partial_methods", "partial_functions") for name, each in _TABLE[column].items()
}
"""Of which some results, by position, never require grad."""
LENGTHS: Final[dict[str, tuple[int, ...]]] = {name: tuple(each) for name, each in _TABLE["lengths"].items()}
"""Which give several results, and how many were seen."""
WRITES: Final[dict[str, tuple[str, ...]]] = {name: tuple(each) for name, each in _TABLE["writes"].items()}
"""Which write into arguments though their name does not say so: the positions and keywords of these."""
DISTRIBUTIONS: Final[dict[str, dict[str, list[str]]]] = _TABLE["distributions"]
"""Of each class of ``torch.distributions`` what never requires grad, what may, and what is no tensor."""


@lru_cache(maxsize=1024)
def scalar_arguments(word: str) -> frozenset[str]:
    """Return the positions and keywords of an operation, by its last word, that never hold a tensor.

    The tensor on which a method is called has the position 0.
    """
    found: set[str] = set()
    for each in str(_TABLE["scalars"].get(word, "")).split():
        if each.endswith("+"):
            found.update(map(str, range(int(each[:-1]), _MOST_ARGUMENTS)))
        else:
            found.add(each)
    return frozenset(found)


def words(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


CASTS: Final = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip
"""Methods that cast, and the dtype to which they do."""
LEGACY_DTYPES: Final = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
    "BoolTensor": "bool",
}  # fmt: skip
"""The types of tensors of old, and their dtypes; ``torch.Tensor`` has the default dtype."""
ACCELERATORS: Final = words("cuda hip mps xpu xla npu hpu privateuseone ipu vulkan mtia mlu musa")
"""The types of devices that are not the host."""

FULL_REDUCTIONS: Final = words("""
    sum mean prod norm std var max min median nanmedian nansum nanmean amax amin all any argmax argmin logsumexp
    count_nonzero aminmax std_mean var_mean
""")
"""Reductions whose result has no dimension where none is given."""
ALWAYS_FULL: Final = words("trace dot vdot dist")
"""Reductions that are never given a dimension."""


def changes_in_place(word: str) -> bool:
    """Whether a method's name says that it changes the tensor: ``add_``, but not ``__add__``."""
    return word.endswith("_") and not word.endswith("__") and (word in METHODS or word[:-1] in METHODS)
