"""An API server with the objects of a test, for a config that refers to some of them (F2)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coder_stack.cluster.references import Marks, missing_references
from coder_stack.naming import OWNER
from coder_stack.settings import Settings
from tests.http_server import QuietHandler, serve
from tests.provider.api_server import write_kubeconfig

MARK = "0123456789abcdef"
DEPLOYMENT_MARK = "0d0d0d0d"
MARKS = Marks(MARK, DEPLOYMENT_MARK)
DATABASE: dict[str, Any] = {"database": {"secretName": "db"}}
THEIRS: dict[str, Any] = {"createNamespace": False}
LICENSE = {"secret": {"name": "paid"}}


@dataclass
class Api:
    """An API server with these objects, by path below /api/v1/namespaces or /apis/apps/v1/…"""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    refusals: dict[str, tuple[int, bytes]] = field(default_factory=dict[str, tuple[int, bytes]])
    asked: list[str] = field(default_factory=list[str])
    port: int = 0
    folder: Path = Path()

    def namespace(self, name: str, *, ours: bool = False) -> None:
        annotations = {"metadata": {"annotations": {OWNER: MARK}}} if ours else {"metadata": {}}
        self.objects[name] = annotations

    def secret(self, path: str, *keys: str) -> None:
        namespace, _, name = path.partition("/")
        self.objects[f"{namespace}/secrets/{name}"] = {"data": dict.fromkeys(keys, "aHVzaA==")}

    def deployment(self, *, ours: bool = False) -> None:
        metadata = {"annotations": {OWNER: DEPLOYMENT_MARK}} if ours else {}
        self.objects["coder/deployments/coder"] = {"metadata": metadata}

    def answer(self, path: str) -> tuple[int, bytes]:
        short = path.partition("/namespaces/")[2]
        self.asked.append(short)
        if short in self.refusals:
            return self.refusals[short]
        if short in self.objects:
            return 200, json.dumps(self.objects[short]).encode()
        plural = short.split("/")[-2] if "/" in short else "namespaces"
        status = {"kind": "Status", "reason": "NotFound", "code": 404, "details": {"kind": plural}}
        return 404, json.dumps(status).encode()

    def missing(self, control_plane: dict[str, Any] | None = None, **parts: Any) -> list[str]:
        """What is reported for a config, without what names this cluster in the commands."""
        path = write_kubeconfig(self.folder, f"http://127.0.0.1:{self.port}")
        whole = {"kubernetes": {"kubeconfig": path}, "controlPlane": control_plane or {}, **parts}
        settings = Settings.model_validate(whole, by_alias=True, by_name=False)
        found = missing_references(settings, MARKS)
        return [line.replace(f"kubectl --kubeconfig {path}", "kubectl") for line in found]


@contextmanager
def serving(folder: Path) -> Iterator[Api]:
    api = Api(folder=folder)

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            status, body = api.answer(self.path)
            self.reply(status, body, Content_Type="application/json")

    with serve(Handler) as api.port:
        yield api
