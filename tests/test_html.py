"""The page for people: whole in itself, harmless whatever was linted, and usable in a real browser."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Page, browser, executable
from tests.reports import PATHS, document, everything, finding, several_edits, source
from torchlint.diagnostics.model import Applicability, Confidence, Edit, FileResult, Finding, Fix, Severity, Trouble
from torchlint.output.highlight import highlighted
from torchlint.output.report import Report

VOID = frozenset({"meta", "link", "input", "rect"})
ATTACK = '<img src=x onerror=\'hacked=1\'><script>hacked=2</script></script></style>"><b onclick="hacked=3">`<i>`'


class Reader(HTMLParser):
    """Reads a page into elements and their text, strict about what is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.whole: dict[str, str] = {"style": "", "script": ""}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.whole:
            self.whole[self.open[-1]] += data
        else:
            self.texts.append(data)


def page(report: Report) -> Reader:
    read = Reader(document("html", report).decode())
    assert read.open == []
    return read


def attacked() -> Report:
    """A report in which every text that comes from outside tries to be more than text."""
    of = source(f"{ATTACK}/{ATTACK}.py", f"w.numpy()  # {ATTACK}\nx = '{ATTACK}'\n")
    fix = Fix(ATTACK, (several_edits(source()).edits[0],), overruled=Applicability.UNSAFE)
    found = finding(of, message=ATTACK, why=(ATTACK, "`</code><script>hacked=4</script>`"), fix=fix)
    return Report((FileResult(of.path, of, (found,)),), troubles=(Trouble(ATTACK, ATTACK),))


# ---------------------------------------------------------------------- the document
def test_the_page_is_whole_in_itself() -> None:
    read = page(everything())
    for tag, attributes in read.elements:
        assert not {"src", "style", "action"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        if "href" in attributes:
            assert (tag, attributes["href"]) == ("link", "data:,") or (
                tag == "a" and str(attributes["href"]).startswith("https://torchlint.readthedocs.io/rules/")
            )
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|innerHTML|eval", read.whole["style"] + read.whole["script"])


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    read = page(everything())
    (policy,) = [each["content"] for tag, each in read.elements if "http-equiv" in each]
    style, script = (
        base64.b64encode(hashlib.sha256(read.whole[name].encode()).digest()).decode() for name in ("style", "script")
    )
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_what_comes_from_outside_is_text() -> None:
    plain, read = page(everything()), page(attacked())
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in plain.elements} | {"b"}
    assert not [attributes for _, attributes in read.elements if "onclick" in attributes or "onerror" in attributes]
    assert [tag for tag, _ in read.elements].count("script") == 1
    text = "".join(read.texts)
    assert text.count("<script>hacked=2</script>") >= 6
    assert "<script>hacked=4</script>" in text
    assert read.whole["script"].count("hacked") == 0


def test_every_finding_stands_on_the_page() -> None:
    read = page(everything())
    found = [attributes for tag, attributes in read.elements if tag == "details"]
    assert len(found) == 5 * len(PATHS) + 1
    assert {each["data-fix"] for each in found} == {"safe", "unsafe", "display", "none"}
    assert {each["data-confidence"] for each in found} == {"certain", "likely", "possible"}
    assert {each["data-severity"] for each in found} <= {"error", "warning", "legacy"}
    assert {each["data-folder"] for each in found} == {".", "a b", "é", "/outside"}
    text = "".join(read.texts)
    assert "new\\x0aline.py" in text
    assert "\\udcff\\udc80.py" in text


