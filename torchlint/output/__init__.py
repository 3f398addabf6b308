"""Which output formats there are; each is one module with one `render`, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from torchlint.output.report import Report
from torchlint.output.screen import Screen

Render = Callable[[Report, Screen], Iterator[str]]


def renderer(output_format: str) -> Render:
    """Return the function that turns a report into the lines of a format."""
    render: Render = import_module(f"torchlint.output.{output_format.replace('-', '_')}").render
    return render
