"""The documentation is held to what the program does: generated pages, examples, commands, flags and keys."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from torchlint.cli.arguments import parser_of
from torchlint.config import Config
from torchlint.config.options import IN_FILES, OUTPUT_FORMATS
from torchlint.config.selectors import DEFAULT_CODES
from torchlint.diagnostics.model import Confidence, Finding
from torchlint.diagnostics.registry import RULES
from torchlint.diagnostics.rule_docs import page, summary
from torchlint.diagnostics.rule_metadata import RuleMetadata
from torchlint.linter.engine import check_bytes, fix_bytes
from torchlint.version import VERSION

ROOT = Path(__file__).parent.parent
KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
"""The headings of "Keep a Changelog"."""
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
REAL = [entry for entry in RULES if entry.words]
DRAFTS_ONLY = frozenset({"TNS203", "TNS303", "TNS311", "TNS503"})
"""Rules whose fix is only shown: their page's good block is one of the choices."""

LEFT_TO_OTHERS = {"TNS402": frozenset({"TNS401"})}
"""What a page's good block leaves for another rule: without ``volatile`` it is still a ``Variable``."""


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ---------------------------------------------------------------------- generated pages
def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The generator, at work on a copy of its files."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    (tmp_path / "docs" / "index.md").write_text((ROOT / "docs" / "index.md").read_text(), encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_the_check_names_what_is_stale_and_writes_nothing(
    generator: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    stale = tmp_path / "docs" / "rules" / "TNS101.md"
    stale.write_text("old\n")
    (tmp_path / "docs" / "rules" / "TNS999.md").write_text("of no rule\n")
    capsys.readouterr()
    assert generator.main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "docs/rules/TNS101.md: stale" in said
    assert "docs/rules/TNS999.md: belongs to no rule" in said
    assert len(said.splitlines()) == 2
    assert stale.read_text() == "old\n"
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0