def test_a_finding_is_shown_with_its_code_its_reasons_and_its_repair() -> None:
    of = source(text="a = 1\nb = 2\nc = 3\nd = w.numpy()\ne = 5\nf = 6\ng = 7\n")
    numpy = finding(of)
    fix = Fix("do `both`", (Edit(numpy.start, numpy.start, "cpu()."), Edit(0, 1, "z")))
    report = Report((FileResult("a.py", of, (finding(of, why=("`w` has grad, line 1",), fix=fix),)),))
    text = document("html", report).decode()
    assert (
        '<pre tabindex="0" aria-label="Code around line 4">'
        '<span data-row="2">b = <span class="num">2</span></span>'
        '<span data-row="3">c = <span class="num">3</span></span>'
        '<span data-row="4">d = w.<mark>numpy</mark>()</span><span data-row="5">e = <span class="num">5</span></span>'
        '<span data-row="6">f = <span class="num">6</span></span></pre>'
    ) in text
    assert "<li><code>w</code> has grad, line 1</li>" in text
    assert (
        '<span>line 1</span><del>a = <span class="num">1</span></del><ins>z = <span class="num">1</span></ins>'
        "<span>line 4</span><del>d = w.numpy()</del><ins>d = w.cpu().numpy()</ins></pre>"
    ) in text


@pytest.mark.parametrize(
    ("line", "coloured"),
    [
        ("from a import b as c", "[key from] a [key import] b [key as] c"),
        ("x2 = 1e-3 if y else 0x1F", "x2 = [num 1e]-[num 3] [key if] y [key else] [num 0x1F]"),
        ("s = rb'it\\'s # 1' + f\"for\" # not 'x'", "s = [str rb'it\\'s # 1'] + [str f\"for\"] [com # not 'x']"),
        ("printer.format_in(None_)", "printer.format_in(None_)"),
        ("x = 'open and 1", "x = [str 'open and 1]"),
        ("a < b & c", "a < b & c"),
    ],
)
def test_code_is_coloured(line: str, coloured: str) -> None:
    made = highlighted(line)
    assert unescape(re.sub(r'<span class="(\w+)">(.*?)</span>', r"[\1 \2]", made)) == coloured
    assert unescape(re.sub("<[^>]*>", "", made)) == line


def test_code_is_shown_without_the_blanks_that_its_lines_share() -> None:
    of = source(text="class A:\n\tdef f(self):\n\t\tif self:\n\n\t\t\tw.numpy()\n\t\treturn 1\n")
    at = of.utf8.index(b"w.")
    fix = Fix("t", (Edit(at, at + 1, "(\n\t\t\t\tv)"),))
    text = document("html", Report((FileResult("a.py", of, (finding(of, fix=fix),)),))).decode()
    assert '<span data-row="4"></span><span data-row="5">    w.<mark>numpy</mark>()</span>' in text
    assert "<del>w.numpy()</del><ins>(</ins><ins>    v).numpy()</ins>" in text
    broken = source(text="x = 1\n    y = 2\n    z = 3\n")
    of = Finding("TNS900", "syntax-error", 6, 10, "unexpected indent", Confidence.CERTAIN, severity=Severity.ERROR)
    text = document("html", Report((FileResult("a.py", broken, (of,)),))).decode()
    assert '<span data-row="2"><mark>    </mark>y = ' in text


def test_the_worst_and_surest_findings_come_first_and_the_counts_behind_them() -> None:
    severities = {"e": Severity.ERROR, "w": Severity.WARNING, "l": Severity.LEGACY}
    confidences = {"c": Confidence.CERTAIN, "l": Confidence.LIKELY, "p": Confidence.POSSIBLE}
    results = []
    for path, found in (("a", "lc wp"), ("b", "lp ll"), ("c", "lc ep"), ("d", "wc lc"), ("e", "ec")):
        of = source(f"{path}.py")
        listed = [finding(of, severity=severities[s], confidence=confidences[c]) for s, c in found.split()]
        results.append(FileResult(of.path, of, tuple(listed)))
    read = page(Report(tuple(results)))
    told = [each for tag, each in read.elements if tag == "details"]
    assert " ".join(f"{str(each['data-severity'])[0]}{str(each['data-confidence'])[0]}" for each in told) == (
        "ec ep wc wp lc lc lc ll lp"
    )
    order = [text for text in read.texts if re.fullmatch(r"[a-e]\.py|Where they are", text)]
    assert order == [*(f"{each}.py" for each in "ecdacdb"), "Where they are"]


