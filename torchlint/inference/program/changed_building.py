"""Whether a text changes how modules are built: then what a constructor makes may be in use before it ends.

A graph may hold a parameter from the moment it is registered, where a hook or a rebound method sees it; and where a
constructor is called on an object that is there, what it made before.
"""

from __future__ import annotations

import re

_MAKING = (
    rb"(?:__(?:init|new|setattr|getattr|getattribute)__|_?reset_parameters|register_(?:parameter|module)|add_module)"
)
"""Methods that torch's modules run while they are built."""
_REBINDING = re.compile(
    rb"(?<!\bself)\.%(word)s\s*=(?!=)"
    rb"|\b(?:setattr|patch|object)\(\s*(?:[^\"'#\n]{0,200},\s*)?[\"'](?:[\w.]*\.)?%(word)s[\"']" % {b"word": _MAKING}
)
_HOOK = b"_registration_hook"
_REGISTERING = re.compile(rb"\bregister_module_(?:parameter|module|buffer)_registration_hook\b")
"""What torch calls with each part that any module is given (torch 2.0 and later)."""
_CONSTRUCTING = re.compile(rb"\.\s*__init__\s*\((?!\s*(?:self|cls)\b)")
_SUPER = re.compile(rb"\bsuper\s*\((?:[^()]|\([^()]*\))*\)\s*\Z")
_LONGEST = 200
"""So many bytes before a call of a constructor are looked at for the `super(...)` that it is called on."""


def changes_building(text: bytes) -> bool:
    """Whether a text has something run that it brings while modules are built: a method of theirs, or a hook."""
    if _HOOK in text and _REGISTERING.search(text) is not None:
        return True
    is_set = b"__" in text or b"reset_parameters" in text or b"register_" in text or b"add_module" in text
    return is_set and _REBINDING.search(text) is not None


def begins_again(text: bytes) -> bool:
    """Whether a text may call a constructor on an object that it does not build: ``net.__init__()``."""
    return b"__init__" in text and any(
        _SUPER.search(text, max(0, each.start() - _LONGEST), each.start()) is None
        for each in _CONSTRUCTING.finditer(text)
    )
