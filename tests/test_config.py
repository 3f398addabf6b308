"""Options: layers, selectors, patterns, files, metadata, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.config import Config, ConfigError, Finder, assemble
from torchlint.config.options import Options
from torchlint.config.selectors import DEFAULT_CODES, EVERY_CODE, UnknownSelector, codes_meant, codes_of
from torchlint.config.sources import from_table
from torchlint.config.torch_requirement import oldest_torch
from torchlint.config.values import OptionError
from torchlint.diagnostics.model import Confidence, Settings


def found(folder: Path, **flags: object) -> Config:
    return Finder(Options(**flags), str(folder)).of_folder(str(folder))  # type: ignore[arg-type]


def test_without_configuration_the_defaults_hold(tmp_path: Path) -> None:
    config = found(tmp_path)
    assert config.codes("a.py") == DEFAULT_CODES
    assert "TNS104" not in config.codes("a.py")
    assert (config.settings, config.min_confidence, config.unsafe_fixes) == (Settings(), Confidence.POSSIBLE, False)
    assert config.path is None
    assert config.fixable("TNS101")


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("TNS101", {"TNS101"}),
        ("tns101", {"TNS101"}),
        ("numpy-on-grad-tensor", {"TNS101"}),
        ("TNS10", {code for code in EVERY_CODE if "TNS101" <= code <= "TNS109"}),
        ("TNS", EVERY_CODE),
        ("ALL", EVERY_CODE),
        ("E501", set()),
        ("TN", set()),
        ("TNS777", set()),
        ("", set()),
    ],
)
def test_a_selector_means_codes(selector: str, codes: set[str]) -> None:
    assert codes_of(selector) == codes


@pytest.mark.parametrize(
    ("options", "on", "off"),
    [
        ({"select": ("TNS1",), "ignore": ("TNS101",)}, "TNS102", "TNS101"),
        ({"select": ("TNS101",), "ignore": ("TNS1",)}, "TNS101", "TNS102"),
        ({"select": ("TNS101",), "ignore": ("TNS101",)}, "TNS900", "TNS101"),
        ({"extend_select": ("TNS104",)}, "TNS104", "TNS999"),
        ({"extend_ignore": ("data-read",)}, "TNS202", "TNS201"),
        ({"select": ("ALL",)}, "TNS104", "TNS999"),
        ({"select": ("TNS2",), "ignore": ("ALL",)}, "TNS201", "TNS101"),
    ],
)
def test_the_more_specific_selector_wins(options: dict[str, tuple[str, ...]], on: str, off: str) -> None:
    codes = assemble([Options(**options)]).codes("a.py")
    assert (on in codes, off in codes) == (True, False)


def test_selecting_anew_on_the_command_line_forgets_the_file_but_ignoring_adds_to_it() -> None:
    file = Options(select=("TNS1",), ignore=("TNS102",))
    assert assemble([file, Options(select=("TNS2",))]).codes("a.py") & {"TNS101", "TNS201"} == {"TNS201"}
    assert assemble([file, Options(ignore=("TNS101",))]).codes("a.py") & {"TNS101", "TNS102", "TNS103"} == {"TNS103"}


def test_a_syntax_error_is_always_reported() -> None:
    config = assemble([Options(select=("TNS1",), ignore=("TNS9",), per_file_ignores=(("*", ("ALL",)),))], "/p", "/p")
    assert config.codes("a.py") == {"TNS900"}


def test_fixable_and_unfixable() -> None:
    config = assemble([Options(fixable=("TNS1",), unfixable=("TNS101",))])
    assert [config.fixable(code) for code in ("TNS101", "TNS102", "TNS201")] == [False, True, False]


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("test_*.py", "deep/down/test_a.py", True),
        ("tests/*", "tests/a/b.py", True),
        ("tests/*", "other/tests/a.py", False),
        ("**/tests/*", "other/tests/a.py", True),
        ("**/tests/*", "tests/a.py", True),
        ("{a,b}.py", "x/b.py", True),
        ("!src/*", "src/a.py", False),
        ("!src/*", "lib/a.py", True),
        ("[ab].py", "a.py", True),
        ("[!ab].py", "a.py", False),
        ("./tests/x.py", "tests/x.py", True),
        ("x[", "x[", True),
    ],
)
def test_per_file_ignores_match_names_and_paths_below_the_root(pattern: str, path: str, ignored: bool) -> None:
    config = assemble([Options(per_file_ignores=((pattern, ("TNS101",)),))], "/project", "/project")
    assert ("TNS101" not in config.codes(path)) is ignored
    assert ("TNS101" not in config.codes(f"/project/{path}")) is ignored
    assert "TNS102" in config.codes(path)


def test_every_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text(
        """
        select = ["TNS1"]
        ignore = ["TNS102"]
        extend-select = ["TNS201"]
        extend-ignore = ["TNS103"]
        fixable = ["TNS1"]
        unfixable = ["TNS108"]
        min-confidence = "likely"
        target-torch = "1.13"
        numpy-style = "force"
        strict = true
        exclude = ["old"]
        extend-exclude = ["older"]
        force-exclude = true
        respect-gitignore = false
        fix = true
        fix-only = true
        unsafe-fixes = true
        show-fixes = true
        output-format = "concise"
        [per-file-ignores]
        "tests/*" = ["TNS101"]
        """
    )
    config = found(tmp_path)
    assert config.settings == Settings(strict=True, numpy_style="force", target_torch=(1, 13))
    assert config.min_confidence is Confidence.LIKELY
    assert config.unsafe_fixes is True
    first_family = {code for code in EVERY_CODE if code.startswith("TNS1")}
    assert config.codes("a.py") == first_family - {"TNS102", "TNS103"} | {"TNS201", "TNS900"}
    assert "TNS101" not in config.codes("tests/a.py")
    assert config.exclude == ("old", "older")
    run = config.run
    assert (run.force_exclude, run.respect_gitignore, run.fix, run.fix_only) == (True, False, True, True)
    assert (run.show_fixes, run.output_format) == (True, "concise")
    assert (config.fixable("TNS107"), config.fixable("TNS108"), config.fixable("TNS201")) == (True, False, False)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"selct": ["TNS1"]}, "unknown key `selct`; did you mean `select`?"),
        ({"extend_exclude": []}, "unknown key `extend_exclude`; did you mean `extend-exclude`?"),
        ({"zzz": 1}, "unknown key `zzz`"),
        ({"strict": "yes"}, '`strict`: expected true or false, got "yes"'),
        ({"select": "TNS1"}, '`select`: expected a list of strings, got "TNS1"'),
        ({"select": ["data-raed"]}, "`select`: unknown rule `data-raed`; did you mean `data-read`?"),
        ({"ignore": ["data-raed"]}, "`ignore`: unknown rule `data-raed`; did you mean `data-read`?"),
        ({"min-confidence": "likly"},
         '`min-confidence`: expected one of certain, likely, possible, unproven, got "likly"; did you mean `likely`?'),
        ({"target-torch": 1.13}, '`target-torch`: expected a version such as "1.13", got 1.13'),
        ({"target-torch": "1"}, '`target-torch`: expected a version such as "1.13", got "1"'),
        ({"per-file-ignores": []}, "`per-file-ignores`: expected a table of lists, got []"),
        ({"per-file-ignores": {"a": "TNS1"}}, '`per-file-ignores`: `a`: expected a list of strings, got "TNS1"'),
        ({"fix": True, "exclude": [1]}, "`exclude`: expected a list of strings, got [1]"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_named_with_the_remedy(table: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        from_table(table)
    assert str(raised.value) == message


def test_the_error_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.torchlint]\nselct = []\n")
    with pytest.raises(ConfigError) as raised:
        found(tmp_path)
    assert str(raised.value) == f"{file}: unknown key `selct`; did you mean `select`?"
    file.write_text("[tool\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: no valid TOML: "):
        found(tmp_path)
    file.write_bytes(b"[tool.torchlint]\n# caf\xe9\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: byte 0xe9 is not UTF-8: save it as UTF-8"):
        found(tmp_path)
    file.write_text("[tool]\ntorchlint = 1\n")
    with pytest.raises(ConfigError, match="`tool.torchlint`: expected a table"):
        found(tmp_path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["TNS1"]\n', encoding="utf-8-sig")
    assert found(tmp_path).path == str(tmp_path / "pyproject.toml")


def test_the_nearest_file_wins_and_torchlint_toml_goes_before_pyproject(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nselect = ["TNS1"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert found(below).path == str(tmp_path / "pyproject.toml")
    (tmp_path / "a" / "torchlint.toml").write_text('select = ["TNS2"]\n')
    assert found(below).codes("x.py") >= {"TNS201", "TNS900"}
    assert "TNS101" not in found(below).codes("x.py")
    (tmp_path / "torchlint.toml").write_text('select = ["TNS3"]\n')
    assert "TNS301" in found(tmp_path).codes("x.py")


def test_config_overrides_the_nearest_file_and_isolated_reads_none(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('select = ["TNS1"]\n')
    (tmp_path / "other.toml").write_text('select = ["TNS2"]\n')
    named = Finder(Options(config=("other.toml",)), str(tmp_path)).of_folder(str(tmp_path))
    assert {"TNS101", "TNS201"} & named.codes("x.py") == {"TNS201"}
    isolated = Finder(Options(isolated=True), str(tmp_path)).of_folder(str(tmp_path))
    assert isolated.codes("x.py") == DEFAULT_CODES
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        Finder(Options(config=("none.toml",)), str(tmp_path))


@pytest.mark.parametrize(
    ("document", "oldest"),
    [
        ({"project": {"dependencies": ["numpy", "torch>=1.13"]}}, (1, 13)),
        ({"project": {"dependencies": ["torch >= 2.0.1, <3 ; python_version > '3.9'"]}}, (2, 0)),
        ({"project": {"dependencies": ["torch[opt] ~=2.1"]}}, (2, 1)),
        ({"project": {"dependencies": ["torch==2.3.*"]}}, (2, 3)),
        ({"project": {"dependencies": ["torch (>=1.8)"]}}, (1, 8)),
        ({"project": {"dependencies": ["torch>=2"]}}, (2, 0)),
        ({"project": {"dependencies": ["torch"]}}, None),
        ({"project": {"dependencies": ["torch<2"]}}, None),
        ({"project": {"dependencies": ["torch!=1.5"]}}, None),
        ({"project": {"dependencies": ["torchvision>=0.1", "torch-geometric>=2"]}}, None),
        ({"project": {"dependencies": ["torch>=2.1;x", "torch>=1.9;y"]}}, (1, 9)),
        ({"project": {"dependencies": [], "optional-dependencies": {"a": ["torch>=1.7"]}}}, (1, 7)),
        ({"tool": {"poetry": {"dependencies": {"torch": "^1.13"}}}}, (1, 13)),
        ({"tool": {"poetry": {"dependencies": {"torch": {"version": ">=2.0,<3"}}}}}, (2, 0)),
        ({"tool": {"poetry": {"dependencies": {"torch": "*"}}}}, None),
        ({"tool": {"poetry": {"dependencies": {"torch": "1.8.1 || ^2.0"}}}}, (1, 8)),
        ({"tool": {"poetry": {"dependencies": {"torch": "~2.1"}}}}, (2, 1)),
        ({"tool": {"poetry": {"dependencies": {"torch": ["^1.9", {"version": "2.2.*", "python": "^3.9"}]}}}}, (1, 9)),
        ({"tool": {"poetry": {"dependencies": {"torch": "about two"}}}}, None),
        ({"project": {"dependencies": "torch>=1"}}, None),
        ({"project": {"dependencies": ["Torch>=2.1.0rc1,!=2.1.3"]}}, (2, 1)),
        ({"project": {"dependencies": ["torch>=1.8,>=1.10"]}}, (1, 10)),
        ({"project": {"dependencies": ["torch @ https://example.org/torch-2.1.whl"]}}, None),
        ({"project": {"dependencies": ["torch===nightly"]}}, None),
        ({"project": {"dependencies": ["torch>=", 7, "torch>=1.9"]}}, (1, 9)),
        ({}, None),
    ],
)
def test_the_oldest_torch_is_read_from_the_dependencies(
    document: dict[str, object], oldest: tuple[int, int] | None
) -> None:
    assert oldest_torch(document) == oldest


def test_target_torch_comes_from_the_project_unless_it_is_given(tmp_path: Path) -> None:
    below = tmp_path / "src"
    below.mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=1.13"]\n')
    (below / "torchlint.toml").write_text("strict = true\n")
    assert found(below).settings == Settings(strict=True, target_torch=(1, 13))
    (below / "torchlint.toml").write_text('target-torch = "2.0"\n')
    assert found(below).settings.target_torch == (2, 0)
    assert found(below, target_torch=(2, 4)).settings.target_torch == (2, 4)


FAMILIES = ": the families are TNS1, TNS2, TNS3, TNS4, TNS5, TNS9; `torchlint rules` lists all rules"


@pytest.mark.parametrize(
    ("selector", "remedy"),
    [
        ("TNS1o1", "; did you mean `TNS101`?"),
        ("TNS111", "; did you mean `TNS101`?"),
        ("TNS1011", "; did you mean `TNS101`?"),
        ("TSN101", "; did you mean `TNS101`?"),
        ("data-raed", "; did you mean `data-read`?"),
        ("TNS999", FAMILIES),
        ("TNS600", FAMILIES),
        ("TNS6", FAMILIES),
        ("E501", FAMILIES),
        ("zzz", FAMILIES),
    ],
)
def test_an_unknown_rule_is_answered_with_a_close_one_or_the_families(selector: str, remedy: str) -> None:
    with pytest.raises(UnknownSelector) as raised:
        codes_meant(selector)
    assert str(raised.value) == f"unknown rule `{selector}`{remedy}"


def test_a_table_of_ruffs_is_answered_with_the_place_of_its_keys(tmp_path: Path) -> None:
    shared, own = tmp_path / "pyproject.toml", tmp_path / "torchlint.toml"
    shared.write_text('[tool.torchlint.lint]\nselect = ["TNS1"]\n')
    with pytest.raises(ConfigError) as raised:
        found(tmp_path)
    remedy = "`lint`: torchlint has no such table: put its keys"
    assert str(raised.value) == f"{shared}: {remedy} directly under `[tool.torchlint]`"
    own.write_text('[lint]\nselect = ["TNS1"]\n')
    with pytest.raises(ConfigError) as raised:
        found(tmp_path)
    assert str(raised.value) == f"{own}: {remedy} at the top level"


# ---------------------------------------------------------------------- settings on the command line
def test_a_setting_wins_over_files_and_yields_to_flags(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('strict = false\nignore = ["TNS101"]\nnumpy-style = "force"\n')
    settings = ("strict = true", 'ignore = ["TNS102"]', 'min-confidence="likely"', 'min-confidence="certain"')
    config = found(tmp_path, config=settings, numpy_style="chain")
    assert config.settings == Settings(strict=True, numpy_style="chain")
    assert config.min_confidence is Confidence.CERTAIN
    assert {"TNS101", "TNS102", "TNS103"} & config.codes("a.py") == {"TNS103"}
    assert found(tmp_path, config=settings, min_confidence=Confidence.POSSIBLE).min_confidence is Confidence.POSSIBLE


def test_a_setting_stands_beside_a_named_file_or_none(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('select = ["TNS2"]\n')
    (tmp_path / "a=b.toml").write_text('select = ["TNS1"]\n')
    config = found(tmp_path, config=("./a=b.toml", "strict=true"))
    assert {"TNS101", "TNS201"} & config.codes("a.py") == {"TNS101"}
    assert config.settings.strict
    alone = found(tmp_path, isolated=True, config=("strict=true",))
    assert (alone.settings.strict, alone.codes("a.py"), alone.path) == (True, DEFAULT_CODES, None)


def test_paths_in_a_setting_start_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('cache-dir = "kept"\n')
    below = tmp_path / "below"
    below.mkdir()
    run = found(below, config=('cache-dir = "mine"', 'per-file-ignores."x/*" = ["TNS1"]')).run
    assert (run.cache_dir, run.per_file_ignores) == (str(below / "mine"), (("x/*", ("TNS1",)),))


def test_an_unknown_selector_is_refused() -> None:
    with pytest.raises(UnknownSelector, match="unknown rule `data-raed`; did you mean `data-read`"):
        assemble([Options(select=("data-raed",))])
