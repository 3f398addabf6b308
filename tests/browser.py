"""A real browser without a window, driven over a pipe by its own debugging protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def executable() -> str | None:
    """Find a Chromium; ``TORCHLINT_CHROMIUM`` names one that is not on the path."""
    named = os.environ.get("TORCHLINT_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One tab: what it asked for, what it complained of, and what its document says."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self._writing = os.fdopen(writing, "wb", buffering=0)
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Security"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._writing.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            came = self._reading.read(1 << 16)
            assert came, "the browser went away"
            self._rest += came
        message, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    def wait_for(self, method: str) -> None:
        """Wait for an event, taken away from those that came."""
        while True:
            for at, event in enumerate(self.events):
                if event.get("method") == method:
                    del self.events[at]
                    return
            self.events.append(self._next())

    def open(self, path: Path, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.events.clear()
        self.send("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """Evaluate JavaScript, promises waited for."""
        told = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13, " ": 32}.get(key, ord(key[0].upper()))
        text = {"Enter": "\r", "Tab": ""}.get(key, key)
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                text=text * (kind == "keyDown"),
            )

    def fetched(self) -> list[str]:
        """Return the addresses that the document asked for, data in addresses left out."""
        asked = (
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        )
        return [url for url in asked if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return what the console has: errors, and what the page's policy refused."""
        return [
            json.dumps(event["params"])
            for event in self.events
            if event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        ]

    def photograph(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """Start one with an empty profile, and end it."""
    to_browser, commands = os.pipe()
    answers, from_browser = os.pipe()
    command = executable()
    assert command
    flags = "headless=new no-sandbox disable-gpu no-first-run disable-dev-shm-usage remote-debugging-pipe".split()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:

        def lay_pipes() -> None:
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        process = subprocess.Popen(
            [command, *(f"--{flag}" for flag in flags), f"--user-data-dir={profile}"],
            pass_fds=(3, 4),
            preexec_fn=lay_pipes,  # noqa: PLW1509  # no other thread runs in these tests
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(answers, commands)
        finally:
            process.kill()
            process.wait()
