"""Whether a text binds functions of ``nn.init`` anew, as code does that loads weights and needs no first values."""

from __future__ import annotations

import re

_INITIALISER = rb"(?:normal|uniform|zeros|constant)_"
_BINDING_INIT = re.compile(
    rb"\.%(name)s\s*(?::[^=\n]*)?=[^=]|[\"']%(name)s[\"']|TorchFunctionMode|init\.__dict__|vars\([\w.]*init\)"
    rb"|attr\(\s*[\w.]*\binit\s*,|patch(?:\.object)?\([^)]*\binit\b" % {b"name": _INITIALISER}
)
_NAMING_INIT = re.compile(rb"\bnn\.init\b|\bimport\b[^\n;]*\binit\b")
_BINDING_ANY = re.compile(
    rb"setattr\(\s*(?!self\s*,)[^,\n]+,\s*(?![\"'])|(?:vars\(|(?<!self)\.__dict__)[\w.]*\)?\s*(?:\[|\.update)"
)


def binds_initialisers(text: bytes) -> bool:
    """Whether a text may bind functions of ``nn.init`` anew: ``torch.nn.init.normal_ = skip``.

    By whatever name it knows the module: each of the functions' names that is written to or stands in quotes counts,
    and each attribute of which the name is made at run time, where the text names the module at all.
    """
    if b"init" not in text and b"TorchFunctionMode" not in text:
        return False
    return _BINDING_INIT.search(text) is not None or (
        _NAMING_INIT.search(text) is not None and _BINDING_ANY.search(text) is not None
    )
