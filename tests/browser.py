"""A headless browser for tests that look at a page: opened from a file, asked over DevTools.

The browser comes from the toolchain; where none can be had the test fails and says why. The only
pages it opens are our own files, so it runs without its own sandbox (which containers forbid).
"""

import base64
import contextlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websocket

from sandbox import toolchain

_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--no-first-run", "--disable-extensions", "--disable-background-networking",
    "--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1",
)  # fmt: skip
_ADDRESS = re.compile(r"DevTools listening on (ws://127\.0\.0\.1:\d+/\S+)")
_SECONDS = 180


@dataclass
class Tab:
    """One page. `asked` are the addresses that it tried to load."""

    connection: websocket.WebSocket
    session: str = ""
    asked: list[str] = field(default_factory=list)
    numbers: int = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.numbers += 1
        message = {"id": self.numbers, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.connection.send(json.dumps(message))
        while True:
            answer = self._next()
            if answer.get("id") == self.numbers:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def open(self, page: Path, *, width: int, dark: bool = False, paper: bool = False) -> None:
        """Show a file at a width, in light or dark, on a screen or on paper."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=844, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "", features=[scheme])
        self.asked.clear()
        self.call("Page.navigate", url=page.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def ask(self, expression: str) -> Any:
        """What a JavaScript expression comes to; promises are awaited."""
        result = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def picture(self, file: Path) -> None:
        """The whole page as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> dict[str, Any]:
        answer = json.loads(self.connection.recv())
        if answer.get("method") == "Network.requestWillBeSent":
            self.asked.append(answer["params"]["request"]["url"])
        return answer


@contextlib.contextmanager
def browser() -> Iterator[Tab]:
    """A browser with one empty page, ended with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [str(toolchain.browser().path), *_OPTIONS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            with contextlib.closing(_connect(process)) as connection:
                tab = Tab(connection)
                target = tab.call("Target.createTarget", url="about:blank")["targetId"]
                attached = tab.call("Target.attachToTarget", targetId=target, flatten=True)
                tab.session = attached["sessionId"]
                for domain in ("Page", "Network", "Runtime"):
                    tab.call(f"{domain}.enable")
                tab.call("Page.setBypassCSP", enabled=True)  # for axe, not for the page
                yield tab
        finally:
            process.terminate()
            process.communicate(timeout=_SECONDS)


def _connect(process: subprocess.Popen[str]) -> websocket.WebSocket:
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        if found := _ADDRESS.search(line):
            return websocket.create_connection(
                found[1], timeout=_SECONDS, suppress_origin=True, http_no_proxy=["127.0.0.1"]
            )
        said.append(line)
    raise AssertionError(f"the browser ended at once: {''.join(said[-5:])}")
