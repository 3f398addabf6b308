"""The `explain` command: the pages of rules."""

from __future__ import annotations

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config.options import Options
from torchlint.config.selectors import codes_meant
from torchlint.diagnostics.registry import BY_CODE
from torchlint.diagnostics.rule_docs import page


def run(options: Options, session: Session) -> int:
    """Print the pages.

    :raises UsageError: where no rule is named.
    :raises UnknownSelector: where one is that does not exist.
    """
    if not options.explained and not options.explain_all:
        raise UsageError("say which rule, or --all")
    codes = set().union(*(codes_meant(each) for each in options.explained))
    for number, code in enumerate(sorted(BY_CODE if options.explain_all else codes)):
        entry = BY_CODE[code]
        heading = session.screen.paint(f"# {entry.name} ({code})", "bold")
        print("\n" * (number > 0) + heading + "\n", file=session.stdout)
        print(page(entry).strip(), file=session.stdout)
    return 0
