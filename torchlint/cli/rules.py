"""The `rules` command: all rules in a table."""

from __future__ import annotations

from torchlint.cli.session import Session
from torchlint.config.options import Options
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_docs import summary


def run(options: Options, session: Session) -> int:
    """Print the table."""
    del options
    width = max(len(entry.name) for entry in RULES)
    print(f"{'code':<8}{'name':<{width + 2}}{'default':<9}summary", file=session.stdout)
    for entry in RULES:
        default = "on" if entry.default else "off"
        code = session.screen.paint(entry.code, "red")
        print(f"{code}  {entry.name:<{width + 2}}{default:<9}{summary(entry)}", file=session.stdout)
    return 0
