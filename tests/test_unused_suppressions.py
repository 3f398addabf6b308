"""TNS901 and TNS902: suppressions that silence nothing, and exactly what their fixes take away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchlint import Config, check, fix

Program = Callable[..., Any]
HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\nv = torch.ones(3)\n"
"""``w.numpy()`` is TNS101, ``v.numpy()`` is nothing, ``v.cpu().detach()`` is TNS104, which is off by default."""


def found(body: str, **options: Any) -> list[tuple[str, int, int, str]]:
    """Return code, row (from 1 in the body), column and message of what is said about suppressions."""
    result = check(HEAD + body, config=Config(**options))
    assert result.source is not None
    assert result.troubles == ()
    rows = [(each.code, *result.source.position(each.start), each.message) for each in result.findings]
    return [(code, row - 3, column, text) for code, row, column, text in rows if code.startswith("TNS90")]


def repaired(body: str, **options: Any) -> str:
    """Return the body after the fixes of these two rules alone."""
    config = Config(repaired=frozenset({"TNS901", "TNS902"}), **options)
    return fix(HEAD + body, config=config).raw.decode().removeprefix(HEAD)


SILENT = """\
a = w.numpy()  # noqa: TNS101
a = w.numpy()  # noqa: E501, TNS101
a = w.numpy()  # noqa: TNS1
a = w.numpy()  # noqa
a = v.numpy()  # noqa
a = v.numpy()  # noqa: E501
a = v.numpy()  # noqa: T901, NS101, TNSX101
a = w.numpy()  # torchlint: ignore
a = w.numpy()  # torchlint: ignore[TNS101] because
a = w.numpy()  # torchlint: ignore[numpy-on-grad-tensor]
a = w.numpy()  # torchlint: ignore[TNS1, ALL]
a = v.cpu().detach()  # noqa: TNS104
a = v.cpu().detach()  # torchlint: ignore
a = v.cpu().detach()  # torchlint: ignore[TNS1]
a = v.numpy()  # noqa: TNS104
a = v.numpy()  # noqa: TNS101, TNS901
a = v.numpy()  # noqa: TNS999
a = v.numpy()  # noqa: TNS9
a = v.numpy()  # see "torchlint: ignore" in the manual
s = "# noqa: TNS101"
# a = w.numpy()  # noqa: TNS101
# flake8: noqa: E501
a = print(  # noqa: TNS101
    1,
    w.numpy(),
)
a = print(
    1,
    w.numpy(),
)  # noqa: TNS101
a = print(
    w.numpy(),  # noqa: TNS101
    1,
)
a = w.numpy() + \\
    w.numpy()  # noqa: TNS101
a = f'''
''', w.numpy(), '''
'''  # noqa: TNS101
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_in_use_or_none_of_ours_is_left_alone(newline: str) -> None:
    body = SILENT.replace("\n", newline)
    assert found(body) == []
    assert repaired(body) == body


@pytest.mark.parametrize(
    "comment", ["# flake8: noqa", "# ruff: noqa", "# flake8: noqa: TNS101", "# torchlint: ignore-file[TNS1]",
                "# torchlint: ignore-file", "# torchlint: ignore-file[ALL]"]
)  # fmt: skip
def test_a_file_level_comment_in_use_is_left_alone(comment: str) -> None:
    body = f"{comment}\na = w.numpy()\n"
    assert found(body) == []
    assert repaired(body) == body


