"""The objects of the json format, one a line, so that a reader need not wait for the end."""

from __future__ import annotations

import json
from collections.abc import Iterator

from torchlint.output.json import described
from torchlint.output.report import Report
from torchlint.output.screen import Screen


def render(report: Report, screen: Screen) -> Iterator[str]:
    """Yield one object per finding."""
    del screen
    for place in report.places:
        yield json.dumps(described(place))
