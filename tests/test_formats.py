"""The formats for programs: valid by their schemas whatever is reported, exact in place and text."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from tests.conftest import HEAVY
from tests.documents import MACHINE, read, texts
from tests.reports import PATHS, applied, document, everything
from torchlint.config.options import OUTPUT_FORMATS
from torchlint.diagnostics.model import FileResult, Trouble
from torchlint.output.report import Report

Program = Callable[..., Any]
WITH_SCHEMA = pytest.mark.parametrize("output_format", MACHINE)


# ---------------------------------------------------------------------- valid, whatever is reported
@WITH_SCHEMA
def test_everything_is_valid(output_format: str) -> None:
    told = read(output_format, document(output_format, everything()))
    count = 5 * len(PATHS) + 1
    if output_format == "sarif":
        assert len(told["runs"][0]["results"]) == count + len(PATHS)
    elif output_format == "rdjson":
        assert len(told["diagnostics"]) == count
    elif output_format == "junit":
        assert len(told.findall("testsuite/testcase/failure")) == count
    else:
        assert len(told) == count


@WITH_SCHEMA
def test_nothing_is_valid(output_format: str) -> None:
    read(output_format, document(output_format, Report(())))
    clean = FileResult("a.py", None)
    read(output_format, document(output_format, Report((clean,), troubles=(Trouble("b.py", "gone"),))))


@pytest.mark.parametrize(
    ("output_format", "spoil"),
    [
        ("sarif", lambda told: told["runs"][0]["results"][0]["locations"][0].update(line=1)),
        ("sarif", lambda told: told["runs"][0]["tool"]["driver"].pop("name")),
        ("gitlab", lambda told: told[0].update(severity="error")),
        ("rdjson", lambda told: told["diagnostics"][0]["location"]["range"]["start"].update(column=0)),
        ("json", lambda told: told[0].pop("cell")),
    ],
)
def test_the_schemas_refuse_what_is_wrong(output_format: str, spoil: Callable[[Any], None]) -> None:
    told = json.loads(document(output_format, everything()))
    spoil(told)
    with pytest.raises(jsonschema.ValidationError):
        read(output_format, json.dumps(told).encode())


def test_the_schema_of_junit_refuses_what_is_wrong() -> None:
    raw = document("junit", everything())
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        read("junit", raw.replace(b"<failure ", b"<fault ").replace(b"</failure>", b"</fault>"))


@pytest.mark.parametrize("output_format", [each for each in OUTPUT_FORMATS if each not in ("json", "json-lines")])
def test_no_control_reaches_a_reader(output_format: str) -> None:
    """Only json tells names that are no text as they are; it does so in escapes."""
    raw = document(output_format, everything()).decode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e\u2028\ufeff]", raw)
    if output_format in ("sarif", "gitlab", "rdjson"):
        assert not [each for each in texts(json.loads(raw)) if re.search("[\ud800-\udfff]", each)]


# ---------------------------------------------------------------------- through the program
@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of files with hostile names and contents, one of which cannot be read as Python."""
    names = [
        os.fsdecode(name) for name in (b"a b.py", b"new\nline.py", b"a,b:c%41.py", b"q\"'<&>]]>.py", b"\xff\xfe.py")
    ]
    for name in (*names, "\x1b[2J.py", "é日.py"):
        try:
            (tmp_path / name).write_text(
                "é = '𝒳</script>]]>'; a = w.numpy(), w.data\nw.numpy()  # noqa\n", encoding="utf-8"
            )
        except OSError:
            pytest.skip(f"this file system refuses {name!r} as a name")
    (tmp_path / "broken.py").write_bytes(b"def f(:\x0c\x1b ]]>\n")
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\r\n'\xe9'; w.numpy()")
    (tmp_path / "clean.py").write_bytes(b"x = 1\n")
    return tmp_path


