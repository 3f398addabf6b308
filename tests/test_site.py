"""The documentation site: it builds without a warning, holds every page, and fetches nothing when it is read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urljoin, urlparse

import pytest
import yaml

from tests.blocks import ROOT
from tests.browser import browser, executable
from torchlint.diagnostics.registry import RULES
from torchlint.output.report import PROJECT, page

pytest.importorskip("material", reason="mkdocs-material, which builds the site, is not installed")

OURS = "https://github.com/torchlint/torchlint/blob/main/"


def build(tree: Path, to: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(to)],
        cwd=tree,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """What a page points to, and the names in it that can be pointed to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {key: value or "" for key, value in attrs}
        self.names |= {told[key] for key in ("id", "name") if key in told}
        if "src" in told:
            self.fetched.append(told["src"])
        if tag == "link" and told.get("rel") in ("stylesheet", "icon", "preconnect", "preload", "prefetch"):
            self.fetched.append(told["href"])
        if tag == "a" and "href" in told:
            self.linked.append(told["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return {path: Links(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_in_the_menu_and_every_rule_has_its_address(site: Path) -> None:
    told = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        assert re.search(rf"\b{re.escape(str(path.relative_to(ROOT / 'docs')))}$", told, re.MULTILINE), path
    for entry in RULES:
        address = page(entry.name)
        assert address.startswith(f"{PROJECT}/rules/")
        assert (site / address.removeprefix(f"{PROJECT}/") / "index.html").is_file(), address


def test_every_page_bears_the_mark_of_the_site(site: Path, pages: dict[Path, Links]) -> None:
    wanted = {ROOT / "docs" / "assets" / name for name in ("logo.svg", "favicon.svg")}
    marks = {path.read_bytes() for path in wanted}
    for path, links in pages.items():
        if path.name == "404.html":  # its addresses count from the top
            continue
        shown = [path.parent / each for each in links.fetched if each.endswith(".svg")]
        assert {each.read_bytes() for each in shown} == marks, path


def test_no_table_shows_the_backslash_that_keeps_its_cells_apart(pages: dict[Path, Links]) -> None:
    assert [path.parent.name for path in pages if "\\|" in path.read_text(encoding="utf-8")] == []


def test_nothing_is_fetched_from_elsewhere(site: Path, pages: dict[Path, Links]) -> None:
    fetched = {each for links in pages.values() for each in links.fetched}
    assert [each for each in sorted(fetched) if re.match(r"([a-z]+:)?//", each)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]*)", styles) == []


def test_links_within_the_site_and_to_the_repository_lead_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    assert list(_dead(site, pages)) == []


def _dead(site: Path, pages: dict[Path, Links]) -> Iterator[tuple[str, str]]:
    for path, links in pages.items():
        if path.name == "404.html":  # its links count from the address that was not found
            continue
        here = f"{PROJECT}/{path.relative_to(site).parent}/".replace("/./", "/")
        for link in links.linked:
            target = urlparse(urljoin(here, link))
            if f"{target.scheme}://{target.netloc}" == PROJECT:
                there = site / unquote(target.path).lstrip("/")
                there = there / "index.html" if there.is_dir() else there
                names = pages[there].names if there in pages else set()
                if not there.is_file() or (target.fragment and unquote(target.fragment) not in names):
                    yield str(path.relative_to(site)), link
            elif (
                link.startswith(f"{OURS}/blob/main/") and not (ROOT / link.removeprefix(f"{OURS}/blob/main/")).exists()
            ):
                yield str(path.relative_to(site)), link


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    index = tmp_path / "docs" / "index.md"
    index.write_text(f"{index.read_text(encoding='utf-8')}\n[nowhere](usage.md#nowhere)\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "#nowhere" in done.stderr
    (tmp_path / "docs" / "index.md").write_text("# Only this\n", encoding="utf-8")
    (tmp_path / "docs" / "unlisted.md").write_text("# In no menu\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "unlisted.md" in done.stderr


def test_the_gate_builds_it_strictly() -> None:
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r'/mkdocs" build --strict --site-dir', gate)
    (line,) = (line for line in gate.splitlines() if '/mkdocs" build' in line)
    assert "--quiet" not in line.partition("#")[0], "warnings that are not printed do not count"


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Where a server on this machine gives the site."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


FOUND = """new Promise(done => {
    const look = left => {
        const found = [...document.querySelectorAll('.md-search-result__link')].map(each => each.getAttribute('href'));
        found.length || !left ? done(found.join(' ')) : setTimeout(look, 100, left - 1);
    };
    look(100);
})"""


@pytest.mark.skipif(executable() is None, reason="no Chromium on the path or in TORCHLINT_CHROMIUM")
@pytest.mark.parametrize("name", ["", "rules/TNS101/"])
def test_a_browser_asks_the_site_s_own_server_for_everything_and_the_search_finds(address: str, name: str) -> None:
    with browser() as tab:
        tab.send("Page.navigate", url=f"{address}/{name}?q=nonblocking-copy-to-host")
        tab.wait_for("Page.loadEventFired")
        title = tab.send("Runtime.evaluate", expression="document.querySelector('h1').textContent")["result"]["value"]
        found = tab.send("Runtime.evaluate", expression=FOUND, awaitPromise=True)["result"]["value"]
        sent = [each["params"] for each in tab.events if each["method"] == "Network.requestWillBeSent"]
        faults = [each for each in tab.events if each["method"] == "Runtime.exceptionThrown"]
    assert title.strip("¶\n ") in ("torchlint", "TNS101: numpy-on-grad-tensor")
    assert "rules/TNS108/" in found
    assert faults == []
    asked = [each["request"]["url"] for each in sent]
    assert any(url.endswith("/search/search_index.json") for url in asked)
    assert [url for url in asked if not url.startswith((f"{address}/", "data:", "blob:"))] == []


TOO_WIDE = """[...document.querySelectorAll('.md-typeset__scrollwrap')].filter(
    (each) => each.querySelector('.md-typeset__table').scrollWidth > each.clientWidth + 1).length"""


BROKEN = """[...document.querySelectorAll('.md-typeset__table :is(td, th)')].flatMap((cell) => {
    const found = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        for (const word of texts.currentNode.data.matchAll(/[\\w.]+/g)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((each) => each.top)).size > 1) found.push(word[0]);
        }
    }
    return found;
})"""
"""Words in cells, parts of a dotted name counted as one, that stand on two lines."""


@pytest.mark.skipif(executable() is None, reason="no Chromium on the path or in TORCHLINT_CHROMIUM")
@pytest.mark.parametrize(
    ("width", "names"),
    [
        (1280, ["corpus", "robustness", "cost", "rules", "rules/TNS101"]),
        (400, ["usage", "severity", "configuration", "cost", "rules", "rules/TNS101"]),
    ],
)
def test_tables_keep_words_whole_and_a_page_its_width(address: str, width: int, names: list[str]) -> None:
    """On a wide screen each table has room; on a narrow one a table that has not is scrolled, and not its page."""
    with browser() as tab:
        tab.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        for name in names:
            tab.events.clear()
            tab.send("Page.navigate", url=f"{address}/{name}/")
            tab.wait_for("Page.loadEventFired")
            assert tab.ask("document.querySelectorAll('.md-typeset__scrollwrap').length") > 0
            assert (name, tab.ask(BROKEN)) == (name, [])
            assert tab.ask("document.documentElement.scrollWidth") <= width, name
            assert width < 600 or tab.ask(TOO_WIDE) == 0, name


ASKED = {
    "silence a whole file": "usage/",
    "exclude tests": "configuration/",
    "ignore rules": "configuration/",
    "pre-commit": "ci/",
    "baseline": "baseline/",
    "numpy requires grad": "rules/TNS101/",
    "variable deprecated": "rules/TNS401/",
    "is a fix safe": "fix-safety/",
    "flake8": "usage/",
    "editor": "editors/",
    "vs code": "editors/",
    "neovim": "editors/",
    "safe fix": "fix-safety/",
    "cuda": "rules/TNS102/",
    "numpy bfloat16": "rules/TNS106/",
    "exit status": "usage/",
    "how do I ignore a rule": "configuration/",
    "install": "",
}
"""What people look for, and the page that must come first."""


@pytest.mark.skipif(shutil.which("node") is None, reason="node, in which the site's search runs, is not installed")
def test_the_search_finds_what_is_asked(site: Path) -> None:
    script = Path(__file__).with_name("site_search.js")
    done = subprocess.run(["node", script, site, *ASKED], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    first = dict(zip(ASKED, (each.partition("#")[0] for each in done.stdout.splitlines()), strict=True))
    assert first == ASKED


def test_the_service_that_hosts_it_builds_it_strictly_too() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema, which holds the schema, is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.readthedocs", ".readthedocs.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text(encoding="utf-8"))
    assert told["mkdocs"] == {"configuration": "mkdocs.yml", "fail_on_warning": True}