def test_a_page_of_nothing_says_so() -> None:
    read = page(Report((FileResult("a.py", None),)))
    assert "torchlint: No findings" in read.texts
    assert not [tag for tag, _ in read.elements if tag in ("form", "table", "details", "ul")]
    read = page(Report((), troubles=(Trouble("a.py", "gone"),)))
    assert "Not checked" in read.texts


def test_long_rows_and_long_repairs_are_cut() -> None:
    of = source(text="x = [" + "1, " * 100_000 + "w.numpy(), " + "2, " * 100_000 + "]\n")
    fix = Fix("t", (Edit(0, 0, "y = 1\n" * 100),))
    text = document("html", Report((FileResult("a.py", of, (finding(of, fix=fix),)),))).decode()
    assert len(text) < 40_000
    assert "w.<mark>numpy</mark>()" in text
    assert text.count('<ins>y = <span class="num">1</span></ins>') == 40
    assert "<span>&#8230;</span></pre>" in text


def test_folders_beyond_a_dozen_share_a_row() -> None:
    results = []
    for number in range(15):
        of = source(f"d{number:02}/a.py")
        results.append(FileResult(of.path, of, (finding(of),) * (1 + (number < 12))))
    text = document("html", Report(tuple(results))).decode()
    assert '<th scope="row">3 more folders</th><td></td><td class="n">3</td>' in text
    assert text.count('data-field="folder"') == 12


# ---------------------------------------------------------------------- in a browser
@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    if executable() is None:
        pytest.skip("no Chromium here: install one, or name it in TORCHLINT_CHROMIUM")
    with browser() as opened:
        yield opened


def several() -> Report:
    """Three files in two folders, seven findings."""
    results = []
    for path, codes in (("a.py", "TNS101 TNS201"), ("lib/b.py", "TNS101 TNS103 TNS101"), ("lib/c.py", "TNS900 TNS201")):
        of = source(path)
        found: list[Finding] = []
        for code in codes.split():
            changes: dict[str, Any] = {"fix": several_edits(of)} if code == "TNS101" else {}
            if code == "TNS103":
                changes = {"confidence": Confidence.POSSIBLE, "message": "an unknown place"}
            found.append(finding(of, "data" if code == "TNS201" else "numpy", code, **changes))
        results.append(FileResult(path, of, tuple(found)))
    return Report(tuple(results))


def opened(tab: Page, report: Report, folder: Path, **how: Any) -> None:
    (folder / "report.html").write_bytes(document("html", report))
    tab.open(folder / "report.html", **how)