@pytest.mark.parametrize(
    ("before", "column", "message", "after"),
    [
        ("a = 1  # noqa: TNS101", 16, "`TNS101` silences nothing here", "a = 1"),
        ("a = 1 \t# noqa:TNS101", 15, "`TNS101` silences nothing here", "a = 1"),
        ("a = 1  # noqa: tns101", 16, "`tns101` silences nothing here", "a = 1"),
        ("a = 1  # noqa: TNS1", 16, "`TNS1` silences nothing here", "a = 1"),
        ("a = 1  # noqa: TNS101 why not", 16, "`TNS101` silences nothing here", "a = 1  # why not"),
        ("a = 1  # noqa: TNS101 - why not", 16, "`TNS101` silences nothing here", "a = 1  # why not"),
        ("a = 1  # noqa: TNS101 — “é”", 16, "`TNS101` silences nothing here", "a = 1  # “é”"),
        ("a = 1  # noqa: TNS101  # why", 16, "`TNS101` silences nothing here", "a = 1  # why"),
        ("a = 1  # noqa: TNS101  # type: int", 16, "`TNS101` silences nothing here", "a = 1  # type: int"),
        ("a = 1  # noqa: TNS101 type: int", 16, "`TNS101` silences nothing here", None),
        ("a = 1  # type: int  # noqa: TNS101", 29, "`TNS101` silences nothing here", "a = 1  # type: int"),
        ("a = 1  # é  # noqa: TNS101 ü", 21, "`TNS101` silences nothing here", "a = 1  # é  # ü"),
        ("a = 1  # noqa: E501, TNS101", 22, "`TNS101` silences nothing here", "a = 1  # noqa: E501"),
        ("a = 1  # noqa: TNS101, E501", 16, "`TNS101` silences nothing here", "a = 1  # noqa: E501"),
        ("a = 1  # noqa: E1,TNS101,W2 x", 19, "`TNS101` silences nothing here", "a = 1  # noqa: E1,W2 x"),
        ("a = 1  # noqa: E1 TNS101 TNS2 W2", 19, "`TNS101`, `TNS2` silence nothing here", "a = 1  # noqa: E1 W2"),
        ("a = w.numpy()  # noqa: TNS102, TNS101", 24, "`TNS102` silences nothing here",
         "a = w.numpy()  # noqa: TNS101"),
        ("a = w.numpy()  # noqa: TNS101, TNS101", 32, "`TNS101` silences nothing here",
         "a = w.numpy()  # noqa: TNS101"),
        ("a = w.numpy()  # noqa: TNS102  # torchlint: ignore[TNS101] x", 24, "`TNS102` silences nothing here",
         "a = w.numpy()  # torchlint: ignore[TNS101] x"),
        ("a = w.numpy()  # torchlint: ignore[TNS101, TNS2] x", 44, "`TNS2` silences nothing here",
         "a = w.numpy()  # torchlint: ignore[TNS101] x"),
        ("a = 1  # torchlint: ignore[TNS101] on the host", 28, "`TNS101` silences nothing here",
         "a = 1  # on the host"),
        ("a = 1  # torchlint: ignore[data-read]", 28, "`data-read` silences nothing here", "a = 1"),
        ("a = 1  # torchlint: ignore", 8, "`ignore` silences nothing here", "a = 1"),
        ("a = 1  # torchlint: ignore[]", 8, "the brackets name no rule, so the comment silences nothing", "a = 1"),
        ("a = w.numpy()  # torchlint: ignore-file[TNS101]", 41,
         "`ignore-file` counts only on a line of its own, so it silences nothing here", "a = w.numpy()"),
        ("a = w.numpy()  # torchlint: disable[TNS101]", 37,
         "`disable` counts only on a line of its own, so it silences nothing here", "a = w.numpy()"),
        ("# noqa: TNS101", 9, "`TNS101` silences nothing here", ""),
        ("# flake8: noqa: TNS101, E501", 17, "`TNS101` silences nothing here", "# flake8: noqa: E501\n"),
        ("# ruff: noqa: TNS101", 15, "`TNS101` silences nothing here", ""),
        ("# torchlint: ignore-file[TNS2, TNS4]", 26, "`TNS2`, `TNS4` silence nothing here", ""),
        ("# torchlint: ignore-file", 1, "`ignore-file` silences nothing here", ""),
        ("# torchlint: disable[TNS2]", 22, "`TNS2` silences nothing here", ""),
        ("# torchlint: enable[TNS2]", 21,
         "`enable` ends nothing: no `disable` of these rules runs at this indentation", ""),
        ("a = 1  # noqa: TNS900", 16, "`TNS900` silences nothing here", "a = 1"),
    ],
)  # fmt: skip
def test_an_unused_suppression_is_reported_and_taken_away(
    before: str, column: int, message: str, after: str | None
) -> None:
    assert found(f"{before}\nb = 2\n") == [("TNS901", 1, column, message)]
    kept = before if after is None else after
    end = "" if before.startswith("#") and after is not None else "\n"
    assert repaired(f"{before}\nb = 2\n") == f"{kept}{end}b = 2\n"
    if after is not None:
        assert found(f"{kept}{end}b = 2\n") == []


