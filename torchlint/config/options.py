"""The one table of options: each field of :class:`Options` is an entry, with all that is known of the option.

To add an option, add a field: :func:`option` for one that a configuration file may hold too, :func:`flag` for one of
the command line alone. The field's name is the TOML key and the flag, with dashes. From the entry come the reading of
configuration files and variables, the parsers of the commands, their help and completion, the pages and the JSON schema
(``python docs/generate.py`` writes them) and the cache's key. What is left to write is the code that uses the value:
``config.run.<name>``, or ``flags.<name>`` for what only the command line says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchlint.config import values
from torchlint.config.option import Option, flag, option
from torchlint.config.selectors import DEFAULT_CODES, EVERY_CODE
from torchlint.config.values import Patterns, ValueKind
from torchlint.diagnostics.model import Confidence, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_FILE_SIZE = 1_000_000
"""Bytes of code: what people write is smaller by far."""
CACHE = ".torchlint_cache"
"""The folder of the cache, unless the user gives another."""

FORMATS_FOR_PEOPLE = ("full", "concise", "grouped")
OUTPUT_FORMATS = (
    *FORMATS_FOR_PEOPLE, "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "pylint", "html",
)  # fmt: skip
NUMPY_STYLES = ("chain", "force")
PRESETS = ("hazards", "modernize", "all")
_OFF = " and ".join(f"`{code}`" for code in sorted(EVERY_CODE - DEFAULT_CODES))

# fmt: off
DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox",
    ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", CACHE, ".tox", ".venv",
    ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules",
    "site-packages", "venv", ".#*", "._*",
)
# fmt: on
"""Folders of tools and of others' code, and what Emacs (`.#train.py`) and macOS (`._train.py`) put beside a file."""

EDITOR = ("check", "server")
FLAKE8 = ("check", "server", "flake8")
FIXING, RULES, JUDGEMENT, FILES, NARROWING, OUTPUT = (
    "fixing", "rules", "judgement", "files", "old code and pull requests", "output",
)  # fmt: skip


def _rules(text: str, example: str, kind: ValueKind = values.RULES, default: object = (), **more: Any) -> Any:
    """Make an option that says which rules do something."""
    return option(kind, text, EDITOR, group=RULES, default=default, example=example, per_file=True, **more)


