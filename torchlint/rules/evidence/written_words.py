"""Whether what a fix writes and what it takes away are torch's own, whatever the rule: methods can be rebound."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator

from torchlint.diagnostics.model import Applicability, Fix
from torchlint.rules.api import FileContext
from torchlint.rules.evidence.kept_meaning import torchs_own_is_kept

_WORD = re.compile(r"(?<![\w\"'])[A-Za-z_]\w*(?!\w|[\"']|\s*=(?!=))")
"""A name or an attribute; no argument's name, and no word that begins or ends a string."""
_OF_EVERY_FILE = frozenset({"torch", *keyword.kwlist})


def resting_on_torch(fix: Fix, context: FileContext) -> Fix:
    """Return a fix that is safe so far as one that rests on torch's own methods and functions being what they are.

    Where ``torch.Tensor.detach = logged`` stands anywhere in the project, ``x.detach()`` is not what it is known for.
    """
    if fix.earned is not Applicability.SAFE:
        return fix
    kept = torchs_own_is_kept(dict.fromkeys(_changed(fix, context)), context)
    return fix if kept.is_proven else fix.assuming(kept)


def _changed(fix: Fix, context: FileContext) -> Iterator[str]:
    """Yield the words that stand more or less often in the new text than in the old one."""
    old, new = Counter[str](), Counter[str]()
    for edit in fix.edits:
        old.update(_WORD.findall(context.source.slice(edit.start, edit.end)))
        new.update(_WORD.findall(edit.text))
    yield from (word for word in {**new, **old} if new[word] != old[word] and word not in _OF_EVERY_FILE)
