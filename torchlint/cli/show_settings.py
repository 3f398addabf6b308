"""`check --show-settings`: the options that hold in the current folder."""

from __future__ import annotations

from torchlint.cli.cache_folder import cache_folder
from torchlint.cli.session import Session
from torchlint.config import Config
from torchlint.config.options import IN_FILES, WORKED_IN, Options
from torchlint.config.values import text_of
from torchlint.output.screen import printable


def show_settings(flags: Options, config: Config, session: Session) -> None:
    """Print the configuration file and the value of each of its keys."""
    rows = {name: getattr(config.run, name) for name in IN_FILES if name not in WORKED_IN}
    rows["cache_dir"] = cache_folder(flags, config, session.cwd)
    for name, value in {"configuration": config.path, **rows}.items():
        print(f"{name.replace('_', '-')} = {printable(text_of(value))}", file=session.stdout)
