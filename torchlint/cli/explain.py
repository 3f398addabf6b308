"""The `explain` command: the pages of rules, and what the assumptions of fixes mean."""

from __future__ import annotations

import re

from torchlint.cli.arguments import UsageError
from torchlint.cli.session import Session
from torchlint.config.options import Options
from torchlint.config.selectors import UnknownSelector, codes_of, suggestion
from torchlint.diagnostics.assumptions import ASSUMPTIONS
from torchlint.diagnostics.registry import BY_CODE
from torchlint.diagnostics.rule_docs import assumption_page, page, summary
from torchlint.output.report import PROJECT


def run(options: Options, session: Session) -> int:
    """Print the pages: those of rules by their codes, then what is said of assumptions.

    :raises UsageError: where none is named.
    :raises UnknownSelector: where one is that does not exist.
    """
    if not options.explained and not options.explain_all:
        raise UsageError("say which rule or assumption, or --all")
    asked = {each.strip().lower() for each in options.explained}
    meant = [_codes(each) for each in options.explained]
    for family in (each for each in meant if len(each) > 1):
        _list(family, session)
    codes = set().union(*(each for each in meant if len(each) == 1))
    pages = [
        (f"{BY_CODE[code].name} ({code})", page(BY_CODE[code]))
        for code in sorted(BY_CODE if options.explain_all else codes)
    ]
    pages += [
        (f"{name} (assumption)", assumption_page(name, f"{PROJECT}/fix-safety/#{name}"))
        for name in ASSUMPTIONS
        if name in asked
    ]
    _print(pages, session)
    return 0


def _print(pages: list[tuple[str, str]], session: Session) -> None:
    """Print pages under their titles: laid out for a person at a terminal, for all others the Markdown as it is."""
    if not session.stdout.isatty():
        raw = (f"{session.screen.paint(f'# {title}', 'bold')}\n\n{text.strip()}\n" for title, text in pages)
        print(*raw, sep="\n", end="", file=session.stdout)
    elif pages:
        from rich.console import Console
        from rich.markdown import Markdown

        text = "\n\n".join(f"# {title}\n\n{text}" for title, text in pages)
        text = re.sub(r"\[([^]]+)\]\([\w-]+\.md\)", r"\1", text)  # such a link leads from page to page of the site
        shown = Markdown(text, code_theme="ansi_dark", hyperlinks=False)
        Console(file=session.stdout, width=session.screen.width).print(shown)


def _list(codes: frozenset[str], session: Session) -> None:
    """Print one line for each rule of a family; its page is asked for by its code."""
    for code in sorted(codes):
        entry = BY_CODE[code]
        print(f"{session.screen.paint(code, 'bold')}  {entry.name:<30}  {summary(entry)}", file=session.stdout)


def _codes(word: str) -> frozenset[str]:
    """Return the codes of the rules that a word means: none for an assumption."""
    found = codes_of(word)
    if not found and word.strip().lower() not in ASSUMPTIONS:
        raise UnknownSelector(f"unknown rule or assumption `{word}`{suggestion(word, ASSUMPTIONS)}")
    return found
