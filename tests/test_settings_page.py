"""The page of settings and the JSON schema, held to each other and to what the program reads."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import jsonschema
import pytest

from tests.blocks import ROOT, Block, of
from torchlint.config.options import IN_FILES, OPTIONS, Options
from torchlint.config.sources import EXTEND, from_table, variable
from torchlint.config.values import SWITCH, OptionError
from torchlint.diagnostics.registry import BY_CODE, BY_NAME

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMA = json.loads((ROOT / "docs" / "torchlint.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
EXAMPLES = of("docs/settings.md")
PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


def table(text: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(text)["tool"]["torchlint"]
    return found


# ---------------------------------------------------------------------- the page
def test_each_key_has_one_example() -> None:
    assert [[*table(each.text)] for each in EXAMPLES] == [[name.replace("_", "-")] for name in IN_FILES]


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.text.splitlines()[1])
def test_an_example_is_read_and_says_something_else_than_the_default(block: Block) -> None:
    (key,) = table(block.text)
    name = key.replace("-", "_")
    read = from_table(table(block.text))
    assert read == Options(**{name: getattr(read, name)})
    assert getattr(read, name) not in (None, OPTIONS[name].default)


@pytest.mark.parametrize("name", IN_FILES)
def test_a_section_says_type_default_scope_flags_and_variable(name: str) -> None:
    option, key = OPTIONS[name], name.replace("_", "-")
    section = SECTIONS[key]
    told = dict(re.findall(r"^- \*\*(.*):\*\* (.+)$", section, re.MULTILINE))
    assert set(told) == {"Type", "Default", "Scope", "Flag", *["Environment variable"] * option.in_environment}
    assert told["Scope"] == ("each file" if option.per_file else "the run")
    assert told["Flag"].startswith(f"`--{key}")
    assert (f"`--no-{key}`" in told["Flag"]) is (option.kind is SWITCH)
    assert told.get("Environment variable", f"`{variable(name)}`") == f"`{variable(name)}`"
    assert re.match(r"\n[A-Z`\[].*\.\n", section)


# ---------------------------------------------------------------------- the schema
def test_the_schema_is_one_and_knows_every_key() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert list(SCHEMA["properties"]) == [EXTEND, *(name.replace("_", "-") for name in IN_FILES)]
    assert {*BY_CODE, *BY_NAME, "ALL", "TNS", "TNS1", "TNS10"} <= {*SCHEMA["definitions"]["selector"]["enum"]}


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.text.splitlines()[1])
def test_the_schema_takes_every_example(block: Block) -> None:
    VALIDATOR.validate(table(block.text))


def test_the_schema_takes_this_repositorys_own_configuration_and_every_default() -> None:
    VALIDATOR.validate(table((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    defaults = {key: each["default"] for key, each in SCHEMA["properties"].items() if "default" in each}
    VALIDATOR.validate(defaults)
    read = from_table(defaults)
    for key in defaults:
        name = key.replace("-", "_")
        assert getattr(read, name) == OPTIONS[name].default


@pytest.mark.parametrize(
    "wrong",
    [
        {"selct": []},
        {"extend_exclude": []},
        {"lint": {"select": []}},
        {"select": "TNS1"},
        {"select": ["TNS999"]},
        {"ignore": ["data-raed"]},
        {"min-confidence": "likly"},
        {"min-severity": "note"},
        {"preset": "everything"},
        {"strict": "yes"},
        {"fix": 1},
        {"target-torch": 1.13},
        {"target-torch": "1"},
        {"exclude": [1]},
        {"per-file-ignores": []},
        {"per-file-ignores": {"a": "TNS1"}},
        {"per-file-ignores": {"a": ["TNS777"]}},
        {"baseline": ""},
        {"output-format": "xml"},
    ],
    ids=str,
)
def test_the_schema_and_the_program_refuse_the_same(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(wrong)
    with pytest.raises(OptionError):
        from_table(wrong)
