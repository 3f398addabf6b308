"""Whether code may be recorded or compiled by torch: a trace keeps what `.data` gives as a constant."""

from __future__ import annotations

from torchlint.model import Applicability, Fix
from torchlint.rule import FileContext, traces_or_scripts

_DOUBT = "a trace keeps what `.data` gives as a constant"


def unless_traced(fix: Fix, context: FileContext) -> Fix:
    """Return the fix as it is, or, where it is safe but its code may be traced, as an unsafe one."""
    return fix.doubted(_traced(context)) if fix.applicability is Applicability.SAFE else fix


def unless_traced_here(fix: Fix, context: FileContext) -> Fix:
    """Return the fix as :func:`unless_traced` does, asking this file alone: for code that builds a module.

    A function that is traced hardly ever builds one, and then in the file that traces it.
    """
    if fix.applicability is Applicability.SAFE and traces_or_scripts(context.source.utf8):
        return fix.doubted("this file traces or scripts code, and a trace misses writes through `.data`")
    return fix


def _traced(context: FileContext) -> str | None:
    """Return why code of the file may be traced or scripted, as a clause; None where nothing speaks for it.

    The texts of the project are asked, this file's own among them; who is handed to a tracer is not followed.
    """
    if traces_or_scripts(context.source.utf8):
        return f"this file traces or scripts code, and {_DOUBT}"
    elsewhere = context.other_texts.traces
    return f"{elsewhere}, and {_DOUBT}" if elsewhere else None
