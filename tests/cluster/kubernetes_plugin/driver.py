"""The real plugin process, driven over gRPC the way the engine drives it, with plain dicts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from sandbox.kubernetes_plugin.values import UNKNOWN, Object, Secret, decode, encode

grpc: Any = import_module("grpc")
pb: Any = import_module("pulumi.runtime.proto.provider_pb2")
services: Any = import_module("pulumi.runtime.proto.provider_pb2_grpc")
struct_pb2: Any = import_module("google.protobuf.struct_pb2")
empty_pb2: Any = import_module("google.protobuf.empty_pb2")
status_pb2: Any = import_module("pulumi.runtime.proto.status_pb2")

SCRIPT = Path(__file__).parents[3] / "sandbox/kubernetes_plugin/bin/pulumi-resource-kubernetes"

__all__ = ["UNKNOWN", "Failure", "Plugin", "Resource", "Secret", "grpc", "pb", "start"]


class Failure(Exception):  # noqa: N818 - what a call ends with, not a bug
    """An error status, with the state that the engine would store for an unready object."""

    def __init__(self, error: Any) -> None:
        self.code = error.code()
        self.init: Any = None
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                detail = pb.ErrorResourceInitFailed()
                status_pb2.Status.FromString(value).details[0].Unpack(detail)
                self.init = detail
        self.reasons = [error.details()] if self.init is None else list(self.init.reasons)
        super().__init__("; ".join(self.reasons))

    @property
    def outputs(self) -> Object:
        return decode(self.init.properties)


@dataclass
class Resource:
    """A resource as the engine keeps it: id, checked inputs, outputs."""

    urn: str
    inputs: Object
    id: str = ""
    outputs: Object = field(default_factory=dict)


def struct(tree: Object) -> Any:
    message = struct_pb2.Struct()
    message.update(encode(tree))
    return message


class Plugin:
    """One plugin process, one configured provider."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.stub = services.ResourceProviderStub(self.channel)

    def call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self.stub, method)(request, timeout=120, wait_for_ready=True)
        except grpc.RpcError as error:
            raise Failure(error) from None

    def configure(self, **options: str) -> Plugin:
        variables = {f"kubernetes:config:{key}": value for key, value in options.items()}
        self.call("Configure", pb.ConfigureRequest(variables=variables, acceptSecrets=True))
        return self

    def check(self, obj: Object, *, name: str = "thing", old: Object | None = None) -> Resource:
        version, kind = str(obj["apiVersion"]), obj["kind"]
        module = version if "/" in version else f"core/{version}"
        urn = f"urn:pulumi:test::project::kubernetes:{module}:{kind}::{name}"
        answer = self.call(
            "Check",
            pb.CheckRequest(urn=urn, olds=struct(old or {}), news=struct(obj), randomSeed=b"seed"),
        )
        return Resource(urn, decode(answer.inputs))

    def create(self, obj: Object, *, timeout: float = 0, name: str = "thing") -> Resource:
        return self.create_checked(self.check(obj, name=name), timeout=timeout)

    def create_checked(self, resource: Resource, *, timeout: float = 0) -> Resource:
        answer = self.call(
            "Create",
            pb.CreateRequest(urn=resource.urn, properties=struct(resource.inputs), timeout=timeout),
        )
        return Resource(resource.urn, resource.inputs, answer.id, decode(answer.properties))

    def preview_create(self, obj: Object) -> Object:
        resource = self.check(obj)
        answer = self.call(
            "Create",
            pb.CreateRequest(urn=resource.urn, properties=struct(resource.inputs), preview=True),
        )
        assert answer.id == ""
        return decode(answer.properties)

    def diff(self, resource: Resource, obj: Object, *, ignore: list[str] | None = None) -> Any:
        new = self.check(obj, old=resource.inputs)
        return self.call(
            "Diff",
            pb.DiffRequest(
                urn=resource.urn,
                id=resource.id,
                olds=struct(resource.outputs),
                news=struct(new.inputs),
                ignoreChanges=ignore or [],
            ),
        )

    def update(
        self,
        resource: Resource,
        obj: Object,
        *,
        timeout: float = 0,
        preview: bool = False,
        ignore: list[str] | None = None,
    ) -> Resource:
        new = self.check(obj, old=resource.inputs)
        answer = self.call(
            "Update",
            pb.UpdateRequest(
                urn=resource.urn,
                id=resource.id,
                olds=struct(resource.outputs),
                news=struct(new.inputs),
                timeout=timeout,
                preview=preview,
                ignoreChanges=ignore or [],
            ),
        )
        return Resource(resource.urn, new.inputs, resource.id, decode(answer.properties))

    def refresh(self, resource: Resource) -> Resource | None:
        """What a refresh reads; None if the object is gone."""
        answer = self.call(
            "Read",
            pb.ReadRequest(
                urn=resource.urn,
                id=resource.id,
                properties=struct(resource.outputs),
                inputs=struct(resource.inputs),
            ),
        )
        if not answer.id:
            return None
        return Resource(resource.urn, decode(answer.inputs), answer.id, decode(answer.properties))

    def drift(self, resource: Resource) -> set[str]:
        """The paths that a `preview --refresh` would show for an unchanged program."""
        seen = self.refresh(resource)
        assert seen is not None
        return set(self.diff_to_inputs(seen, resource.inputs).detailedDiff)

    def diff_to_inputs(self, resource: Resource, inputs: Object) -> Any:
        return self.call(
            "Diff",
            pb.DiffRequest(
                urn=resource.urn,
                id=resource.id,
                olds=struct(resource.outputs),
                news=struct(inputs),
            ),
        )

    def delete(self, resource: Resource, *, timeout: float = 0) -> None:
        self.call(
            "Delete",
            pb.DeleteRequest(
                urn=resource.urn,
                id=resource.id,
                properties=struct(resource.outputs),
                timeout=timeout,
            ),
        )

    def cancel(self) -> None:
        self.call("Cancel", empty_pb2.Empty())

    def stop(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def start(cwd: Path, engine: str = "") -> Plugin:
    """Start the script and read its port, as the engine does."""
    # As in the sandbox: the environment's own Python comes first.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.Popen(
        [str(SCRIPT), *([engine] if engine else [])],
        stdout=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PATH": path},
    )
    assert process.stdout is not None
    killer = threading.Timer(30, process.kill)
    killer.start()
    line = process.stdout.readline()
    killer.cancel()
    assert line.strip().isdigit(), f"the first line must be the port, not {line!r}"
    return Plugin(process, int(line))
