"""Which names are tried: the public functions of torch and what a tensor offers, without what is no operation."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

ROOMS = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
}

NO_OPERATION = {
    # what these give is whatever the function, file or thread that they are given gives: a kind would mislead
    "runs a function of the user": r"torch\.(compile|cond|fork|vmap|wait|while_loop)",
    "reads or writes a file of the user": r"torch\.(load|save|import_ir_module(_from_buffer)?)",
    # these are called for what they do to the program, not for a value
    "changes a setting of the program": (
        r"torch\.(set_.+|use_deterministic_algorithms|(init|autocast|clear)_.+|manual_seed|seed|profiler_.+"
        r"|prepare_multiprocessing_environment)"
    ),
    # public only because their authors left no underscore
    "machinery of torch, not for users": (
        r"torch\.(classproperty|compiled_with_cxx11_abi|get_file_path|thread_safe_generator|sym_constrain_range.*"
        r"|parse_.+|merge_type_from_type_comment|unify_type_list)|torch\.nn\.functional\.(Optional|boolean_dispatch"
        r"|assert_int_or_pair|(has|handle)_torch_function.*)"
    ),
}
"""Patterns of whole names that are left out of the table, by the reason."""


class Unusable(Exception):
    """The program cannot do what it was asked to; the text is for the user."""


@dataclass(frozen=True)
class Operation:
    """One thing to try: ``argmax`` of a tensor or ``torch.argmax``."""

    name: str
    """A bare name for what a tensor offers, a dotted one for a function."""

    @property
    def is_method(self) -> bool:
        """Whether a tensor offers it, as a method or as a property."""
        return "." not in self.name

    @property
    def word(self) -> str:
        """The last word of the name."""
        return self.name.rpartition(".")[2]

    @property
    def writes_by_name(self) -> bool:
        """Whether the name ends as those of operations that write into their argument do."""
        return self.word.endswith("_")

    def function(self) -> Callable[..., Any]:
        """Return what is called; a property is read off its first argument."""
        if not self.is_method:
            return getattr(ROOMS[self.name.rpartition(".")[0]], self.word)  # type: ignore[no-any-return]
        offered = getattr(torch.Tensor, self.word)
        if isinstance(offered, types.GetSetDescriptorType | property) or not callable(offered):
            return lambda tensor: getattr(tensor, self.word)
        return lambda tensor, *rest, **keywords: getattr(tensor, self.word)(*rest, **keywords)


def reason_against(name: str) -> str | None:
    """Say why a name is no operation; None where it is one."""
    return next((reason for reason, names in NO_OPERATION.items() if re.fullmatch(names, name)), None)


def everything() -> list[Operation]:
    """Return all operations that the installed torch offers, in the order of their names."""
    return sorted((each for each in _public() if not reason_against(each.name)), key=lambda each: each.name)


def _public() -> Iterator[Operation]:
    yield from (Operation(word) for word in dir(torch.Tensor) if not word.startswith("_"))
    for room, module in ROOMS.items():
        for word in dir(module):
            offered = getattr(module, word)
            if not word.startswith("_") and callable(offered) and not isinstance(offered, type):
                yield Operation(f"{room}.{word}")
