"""An editor for the tests: a client of the language server over standard input and output, and nothing else."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests import nightly
from tests.forked import Forked

ROOT = Path(__file__).parents[1]
PROGRAM = (sys.executable, "-m", "torchlint")
PATIENCE = 120.0

Message = dict[str, Any]

ABLE: Message = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}},
    },
    "notebookDocument": {"synchronization": {}},
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
}
"""What a modern editor says that it can do."""


def _started(folder: Path, command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes] | Forked:
    """Start the server as an editor does, by a command; without one, forked, and in the nightly run by its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **env}
    if not command and not nightly.RUNS:
        return Forked(folder, ("server", "-v"), environment)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command or (*PROGRAM, "server", "-v"), cwd=folder, env=environment, **streams)


class Editor:
    """Starts the server as an editor does, and keeps what it says."""

    def __init__(self, folder: Path, *command: str, env: dict[str, str] | None = None) -> None:
        self.folder = folder
        self._process = _started(folder, command, env or {})
        self._incoming: queue.Queue[Message | None] = queue.Queue()
        self._ids = 0
        self.told: list[Message] = []
        """Every notice and every request of the server, in order."""
        self._answers: dict[int, Message] = {}
        self.stderr = b""
        threading.Thread(target=self._listen, daemon=True).start()
        self._errors = threading.Thread(target=self._hear, daemon=True)
        self._errors.start()

    # ------------------------------------------------------------------ the wire
    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._incoming.put(json.loads(stream.read(length)))
        self._incoming.put(None)

    def _hear(self) -> None:
        assert self._process.stderr is not None
        self.stderr = self._process.stderr.read()

    def raw(self, body: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stream.flush()

    def _send(self, message: Message) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self._send({"method": method} if params is None else {"method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        return self._ids

    def request(self, method: str, params: Any = None) -> Any:
        answer = self.answer(self.ask(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def refused(self, method: str, params: Any = None) -> Message:
        answer = self.answer(self.ask(method, params))
        assert "error" in answer, answer
        return answer["error"]

    def answer(self, number: int) -> Message:
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def _take(self) -> None:
        message = self._incoming.get(timeout=PATIENCE)
        assert message is not None, f"the server is gone: {self.stderr.decode()}"
        if "method" in message:
            self.told.append(message)
            if "id" in message:  # a request of the server: an editor agrees to all
                self._send({"id": message["id"], "result": None})
        else:
            self._answers[message["id"]] = message

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """Wait for a notice; those before it, and it, are forgotten."""
        while True:
            for at, message in enumerate(self.told):
                if wanted(message):
                    del self.told[: at + 1]
                    return message
            self._take()

    # ------------------------------------------------------------------ an editor's day
    def start(self, able: Message | None = None, folders: Sequence[Path] | None = None, **more: Any) -> Message:
        roots = [self.folder] if folders is None else folders
        result: Message = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": roots[0].as_uri() if roots else None,
                "workspaceFolders": [{"uri": each.as_uri(), "name": each.name} for each in roots],
                "capabilities": ABLE if able is None else able,
                **more,
            },
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def diagnostics(self, uri: str, version: int | None = None) -> list[Message]:
        """Wait for the diagnostics of a document, of a version where one is given."""

        def wanted(message: Message) -> bool:
            params = message.get("params", {})
            here = message["method"] == "textDocument/publishDiagnostics" and params["uri"] == uri
            return here and (version is None or params.get("version") == version)

        found: list[Message] = self.until(wanted)["params"]["diagnostics"]
        return found

    def message(self) -> str:
        """Wait for a message to the user."""
        said: str = self.until(lambda each: each["method"] == "window/showMessage")["params"]["message"]
        return said

    def hover(self, uri: str, line: int, character: int) -> Any:
        return self.request(
            "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        )

    def actions(self, uri: str, line: int, character: int, only: list[str] | None = None) -> list[Message]:
        place = {"line": line, "character": character}
        context = {"diagnostics": [], **({"only": only} if only is not None else {})}
        found: list[Message] = self.request(
            "textDocument/codeAction",
            {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": context},
        )
        return found

    def resolved(self, action: Message) -> Message:
        found: Message = self.request("codeAction/resolve", action)
        return found

    def settled(self) -> list[Message]:
        """Return what was told, once the server has come to rest: a question goes through the same queue as notices."""
        self.refused("torchlint/none", {})
        return self.told

    def end(self) -> int:
        """Close the editor in good order; give the exit status of the server."""
        self.request("shutdown")
        self.notify("exit")
        return self.gone()

    def gone(self) -> int:
        status = self._process.wait(PATIENCE)
        self._errors.join(PATIENCE)
        return status

    def hang_up(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.gone()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(PATIENCE)


def applied(text: str, edits: Sequence[Message], encoding: str = "utf-16") -> str:
    """Apply the edits of an action as an editor does: by rows and columns in the units agreed on."""
    starts = [0]
    at = 0
    while at < len(text):
        step = 2 if text.startswith("\r\n", at) else 1
        if text[at] in "\r\n":
            starts.append(at + step)
        at += step if text[at] in "\r\n" else 1
    width = {"utf-8": lambda c: len(c.encode()), "utf-16": lambda c: 1 + (c > "\uffff"), "utf-32": lambda _: 1}[
        encoding
    ]

    def index(place: Message) -> int:
        if place["line"] >= len(starts):
            return len(text)
        found, units = starts[place["line"]], 0
        while units < place["character"]:
            assert text[found : found + 1] not in ("", "\r", "\n"), f"{place} lies behind its row"
            units += width(text[found])
            found += 1
        return found

    places = sorted((index(each["range"]["start"]), index(each["range"]["end"]), each["newText"]) for each in edits)
    assert all(one[1] <= other[0] for one, other in pairwise(places)), "edits overlap"
    for start, end, new in reversed(places):
        text = text[:start] + new + text[end:]
    return text


TEXT = """\
import torch

net = torch.nn.Linear(2, 2)
x = net(torch.ones(2))
a = x.numpy()
b = torch.Tensor(3)
"""
RULES = "https://torchlint.readthedocs.io/rules"


def codes(diagnostics: list[Message]) -> list[tuple[str, int]]:
    return [(each["code"], each["range"]["start"]["line"] + 1) for each in diagnostics]


def span(line: int, start: int, end: int) -> Message:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