@pytest.mark.parametrize(
    ("before", "column", "message", "after"),
    [
        ("a = 1  # noqa: TNS199", 16, "no rule is called `TNS199`; did you mean `TNS101`?", "a = 1"),
        ("a = 1  # noqa: E501, TNS777", 22, "no rule is called `TNS777`", "a = 1  # noqa: E501"),
        ("a = w.numpy()  # torchlint: ignore[TNS101, E501]", 44, "no rule is called `E501`",
         "a = w.numpy()  # torchlint: ignore[TNS101]"),
        ("a = 1  # torchlint: ignore[numpy-on-grad] x", 28,
         "no rule is called `numpy-on-grad`; did you mean `numpy-on-grad-tensor`?", "a = 1  # x"),
        ("a = w.numpy()  # torchlint: ignore[TNS101", 16,
         "the bracket of `ignore[` is not closed, so the comment silences nothing", None),
    ],
)  # fmt: skip
def test_an_unknown_code_is_reported_and_taken_away(before: str, column: int, message: str, after: str | None) -> None:
    (first,) = found(before + "\n")
    assert first[:3] == ("TNS902", 1, column)
    assert first[3].startswith(message.split(";", maxsplit=1)[0])
    if ";" not in message:
        assert first[3] == message or "did you mean" in first[3]
    assert repaired(before + "\n") == (before if after is None else after) + "\n"


def test_an_open_bracket_silences_nothing() -> None:
    result = check(HEAD + "a = w.numpy()  # torchlint: ignore[TNS101\n")
    assert [each.code for each in result.findings] == ["TNS101", "TNS902"]


def test_unused_and_unknown_codes_in_one_comment_go_together() -> None:
    assert repaired("a = 1  # noqa: TNS101, TNS199, E501, TNS2\n") == "a = 1  # noqa: E501\n"
    assert repaired("a = 1  # torchlint: ignore[TNS101, nonsense] because\n") == "a = 1  # because\n"


def test_encodings_newlines_and_the_end_of_the_file_are_kept() -> None:
    raw = "# coding: latin-1\r\né = 1  # noqa: TNS101 ü\r\n# noqa: TNS2\r\nz = 1  # noqa: TNS101".encode("latin-1")
    assert fix(raw).raw == "# coding: latin-1\r\né = 1  # ü\r\nz = 1".encode("latin-1")
    assert fix(b"\xef\xbb\xbfx = 1  # noqa: TNS101\n").raw == b"\xef\xbb\xbfx = 1\n"


# ---------------------------------------------------------------------- what is judged
@pytest.mark.parametrize(
    ("options", "body", "count"),
    [
        ({"ignore": ("TNS101",)}, "a = 1  # noqa: TNS101\n", 0),
        ({"ignore": ("TNS101",)}, "a = 1  # noqa: TNS1\n", 1),
        ({"ignore": ("TNS101",)}, "a = w.numpy()  # noqa: TNS1\n", 0),
        ({"ignore": ("TNS101",)}, "a = w.numpy()  # torchlint: ignore\n", 0),
        ({"ignore": ("TNS101",)}, "a = w.numpy()  # noqa: TNS101\n", 0),
        ({"select": ("TNS2", "TNS901")}, "a = 1  # noqa: TNS1\n", 0),
        ({"select": ("TNS1", "TNS901")}, "a = 1  # noqa: TNS1\n", 1),
        ({"select": ("TNS1",)}, "a = 1  # noqa: TNS1, TNS199\n", 0),
        ({"select": ("TNS901",)}, "a = 1  # noqa: TNS1, TNS199\n", 0),
        ({"select": ("TNS902",)}, "a = 1  # noqa: TNS1, TNS199\n", 1),
        ({"select": ("ALL",)}, "a = 1  # noqa: TNS104\n", 1),
        ({"per_file_ignores": (("*.py", ("TNS101",)),)}, "a = 1  # noqa: TNS101\n", 0),
    ],
)  # fmt: skip
def test_a_rule_that_is_not_on_makes_no_suppression_unused(options: dict[str, Any], body: str, count: int) -> None:
    result = check(HEAD + body, path="a.py", config=Config(**options))
    assert len([each for each in result.findings if each.code in ("TNS901", "TNS902")]) == count


