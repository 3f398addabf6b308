"""A linter that finds unsafe PyTorch tensor conversions, repairs them, and never runs the code it reads."""

from __future__ import annotations

from torchlint.model import Applicability, Confidence, Edit, FileResult, Finding, Fix
from torchlint.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torchlint.config import Config
    from torchlint.engine import FixResult

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
    from torchlint.engine import check_bytes
    from torchlint.inference.project_texts import look_again

    look_again()
    return check_bytes(path, _raw(source), config or Config())


def fix(source: str | bytes, *, path: str = "<source>", config: Config | None = None) -> FixResult:
    """Repair one file's source text or bytes; nothing is written to disk."""
    from torchlint.config import Config
    from torchlint.engine import fix_bytes
    from torchlint.inference.project_texts import look_again

    look_again()
    return fix_bytes(path, _raw(source), config or Config())


def _raw(source: str | bytes) -> bytes:
    return source.encode() if isinstance(source, str) else source


def __getattr__(name: str) -> object:
    """Import what the command line starts without."""
    if name == "Config":
        from torchlint.config import Config

        return Config
    if name == "FixResult":
        from torchlint.engine import FixResult

        return FixResult
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
