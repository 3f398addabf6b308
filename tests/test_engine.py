"""The straight line with plain rules put in the place of the real ones: places, order, faults, fixes to a fixpoint."""

from __future__ import annotations

import codecs
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import libcst as cst
import pytest

from torchlint.config import Config
from torchlint.engine import ROUNDS, check_bytes, fix_bytes
from torchlint.model import Applicability, Confidence, FileResult, Fix
from torchlint.rule import Check, Draft, FileContext, Rule
from torchlint.syntax.definition import NotParsed

SAFE, UNSAFE, DISPLAY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY


def fixing(text: str, applicability: Applicability = SAFE, word: str = "data") -> Check:
    """Make a rule that reports each attribute of a name and puts text in its place."""

    def check(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == word:
            fix = Fix("Replace it", (context.replace(node.attr, text),), applicability)
            yield Draft(node.attr, f"`{word}` is at fault", Confidence.LIKELY, ("step",), fix)

    return check


def crashing(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
    if context.source.path:
        raise ValueError("on purpose")
    yield Draft(node, "never said", Confidence.CERTAIN)


Install = Callable[..., Config]


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put checks in the place of rules: ``rules(TNS201=check)``; gives the configuration that selects just these."""

    def install(**checks: Check) -> Config:
        def load(code: str) -> Rule:
            return Rule(code, {cst.Attribute: checks[code]})

        monkeypatch.setattr("torchlint.rule.load", load)
        return Config(select=tuple(checks))

    return install


def said(result: FileResult) -> list[tuple[str, int, int]]:
    assert result.source is not None
    return [(each.code, *result.source.position(each.start)) for each in result.findings]


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


# ---------------------------------------------------------------------- text that is no Python
@pytest.mark.parametrize(
    ("raw", "row", "column", "words"),
    [
        (b"a = 1\nb = = 2\n", 2, 5, "invalid syntax"),
        ("é漢 = 1\né漢 = = 2\n".encode(), 2, 6, "invalid syntax"),
        (codecs.BOM_UTF8 + b"b = = 2\n", 1, 5, "invalid syntax"),
        (b"# coding: latin-1\n\xe9\xe9 = = 2\n", 2, 6, "invalid syntax"),
        (b"a = 1\r\nb = = 2\r\n", 2, 5, "invalid syntax"),
        (b"if a:\nb = w.data\n", 2, 1, "indented block"),
        (b"def f():\n    x = 1\n  y = 2\n", 3, 8, "unindent"),
        (b"a = '''\n", 1, 5, "unterminated"),
        (b"a = (1,\n", 1, 5, "was never closed"),
        (b"print 'x', w.data\n", 1, 1, "print"),
        (b"a = 1\nb = '\0'\n", 2, 6, "NUL"),
        (b"a = 1\nb = '\xff'\n", 2, 6, ""),
        (b"a = 1\nb = 2\nc = '\xc3\xa9' + '\xff'\n", 3, 12, "utf-8"),
        (b"# coding: no-such-codec\n", 1, 1, "no-such-codec"),
        (b"# coding: rot13\nk = w.data\n", 1, 1, "no encoding"),
    ],
    ids=[
        "two signs", "wide", "mark", "latin-1", "crlf", "indent", "unindent", "string", "parenthesis", "python 2",
        "nul", "bad byte", "bad byte later", "unknown codec", "no text codec",
    ],
)  # fmt: skip
def test_syntax_errors_are_findings_with_a_place(rules: Install, raw: bytes, row: int, column: int, words: str) -> None:
    config = rules(TNS201=fixing("detach()"))
    result = check_bytes("some.py", raw, config)
    assert said(result) == [("TNS900", row, column)]
    assert words in result.findings[0].message
    assert result.findings[0].confidence is Confidence.CERTAIN
    assert result.troubles == ()
    outcome = fix_bytes("some.py", raw, config)
    assert (outcome.raw, outcome.fixed) == (raw, ())


def test_syntax_errors_are_found_in_files_without_trigger_words() -> None:
    assert said(check_bytes("some.py", b"b = = 2\n", Config())) == [("TNS900", 1, 5)]


def test_a_syntax_error_cannot_be_silenced() -> None:
    config = Config(select=("TNS101",), per_file_ignores=(("*", ("ALL",)),))
    assert said(check_bytes("some.py", b"b = = 2  # noqa\n", config)) == [("TNS900", 1, 5)]


def test_code_newer_than_the_running_python_is_checked_all_the_same(rules: Install) -> None:
    config = rules(TNS201=fixing("detach()"))
    text = b"type Pair[T] = tuple[T, T]\n\n\ndef first[T](pair: Pair[T]) -> T:\n    return pair.data[0]\n"
    assert said(check_bytes("some.py", text, config)) == [("TNS201", 5, 17)]
    assert fix_bytes("some.py", text, config).raw == text.replace(b".data", b".detach()")


def test_real_rules_cope_without_the_stdlibs_tree() -> None:
    text = (
        b"import torch\nfrom torch.autograd import Variable\n\n\ndef f[T](x: T, net) -> T:\n"
        b"    y = Variable(torch.FloatTensor([1]), volatile=True)\n    y.data.add_(1)\n"
        b"    w = x.new(2).type(torch.Tensor)\n"
        b"    isinstance(x, Variable)\n    return net(w).cpu().detach().numpy(), torch.tensor(y), loss.data[0]\n"
    )
    assert check_bytes("some.py", text, Config(select=("ALL",))).troubles == ()


# ---------------------------------------------------------------------- deep code
@pytest.mark.parametrize(
    "text",
    [
        "y = " + "(" * 5000 + "w.data" + ")" * 5000 + "\n",
        "y = " + "[" * 5000 + "]" * 5000 + "\nz = w.data\n",
        "y = " + "f(" * 1000 + "w.data" + ")" * 1000 + "\n",
    ],
    ids=["parentheses", "lists", "calls"],
)
def test_code_nested_too_deeply_is_a_syntax_error(rules: Install, text: str) -> None:
    result = check_bytes("some.py", text.encode(), rules(TNS201=fixing("detach()")))
    assert [code for code, _, _ in said(result)] == ["TNS900"]
    assert "nested" in result.findings[0].message
    assert result.troubles == ()


DEEP = 600 if sys.version_info[:2] == (3, 12) else 900
"""Python 3.12 has a limit of its own where C and Python call each other by turns."""


def test_a_recursion_that_does_not_end_is_code_nested_too_deeply(rules: Install) -> None:
    def endless(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        return endless(node, context)

    result = check_bytes("some.py", b"a.data\n", rules(TNS201=endless))
    assert [code for code, _, _ in said(result)] == ["TNS900"]
    assert "nested too deeply" in result.findings[0].message
    assert result.troubles == ()


@pytest.mark.parametrize(
    "text",
    [
        "y = w.data" + " + 1" * DEEP + "\n",
        "y = w" + ".a" * DEEP + ".data\n",
        "y = w" + ".a()" * (DEEP * 4 // 9) + ".data\n",
        "y = " + "not " * DEEP + "w.data\n",
        "if a:\n    pass\n" + "elif b:\n    pass\n" * 500 + "else:\n    w.data\n",
        "".join("    " * depth + "if a:\n" for depth in range(90)) + "    " * 90 + "w.data\n",
    ],
    ids=["sum", "attributes", "calls", "not", "elif", "if"],
)
def test_deep_code_that_python_accepts_is_checked(rules: Install, text: str) -> None:
    config = rules(TNS201=fixing("detach()"))
    result = check_bytes("some.py", text.encode(), config)
    assert [code for code, _, _ in said(result)] == ["TNS201"]
    assert fix_bytes("some.py", text.encode(), config).raw == text.replace(".data", ".detach()").encode()


@pytest.mark.parametrize("link", [".a()", " + 1", "[0]", ".a"])
def test_a_chain_of_thousands_does_not_end_the_process(link: str) -> None:
    program = (
        "from torchlint.config import Config; from torchlint.engine import check_bytes\n"
        f"result = check_bytes('some.py', ('y = x' + {link!r} * 5000 + '\\nz = w.detach().cpu()\\n').encode(),"
        " Config(select=('TNS104',)))\n"
        "print(result.troubles, [each.code for each in result.findings])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in ("() []", "() ['TNS900']")


def test_the_recursion_limit_is_put_back(rules: Install) -> None:
    before = sys.getrecursionlimit()
    check_bytes("some.py", b"a.data\n", rules(TNS201=crashing))
    assert sys.getrecursionlimit() == before


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
    monkeypatch.setattr("torchlint.syntax.definition._parse", refuse)
    result = check_bytes("some.py", b"a = 1\nb = w.data\n", config)
    assert [(code, row) for code, row, _ in said(result)] == [("TNS900", 2)]
    assert "no reason" in result.findings[0].message


# ---------------------------------------------------------------------- fixes
def test_fixes_that_touch_each_other_are_done_in_rounds(rules: Install) -> None:
    def wrap(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            edit = context.replace(node, f"f({context.code(node.value)})")
            yield Draft(node.attr, "wrap it", Confidence.CERTAIN, (), Fix("Wrap", (edit,), SAFE))

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
            yield Draft(node.attr, "x", Confidence.CERTAIN, (), Fix("x", (context.insert_after(node, ", 1)"),), SAFE))

    def closing(node: cst.Attribute, context: FileContext) -> Iterator[Draft]:
        if node.attr.value == "data":
            yield Draft(node.attr, "x", Confidence.CERTAIN, (), Fix("x", (context.insert_before(node, "(2, "),), SAFE))

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
            yield Draft(
                node.attr, "x", Confidence.CERTAIN, (), Fix("x", (edit, context.replace(node.attr, "b)")), SAFE)
            )

    assert fix_bytes("some.py", b"a.data\r\nc = 1\r\n", rules(TNS201=wrap)).raw == b"(\r\n    a.b)\r\nc = 1\r\n"


def test_rules_that_tidy_up_work_after_the_fixes_they_tidy(rules: Install) -> None:
    config = rules(TNS401=fixing("value", word="Variable"), TNS404=fixing("gone", word="value"))
    config = replace(config, select=("TNS401",))
    text = b"a.Variable\n"
    assert said(check_bytes("some.py", text, config)) == [("TNS401", 1, 3)]
    assert fix_bytes("some.py", b"a.value\n", config).raw == b"a.value\n"
    assert [each.code for each in fix_bytes("some.py", text, config).fixed] == ["TNS401"]
