"""Texts cut to the length that a message has room for."""

from __future__ import annotations


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, which ends in ``...`` where it was cut."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def one_line(text: str, most: int) -> str:
    """Return a text in one line of at most ``most`` characters: each run of white space becomes a blank."""
    return shortened(" ".join(text.split()), most)
