"""What functions that are known by name do with a part of a module that they are given."""

from __future__ import annotations

_ITERATING = frozenset(
    f"builtins.{word}" for word in "list tuple dict set enumerate zip reversed sorted iter next max min filter".split()
)
_PASSING = _ITERATING | {"builtins.getattr"}
_COMPUTING_BUILTINS = frozenset(f"builtins.{word}" for word in ("abs", "sum", "pow", "divmod", "round"))
_LOOKING = ("math.", "numpy.", "logging.", "torch.is_", "torch.cuda.is_", "torch.cuda.get_", "torch.cuda.device")
_NOT_LOOKING = frozenset(
    "math.prod math.sumprod numpy.array_split numpy.flip numpy.real numpy.imag numpy.squeeze".split()
)
"""Functions of these that compute with the tensor itself, which has what they ask for: measured on torch 2.13."""
_HOLDING = ("torch.nn.", "torch.optim.", "torch.utils.data.", "torchvision.")
_HOLDING_FUNCTIONS = ("torch.nn.init.", "torchvision.models.", "collections.", "copy.")
_COMPUTING = ("torch.nn.functional.", "torch.nn.utils.")
ASKING = frozenset(
    f"builtins.{word}"
    for word in "isinstance hasattr issubclass type len print id str repr int float bool super callable range".split()
)
"""Functions of Python that ask something of what they are given, and keep nothing of it."""


def passes_on(names: frozenset[str]) -> bool:
    """Whether the result of a function is what it is given, its members, or a container of these."""
    return bool(names) and names <= _PASSING


def iterates(names: frozenset[str]) -> bool:
    """Whether a function hands out the members of what it is given: those of a tensor are views of it."""
    return bool(names) and names <= _ITERATING


def asks_operators(names: frozenset[str]) -> bool:
    """Whether a function of Python computes by the operators that its arguments have."""
    return bool(names) and names <= _COMPUTING_BUILTINS


def only_inspects(names: frozenset[str]) -> bool:
    """Whether a function makes numbers, arrays or a text of what it is given, and keeps nothing of a graph."""
    return bool(names) and all(each.startswith(_LOOKING) and each not in _NOT_LOOKING for each in names)


def keeps_unchanged(names: frozenset[str]) -> bool:
    """Whether a function keeps what it is given, or gives it back, and computes nothing with it."""
    return bool(names) and all(map(_holds, names))


def _holds(name: str) -> bool:
    owner, _, word = name.rpartition(".")
    if name.startswith(_COMPUTING) or owner.rpartition(".")[2][:1].isupper():
        return False
    return name.startswith(_HOLDING_FUNCTIONS) or (name.startswith(_HOLDING) and word[:1].isupper())


def unbound_method(names: frozenset[str]) -> str | None:
    """Return ``forward`` of ``torch.nn.Linear.forward``, a method that is called by its class; None for others."""
    if len(names) != 1:
        return None
    owner, _, word = next(iter(names)).rpartition(".")
    is_method = owner.startswith(_HOLDING) and owner.rpartition(".")[2][:1].isupper()
    return word if is_method else None
