"""Which arguments of torch's operations never hold a tensor, by the schemas and annotations of the installed torch."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Collection, Iterator

import torch

_OTHER_ORDERS = frozenset("add addbmm addmm addmv addr baddbmm sspaddmm addcdiv addcmul sub where scatter".split())
"""Operations that take their arguments in several orders, old ones among them."""


def scalars(words: Collection[str]) -> dict[str, str]:
    """Return by the last word of some operations the positions (the tensor itself is 0) and keywords of such arguments.

    ``2+`` stands for a position and all behind it: ``x.view(2, 3, 4)``.
    """
    plain: dict[str, set[str]] = defaultdict(set)
    tensors: dict[str, set[str]] = defaultdict(set)
    lists: dict[str, set[int]] = defaultdict(set)
    for name, place, holds, many in _arguments():
        (tensors if holds else plain)[name].add(place)
        if many and place.isdigit():
            lists[name].add(int(place))
    found = {}
    for name in sorted(plain.keys() & set(words) - _OTHER_ORDERS):
        places = plain[name] - tensors[name]
        last = max((int(each) for each in plain[name] | tensors[name] if each.isdigit()), default=0)
        if last in lists[name] and str(last) in places and last:
            places = places - {str(last)} | {f"{last}+"}
        if places:
            found[name] = " ".join(sorted(places))
    return found


def _arguments() -> Iterator[tuple[str, str, bool, bool]]:
    """Yield operation, position or keyword, whether it may hold a tensor, and whether it is a list of numbers."""
    for schema in torch._C._jit_get_all_schemas():  # noqa: SLF001
        name = schema.name.removeprefix("aten::")
        first = schema.arguments[0].type if schema.arguments else None
        if name == schema.name or first is None or "Tensor" not in str(first):
            continue
        for at, argument in enumerate(schema.arguments):
            said = str(argument.type)
            holds = "Tensor" in said or said.startswith(("t", "Any"))
            yield name, argument.name, holds, False
            if not argument.kwarg_only:
                yield name, str(at), holds, said.startswith(("List[int]", "Optional[List[int]]"))
    for name, function in vars(torch.nn.functional).items():
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        for at, parameter in enumerate(inspect.signature(function).parameters.values()):
            said = str(parameter.annotation)
            holds = parameter.annotation is inspect.Parameter.empty or "Tensor" in said or "Any" in said
            yield name, parameter.name, holds, False
            yield name, str(at), holds, False
