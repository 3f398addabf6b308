"""A hook of the site: in a search rules come first, pages that measure and pages for contributors last."""

from __future__ import annotations

from typing import Any

BOOSTS = {"Rules": 1.3, "Measured": 0.3, "Contributing": 0.3}
"""What a hit counts for in a page of each section of the menu; elsewhere it counts for one."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Tell the site's search how much the page's section weighs."""
    for section in page.ancestors:
        if section.title in BOOSTS:
            page.meta.setdefault("search", {"boost": BOOSTS[section.title]})
    return markdown
