"""The peak memory of the process that runs the dynamic providers."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

_MODULE = "pulumi.dynamic"
_PAUSE = 0.2


class PeakMemory:
    """Watches the provider processes of the stacks in a folder while the block runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._peak = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    def said(self) -> str:
        """Return the highest figure."""
        return f"{self._peak / 1e6:.0f} MB" if self._peak else "not seen"

    def _watch(self) -> None:
        while not self._end.wait(_PAUSE):
            for process in psutil.process_iter(["cmdline", "memory_info", "cwd"]):
                info = process.info
                words = " ".join(info["cmdline"] or [])
                if _MODULE in words and self._folder in f"{words} {info['cwd']}":
                    self._peak = max(self._peak, info["memory_info"].rss)