@WITH_SCHEMA
def test_the_program_writes_valid_documents(output_format: str, project: Path, stand_in: Program) -> None:
    done = stand_in("--output-format", output_format)
    assert (done.status, done.stderr) == (1, "")
    read(output_format, done.raw)
    done = stand_in("--output-format", output_format, "--output-file", "out", "none.py", ".")
    assert done.status == 2
    assert done.stderr == "torchlint: error: none.py: no such file or folder\n"
    read(output_format, (project / "out").read_bytes())
    done = stand_in("--output-format", output_format, "clean.py")
    assert (done.status, done.stderr) == (0, "")
    read(output_format, done.raw)
    done = stand_in("--output-format", output_format, "-", stdin=b"w.numpy()")
    assert done.status == 1
    read(output_format, done.raw)


def test_silenced_findings_are_told_with_their_code_even_where_nothing_else_is_found(
    tmp_path: Path, stand_in: Program
) -> None:
    (tmp_path / "a.py").write_text("x = 1\nw.numpy()  # noqa\n")
    done = stand_in("--output-format", "sarif")
    assert done.status == 0
    (told,) = read("sarif", done.raw)["runs"][0]["results"]
    assert told["suppressions"] == [{"kind": "inSource", "status": "accepted"}]
    assert told["locations"][0]["physicalLocation"]["region"]["startLine"] == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the pool's processes inherit the stand-in by fork")
@pytest.mark.parametrize("output_format", OUTPUT_FORMATS)
def test_every_format_is_the_same_for_any_number_of_processes(
    output_format: str, tmp_path: Path, stand_in: Program
) -> None:
    for number in range(24):
        (tmp_path / f"f{number:02}.py").write_text(
            HEAVY + ("CRASH\n" if number == 5 else "w.numpy(); w.data\n" * (number % 4))
        )
    alone = stand_in("--jobs", "1", "--output-format", output_format, "--no-cache")
    assert alone.status == 2
    for jobs in ("2", "3"):
        pooled = stand_in("--fork", "--jobs", jobs, "--output-format", output_format, "--no-cache")
        assert (pooled.status, pooled.raw, pooled.stderr) == (2, alone.raw, alone.stderr)


@WITH_SCHEMA
def test_real_findings_are_valid_and_their_fixes_parse(output_format: str, tmp_path: Path, torchlint: Program) -> None:
    code = (
        "import torch\nfrom torch.autograd import Variable\n\n\ndef f(net, x, 名):\n"
        "    y = Variable(torch.FloatTensor(['</script>', ']]>', '\\x01é𝒳']), volatile=True)\n"
        "    net.weight.data.normal_()\n    net.weight.data = y\n    return net(x).numpy(), torch.Tensor(名)\n"
    )
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    done = torchlint("--output-format", output_format, "--select", "ALL")
    assert (done.status, done.stderr) == (1, "")
    told = read(output_format, done.raw)
    if output_format == "sarif":
        fixes = [each for result in told["runs"][0]["results"] for each in result.get("fixes", ())]
        assert len(fixes) >= 3
        for fix in fixes:
            edits = [
                (
                    (each["deletedRegion"]["startLine"], each["deletedRegion"]["startColumn"]),
                    (each["deletedRegion"]["endLine"], each["deletedRegion"]["endColumn"]),
                    each["insertedContent"]["text"],
                )
                for each in fix["artifactChanges"][0]["replacements"]
            ]
            ast.parse(applied(code, edits, str))


def test_the_flow_of_a_real_finding_leads_through_the_files_it_speaks_of(tmp_path: Path, torchlint: Program) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "nets.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
        "def predict(x):\n    net = Net()\n    return net(x)\n"
    )
    (tmp_path / "b.py").write_text(
        "from lib.nets import predict\n\n\ndef f(x):\n    y = predict(x)\n    return y.numpy()\n"
    )
    done = torchlint("--output-format", "sarif")
    (told,) = read("sarif", done.raw)["runs"][0]["results"]
    flow = [each["location"]["physicalLocation"] for each in told["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in flow] == [
        ("lib/nets.py", 10),
        ("lib/nets.py", 15),
        ("b.py", 5),
        ("b.py", 6),
    ]
    assert told["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "f"}]
