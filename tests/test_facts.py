"""Values: what is replaced in one, what stays, and that the value itself is left as it was."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from torchlint.facts.value import Kind, Value

NAMES = [each.name for each in fields(Value)]


@pytest.mark.parametrize("name", NAMES)
def test_having_replaces_what_it_is_told_and_nothing_else(name: str) -> None:
    facts: dict[str, Any] = {each: object() for each in NAMES}
    value, other = Value(**facts), object()
    made = value.having(**{name: other})
    assert {each: getattr(made, each) for each in NAMES} == {**facts, name: other}
    assert {each: getattr(value, each) for each in NAMES} == facts


def test_having_knows_no_other_facts() -> None:
    with pytest.raises(TypeError):
        Value(Kind.TENSOR).having(sort=Kind.ARRAY)