def test_a_suppression_of_a_weak_finding_is_in_use_whatever_confidence_is_wanted(
    tmp_path: Path, torchlint: Program
) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.numpy()  # noqa: TNS103\n"
    (tmp_path / "a.py").write_text(text)
    for level in ("possible", "certain"):
        assert torchlint("a.py", "--min-confidence", level, "-q").stdout == ""


def test_nothing_is_judged_in_a_file_that_does_not_parse(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "a.py").write_text("a = 1  # noqa: TNS101\nb = (\n")
    done = torchlint("a.py", "-q", "--output-format", "concise")
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["TNS900"]


def test_the_rule_is_silenced_by_its_own_code_only() -> None:
    assert found("a = 1  # noqa: TNS101, TNS901\n") == []
    assert found("a = 1  # noqa: TNS101  # torchlint: ignore[unused-suppression]\n") == []
    assert found("# torchlint: ignore-file[TNS901]\na = 1  # noqa: TNS101\n") == []
    assert len(found("a = 1  # noqa: TNS101  # noqa\n")) == 1
    assert found("a = 1  # noqa: TNS199, TNS902\n") == []


# ---------------------------------------------------------------------- blocks
BLOCKS = """\
def f():
    a = w.numpy()
    # torchlint: disable[TNS101] why
    b = w.numpy()
    if b:
        c = w.numpy()
        # torchlint: enable[TNS101]
        d = w.numpy()
    # torchlint: enable[TNS1]
    e = w.numpy()
    # torchlint: disable
    g = w.numpy()
# a comment further left ends nothing
    h = w.numpy()


i = w.numpy()
if i:
    # torchlint: disable[TNS101]
    j = w.numpy()
else:
    k = w.numpy()
"""


def test_a_block_is_silenced_up_to_its_end_or_to_enable() -> None:
    result = check(HEAD + BLOCKS)
    assert result.source is not None
    lines = [result.source.line(result.source.position(each.start)[0]).strip() for each in result.findings]
    assert lines == ["a = w.numpy()", "# torchlint: enable[TNS101]", "e = w.numpy()", "i = w.numpy()", "k = w.numpy()"]
    assert [each.code for each in result.findings] == ["TNS101", "TNS901", "TNS101", "TNS101", "TNS101"]
    assert len(result.suppressed) == 6


def test_a_block_at_the_top_runs_to_the_end_of_the_file() -> None:
    body = "a = w.numpy()\n# torchlint: disable[TNS1]\nb = w.numpy()\n\n\ndef f():\n    return w.numpy()\n"
    result = check(HEAD + body)
    assert [each.start for each in result.findings] == [(HEAD + body).index("numpy()")]


# ---------------------------------------------------------------------- with other fixes
def test_a_suppression_that_a_fix_makes_idle_goes_in_the_same_run(tmp_path: Path, torchlint: Program) -> None:
    head = "import torch\nw = torch.ones(3, requires_grad=True)\n"
    (tmp_path / "a.py").write_text(head + "n = torch.Tensor([1, 2]).numpy()  # noqa: TNS304, TNS301\n")
    done = torchlint("--fix", "a.py", "-q")
    assert (tmp_path / "a.py").read_text() == head + "n = torch.Tensor([1, 2]).numpy()  # noqa: TNS301\n"
    assert (done.status, done.stdout) == (0, "")
    text = "from torch.autograd import Variable\nimport torch\nx = Variable(torch.ones(2)).data  # noqa: TNS201\n"
    (tmp_path / "b.py").write_text(text)
    assert [each.code for each in check(text).findings] == ["TNS401"]
    assert [each.code for each in check(text).suppressed] == ["TNS201"]
    done = torchlint("--fix", "--unsafe-fixes", "b.py", "-q")
    again = torchlint("b.py", "-q")
    assert (again.status, again.stdout, done.stdout) == (0, "", "")


def test_a_suppression_that_a_fix_brings_into_use_stays(tmp_path: Path, torchlint: Program) -> None:
    text = (
        "import torch\nfrom torch.autograd import Variable  # noqa: TNS404\n\n\n"
        "def f():\n    return Variable(torch.zeros(2)).normal_()\n"
    )
    (tmp_path / "a.py").write_text(text)
    assert [each.code for each in check(text).findings] == ["TNS901", "TNS401"]
    torchlint("--fix", "a.py")
    assert (tmp_path / "a.py").read_text() == text.replace("Variable(torch.zeros(2))", "torch.zeros(2)")
    assert torchlint("a.py").status == 0