@dataclass(frozen=True, slots=True)
class Options:
    """What one source says, the command line or a configuration file; None where it says nothing."""

    paths: tuple[str, ...] = flag(
        values.FILE,
        {
            "check": "files and folders to check (default: .); - reads standard input",
            "verify": "files and folders whose fixes, unsafe ones included, are run",
        },
        metavar="PATH",
        positional="*",
        default=(),
    )
    version: bool = flag(values.SWITCH, "print the version and exit")

    # ------------------------------------------------------------------ fixing
    fix: bool | None = option(values.SWITCH, "apply safe fixes, then report what remains", group=FIXING, default=False)
    unsafe_fixes: bool | None = option(
        values.SWITCH,
        "include fixes that may change behaviour",
        group=FIXING,
        default=False,
        per_file=True,
        in_cache_key=False,  # a result holds every fix; it is applied or not
        doc="Include fixes that may change observable behaviour. Takes effect with `--fix` or `--diff`.",
    )
    fix_only: bool | None = option(values.SWITCH, "apply fixes and report nothing", group=FIXING, default=False)
    diff: bool = flag(
        values.SWITCH,
        "print what --fix would change; write nothing",
        group=FIXING,
        doc="Print what `--fix` would change as a unified diff. Write nothing.",
    )
    verify: bool = flag(
        values.SWITCH,
        "apply only fixes that pass when run here (needs torch)",
        group=FIXING,
        doc="With `--fix` or `--diff`: apply only fixes that pass when they are run here ([how](verify.md)). Needs the "
        "`verify` [extra](index.md#install).",
    )
    show_fixes: bool | None = option(values.SWITCH, "list the fixes that were applied", group=FIXING, default=False)

    # ------------------------------------------------------------------ rules
    select: tuple[str, ...] | None = _rules(
        "rules to enable, comma-separated: codes, prefixes, names or ALL",
        '["TNS1", "data-read"]',
        values.SELECTED_RULES,
        default=None,
        shown_default=f"all rules except {_OFF}",
        in_environment=True,
        doc="Rules to enable: codes (`TNS101`), prefixes (`TNS1`), names (`data-read`) or `ALL`. "
        "The more specific selector wins.",
    )
    ignore: tuple[str, ...] | None = _rules("rules to disable", '["TNS303"]', in_environment=True)
    extend_select: tuple[str, ...] | None = _rules(
        "rules to enable in addition to those selected elsewhere", '["TNS104"]', in_environment=True
    )
    extend_ignore: tuple[str, ...] | None = _rules(
        "rules to disable in addition to those ignored elsewhere", '["TNS303"]'
    )
    fixable: tuple[str, ...] | None = _rules(
        "rules whose fixes may be applied (default: ALL)",
        '["TNS1", "TNS2"]',
        default=None,
        shown_default='`["ALL"]`',
        doc="Rules whose fixes may be applied.",
    )
    unfixable: tuple[str, ...] | None = _rules("rules whose fixes are never applied", '["TNS202"]')
    extend_safe_fixes: tuple[str, ...] | None = _rules(
        "rules whose unsafe fixes count as safe",
        '["TNS201"]',
        doc="Rules whose unsafe fixes count as safe. The more specific selector wins over `extend-unsafe-fixes`.",
    )
    extend_unsafe_fixes: tuple[str, ...] | None = _rules("rules whose safe fixes count as unsafe", '["TNS3"]')
    per_file_ignores: Patterns | None = _rules(
        "rules to disable in matching files",
        '{ "tests/*" = ["TNS103"], "scripts/*" = ["TNS3", "TNS4"] }',
        values.RULES_BY_GLOB,
        doc="Rules to disable in files that match a glob. A leading `!` negates the glob.",
    )

    # ------------------------------------------------------------------ judgement
    min_confidence: Confidence | None = option(
        values.CONFIDENCE,
        "least confidence to report: certain, likely, possible (default) or unproven",
        FLAKE8,
        group=JUDGEMENT,
        default=Confidence.POSSIBLE,
        example='"likely"',
        per_file=True,
        in_environment=True,
        doc="Least [confidence](confidence.md) to report: `certain`, `likely`, `possible` or `unproven`.",
    )
    min_severity: Severity | None = option(
        values.SEVERITY,
        "least severity to report: error, warning or legacy (default)",
        FLAKE8,
        group=JUDGEMENT,
        default=Severity.LEGACY,
        example='"warning"',
        per_file=True,
        in_environment=True,
        doc="Least [severity](severity.md) to report: `error`, `warning` or `legacy`.",
    )
    preset: str | None = option(
        values.choice(*PRESETS),
        "report hazards, only legacy code that can be fixed, or all",
        FLAKE8,
        group=JUDGEMENT,
        default="all",
        example='"hazards"',
        per_file=True,
        in_environment=True,
        doc="`hazards` reports errors and warnings, `modernize` legacy code that a fix can replace, `all` everything.",
    )
    fail_on: Severity | None = option(
        values.SEVERITY,
        "fail only on findings of at least this severity",
        group=JUDGEMENT,
        default=Severity.LEGACY,
        example='"error"',
        doc="Exit with status 1 only if a finding has at least this severity. Milder findings are still reported.",
    )
    target_torch: tuple[int, int] | None = option(
        values.VERSION,
        "oldest torch to support (default: from the project's dependencies)",
        FLAKE8,
        group=JUDGEMENT,
        shown_default="from the project's dependencies",
        example='"2.1"',
        per_file=True,
        in_environment=True,
        doc="Oldest torch version that the code must support. Fixes use nothing newer.",
    )
    numpy_style: str | None = option(
        values.choice(*NUMPY_STYLES),
        "write .detach().cpu().numpy() or .numpy(force=True)",
        FLAKE8,
        group=JUDGEMENT,
        default="chain",
        example='"force"',
        per_file=True,
        doc="How fixes convert to NumPy: `chain` inserts `.detach().cpu()`, `force` writes `.numpy(force=True)` "
        "(torch 1.13 or newer).",
    )
    strict: bool | None = option(
        values.SWITCH,
        "report every .numpy() without its own .detach() and .cpu()",
        FLAKE8,
        group=JUDGEMENT,
        default=False,
        per_file=True,
        doc="Report every `.numpy()` without its own `.detach()` and `.cpu()`, even if the conversion is proven safe.",
    )

    # ------------------------------------------------------------------ verify
    device: str | None = flag(
        values.TEXT, "run on this device only (default: all devices here)", ("verify",), metavar="DEVICE"
    )
    codes: tuple[str, ...] | None = flag(values.RULES, "codes, prefixes, names or ALL, comma-separated", ("verify",))
    verdict_format: str = flag(
        values.choice("text", "json"), "text (default) or json", ("verify",), flags=("--output-format",), default="text"
    )
    exhaustive: bool = flag(values.SWITCH, "run every world, not a pairwise selection", ("verify",))
    time_limit: float = flag(values.SECONDS, "for each fix (default: 30)", ("verify",), default=30.0)

    # ------------------------------------------------------------------ files
    config: tuple[str, ...] | None = flag(
        values.SETTINGS,
        "a configuration file, or 'KEY = VALUE' in TOML (repeatable)",
        ("check", "verify", "server", "clean"),
        group=FILES,
        in_environment=True,
        doc="A configuration file to use for all files, or one setting as `'key = value'` in TOML. Repeatable.",
    )
    isolated: bool = flag(
        values.SWITCH, "ignore all configuration files", ("check", "verify", "server", "clean"), group=FILES
    )
    exclude: tuple[str, ...] | None = option(
        values.GLOBS,
        "files and folders to skip, replacing the default list",
        group=FILES,
        default=DEFAULT_EXCLUDE,
        example='[".venv", "third_party"]',
        per_file=True,
        in_cache_key=False,  # what is left out has no result
        doc="Globs of files and folders to skip. Replaces the default list.",
    )
    extend_exclude: tuple[str, ...] | None = option(
        values.GLOBS,
        "more files and folders to skip",
        group=FILES,
        default=(),
        example='["third_party", "*_pb2.py"]',
        per_file=True,
        in_cache_key=False,
        doc="Globs of files and folders to skip in addition to `exclude`.",
    )
    force_exclude: bool | None = option(
        values.SWITCH,
        "skip excluded files even if they are named",
        group=FILES,
        default=False,
        doc="Skip excluded files even if they are named on the command line.",
    )
    respect_gitignore: bool | None = option(
        values.SWITCH,
        "check ignored files too",
        group=FILES,
        default=True,
        doc="Skip files that `.gitignore` names. `--no-respect-gitignore` checks them too.",
    )
    max_file_size: int | None = option(
        values.SIZE,
        "skip files with more bytes of code",
        EDITOR,
        group=FILES,
        default=MAX_FILE_SIZE,
        example="5000000",
        per_file=True,
        doc="Skip files with more bytes of code and report them as `TNS904`; 0 means no limit. In a notebook, only "
        "code cells count.",
    )
    stdin_filename: str | None = flag(
        values.FILE, "file name to report for standard input", group=FILES, metavar="PATH"
    )
    jobs: int | None = flag(
        values.COUNT,
        "parallel processes (default: one per CPU)",
        ("check", "verify"),
        group=FILES,
        flags=("--jobs", "-j"),
        in_environment=True,
        doc="Number of parallel processes. The default is one per CPU, and one under pre-commit.",
    )
    cache_dir: str | None = option(
        values.FOLDER,
        {
            "check": "folder for cached results (default: .torchlint_cache)",
            "verify": "folder for kept verdicts (default: .torchlint_cache)",
            "clean": "folder to remove (default: the configured one)",
        },
        group=FILES,
        default=CACHE,
        example='".cache/torchlint"',
        in_environment=True,
        doc="Folder for [cached results](cost.md). In a file, relative to that file's folder.",
    )
    no_cache: bool = flag(
        values.SWITCH, "neither read nor write cached results", ("check", "verify"), group=FILES, in_environment=True
    )

    shard: tuple[int, int] | None = flag(
        values.SHARD,
        "check only part I of N, for parallel jobs",
        group=FILES,
        doc="Check only one of N parts of the files, such as `2/4`. A file's path decides its part, so N jobs together "
        "check every file once.",
    )
    watch: bool = flag(values.SWITCH, "check again whenever a file changes, until Ctrl-C", group=OUTPUT)

    # ------------------------------------------------------------------ old code and pull requests
    baseline: str | None = option(
        values.FILE,
        "file of known findings, which do not fail the run",
        group=NARROWING,
        shown_default="none",
        example='"torchlint-baseline.jsonl"',
        doc="File of [known findings](baseline.md), which are counted but do not fail the run. `--no-baseline` uses "
        "none. In a file, relative to that file's folder.",
    )
    no_baseline: bool = flag(values.SWITCH, "", group=NARROWING)
    write_baseline: bool = flag(values.SWITCH, "write the current findings to the baseline", group=NARROWING)
    prune_baseline: bool = flag(
        values.SWITCH,
        "remove findings that are gone from the baseline",
        group=NARROWING,
        doc="Remove findings that are gone from the [baseline](baseline.md). New findings still fail the run.",
    )
    diff_base: str | None = flag(
        values.TEXT,
        "report only lines changed since a git revision",
        group=NARROWING,
        metavar="REV",
        doc="Report only findings on lines changed since a git revision ([pull requests](baseline.md#pull-requests)).",
    )
    add_noqa: str | None = flag(
        values.OPTIONAL_TEXT,
        "append a suppression to each flagged line (reason after `=`)",
        group=NARROWING,
        metavar="[=REASON]",
        doc="Append a [suppression](#suppression) to every line still flagged.",
    )

    # ------------------------------------------------------------------ output
    output_format: str | None = option(
        values.choice(*OUTPUT_FORMATS, metavar="FORMAT"),
        f"full (default), {', '.join(OUTPUT_FORMATS[1:-1])} or {OUTPUT_FORMATS[-1]}",
        group=OUTPUT,
        default="full",
        example='"concise"',
        in_environment=True,
        doc=f"[Format](formats.md) of the report: {', '.join(f'`{each}`' for each in OUTPUT_FORMATS)}.",
    )
    output_file: str | None = flag(
        values.FILE,
        "write the report to this file",
        group=OUTPUT,
        flags=("--output-file", "-o"),
        in_environment=True,
        doc="Write the report to a file. The closing line and errors still go to the terminal.",
    )
    statistics: bool = flag(
        values.SWITCH,
        "count findings by rule, folder and file instead of listing them",
        group=OUTPUT,
        doc="Count findings by rule, folder and file instead of listing them, with how many `--fix` repairs. With "
        "`--output-format json`, print the counts as an object.",
    )
    show_files: bool = flag(values.SWITCH, "list the files that would be checked", group=OUTPUT)
    show_settings: bool = flag(
        values.SWITCH,
        "print the settings in effect for PATH",
        group=OUTPUT,
        doc="Print the settings in effect for each path, and where each value that is not a default comes from.",
    )
    show_facts: str | None = flag(
        values.TEXT,
        "print what is known of each expression there (notebooks: FILE:CELL:LINE)",
        group=OUTPUT,
        metavar="FILE:LINE",
        doc="Print what is known of every expression on a line, with the reasons. In a notebook: `FILE:CELL:LINE`.",
    )
    color: str = flag(
        values.choice("auto", "always", "never"),
        "use colours (default: auto)",
        ("check", "verify"),
        group=OUTPUT,
        default="auto",
        in_environment=True,
    )
    exit_zero: bool = flag(values.SWITCH, "exit 0 even with findings", group=OUTPUT)
    exit_non_zero_on_fix: bool = flag(values.SWITCH, "exit 1 if anything was fixed", group=OUTPUT)
    stdio: bool = flag(values.SWITCH, "use standard input and output, as always", ("server",))
    quiet: bool = flag(
        values.SWITCH,
        {"check": "print findings only", "verify": "print refuted fixes only", "clean": "print nothing"},
        group=OUTPUT,
        flags=("--quiet", "-q"),
    )
    verbose: bool = flag(
        values.SWITCH,
        {
            "check": "show legacy findings in full, and details of the run",
            "verify": "print why worlds do not apply",
            "server": "write each check to the editor's log",
        },
        group=OUTPUT,
        flags=("--verbose", "-v"),
    )

    # ------------------------------------------------------------------ explain, completion
    explained: tuple[str, ...] = flag(
        values.EXPLAINED,
        "codes, prefixes or names of rules, or names of assumptions",
        ("explain",),
        metavar="CODE|NAME",
        positional="*",
        default=(),
    )
    explain_all: bool = flag(values.SWITCH, "all rules", ("explain",), flags=("--all",))
    shell: str | None = flag(
        values.TEXT, "shell to print the script for", ("completion",), metavar="SHELL", positional="?"
    )


WORKED_IN: Mapping[str, str] = {
    "ignore": "select", "extend_select": "select", "extend_ignore": "select",
    "unfixable": "fixable", "extend_exclude": "exclude",
}  # fmt: skip
"""Options that only add to others: where sources are laid over each other, those others say it all."""

OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
IN_FILES = tuple(name for name, each in OPTIONS.items() if each.in_files)
IN_ENVIRONMENT = tuple(name for name, each in OPTIONS.items() if each.in_environment)
_DEFAULTS: dict[str, Any] = {name: OPTIONS[name].default for name in IN_FILES}
DEFAULTS = Options(**_DEFAULTS)
"""What holds where no source says anything."""
