"""`--show-facts FILE:LINE`: what is known of every expression on a line."""

from __future__ import annotations

import os
from collections.abc import Iterator

from torchlint.config import Config
from torchlint.flags import UsageError
from torchlint.output.screen import Screen
from torchlint.source import SourceError, decode


def facts(place: str, config: Config, cwd: str, screen: Screen) -> Iterator[str]:
    """Give the lines to print for ``FILE:LINE``.

    :raises UsageError: where the place is none: no such file, no such line, or text that is no Python.
    """
    from torchlint.engine import analysis
    from torchlint.output.facts import render

    path, colon, number = place.rpartition(":")
    if not colon or not number.isdecimal() or int(number) < 1:
        raise UsageError(f"--show-facts {place}: expected FILE:LINE, for example train.py:12")
    try:
        with open(os.path.join(cwd, path), "rb") as stream:
            source = decode(path, stream.read())
        found = analysis(source, config)
    except OSError as error:
        raise UsageError(f"--show-facts {path}: cannot be read: {error.strerror or error}") from None
    except SourceError as error:
        raise UsageError(f"--show-facts {path}: {error.message}") from None
    except SyntaxError as error:
        raise UsageError(f"--show-facts {path}:{error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise UsageError(f"--show-facts {path}: the code cannot be parsed") from None
    if int(number) > len(source.line_starts):
        raise UsageError(f"--show-facts {place}: the file has {len(source.line_starts)} lines")
    return render(found, int(number), screen)
