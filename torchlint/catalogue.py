"""Every rule as plain data, so that codes and names are known without importing LibCST."""

from __future__ import annotations

from torchlint.records import record

_TENSORS = frozenset(
    f"{kind}Tensor"
    for kind in ("", "Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
)


@record(frozen=True, slots=True)
class Entry:
    """One rule: its code, its name (the fault), and the identifiers without which it can have nothing to say."""

    code: str
    name: str
    words: frozenset[str] = frozenset()
    default: bool = True
    """Whether it is on unless deselected."""
    called: bool = False
    """Whether the identifiers matter only as the function of a call."""
    tidies: frozenset[str] = frozenset()
    """Rules after whose fixes this one's is applied too, selected or not: it removes what they leave behind."""

    @property
    def module(self) -> str:
        """The module below ``torchlint.rules`` that holds the rule."""
        return self.name.replace("-", "_")


def _entry(code: str, name: str, *words: str, default: bool = True, called: bool = False, tidies: str = "") -> Entry:
    return Entry(code, name, frozenset(words), default, called, frozenset(tidies.split()))


CATALOGUE: tuple[Entry, ...] = (
    _entry("TNS101", "numpy-on-grad-tensor", "numpy", called=True),
    _entry("TNS102", "numpy-on-accelerator-tensor", "numpy", called=True),
    _entry("TNS103", "numpy-on-unproven-tensor", "numpy", called=True),
    _entry("TNS104", "cpu-before-detach", "detach", default=False, called=True),
    _entry("TNS107", "numpy-roundtrip-to-scalar", "numpy", called=True),
    _entry("TNS108", "nonblocking-copy-to-host", "non_blocking"),
    _entry("TNS201", "data-read", "data"),
    _entry("TNS202", "data-mutation", "data"),
    _entry("TNS203", "data-rebinding", "data"),
    _entry("TNS204", "data-as-scalar", "data"),
    _entry("TNS205", "data-for-metadata", "data"),
    _entry("TNS301", "legacy-constructor-from-data", *_TENSORS, called=True),
    _entry("TNS302", "legacy-constructor-from-size", *_TENSORS, called=True),
    _entry("TNS303", "legacy-constructor-ambiguous", *_TENSORS, called=True),
    _entry("TNS304", "legacy-typed-constructor", *_TENSORS, called=True),
    _entry("TNS305", "legacy-constructor-keyword", *_TENSORS, called=True),
    _entry("TNS306", "tensor-new", "new", called=True),
    _entry("TNS307", "legacy-type-conversion", "type", called=True),
    _entry("TNS308", "tensor-from-tensor", "tensor", called=True),
    _entry("TNS310", "legacy-default-tensor-type", "set_default_tensor_type", called=True),
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
