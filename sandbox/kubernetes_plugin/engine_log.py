"""Send messages to the engine; without an engine, drop them."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any, Final

INFO: Final = 1
WARNING: Final = 2


class EngineLog:
    """The engine's log service, connected on first use."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._stub: Any = None
        self._lock = threading.Lock()
        self._shown: dict[str, str] = {}

    def attach(self, address: str) -> None:
        """Connect to another engine."""
        with self._lock:
            self._address, self._stub = address, None

    def status(self, urn: str, message: str) -> None:
        """Show a temporary message beside the resource; an empty one clears it."""
        with self._lock:
            if self._shown.get(urn, "") == message:
                return
            self._shown[urn] = message
        self._log(urn, message, INFO, ephemeral=True)

    def info(self, urn: str, message: str) -> None:
        """Log a message."""
        self._log(urn, message, INFO, ephemeral=False)

    def warning(self, urn: str, message: str) -> None:
        """Log a warning."""
        self._log(urn, message, WARNING, ephemeral=False)

    def _log(self, urn: str, message: str, severity: int, *, ephemeral: bool) -> None:
        grpc: Any = import_module("grpc")
        messages: Any = import_module("pulumi.runtime.proto.engine_pb2")
        try:
            stub = self._connected(grpc)
            if stub is not None:
                stub.Log(
                    messages.LogRequest(
                        severity=severity, message=message, urn=urn, ephemeral=ephemeral
                    ),
                    timeout=5,
                )
        except grpc.RpcError:
            return

    def _connected(self, grpc: Any) -> Any:
        with self._lock:
            if self._stub is None and self._address:
                services: Any = import_module("pulumi.runtime.proto.engine_pb2_grpc")
                self._stub = services.EngineStub(grpc.insecure_channel(self._address))
            return self._stub
