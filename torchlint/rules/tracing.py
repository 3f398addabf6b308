"""Whether code may be recorded or compiled by torch: a trace keeps what `.data` gives as a constant."""

from __future__ import annotations

import re

from torchlint.rule import FileContext
from torchlint.rules.remembered import says

_TRACES = re.compile(
    rb"\bjit\s*\.\s*(?:trace|script|ScriptModule)"
    rb"|\bfrom\s+torch\.(?:jit|onnx|fx)\b[\w.]*\s+import\b"
    rb"|\bonnx\s*\.\s*\w*export|\bsymbolic_trace\b|\bmake_fx\b|\bScriptModule\b|\bscript_method\b|\btrace_module\b"
)
"""Words of what records a function while it runs, or reads its source."""

_DOUBT = "this file traces or scripts code, and a trace keeps what `.data` gives as a constant"


def is_traced(context: FileContext) -> str | None:
    """Return why code of the file may be traced or scripted, as a clause; None where nothing speaks for it.

    Only the file's own text is asked, and all of it: who is handed to a tracer is not followed.
    """
    return _DOUBT if says(_TRACES, context.source.utf8) else None
