"""The straight line with plain rules put in the place of the real ones: places, order, faults, fixes to a fixpoint."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst
import pytest

from tests.plain_rules import DISPLAY, SAFE, UNSAFE, Install, crashing, fixing, installer, said
from torchlint.diagnostics.model import Applicability, Confidence, Fix
from torchlint.linter.engine import ROUNDS, check_bytes, fix_bytes
from torchlint.rules.api import Draft, FileContext
from torchlint.rules.drafts import Check
from torchlint.syntax.cst import NotParsed


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Install:
    return installer(monkeypatch)


# ---------------------------------------------------------------------- places
@pytest.mark.parametrize(
    ("raw", "row", "column"),
    [
        (b"y = w.data\n", 1, 7),
        (b"y = w.data", 1, 7),
        (codecs.BOM_UTF8 + b"y = w.data\n", 1, 7),
        ("é = '漢🔥'; y = w.data\n".encode(), 1, 17),
        (b"# coding: latin-1\n\xe9 = '\xff'; y = w.data\n", 2, 16),
        (b"a = 1\r\ny = w.data\r\n", 2, 7),
        (b"a = 1\ry = w.data\r", 2, 7),
        (b"\fy = w.data\n", 1, 8),
        (b"a = 1\n\f\ny = w.data\n", 3, 7),
        (b"a = 1\n\fdef f(w):\n    return w.data\n", 3, 14),
        (b"class A:\n\tdef f(w):\n\t\treturn (w\n\t\t\t\t.data)\n", 4, 6),
        (b"class A:\n  def f(w):\n    return w.data\n", 3, 14),
        (b"def f(w):\n   s = '''\n\n'''\n   return w.data, s\n", 5, 13),
        (b"y = (w  # why\n     .data)\n", 2, 7),
        (b"if a:\n    pass\n# note\nelif w.data: pass\n", 4, 8),
    ],
    ids=[
        "plain", "no final newline", "mark", "wide", "latin-1", "crlf", "cr", "form feed", "form feed on a line",
        "form feed before a definition", "tabs", "two blanks", "three blanks and a string", "broken line", "elif",
    ],
)  # fmt: skip
def test_place_and_fix(rules: Install, raw: bytes, row: int, column: int) -> None:
    config = rules(TNS201=fixing("detach()"))
    result = check_bytes("some.py", raw, config)
    assert said(result) == [("TNS201", row, column)]
    assert result.troubles == ()
    assert result.source is not None
    assert result.source.slice(result.findings[0].start, result.findings[0].end) == "data"
    outcome = fix_bytes("some.py", raw, config)
    assert outcome.raw == raw.replace(b".data", b".detach()")
    assert [each.code for each in outcome.fixed] == ["TNS201"]
    assert outcome.remaining.findings == ()


def test_findings_come_in_the_order_of_the_text(rules: Install) -> None:
    config = rules(TNS201=fixing("x"), TNS202=fixing("y"))
    text = b"a.data\n\n\ndef f():\n    b.data\n\n\nc.data\n"
    assert said(check_bytes("some.py", text, config)) == [
        ("TNS201", 1, 3), ("TNS202", 1, 3), ("TNS201", 5, 7), ("TNS202", 5, 7), ("TNS201", 8, 3), ("TNS202", 8, 3)
    ]  # fmt: skip


def test_a_rule_has_seen_the_whole_file_before_the_next_one_asks(rules: Install) -> None:
    asked: list[tuple[str, int]] = []

    def noting(code: str) -> Check:
        def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
            asked.append((code, context.row(node)))
            yield from ()

        return check

    config = rules(TNS201=noting("TNS201"), TNS202=noting("TNS202"))
    check_bytes("some.py", b"a.data\n\n\ndef f():\n    b.data\n\n\ndef g():\n    c.data\n", config)
    assert asked == sorted(asked)
    assert {code for code, _ in asked} == {"TNS201", "TNS202"}


def test_only_selected_rules_are_asked(rules: Install) -> None:
    config = rules(TNS201=fixing("x"), TNS202=crashing)
    assert said(check_bytes("some.py", b"a.data\n", replace(config, select=("TNS201",)))) == [("TNS201", 1, 3)]


def test_findings_below_the_wanted_confidence_are_left_out(rules: Install) -> None:
    config = rules(TNS201=fixing("x"))
    assert said(check_bytes("a.py", b"a.data\n", replace(config, min_confidence=Confidence.LIKELY))) != []
    result = check_bytes("a.py", b"a.data\n", replace(config, min_confidence=Confidence.CERTAIN))
    assert (result.findings, result.suppressed) == ((), ())


def test_a_comment_suppresses_and_nothing_is_fixed_there(rules: Install) -> None:
    config = rules(TNS201=fixing("detach()"))
    text = b"a.data  # noqa: TNS201\nb.data\n"
    result = check_bytes("some.py", text, config)
    assert said(result) == [("TNS201", 2, 3)]
    assert len(result.suppressed) == 1
    assert fix_bytes("some.py", text, config).raw == b"a.data  # noqa: TNS201\nb.detach()\n"


@pytest.mark.parametrize("raw", [b"", b"\n", b"# data\n", b"'data'\n", codecs.BOM_UTF8, b"\f", b"data = 1\n"])
def test_files_with_nothing_to_say_about(rules: Install, raw: bytes) -> None:
    config = rules(TNS201=fixing("x"))
    result = check_bytes("some.py", raw, config)
    assert (result.findings, result.troubles) == ((), ())
    assert fix_bytes("some.py", raw, config).raw == raw


# ---------------------------------------------------------------------- faults
def test_a_crashing_rule_is_named_and_the_others_go_on(rules: Install) -> None:
    config = rules(TNS201=crashing, TNS202=fixing("detach()"))
    result = check_bytes("some.py", b"a.data\nb.data\n", config)
    assert said(result) == [("TNS202", 1, 3), ("TNS202", 2, 3)]
    assert {each.path for each in result.troubles} == {"some.py"}
    for trouble in result.troubles:
        assert "TNS201" in trouble.message
        assert "ValueError: on purpose" in trouble.message
        assert "\n" not in trouble.message


def test_a_crashing_rule_does_not_keep_others_from_fixing(rules: Install) -> None:
    outcome = fix_bytes("some.py", b"a.data\n", rules(TNS201=crashing, TNS202=fixing("detach()")))
    assert outcome.raw == b"a.detach()\n"
    assert outcome.remaining.troubles == ()  # nothing is left to crash on


def test_text_that_only_libcst_refuses_is_a_syntax_error(rules: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> cst.Module:
        raise NotParsed("no reason", 2, 3)

    config = rules(TNS201=fixing("detach()"))
    monkeypatch.setattr("torchlint.syntax.cst._parse", refuse)
    result = check_bytes("some.py", b"a = 1\nb = w.data\n", config)
    assert [(code, row) for code, row, _ in said(result)] == [("TNS900", 2)]
    assert "no reason" in result.findings[0].message


# ---------------------------------------------------------------------- fixes
def test_fixes_that_touch_each_other_are_done_in_rounds(rules: Install) -> None:
    def wrap(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            edit = context.replace(node, f"f({context.code(node.value)})")
            yield Draft(node.attr, "wrap it", Confidence.CERTAIN, (), Fix("Wrap", (edit,)))

    outcome = fix_bytes("some.py", b"y = a.data.data.data\n", rules(TNS201=wrap))
    assert outcome.raw == b"y = f(f(f(a)))\n"
    assert len(outcome.fixed) == 3
    assert outcome.remaining.findings == ()


def test_a_fix_that_makes_its_own_fault_again_ends(rules: Install) -> None:
    outcome = fix_bytes("some.py", b"a.data\n", rules(TNS201=fixing("data.more")))
    assert outcome.raw == b"a.data" + b".more" * ROUNDS + b"\n"
    assert len(outcome.fixed) == ROUNDS


def test_a_fix_that_would_break_the_code_is_withheld_and_named(rules: Install) -> None:
    config = rules(TNS201=fixing("= ="), TNS202=fixing("size()", word="shape"))
    outcome = fix_bytes("some.py", b"a.data\nb.shape\nc.data\n", config)
    assert outcome.raw == b"a.data\nb.size()\nc.data\n"
    assert [each.code for each in outcome.fixed] == ["TNS202"]
    assert [each.path for each in outcome.remaining.troubles] == ["some.py"]
    assert "TNS201" in outcome.remaining.troubles[0].message
    assert [each.code for each in outcome.remaining.findings] == ["TNS201", "TNS201"]


def test_fixes_that_break_the_code_only_together_are_not_applied_together(rules: Install) -> None:
    def opening(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            yield Draft(node.attr, "x", Confidence.CERTAIN, (), Fix("x", (context.insert_after(node, ", 1)"),)))

    def closing(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            yield Draft(node.attr, "x", Confidence.CERTAIN, (), Fix("x", (context.insert_before(node, "(2, "),)))

    outcome = fix_bytes("some.py", b"f(a.data)\n", rules(TNS201=opening, TNS202=closing))
    compile(outcome.raw, "some.py", "exec")


@pytest.mark.parametrize(
    ("applicability", "unsafe_fixes", "applied"),
    [
        (SAFE, False, True),
        (SAFE, True, True),
        (UNSAFE, False, False),
        (UNSAFE, True, True),
        (DISPLAY, False, False),
        (DISPLAY, True, False),
    ],
)
def test_only_fixes_that_are_wanted_are_applied(
    rules: Install, applicability: Applicability, unsafe_fixes: bool, applied: bool
) -> None:
    config = replace(rules(TNS201=fixing("detach()", applicability)), unsafe_fixes=unsafe_fixes)
    outcome = fix_bytes("some.py", b"a.data\n", config)
    assert outcome.raw == (b"a.detach()\n" if applied else b"a.data\n")
    assert len(outcome.fixed) == applied
    assert len(outcome.remaining.findings) == (not applied)


def test_unfixable_rules_only_report(rules: Install) -> None:
    config = replace(
        rules(TNS201=fixing("detach()"), TNS202=fixing("size()", word="shape")), repaired=frozenset({"TNS202"})
    )
    assert fix_bytes("some.py", b"a.data\nb.shape\nc.data\n", config).raw == b"a.data\nb.size()\nc.data\n"


def test_a_file_that_cannot_be_written_back_is_not_fixed(rules: Install) -> None:
    raw = b"# coding: utf-7\nx = '+AGE-'\na.data\n"
    outcome = fix_bytes("some.py", raw, rules(TNS201=fixing("detach()")))
    assert (outcome.raw, outcome.fixed) == (raw, ())
    assert [each.code for each in outcome.remaining.findings] == ["TNS201"]


def test_a_fix_keeps_everything_else_as_it_is(rules: Install) -> None:
    raw = (
        codecs.BOM_UTF8
        + "#!/usr/bin/env python\r\n# é\f\r\n\fclass A :\r\n\tdef f( self,w ) :\r\n\t\ts = '''\r\n\n\r'''  \r\n\r\n"
        "\t\treturn ( (w) . data ) ,\\\r\n  s # 漢\r\n\r\n  \r\n\f".encode()
    )
    outcome = fix_bytes("some.py", raw, rules(TNS201=fixing("detach()")))
    assert outcome.raw == raw.replace(b". data", b". detach()")


def test_inserted_lines_take_the_files_newline(rules: Install) -> None:
    def wrap(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            edit = context.insert_before(node, "(\n    ")
            yield Draft(node.attr, "x", Confidence.CERTAIN, (), Fix("x", (edit, context.replace(node.attr, "b)"))))

    assert fix_bytes("some.py", b"a.data\r\nc = 1\r\n", rules(TNS201=wrap)).raw == b"(\r\n    a.b)\r\nc = 1\r\n"


def test_rules_that_tidy_up_work_after_the_fixes_they_tidy(rules: Install) -> None:
    config = rules(TNS401=fixing("value", word="Variable"), TNS404=fixing("gone", word="value"))
    config = replace(config, select=("TNS401",))
    text = b"a.Variable\n"
    assert said(check_bytes("some.py", text, config)) == [("TNS401", 1, 3)]
    assert fix_bytes("some.py", b"a.value\n", config).raw == b"a.value\n"
    assert [each.code for each in fix_bytes("some.py", text, config).fixed] == ["TNS401"]
