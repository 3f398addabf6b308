"""What the user wants of a file: options from flags and from configuration files, laid over each other."""

from __future__ import annotations

from torchlint.config.finder import ConfigError, Finder
from torchlint.config.layers import FILE_TOO_LARGE, SYNTAX_ERROR, Config, assemble
from torchlint.config.options import CACHE
from torchlint.config.sources import Document

__all__ = ["CACHE", "FILE_TOO_LARGE", "SYNTAX_ERROR", "Config", "ConfigError", "Document", "Finder", "assemble"]