def choose(tab: Page, field: str, value: str) -> str:
    """Choose in a select as a person does, and give what the page says is shown."""
    tab.ask(
        f"(() => {{ const field = document.querySelector('[name={field}]'); field.value = {value!r};"
        "field.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    return shown(tab)


def shown(tab: Page) -> str:
    said = str(tab.ask("document.getElementById('shown').textContent"))
    seen = int(tab.ask("[...document.querySelectorAll('details')].filter((each) => each.checkVisibility()).length"))
    assert re.search(r"[\d,]+", said)[0] == f"{seen:,}"  # type: ignore[index]
    return said


def search(tab: Page, words: str) -> str:
    tab.ask(
        f"new Promise((done) => {{ const field = document.querySelector('[name=search]'); field.value = {words!r};"
        "field.dispatchEvent(new Event('input', {bubbles: true})); setTimeout(done, 200); })"
    )
    return shown(tab)


def test_the_filters_work(tab: Page, tmp_path: Path) -> None:
    opened(tab, several(), tmp_path)
    assert shown(tab) == "All 7 shown"
    assert choose(tab, "rule", "TNS101") == "3 of 7 shown"
    named = "[...document.querySelectorAll('.file:not([hidden]) h3')].map((each) => each.textContent)"
    assert set(tab.ask(named)) == {"a.py", "lib/b.py"}
    assert choose(tab, "folder", "lib") == "2 of 7 shown"
    assert choose(tab, "rule", "") == "5 of 7 shown"
    assert choose(tab, "confidence", "possible") == "1 of 7 shown"
    assert choose(tab, "fix", "safe") == "0 of 7 shown"
    assert tab.ask("document.getElementById('none').checkVisibility()") is True
    tab.ask("document.querySelector('[type=reset]').click()")
    assert tab.ask(
        "new Promise((done) => setTimeout(() => done(document.getElementById('shown').textContent), 50))"
    ) == ("All 7 shown")
    assert tab.ask("document.getElementById('none').checkVisibility()") is False
    assert search(tab, "UNKNOWN place") == "1 of 7 shown"
    assert search(tab, "lib/b.py") == "3 of 7 shown"
    assert search(tab, "TNS900 nowhere") == "0 of 7 shown"
    assert search(tab, " ") == "All 7 shown"
    tab.ask("document.getElementById('close').click()")
    assert tab.ask("document.querySelectorAll('details[open]').length") == 0
    tab.ask("document.getElementById('open').click()")
    assert tab.ask("document.querySelectorAll('details[open]').length") == 7
    assert (tab.fetched(), tab.complaints()) == ([(tmp_path / "report.html").as_uri()], [])


def test_the_filters_live_in_the_address(tab: Page, tmp_path: Path) -> None:
    opened(tab, several(), tmp_path)
    address = "location.hash"
    assert tab.ask(address) == ""
    assert choose(tab, "rule", "TNS101") == "3 of 7 shown"
    assert search(tab, "lib/b") == "2 of 7 shown"
    assert tab.ask(address) == "#rule=TNS101&search=lib%2Fb"
    tab.ask("(() => { location.hash = '#rule=TNS201'; return new Promise((done) => setTimeout(done, 50)); })()")
    assert shown(tab) == "2 of 7 shown"
    tab.ask("(() => { location.hash = '#rule=TNS999'; return new Promise((done) => setTimeout(done, 50)); })()")
    assert shown(tab) == "All 7 shown"


def test_going_back_undoes_the_last_choice(tab: Page, tmp_path: Path) -> None:
    opened(tab, several(), tmp_path)
    choose(tab, "rule", "TNS101")
    for words in ("l", "lib", "lib/b"):
        search(tab, words)
    assert shown(tab) == "2 of 7 shown"
    back = "new Promise((done) => { addEventListener('hashchange', () => setTimeout(done)); history.back(); })"
    tab.ask(back)
    assert (shown(tab), tab.ask("document.querySelector('[name=search]').value")) == ("3 of 7 shown", "")
    tab.ask(back)
    assert (shown(tab), tab.ask("location.hash")) == ("All 7 shown", "")
    tab.ask(back.replace("back", "forward"))
    assert (shown(tab), tab.ask("location.hash")) == ("3 of 7 shown", "#rule=TNS101")


def test_the_charts_are_filters_for_the_keyboard_too(tab: Page, tmp_path: Path) -> None:
    opened(tab, several(), tmp_path)
    tab.press("Tab")
    assert tab.ask("document.activeElement.textContent") == "error"
    tab.press("Enter")
    assert shown(tab) == "1 of 7 shown"
    tab.press("Enter")
    assert shown(tab) == "All 7 shown"
    tab.ask("[...document.querySelectorAll('summary')].at(-1).focus()")
    for _ in range(9):  # over what is unfolded there
        tab.press("Tab")
        if tab.ask("document.activeElement.textContent") == "TNS101 numpy-on-grad-tensor":
            break
    assert tab.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.press("Enter")
    assert shown(tab) == "3 of 7 shown"
    assert tab.ask("document.activeElement.getAttribute('aria-pressed')") == "true"
    tab.press("Enter")
    assert shown(tab) == "All 7 shown"
    reached = set()
    tab.ask("document.querySelector('.totals button').focus()")
    for _ in range(60):
        tab.press("Tab")
        reached.add(tab.ask("document.activeElement.tagName + ' ' + (document.activeElement.name ?? '')"))
    assert {"SELECT rule", "SELECT folder", "INPUT search", "SUMMARY ", "PRE "} <= reached


def test_nothing_is_fetched_and_nothing_smuggled_runs(tab: Page, tmp_path: Path) -> None:
    opened(tab, attacked(), tmp_path)
    tab.ask("document.querySelectorAll('*').forEach((each) => each.click && each.tagName !== 'A' && each.click())")
    assert tab.ask("typeof hacked") == "undefined"
    assert tab.ask("document.querySelectorAll('img, i, [onclick], [onerror]').length") == 0
    assert ATTACK in tab.ask("document.querySelector('.file h3').textContent")
    assert ATTACK.replace("`<i>`", "<i>") == tab.ask("document.querySelector('summary .message').textContent")
    assert (tab.fetched(), tab.complaints()) == ([(tmp_path / "report.html").as_uri()], [])


def test_the_policy_stops_a_script_that_is_not_the_pages_own(tab: Page, tmp_path: Path) -> None:
    raw = document("html", several()).replace(b"</main>", b"<script>hacked = 1</script><img src='x.png'></main>")
    (tmp_path / "report.html").write_bytes(raw)
    tab.open(tmp_path / "report.html")
    assert tab.ask("typeof hacked") == "undefined"
    assert shown(tab) == "All 7 shown"
    assert len([each for each in tab.complaints() if "Content Security Policy" in each]) == 2


def test_without_its_script_the_page_shows_everything(tab: Page, tmp_path: Path) -> None:
    tab.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened(tab, several(), tmp_path)
        visible = "[...document.querySelectorAll('{}')].filter((each) => each.checkVisibility()).length"
        assert tab.ask(visible.format("details")) == 7
        assert tab.ask(visible.format("form, .charts button")) == 0
    finally:
        tab.send("Emulation.setScriptExecutionDisabled", value=False)


CONTRAST = """
(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const worst = {};
  for (const element of document.querySelectorAll("body *")) {
    if (![...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim())) continue;
    if (["SCRIPT", "OPTION"].includes(element.tagName) || !element.checkVisibility()) continue;
    const [one, other] = [parse(getComputedStyle(element).color), ground(element)].map(light).sort((a, b) => b - a);
    const name = `${element.tagName}.${element.className}`;
    worst[name] = Math.min(worst[name] ?? 99, (one + 0.05) / (other + 0.05));
  }
  return worst;
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_light_and_dark(dark: bool, tab: Page, tmp_path: Path) -> None:
    opened(tab, everything(), tmp_path, dark=dark)
    tab.ask("document.getElementById('open').click()")
    ground = tab.ask("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(17, 22, 28)" if dark else "rgb(255, 255, 255)")
    ratios = tab.ask(CONTRAST)
    assert {"MARK.", "DEL.", "INS.", "CODE.", "LABEL.", "DT."} <= set(ratios)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("dark", [False, True])
def test_coloured_code_stands_out_where_it_is_marked_and_changed(dark: bool, tab: Page, tmp_path: Path) -> None:
    of = source("a.py", "if w.numpy('s', 1):  # why\n    pass\n")
    fix = Fix("t", (Edit(0, 2, "while"),))
    opened(tab, Report((FileResult("a.py", of, (finding(of, "if w.numpy('s', 1)", fix=fix),)),)), tmp_path, dark=dark)
    ratios = tab.ask(CONTRAST.replace("element.tagName}", "element.parentElement.tagName} ${element.tagName}"))
    kinds = {f"{tag} SPAN.{kind}" for tag in ("MARK", "DEL", "INS") for kind in ("key", "str", "num")}
    assert {*kinds, "INS SPAN.com", "SPAN SPAN.com", "SPAN SPAN.key"} <= set(ratios)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_scrolls_sideways(width: int, tab: Page, tmp_path: Path) -> None:
    opened(tab, everything(), tmp_path, width=width, height=800)
    tab.ask("document.getElementById('open').click()")
    assert tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    tab.ask("document.getElementById('more').click()")
    assert tab.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    heights = tab.ask(
        "[...document.querySelectorAll('input, select, form button')].filter((each) => each.checkVisibility())"
        ".map((each) => each.offsetHeight)"
    )
    assert len(heights) == 9 + (width < 960)
    assert min(heights) >= 40


TOP = "document.querySelector('{}').getBoundingClientRect().top"


@pytest.mark.parametrize(("width", "height"), [(400, 800), (1280, 900)])
def test_the_first_screen_shows_the_worst_findings_and_how_many_there_are(
    width: int, height: int, tab: Page, tmp_path: Path
) -> None:
    results = []
    for number in range(60):
        of = source(f"package{number}/old.py")
        results.append(FileResult(of.path, of, (finding(of, severity=Severity.LEGACY, fix=several_edits(of)),)))
    of = source("z/worst.py")
    found = tuple(finding(of, severity=each) for each in (Severity.WARNING, Severity.ERROR))
    results.append(FileResult(of.path, of, found))
    opened(tab, Report(tuple(results)), tmp_path, width=width, height=height)
    assert tab.ask("document.querySelector('.totals').innerText.split(/\\s+/).sort()") == sorted(
        "1 error 1 warning 60 legacy".split()
    )
    order = (".totals", "[data-severity=error]", "[data-severity=warning]")
    tops = [tab.ask(TOP.format(each)) for each in order]
    legacy, charts = (tab.ask(TOP.format(each)) for each in ("[data-severity=legacy]", ".charts"))
    assert tops == sorted(tops)
    assert tops[-1] + 60 < height
    assert tops[-1] < legacy < charts


def test_a_narrow_screen_folds_the_filters_that_are_not_in_use(tab: Page, tmp_path: Path) -> None:
    opened(tab, several(), tmp_path, width=400, height=800)
    seen = "document.querySelector('[name=rule]').checkVisibility()"
    assert tab.ask(seen) is False
    tab.ask("document.getElementById('more').click()")
    assert tab.ask(seen) is True
    tab.ask("document.getElementById('more').click()")
    assert tab.ask(seen) is False
    tab.ask("document.querySelector('.totals button').click()")
    assert shown(tab) == "1 of 7 shown"
    assert tab.ask(seen) is True
    assert tab.ask("document.getElementById('more').getAttribute('aria-expanded')") == "true"


def test_controls_are_labelled_and_headings_are_in_order(tab: Page, tmp_path: Path) -> None:
    opened(tab, everything(), tmp_path)
    tab.ask("document.getElementById('open').click()")
    tab.ask(
        "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
    )  # what is in sight has been laid out
    tab.send("Accessibility.enable")
    nodes = tab.send("Accessibility.getFullAXTree")["nodes"]
    told = [(each["role"]["value"], each.get("name", {}).get("value", "")) for each in nodes if "role" in each]
    for role in ("searchbox", "combobox", "button", "table", "link"):
        named = [name for found, name in told if found == role]
        assert named, role
        assert all(named), role
    assert [name for role, name in told if role in ("searchbox", "combobox")] == [
        "Search", "Severity", "Rule", "Folder", "Confidence", "Repair",
    ]  # fmt: skip
    levels = tab.ask("[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert tab.ask("document.documentElement.lang") == "en"


def test_thousands_of_findings_stay_usable(tab: Page, tmp_path: Path) -> None:
    results = []
    for number in range(250):
        of = source(f"pkg{number % 20}/m{number}.py")
        results.append(FileResult(of.path, of, tuple(finding(of, fix=several_edits(of)) for _ in range(20))))
    opened(tab, Report(tuple(results)), tmp_path)
    assert shown(tab) == "All 5,000 shown"
    assert choose(tab, "folder", "pkg3") == "260 of 5,000 shown"
    assert search(tab, "m3.py") == "20 of 5,000 shown"
    assert tab.ask("document.querySelectorAll('details[open]').length") == 0
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
