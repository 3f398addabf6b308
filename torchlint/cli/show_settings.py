"""`check --show-settings`: the options that hold for each path, and where their values come from."""

from __future__ import annotations

import os

from torchlint.cli.arguments import UsageError
from torchlint.cli.cache_folder import cache_folder
from torchlint.cli.session import Session
from torchlint.config import Finder
from torchlint.config.options import IN_FILES, OPTIONS, WORKED_IN, Options
from torchlint.config.values import text_of
from torchlint.output.screen import printable


def show_settings(flags: Options, finder: Finder, session: Session) -> None:
    """Print the configuration file of each path and the value of each key.

    :raises UsageError: where there is no such path.
    """
    for number, path in enumerate(flags.paths or ["."]):
        named = path if path != "-" else flags.stdin_filename or "."
        place = os.path.normpath(os.path.join(session.cwd, named))
        if named == path and not os.path.exists(place):
            raise UsageError(f"{path}: no such file or folder")
        folder = place if os.path.isdir(place) else os.path.dirname(place)
        lines = [f"configuration = {finder.of_folder(folder).path or 'none'}"]
        for name in (each for each in IN_FILES if each not in WORKED_IN):
            asked = folder if OPTIONS[name].per_file else session.cwd
            config = finder.of_folder(asked)
            value = cache_folder(flags, config, session.cwd) if name == "cache_dir" else getattr(config.run, name)
            sources = ", ".join(finder.sources(name, asked))
            lines.append(f"{name.replace('_', '-')} = {text_of(value)}{'  # ' * bool(sources)}{sources}")
        print("\n" * (number > 0) + "\n".join(map(printable, lines)), file=session.stdout)
