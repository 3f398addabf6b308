"""Every rule as plain data, so that codes and names are known without importing LibCST."""

from __future__ import annotations

from dataclasses import dataclass

_TENSORS = frozenset(
    f"{kind}Tensor"
    for kind in ("", "Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule: its code, its name (the fault), and the identifiers without which it can have nothing to say."""

    code: str
    name: str
    words: frozenset[str] = frozenset()
    default: bool = True
    """Whether it is on unless deselected."""
    called: bool = False
    """Whether the identifiers matter only as the function of a call."""
    attribute: bool = False
    """Whether they matter only behind a dot."""
    unless_literal: bool = False
    """Whether a call does not matter whose first argument is a number or a list written out."""
    tidies: frozenset[str] = frozenset()
    """Rules after whose fixes this one's is applied too, selected or not: it removes what they leave behind."""

    @property
    def module(self) -> str:
        """The module below ``torchlint.rules`` that holds the rule."""
        return self.name.replace("-", "_")


def _entry(code: str, name: str, *words: str, default: bool = True, where: str = "", tidies: str = "") -> Entry:
    """Make an entry.

    ``where`` says where alone the words matter: as an attribute, as what is called, as both, as what is called with
    more than a literal.
    """
    called, attribute, literal = "call" in where, "attribute" in where, "more than a literal" in where
    return Entry(code, name, frozenset(words), default, called, attribute, literal, frozenset(tidies.split()))


CATALOGUE: tuple[Entry, ...] = (
    _entry("TNS101", "numpy-on-grad-tensor", "numpy", where="attribute call"),
    _entry("TNS102", "numpy-on-accelerator-tensor", "numpy", where="attribute call"),
    _entry("TNS103", "numpy-on-unproven-tensor", "numpy", where="attribute call"),
    _entry("TNS104", "cpu-before-detach", "detach", default=False, where="attribute call"),
    _entry("TNS107", "numpy-roundtrip-to-scalar", "numpy", where="attribute call"),
    _entry("TNS108", "nonblocking-copy-to-host", "non_blocking"),
    _entry("TNS201", "data-read", "data", where="attribute"),
    _entry("TNS202", "data-mutation", "data", where="attribute"),
    _entry("TNS203", "data-rebinding", "data", where="attribute"),
    _entry("TNS204", "data-as-scalar", "data", where="attribute"),
    _entry("TNS205", "data-for-metadata", "data", where="attribute"),
    _entry("TNS301", "legacy-constructor-from-data", *_TENSORS, where="call"),
    _entry("TNS302", "legacy-constructor-from-size", *_TENSORS, where="call"),
    _entry("TNS303", "legacy-constructor-ambiguous", *_TENSORS, where="call"),
    _entry("TNS304", "legacy-typed-constructor", *_TENSORS, where="call"),
    _entry("TNS305", "legacy-constructor-keyword", *_TENSORS, where="call"),
    _entry("TNS306", "tensor-new", "new", where="attribute call"),
    _entry("TNS307", "legacy-type-conversion", "type", where="attribute call"),
    _entry("TNS308", "tensor-from-tensor", "tensor", where="call with more than a literal"),
    _entry("TNS310", "legacy-default-tensor-type", "set_default_tensor_type", where="call"),
    _entry("TNS401", "variable-wrapper", "Variable"),
    _entry("TNS402", "variable-volatile", "volatile", "Variable"),
    _entry("TNS403", "variable-type-check", "Variable"),
    _entry("TNS404", "variable-import", "Variable", tidies="TNS401 TNS402 TNS403"),
    _entry("TNS900", "syntax-error"),
    _entry("TNS901", "unused-suppression"),
    _entry("TNS902", "unknown-code-in-suppression"),
)

BY_CODE: dict[str, Entry] = {entry.code: entry for entry in CATALOGUE}
BY_NAME: dict[str, Entry] = {entry.name: entry for entry in CATALOGUE}