def test_a_registry_that_lacks_a_rule_or_names_one_that_is_gone_is_written_anew(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "torchlint", tmp_path / "torchlint", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "generate.py", tmp_path / "docs")
    registry = tmp_path / "torchlint" / "diagnostics" / "registry.py"
    lines = registry.read_text(encoding="utf-8").splitlines(keepends=True)
    registry.write_text("".join(line for line in lines if '"TNS101"' not in line), encoding="utf-8")
    (tmp_path / "torchlint" / "rules" / "constructors" / "tensor_new.py").unlink()
    command = [sys.executable, "docs/generate.py"]
    stale = subprocess.run([*command, "--check"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert stale.returncode == 1
    assert "torchlint/diagnostics/registry.py: stale" in stale.stdout
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert registry.read_text(encoding="utf-8") == "".join(line for line in lines if '"TNS306"' not in line)


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("usage.md", r"\| `--strict`"),
        ("configuration.md", r"\| `TORCHLINT_JOBS`"),
        ("settings.md", "### numpy-style"),
        ("torchlint.schema.json", ' *"numpy-style"'),
    ],
)
def test_an_option_that_is_missing_on_a_page_makes_it_stale(
    page: str, row: str, generator: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    less = re.sub(rf"^{row}.*\n", "", text, flags=re.MULTILINE)
    assert less != text
    (tmp_path / "docs" / page).write_text(less, encoding="utf-8")
    assert generator.main(["--check"]) == 1
    assert f"docs/{page}: stale" in capsys.readouterr().out
    assert generator.main([]) == 0
    assert (tmp_path / "docs" / page).read_text(encoding="utf-8") == text


def test_every_rule_stands_in_the_tables() -> None:
    for path in (ROOT / "docs" / "index.md", ROOT / "docs" / "rules" / "index.md"):
        text = path.read_text(encoding="utf-8")
        for entry in RULES:
            assert f"| {entry.name} |" in text


ROWS = re.findall(
    r"^\| \[(TNS\d+)\]\(\1\.md\) \| ([a-z-]+) \| (.+) \| ([a-z, ]+) \| ([a-z, ]+) \|$",
    (ROOT / "docs" / "rules" / "index.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_the_index_says_of_each_rule_which_severities_and_fixes_its_findings_have() -> None:
    assert [(code, name) for code, name, *_ in ROWS] == [(each.code, each.name) for each in RULES]
    for code, _, _, severities, fixes in ROWS:
        found = list(_in_the_code_of_its_page(code))
        assert {str(each.severity) for each in found} <= set(severities.split(", ")), code
        shown = {str(each.fix.applicability) for each in found if each.fix is not None}
        assert shown <= set(fixes.split(", ")), code
        assert shown or not found or fixes == "none", code
    told = {code: (severities, fixes) for code, _, _, severities, fixes in ROWS}
    assert told["TNS101"] == ("error, warning", "safe, unsafe")
    assert told["TNS303"] == ("legacy", "display")
    assert told["TNS900"] == ("error", "none")


def _in_the_code_of_its_page(code: str) -> Iterator[Finding]:
    (entry,) = (each for each in RULES if each.code == code)
    config = Config(select=(*DEFAULT_CODES, code), min_confidence=Confidence.UNPROVEN)
    for block in re.findall(r"^```python\n(.*?)^```$", page(entry), re.DOTALL | re.MULTILINE):
        found = check_bytes("/alone/page.py", block.encode(), config).findings
        yield from (each for each in found if each.code == code)


# ---------------------------------------------------------------------- pages of rules
@dataclass(frozen=True)
class Example:
    """The code blocks of a page's example, before and after."""

    bad: str
    good: str


def example(entry: RuleMetadata) -> Example:
    text = page(entry)
    section = re.search(r"^## Example\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section, f"{entry.code}: no `## Example`"
    blocks = re.findall(r"^```python\n(.*?)^```$", section[1], re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2, f"{entry.code}: a bad block and a good block, found {len(blocks)}"
    assert entry.code in DRAFTS_ONLY or "\nUse instead:\n" in section[1]
    return Example(*blocks)


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_a_page_has_its_sections(entry: RuleMetadata) -> None:
    titles = re.findall(r"^## (.*)$", page(entry), re.MULTILINE)
    assert titles == ["What it does", "Why is this bad?", "Example", "Severity", "Fix safety", "References"]
    assert re.fullmatch(r"[^\n]{10,119}[.]", summary(entry))


_SAID = re.compile(r"  # ((?:error|warning|legacy)(?:, (?:error|warning|legacy))*)$")


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_a_page_shows_each_severity_by_a_line_that_has_it(entry: RuleMetadata) -> None:
    section = re.search(r"^## Severity\n(.*?)(?=^## )", page(entry), re.DOTALL | re.MULTILINE)
    block = re.search(r"^```python\n(.*?)^```$", section[1], re.DOTALL | re.MULTILINE) if section else None
    assert block
    lines = enumerate(block[1].splitlines(), 1)
    shown = {number: said[1].split(", ") for number, line in lines if (said := _SAID.search(line))}
    config = Config(select=(entry.code,), min_confidence=Confidence.UNPROVEN)
    result = check_bytes("/alone/page.py", block[1].encode(), config)
    assert result.source
    found: dict[int, list[str]] = {}
    for each in result.findings:
        found.setdefault(result.source.position(each.start)[0], []).append(str(each.severity))
    assert found == shown
    assert shown


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_the_bad_block_is_found_by_its_own_rule_only(entry: RuleMetadata) -> None:
    result = check_bytes("page.py", example(entry).bad.encode(), Config(select=(*DEFAULT_CODES, entry.code)))
    assert {each.code for each in result.findings} == {entry.code}
    assert result.troubles == ()


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_the_good_block_is_silent(entry: RuleMetadata) -> None:
    result = check_bytes("page.py", example(entry).good.encode(), Config(select=(*DEFAULT_CODES, entry.code)))
    assert {each.code for each in result.findings} <= LEFT_TO_OTHERS.get(entry.code, frozenset())


@pytest.mark.parametrize("entry", [each for each in REAL if each.code not in DRAFTS_ONLY], ids=lambda entry: entry.code)
def test_the_fix_makes_the_good_block_of_the_bad_one(entry: RuleMetadata) -> None:
    blocks = example(entry)
    config = Config(select=(entry.code,), unsafe_fixes=True)
    assert fix_bytes("/alone/page.py", blocks.bad.encode(), config).raw.decode() == blocks.good


@pytest.fixture
def torch_defaults() -> Iterator[None]:
    """Puts back what a page may set for the whole process."""
    dtype = torch.get_default_dtype()
    yield
    torch.set_default_dtype(dtype)
    torch.set_default_device(None)


@pytest.mark.usefixtures("torch_defaults")
@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.code)
def test_the_good_block_runs(entry: RuleMetadata) -> None:
    code = compile(example(entry).good, f"{entry.code} good", "exec")
    exec(code, {"__name__": "page"})


# ---------------------------------------------------------------------- README and pages by hand
def test_the_readme_prints_the_commands_that_the_gate_takes_from_it() -> None:
    assert command("tests").startswith("python3 -m venv .venv && ")
    assert "requirements-dev.txt" in command("tests")
    assert "pytest" in command("tests")
    assert command("try").startswith("python3 -m venv .venv && ")
    assert command("try").endswith(".venv/bin/torchlint examples/legacy_training")


def command(name: str) -> str:
    found = re.search(rf"<!-- command: {name} -->\s*```console\n(.*?)```", README, re.DOTALL)
    assert found, name
    text = found[1].strip()
    assert "\n" not in text
    return text


def test_what_the_readme_shows_of_the_example_project_is_what_is_printed() -> None:
    shown = re.search(r"```text\n(.*?)```", README, re.DOTALL)
    assert shown
    done = subprocess.run(
        [sys.executable, "-m", "torchlint", "examples/legacy_training", "--color", "never"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == ""
    assert shown[1] in done.stdout


def test_the_example_project_has_faults_of_every_family_and_they_can_be_repaired() -> None:
    found: set[str] = set()
    left: set[str] = set()
    for path in sorted((ROOT / "examples" / "legacy_training").glob("*.py")):
        config = Config(unsafe_fixes=True)
        found |= {each.code[:4] for each in check_bytes(path.name, path.read_bytes(), config).findings}
        outcome = fix_bytes(path.name, path.read_bytes(), config)
        left |= {each.code for each in outcome.remaining.findings}
    assert found == {"TNS1", "TNS2", "TNS3", "TNS4"}
    assert left <= {"TNS304"}  # constructors given a name of unknown kind: only shown


def test_the_example_projects_data_is_not_at_fault() -> None:
    path = ROOT / "examples" / "legacy_training" / "data.py"
    assert check_bytes("data.py", path.read_bytes(), Config()).findings == ()


DIFFS = re.findall(r"^```diff\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", DIFFS, ids=[block.splitlines()[-1][1:].strip() for block in DIFFS])
def test_the_readmes_patches_are_what_the_fixes_do(block: str) -> None:
    head = "import torch\nimport torch.nn as nn\n"
    before, after = (_side(block, sign) for sign in "-+")
    assert (
        fix_bytes("/alone/readme.py", (head + before).encode(), Config(unsafe_fixes=True)).raw.decode() == head + after
    )


def _side(block: str, sign: str) -> str:
    kept = [line[1:] for line in block.splitlines() if not line or line[0] in (" ", sign)]
    return "\n".join(kept) + "\n"


def test_there_is_a_patch_for_each_family() -> None:
    assert len(DIFFS) == 4


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), target


def test_the_readmes_links_are_whole_and_lead_to_files_of_the_repository() -> None:
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    home = "https://github.com/torchlint/torchlint/blob/main/"
    targets = [each.partition("#")[0] for each in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert all(each.startswith("https://") for each in targets)
    ours = [each.removeprefix(home) for each in targets if each.startswith(home)]
    assert len(ours) > 10
    assert [each for each in ours if not (ROOT / each).is_file()] == []


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_codes_that_are_spoken_of_exist(path: Path) -> None:
    added = {"TNS199"} if path.name == "adding-a-rule.md" else set()  # by whoever follows that page
    known = {entry.code for entry in RULES} | {"TNS999"} | added
    assert set(re.findall(r"\bTNS\d{3}\b", path.read_text(encoding="utf-8"))) <= known


def test_every_flag_and_only_flags_stand_in_the_usage_page() -> None:
    usage = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    said = set(re.findall(r"`(--[a-z][a-z-]+)", usage)) | set(re.findall(r"\s(--[a-z][a-z-]+)", usage))
    actions = parser_of("check")._actions
    known = {flag for action in actions for flag in action.option_strings if flag.startswith("--")}
    assert said - known - {"--all"} == set()
    shown = {
        flag
        for action in actions
        if action.help != "==SUPPRESS=="
        for flag in action.option_strings
        if flag.startswith("--")
    }
    configured = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    undocumented = {flag for flag in shown - said if f"`{flag}" not in configured}
    assert undocumented <= {"--help", "--version", "--jobs"}


def test_every_key_and_only_keys_have_a_section() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (.*)$", page, re.MULTILINE) == [name.replace("_", "-") for name in IN_FILES]


def test_the_output_formats_are_named() -> None:
    usage = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    for text in (README, usage):
        assert all(f"`{name}`" in text for name in OUTPUT_FORMATS)


def test_the_configurations_that_are_shown_are_valid(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    shown = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert shown
    for block in shown:
        (tmp_path / "pyproject.toml").write_text(block)
        (tmp_path / "empty.py").write_text("")
        done = subprocess.run(
            [sys.executable, "-m", "torchlint", "."],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_the_library_is_used_as_the_usage_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    usage = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
    found = re.search(r"## From Python\n\n```python\n(.*?)^```", usage, re.DOTALL | re.MULTILINE)
    assert found
    exec(found[1], {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("speed.py:5:13: TNS101 (certain) ")
    assert "print(speed.detach().numpy())" in lines


def test_the_changelog_lists_the_rules_and_nothing_else_as_rules() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `(TNS\d+)` ([a-z-]+): ", text, re.MULTILINE) == [(each.code, each.name) for each in RULES]


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## \[(.*)\] - (Unreleased|\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
    assert first
    assert first[1] == VERSION
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= KINDS_OF_CHANGES


def test_a_stale_page_would_be_noticed() -> None:
    """The check compares texts: a page that differs by one character is not the generated one."""
    entry = replace(REAL[0], name="other-name")
    assert entry.name not in (ROOT / "docs" / "rules" / f"{entry.code}.md").read_text(encoding="utf-8")
