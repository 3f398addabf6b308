"""The bounds of the dependencies say what continuous integration tests, for every Python that is promised."""

from __future__ import annotations

import re

from tests.conftest import ROOT

PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
MATRIX = (ROOT / ".github" / "workflows" / "versions.yml").read_text(encoding="utf-8")


def test_the_oldest_releases_are_those_that_are_tested() -> None:
    wanted = dict(re.findall(r'^    "(libcst|packaging|pathspec|rich|tomli)>=([\d.]+)', PROJECT, re.MULTILINE))
    wanted |= dict(re.findall(r'^flake8 = \["(flake8)>=([\d.]+)"\]', PROJECT, re.MULTILINE))
    assert set(wanted) == {"libcst", "packaging", "pathspec", "rich", "tomli", "flake8"}
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / ".ci" / "oldest.txt").read_text(), re.MULTILINE))
    assert {name: version.split(".") for name, version in pinned.items()} == {
        name: [*version.split("."), *["0"] * (3 - len(version.split(".")))] for name, version in wanted.items()
    }
    assert "-r .ci/oldest.txt" in MATRIX


def test_every_python_that_is_promised_is_in_the_matrix() -> None:
    promised = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    assert re.search(r'^requires-python = ">=(3\.\d+)"', PROJECT, re.MULTILINE)[1] == promised[0]  # type: ignore[index]
    assert f"python: {promised}".replace("'", '"') in MATRIX


def test_the_tests_that_are_named_exist() -> None:
    named = set(re.findall(r"tests/test_\w+\.py", MATRIX))
    assert len(named) > 8
    assert all((ROOT / each).is_file() for each in named)
