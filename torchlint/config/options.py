"""The one table of options: each field of :class:`Options` is an entry, with all that is known of the option.

To add an option, add a field: :func:`option` for one that a configuration file may hold too, :func:`flag` for one of
the command line alone. The field's name is the TOML key and the flag, with dashes. From the entry come the reading of
configuration files, the parsers of the commands, their help and completion, the tables of the documentation
(``python docs/generate.py`` writes them) and the cache's key. What is left to write is the code that uses the value:
``config.run.<name>``, or ``flags.<name>`` for what only the command line says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from torchlint.config import values
from torchlint.config.option import Option, flag, option
from torchlint.config.selectors import nearest
from torchlint.config.values import OptionError, Patterns
from torchlint.diagnostics.model import Confidence, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CACHE = ".torchlint_cache"
"""The folder of the cache, unless the user gives another."""

FORMATS_FOR_PEOPLE = ("full", "concise")
OUTPUT_FORMATS = (*FORMATS_FOR_PEOPLE, "json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html")
NUMPY_STYLES = ("chain", "force")
PRESETS = ("hazards", "modernize", "all")

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


@dataclass(frozen=True, slots=True)
class Options:
    """What one source says, the command line or a configuration file; None where it says nothing."""

    paths: tuple[str, ...] = flag(
        values.FILE,
        {
            "check": "files and folders (default: .); - reads standard input",
            "verify": "files and folders whose proposed fixes, unsafe ones too, are run",
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
        "let fixes through that may change something observable",
        group=FIXING,
        default=False,
        per_file=True,
        in_cache_key=False,  # a result holds every fix; it is applied or not
        doc="let fixes through that may change something observable; with `--fix` or `--diff`",
    )
    fix_only: bool | None = option(values.SWITCH, "apply fixes and report nothing", group=FIXING, default=False)
    diff: bool = flag(
        values.SWITCH,
        "print what --fix would change; write nothing",
        group=FIXING,
        doc="print what `--fix` would change as a unified diff; write nothing",
    )
    verify: bool = flag(
        values.SWITCH,
        "use only fixes that pass when run here (needs torch)",
        group=FIXING,
        doc="with `--fix` or `--diff`: use only fixes that are proven here, by running them ([how](verify.md)); "
        "needs `pip install torchlint[verify]`",
    )
    show_fixes: bool | None = option(values.SWITCH, "list what was fixed", group=FIXING, default=False)

    # ------------------------------------------------------------------ rules
    select: tuple[str, ...] | None = option(
        values.SELECTED_RULES,
        "the rules to use: codes, prefixes, names or ALL, with commas",
        EDITOR,
        group=RULES,
        metavar="RULES",
        shown_default="all but `TNS104`",
        per_file=True,
        doc="the rules to use: codes (`TNS101`), prefixes (`TNS1`), names (`data-read`) or `ALL`; "
        "the more specific selector wins",
    )
    ignore: tuple[str, ...] | None = option(
        values.RULES, "rules to leave out", EDITOR, group=RULES, metavar="RULES", default=(), per_file=True
    )
    extend_select: tuple[str, ...] | None = option(
        values.RULES,
        "rules to use besides those of the configuration",
        EDITOR,
        group=RULES,
        metavar="RULES",
        default=(),
        per_file=True,
        doc="rules to use besides those that are selected otherwise",
    )
    extend_ignore: tuple[str, ...] | None = option(
        values.RULES,
        "rules to leave out besides those of the configuration",
        EDITOR,
        group=RULES,
        metavar="RULES",
        default=(),
        per_file=True,
        doc="rules to leave out besides those that are ignored otherwise",
    )
    fixable: tuple[str, ...] | None = option(
        values.RULES,
        "rules whose fixes may be applied (default: ALL)",
        EDITOR,
        group=RULES,
        metavar="RULES",
        shown_default="`ALL`",
        per_file=True,
        doc="rules whose fixes may be applied",
    )
    unfixable: tuple[str, ...] | None = option(
        values.RULES,
        "rules whose fixes may not be applied",
        EDITOR,
        group=RULES,
        metavar="RULES",
        default=(),
        per_file=True,
    )
    extend_safe_fixes: tuple[str, ...] | None = option(
        values.RULES,
        "rules whose unsafe fixes count as safe",
        EDITOR,
        group=RULES,
        metavar="RULES",
        default=(),
        per_file=True,
        doc="rules whose unsafe fixes count as safe here; the more specific selector wins over `extend-unsafe-fixes`",
    )
    extend_unsafe_fixes: tuple[str, ...] | None = option(
        values.RULES,
        "rules whose safe fixes count as unsafe",
        EDITOR,
        group=RULES,
        metavar="RULES",
        default=(),
        per_file=True,
        doc="rules whose safe fixes count as unsafe here",
    )
    per_file_ignores: Patterns | None = option(
        values.RULES_BY_GLOB,
        "rules to leave out by file",
        EDITOR,
        group=RULES,
        metavar="GLOB:RULE,...",
        default=(),
        per_file=True,
        doc='rules to leave out in some files; in a configuration file a table: `"tests/*" = ["TNS103"]`',
    )

    # ------------------------------------------------------------------ judgement
    min_confidence: Confidence | None = option(
        values.CONFIDENCE,
        "certain, likely, possible (default) or unproven",
        FLAKE8,
        group=JUDGEMENT,
        metavar="LEVEL",
        default=Confidence.POSSIBLE,
        per_file=True,
        doc="`certain`, `likely`, `possible` (default) or `unproven`; weaker is left out ([levels](confidence.md))",
    )
    min_severity: Severity | None = option(
        values.SEVERITY,
        "error, warning or legacy (default)",
        FLAKE8,
        group=JUDGEMENT,
        metavar="LEVEL",
        default=Severity.LEGACY,
        per_file=True,
        doc="`error`, `warning` or `legacy` (default); what is milder is left out ([levels](severity.md))",
    )
    preset: str | None = option(
        values.choice(*PRESETS),
        "what breaks, what is old with a safe fix, or all",
        FLAKE8,
        group=JUDGEMENT,
        default="all",
        per_file=True,
        doc="`hazards` shows errors and warnings, `modernize` what is old and has a safe fix, `all` (default) all",
    )
    fail_on: Severity | None = option(
        values.SEVERITY,
        "let only findings of this severity and above fail the run",
        group=JUDGEMENT,
        metavar="LEVEL",
        default=Severity.LEGACY,
        shown_default="whatever is shown",
        doc="the exit status is 1 only for findings of this severity and above; the others are shown",
    )
    target_torch: tuple[int, int] | None = option(
        values.VERSION,
        "oldest torch the code must run on (default: from the project's dependencies)",
        FLAKE8,
        group=JUDGEMENT,
        metavar="X.Y",
        shown_default="from the project's dependencies",
        per_file=True,
        doc='the oldest torch the code must run on, as `"1.13"`; fixes use nothing newer',
    )
    numpy_style: str | None = option(
        values.choice(*NUMPY_STYLES),
        "write .detach().cpu().numpy() or .numpy(force=True)",
        FLAKE8,
        group=JUDGEMENT,
        default="chain",
        per_file=True,
        doc="`chain` (default) inserts `.detach().cpu()`, `force` writes `.numpy(force=True)` (torch 1.13)",
    )
    strict: bool | None = option(
        values.SWITCH,
        "report every .numpy() without its own .detach() and .cpu()",
        FLAKE8,
        group=JUDGEMENT,
        default=False,
        per_file=True,
        doc="report every `.numpy()` without its own `.detach()` and `.cpu()`",
    )

    # ------------------------------------------------------------------ verify
    device: str | None = flag(
        values.TEXT, "run on this device alone (default: all that are here)", ("verify",), metavar="DEVICE"
    )
    codes: tuple[str, ...] | None = flag(
        values.RULES, "codes, prefixes, names or ALL, with commas", ("verify",), metavar="RULES"
    )
    verdict_format: str = flag(
        values.choice("text", "json"), "text (default) or json", ("verify",), flags=("--output-format",), default="text"
    )
    exhaustive: bool = flag(values.SWITCH, "run fixes in all worlds, not in a pairwise choice", ("verify",))
    time_limit: float = flag(values.SECONDS, "for each fix (default: 30)", ("verify",), metavar="SECONDS", default=30.0)

    # ------------------------------------------------------------------ files
    config: str | None = flag(
        values.FILE, "use this configuration file", ("check", "verify", "server", "clean"), group=FILES, metavar="FILE"
    )
    isolated: bool = flag(
        values.SWITCH, "use no configuration file", ("check", "verify", "server", "clean"), group=FILES
    )
    exclude: tuple[str, ...] | None = option(
        values.GLOBS,
        "leave out, instead of the usual",
        group=FILES,
        metavar="GLOBS",
        default=DEFAULT_EXCLUDE,
        shown_default="the usual folders",
        per_file=True,
        in_cache_key=False,  # what is left out has no result
        doc="globs to leave out, instead of the usual folders",
    )
    extend_exclude: tuple[str, ...] | None = option(
        values.GLOBS,
        "leave out these too",
        group=FILES,
        metavar="GLOBS",
        default=(),
        per_file=True,
        in_cache_key=False,
        doc="globs to leave out too",
    )
    force_exclude: bool | None = option(
        values.SWITCH, "leave out excluded files even if they are named", group=FILES, default=False
    )
    respect_gitignore: bool | None = option(
        values.SWITCH,
        "look at ignored files",
        group=FILES,
        default=True,
        doc="whether what `.gitignore` names is left out; `--no-respect-gitignore` looks at it too",
    )
    stdin_filename: str | None = flag(values.FILE, "the name of what standard input holds", group=FILES, metavar="PATH")
    jobs: int | None = flag(
        values.COUNT,
        "processes (default: one per CPU)",
        ("check", "verify"),
        group=FILES,
        metavar="N",
        flags=("--jobs", "-j"),
        doc="processes (default: one per processor; one under pre-commit)",
    )
    cache_dir: str | None = option(
        values.FOLDER,
        {
            "check": "where results are kept (default: .torchlint_cache)",
            "verify": "where verdicts are kept (default: .torchlint_cache)",
            "clean": "remove this one (default: that of the configuration)",
        },
        group=FILES,
        metavar="DIR",
        default=CACHE,
        doc="where results are kept between runs; see [Cost](cost.md)",
    )
    no_cache: bool = flag(values.SWITCH, "look at all anew, and keep nothing", ("check", "verify"), group=FILES)

    shard: tuple[int, int] | None = flag(
        values.SHARD,
        "look at the I-th of N parts of the files, for jobs side by side",
        group=FILES,
        metavar="I/N",
        doc="look at one of N parts of the files, as `2/4`; a file's part follows from its path, and all parts "
        "together are all files",
    )
    watch: bool = flag(values.SWITCH, "check again whenever a file changes, until Ctrl-C", group=OUTPUT)

    # ------------------------------------------------------------------ old code and pull requests
    baseline: str | None = option(
        values.FILE,
        "findings listed in FILE are known: counted, not failed",
        group=NARROWING,
        metavar="FILE",
        shown_default="none",
        doc="findings listed in this file are known: counted, not failed; `--no-baseline` uses none; "
        "see [Baseline](baseline.md)",
    )
    no_baseline: bool = flag(values.SWITCH, "", group=NARROWING)
    write_baseline: bool = flag(values.SWITCH, "list what is found now in the baseline", group=NARROWING)
    prune_baseline: bool = flag(
        values.SWITCH,
        "take out of the baseline what is gone; nothing is added",
        group=NARROWING,
        doc="take out of the baseline what is gone; what is new still fails, see [Baseline](baseline.md)",
    )
    diff_base: str | None = flag(
        values.TEXT,
        "only lines changed since a git revision, for pull requests",
        group=NARROWING,
        metavar="REV",
        doc="only findings on lines changed since a git revision; see [Pull requests](baseline.md#pull-requests)",
    )
    add_noqa: str | None = flag(
        values.OPTIONAL_TEXT,
        "append a suppression to each flagged line (the reason after `=`)",
        group=NARROWING,
        metavar="[=REASON]",
        doc="append a suppression to every line still flagged; see [Suppression](#suppression)",
    )

    # ------------------------------------------------------------------ output
    output_format: str | None = option(
        values.choice(*OUTPUT_FORMATS),
        f"full (default), {', '.join(OUTPUT_FORMATS[1:-1])} or {OUTPUT_FORMATS[-1]}",
        group=OUTPUT,
        metavar="FORMAT",
        default="full",
        doc=f"`full` (default), {', '.join(f'`{each}`' for each in OUTPUT_FORMATS[1:])}; see [Formats](formats.md)",
    )
    output_file: str | None = flag(
        values.FILE,
        "write the report there",
        group=OUTPUT,
        metavar="FILE",
        flags=("--output-file", "-o"),
        doc="write the report there; the terminal gets the closing line and what went wrong",
    )
    statistics: bool = flag(
        values.SWITCH,
        "show where to begin: counts by rule, folder and file",
        group=OUTPUT,
        doc="in place of the findings, a report of where to begin: how many there are by rule, folder and file, and "
        "how many `--fix` repairs; as text or, with `--output-format json`, as an object",
    )
    show_files: bool = flag(values.SWITCH, "list the files that would be checked", group=OUTPUT)
    show_settings: bool = flag(values.SWITCH, "print the options that hold", group=OUTPUT)
    show_facts: str | None = flag(
        values.TEXT,
        "print what is known of each expression there (notebooks: FILE:CELL:LINE)",
        group=OUTPUT,
        metavar="FILE:LINE",
        doc="print what is known of every expression on a line, with the reasons; in a notebook `FILE:CELL:LINE`",
    )
    color: str = flag(
        values.choice("auto", "always", "never"),
        "use colours (default: auto)",
        ("check", "verify"),
        group=OUTPUT,
        default="auto",
    )
    exit_zero: bool = flag(values.SWITCH, "exit 0 even with findings", group=OUTPUT)
    exit_non_zero_on_fix: bool = flag(values.SWITCH, "exit 1 if anything was fixed", group=OUTPUT)
    stdio: bool = flag(values.SWITCH, "the only way, and so it may be left out", ("server",))
    quiet: bool = flag(
        values.SWITCH,
        {"check": "print findings and nothing else", "verify": "say only what is refuted", "clean": "say nothing"},
        group=OUTPUT,
        flags=("--quiet", "-q"),
    )
    verbose: bool = flag(
        values.SWITCH,
        {
            "check": "say what is done",
            "verify": "say why worlds do not apply",
            "server": "write each check into the editor's log",
        },
        group=OUTPUT,
        flags=("--verbose", "-v"),
    )

    # ------------------------------------------------------------------ explain, completion
    explained: tuple[str, ...] = flag(
        values.EXPLAINED,
        "codes, prefixes or names of rules, names of assumptions",
        ("explain",),
        metavar="CODE|NAME",
        positional="*",
        default=(),
    )
    explain_all: bool = flag(values.SWITCH, "all rules", ("explain",), flags=("--all",))
    shell: str | None = flag(
        values.TEXT, "the shell to print the script for", ("completion",), metavar="SHELL", positional="?"
    )


WORKED_IN = ("ignore", "extend_select", "extend_ignore", "unfixable", "extend_exclude")
"""Options that only add to others: where sources are laid over each other, those others say it all."""

OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
IN_FILES = tuple(name for name, each in OPTIONS.items() if each.in_files)
_DEFAULTS: dict[str, Any] = {name: OPTIONS[name].default for name in IN_FILES}
DEFAULTS = Options(**_DEFAULTS)
"""What holds where no source says anything."""


def from_table(table: Mapping[str, object]) -> Options:
    """Read a table of a configuration file.

    :raises OptionError: naming the key.
    """
    readers = {name.replace("_", "-"): OPTIONS[name].kind.from_toml for name in IN_FILES}
    read: dict[str, Any] = {}
    for key, value in table.items():
        reader = readers.get(key)
        if reader is None:
            raise OptionError(f"unknown key `{key}`{nearest(key, readers)}")
        try:
            read[key.replace("-", "_")] = reader(value)
        except OptionError as error:
            raise OptionError(f"`{key}`: {error}") from None
    return Options(**read)
