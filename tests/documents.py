"""The formats' documents, read by strict readers and held to the schemas in ``schemas/``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import xmlschema

SCHEMAS = Path(__file__).parent / "schemas"
MACHINE = ("json", "json-lines", "sarif", "gitlab", "junit", "rdjson")
"""The formats that have a schema."""


def read(output_format: str, raw: bytes) -> Any:
    """Parse a document and give it, once it was found valid.

    :raises jsonschema.ValidationError: where its schema refuses it; ``xmlschema.XMLSchemaValidationError`` likewise.
    """
    text = raw.decode("utf-8")
    if output_format == "junit":
        root = ElementTree.fromstring(text)
        _junit().validate(text)
        return root
    lined = output_format == "json-lines"
    document = [_strict(line) for line in text.splitlines()] if lined else _strict(text)
    _validator(output_format).validate(document)
    return document


def _strict(text: str) -> Any:
    """Read JSON with no leave for doubled keys, NaN or texts that are no Unicode."""

    def whole(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    def refuse(text: str) -> None:
        raise AssertionError(text)

    return json.loads(text, object_pairs_hook=whole, parse_constant=refuse)


def texts(document: Any) -> Iterator[str]:
    """Yield every text in a JSON document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for value in document.values():
            yield from texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from texts(value)


@cache
def _validator(output_format: str) -> Any:
    names = {"sarif": "sarif-2.1.0-rtm.5", "gitlab": "gitlab-code-quality", "rdjson": "rdjson"}
    schema = json.loads((SCHEMAS / f"{names.get(output_format, 'json')}.json").read_text(encoding="utf-8"))
    kind: Callable[[Any], Any] = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)  # type: ignore[attr-defined]
    return kind(schema)


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(SCHEMAS / "jenkins-junit.xsd"))
