"""The table of options: one entry an option, and all that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from torchlint.cli.arguments import COMMANDS, UsageError, parse, parser_of
from torchlint.config import Config, assemble
from torchlint.config import values as kinds
from torchlint.config.option import option
from torchlint.config.options import IN_ENVIRONMENT, IN_FILES, OPTIONS, Options
from torchlint.diagnostics.model import Confidence, Severity

OTHER_THAN_THE_DEFAULT: dict[kinds.ValueKind, object] = {
    kinds.RULES: ("TNS101", "TNS104"),
    kinds.SELECTED_RULES: ("TNS101", "TNS104"),
    kinds.GLOBS: ("old",),
    kinds.RULES_BY_GLOB: (("tests/*", ("TNS1",)),),
    kinds.CONFIDENCE: Confidence.CERTAIN,
    kinds.SEVERITY: Severity.ERROR,
    kinds.VERSION: (1, 13),
    kinds.FILE: "file",
    kinds.FOLDER: "folder",
    kinds.SIZE: 5,
}


def other(name: str) -> object:
    entry = OPTIONS[name]
    if entry.kind is kinds.SWITCH:
        return not entry.default
    return OTHER_THAN_THE_DEFAULT.get(entry.kind) or next(each for each in entry.kind.words if each != entry.default)


# ---------------------------------------------------------------------- the cache's key
@pytest.mark.parametrize("name", IN_FILES)
def test_the_caches_key_follows_the_options_that_results_rest_on(name: str) -> None:
    changed = assemble([Options(**{name: other(name)})])  # type: ignore[arg-type]
    assert (changed.cache_key() != assemble([]).cache_key()) is OPTIONS[name].in_cache_key


def test_an_option_that_is_added_is_part_of_the_caches_key() -> None:
    @dataclass(frozen=True)
    class More(Options):
        added: bool | None = option(kinds.SWITCH, "a rule reads this", per_file=True)
        of_the_run: bool | None = option(kinds.SWITCH, "no rule reads this")

    def key(**given: bool) -> tuple[object, ...]:
        return Config(run=More(**given)).cache_key()  # type: ignore[arg-type]

    assert key(added=True) != key(added=False)
    assert key(of_the_run=True) == key(of_the_run=False)


def test_the_folder_of_patterns_counts_where_there_are_some() -> None:
    ignores = Options(per_file_ignores=(("tests/*", ("TNS1",)),))
    assert assemble([ignores], "/a", "/a").cache_key() != assemble([ignores], "/b", "/b").cache_key()
    assert assemble([], "/a", "/a").cache_key() == assemble([], "/b", "/b").cache_key()


# ---------------------------------------------------------------------- layers
def test_the_defaults_of_a_configuration_are_those_of_the_table() -> None:
    bare, assembled = Config(), assemble([])
    for name in ("settings", "min_confidence", "unsafe_fixes", "repaired", "per_file_ignores", "exclude"):
        assert getattr(bare, name) == getattr(assembled, name), name
    assert bare.codes("a.py") == assembled.codes("a.py")


def test_what_adds_to_an_option_is_put_together_with_it() -> None:
    run = assemble([Options(exclude=("a",), extend_exclude=("b",)), Options(extend_exclude=("c",))]).run
    assert (run.exclude, run.extend_exclude) == (("a", "b", "c"), ())
    run = assemble([Options(select=("TNS1",)), Options(ignore=("TNS101",), extend_select=("TNS201",))]).run
    assert run.select is not None
    assert {"TNS101", "TNS102", "TNS201"} & set(run.select) == {"TNS102", "TNS201"}
    assert (run.ignore, run.extend_select) == ((), ())


@pytest.mark.parametrize("name", IN_FILES)
def test_the_strongest_source_that_says_something_wins(name: str) -> None:
    said = other(name)
    run = assemble([Options(**{name: said}), Options()]).run  # type: ignore[arg-type]
    assert run == assemble([Options(**{name: said})]).run  # type: ignore[arg-type]
    assert run != assemble([]).run


# ---------------------------------------------------------------------- parsers
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_takes_what_the_table_says(command: str) -> None:
    taken = {action.dest for action in parser_of(command)._actions} - {"help"}
    assert taken == {name for name, each in OPTIONS.items() if command in each.help}
    assert parse([], command) == Options()


@pytest.mark.parametrize("name", IN_FILES)
def test_what_files_may_hold_has_a_reader_and_a_flag_of_the_same_name(name: str) -> None:
    assert OPTIONS[name].kind.from_toml is not None
    flag = f"--{name.replace('_', '-')}"
    assert flag in {each for action in parser_of("check")._actions for each in action.option_strings}


def test_every_field_is_an_entry() -> None:
    assert [each.name for each in fields(Options)] == list(OPTIONS)


@pytest.mark.parametrize("name", [name for name in IN_FILES if OPTIONS[name].kind is kinds.SWITCH])
def test_both_flags_of_a_switch_are_read(name: str) -> None:
    flag = name.replace("_", "-")
    assert getattr(parse([f"--{flag}"], "check"), name) is True
    assert getattr(parse([f"--no-{flag}"], "check"), name) is False


def test_flags_stand_between_paths_and_add_up() -> None:
    found = parse(["a", "--select", "TNS1,TNS2", "b", "--add-noqa", "--select=ALL", "--exclude", "x, y", "c"], "check")
    assert (found.paths, found.select) == (("a", "b", "c"), ("TNS1", "TNS2", "ALL"))
    assert (found.exclude, found.add_noqa) == (("x", "y"), "")


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("rules", ["x"], "unexpected `x`"),
        ("clean", ["--quite"], "unknown flag `--quite`; did you mean `--quiet`?"),
        ("verify", ["--isolated", "--config", "x"], "--isolated and --config FILE cannot be used together"),
        (
            "check",
            ["--config", "a.toml", "--config", "b.toml"],
            "argument --config: only one file can be used: leave out a.toml or b.toml",
        ),
        ("check", ["--config", "selct=[]"], "argument --config: unknown key `selct`; did you mean `select`?"),
        (
            "check",
            ["--config", "strict='yes'"],
            'argument --config: `strict`: expected true or false, got "yes"',
        ),
        (
            "server",
            ["--config", "preset=hazards"],
            "argument --config: `preset`: no valid TOML: Invalid value (at line 1, column 8): quote strings, as in "
            "'preset = \"hazards\"'",
        ),
        (
            "clean",
            ["--config", 'exclude = [a/*, "b c"]'],
            "argument --config: `exclude`: no valid TOML: Invalid value (at line 1, column 12): quote strings, as in "
            '\'exclude = ["a/*", "b c"]\'',
        ),
        (
            "check",
            ["--config", 'ignore = ["TNS1"'],
            "argument --config: `ignore`: no valid TOML: Unclosed array (at end of document)",
        ),
        (
            "check",
            ["--config", 'lint.select = ["TNS1"]'],
            "argument --config: `lint`: torchlint has no such table: put its keys at the top level",
        ),
        (
            "check",
            ["--config", "extend = 'x'"],
            "argument --config: `extend`: only a file can extend another: use --config FILE",
        ),
    ],
)
def test_what_a_command_does_not_take_is_an_error(command: str, arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(arguments, command)
    assert str(raised.value) == message


def test_what_only_the_command_line_says_does_not_go_with_every_file() -> None:
    assert assemble([Options(paths=("a.py",), quiet=True, strict=True)]).run == assemble([Options(strict=True)]).run


# ---------------------------------------------------------------------- environment variables
def test_the_common_options_have_variables() -> None:
    assert {"select", "ignore", "preset", "output_format", "cache_dir", "no_cache", "jobs", "config", "color"} <= {
        *IN_ENVIRONMENT
    }


TEXTS: dict[str, tuple[str, object]] = {
    "select": ("TNS1, data-read", ("TNS1", "data-read")),
    "ignore": ("TNS1", ("TNS1",)),
    "extend_select": ("TNS104", ("TNS104",)),
    "min_confidence": ("likely", Confidence.LIKELY),
    "min_severity": ("error", Severity.ERROR),
    "preset": ("hazards", "hazards"),
    "target_torch": ("1.13", (1, 13)),
    "config": ("strict = true", ("strict = true",)),
    "jobs": ("3", 3),
    "cache_dir": ("kept", "kept"),
    "no_cache": ("1", True),
    "output_format": ("json", "json"),
    "output_file": ("report", "report"),
    "color": ("never", "never"),
}


@pytest.mark.parametrize("name", IN_ENVIRONMENT)
def test_a_variable_is_read_as_its_flag(name: str) -> None:
    text, value = TEXTS[name]
    assert parse([], "check", {f"TORCHLINT_{name.upper()}": text}) == Options(**{name: value})  # type: ignore[arg-type]
    assert parse([], "check", {f"TORCHLINT_{name.upper()}": ""}) == Options()
    assert parse([], "rules", {f"TORCHLINT_{name.upper()}": text}) == Options()


def test_a_flag_and_a_setting_replace_a_variable() -> None:
    said = {f"TORCHLINT_{name.upper()}": text for name, (text, _) in TEXTS.items() if name != "config"}
    flags = ["--select", "TNS2", "--color", "auto", "--jobs", "1", "--config", 'preset = "modernize"']
    found = parse(flags, "check", said)
    assert (found.select, found.color, found.jobs, found.preset) == (("TNS2",), "auto", 1, None)
    assert (found.ignore, found.no_cache) == (("TNS1",), True)
    assert parse(["--isolated"], "check", {"TORCHLINT_CONFIG": "none.toml"}) == Options(isolated=True)
    assert parse(["--jobs", "2"], "check", {"TORCHLINT_JOBS": "many"}).jobs == 2


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("PRESET", "hazard", 'expected one of hazards, modernize, all, got "hazard"; did you mean `hazards`?'),
        ("NO_CACHE", "maybe", 'expected true or false, got "maybe"'),
        ("JOBS", "0", "expected a number from 1, got `0`"),
        ("SELECT", "data-raed", "unknown rule `data-raed`; did you mean `data-read`?"),
        ("CONFIG", "none.toml", "none.toml: no such file"),
        ("CONFIG", "strct = true", "unknown key `strct`; did you mean `strict`?"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse([], "check", {f"TORCHLINT_{variable}": text})
    assert str(raised.value) == f"TORCHLINT_{variable}: {message}"


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("FALSE", False), ("0", False)])
def test_a_variable_turns_a_switch_on_or_off(text: str, value: bool) -> None:
    assert parse([], "check", {"TORCHLINT_NO_CACHE": text}).no_cache is value
