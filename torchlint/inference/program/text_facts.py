"""What one text of a project says, whoever asks: read off its bytes once, and kept by their digest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from torchlint.inference.program.annotation_readers import reads_annotations
from torchlint.inference.program.changed_building import begins_again, changes_building
from torchlint.inference.program.default_setters import DEVICE, DTYPE, TENSOR_TYPE, Setters, setters
from torchlint.inference.program.device_makers import makers
from torchlint.inference.program.source_files import text_and_tree, tree_in
from torchlint.inference.program.text_patterns import (
    binds_initialisers,
    records_traces,
    subclasses_tensors,
    traces_or_scripts,
)
from torchlint.inference.program.warning_filters import makes_errors
from torchlint.source.notebook import SUFFIX
from torchlint.syntax.ast_index import AstIndex


@dataclass(frozen=True)
class Facts:
    """What one text says that does not depend on who asks."""

    sets: Setters
    traces: bool
    binds_init: bool
    records: bool
    makes_errors: bool
    reads_annotations: bool
    makes_devices: frozenset[str]
    subclasses_tensors: bool
    changes_building: bool
    begins_again: bool


NOTHING = Facts(Setters(frozenset()), False, False, False, False, False, frozenset(), False, False, False)
UNREADABLE = Facts(
    Setters(frozenset({DTYPE, DEVICE, TENSOR_TYPE})), True, True, True, True, True, frozenset(), True, True, True
)


def facts_of(path: str, raw: bytes) -> Facts:
    """Read what a file says off its bytes; of a notebook, off its cells."""
    if path.endswith(SUFFIX):  # the text of a notebook is spelled as JSON
        found = text_and_tree(path, raw) if b"torch" in raw else None
        if found is None:
            return NOTHING
        text, index = found
        raw = text.encode("utf-8", "replace")
        return _facts_of(raw, lambda: index)
    return _facts_of(raw, cache(lambda: tree_in(path, raw)))


def _facts_of(raw: bytes, tree: Callable[[], AstIndex | None]) -> Facts:
    return Facts(
        setters(raw, tree),
        traces_or_scripts(raw),
        binds_initialisers(raw),
        records_traces(raw),
        makes_errors(raw, tree),
        reads_annotations(raw),
        makers(raw, tree),
        subclasses_tensors(raw),
        changes_building(raw),
        begins_again(raw),
    )
