"""A linter that finds unsafe PyTorch tensor conversions, repairs them, and never runs the code it reads."""

from __future__ import annotations

from torchlint.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.config import Config
    from torchlint.diagnostics.model import Applicability, Confidence, Edit, FileResult, Finding, Fix
    from torchlint.linter.engine import FixResult

__version__ = VERSION

__all__ = [
    "Applicability",
    "Confidence",
    "Config",
    "Edit",
    "FileResult",
    "Finding",
    "Fix",
    "FixResult",
    "__version__",
    "check",
    "fix",
]


def check(source: str | bytes, *, path: str = "<source>", config: Config | None = None) -> FileResult:
    """Check one file's source text or bytes; code that does not parse is a finding, never an exception."""
    from torchlint.config import Config
    from torchlint.knowledge import look_again
    from torchlint.linter.engine import check_bytes

    look_again()
    settled = config or Config()
    return settled.shown(check_bytes(path, _raw(source), settled))


def fix(source: str | bytes, *, path: str = "<source>", config: Config | None = None) -> FixResult:
    """Repair one file's source text or bytes; nothing is written to disk."""
    from torchlint.config import Config
    from torchlint.knowledge import look_again
    from torchlint.linter.engine import fix_bytes

    look_again()
    return fix_bytes(path, _raw(source), config or Config())


def _raw(source: str | bytes) -> bytes:
    return source.encode() if isinstance(source, str) else source


_HOMES = dict.fromkeys(("Applicability", "Confidence", "Edit", "FileResult", "Finding", "Fix"), "diagnostics.model")
_HOMES |= {"Config": "config", "FixResult": "linter.engine"}


def __getattr__(name: str) -> object:
    """Import what the command line starts without, and Ctrl-C could interrupt before the command line is there."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"torchlint.{_HOMES[name]}"), name)
    return found
