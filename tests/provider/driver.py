"""The real `python -m pulumi.dynamic` process, driven over gRPC the way the engine drives it.

Bags are plain dicts. They cross the same wire as in production: numbers come back as floats, None
vanishes, `UNKNOWN` is an unknown. Secrets go in unwrapped, because the engine unwraps them for this
kind of provider.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pulumi import dynamic
from pulumi.dynamic.dynamic import serialize_provider

from tests.simulation import OWNER_TOKEN

grpc: Any = import_module("grpc")
pb: Any = import_module("pulumi.runtime.proto.provider_pb2")
services: Any = import_module("pulumi.runtime.proto.provider_pb2_grpc")
struct_pb2: Any = import_module("google.protobuf.struct_pb2")
json_format: Any = import_module("google.protobuf.json_format")

ROOT = Path(__file__).parents[2]
PROJECT = "coder-stack"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine writes a value that only the coming update will know."""

Bag = dict[str, Any]
Said = Callable[[], str]
"""What a process has told the user since a test began."""


class Failure(Exception):  # noqa: N818  # what a call ended with
    """What the engine would show. `last` is the line that people read."""

    @property
    def last(self) -> str:
        return str(self).strip().splitlines()[-1]


@dataclass(frozen=True)
class Checked:
    inputs: Bag
    failures: list[tuple[str, str]]


@dataclass(frozen=True)
class Difference:
    replaces: list[str]
    delete_first: bool
    changes: str
    """`unknown`: the engine compares the inputs itself."""


@dataclass(frozen=True)
class Held:
    """What the engine would store."""

    id: str
    outputs: Bag
    inputs: Bag


class Driven:
    """One kind of resource in a provider process."""

    def __init__(self, stub: Any, reference: str) -> None:
        self._stub = stub
        self.reference = reference

    def check(self, news: Bag, olds: Bag | None = None) -> Checked:
        request = pb.CheckRequest(olds=self._struct(olds or {}), news=self._struct(news))
        answer = self._call("Check", request)
        failures = [(failure.property, failure.reason) for failure in answer.failures]
        return Checked(_bag(answer.inputs), failures)

    def diff(self, held: Held, news: Bag) -> Difference:
        request = pb.DiffRequest(
            id=held.id, olds=self._struct(held.outputs), news=self._struct(news)
        )
        answer = self._call("Diff", request)
        changes = {0: "unknown", 1: "none", 2: "some"}[answer.changes]
        return Difference(list(answer.replaces), answer.deleteBeforeReplace, changes)

    def create(self, news: Bag) -> Held:
        """Check, then create, as an update would."""
        checked = self.check(news)
        assert checked.failures == []
        return self.create_checked(checked.inputs)

    def create_checked(self, inputs: Bag) -> Held:
        answer = self._call("Create", pb.CreateRequest(properties=self._struct(inputs)))
        return Held(answer.id, _bag(answer.properties), inputs)

    def read(self, held: Held) -> Held | None:
        """What a refresh would find; None if the object is gone."""
        request = pb.ReadRequest(
            id=held.id,
            properties=self._struct(held.outputs),
            inputs=self._struct(held.inputs),
        )
        answer = self._call("Read", request)
        if not answer.id:
            return None
        return Held(answer.id, _bag(answer.properties), _bag(answer.inputs))

    def update(self, held: Held, news: Bag) -> Held:
        """Check against what is held, then update."""
        checked = self.check(news, held.inputs)
        assert checked.failures == []
        request = pb.UpdateRequest(
            id=held.id,
            olds=self._struct(held.outputs),
            news=self._struct(checked.inputs),
        )
        return Held(held.id, _bag(self._call("Update", request).properties), checked.inputs)

    def delete(self, held: Held) -> None:
        self._call("Delete", pb.DeleteRequest(id=held.id, properties=self._struct(held.outputs)))

    def _struct(self, bag: Bag) -> Any:
        return _struct({**bag, "__provider": self.reference} if bag else {})

    def _call(self, method: str, request: Any) -> Any:
        try:
            return getattr(self._stub, method)(request, timeout=120, wait_for_ready=True)
        except grpc.RpcError as error:
            raise Failure(error.details()) from None


class ProviderProcess:
    """One process, as one `pulumi` command would have it."""

    def __init__(self, stub: Any, errors: Path) -> None:
        self._stub = stub
        self._errors = errors

    def of(self, provider: dynamic.ResourceProvider) -> Driven:
        return Driven(self._stub, serialize_provider(provider))

    def of_reference(self, reference: str) -> Driven:
        """As an old state names it."""
        return Driven(self._stub, reference)

    @property
    def stderr(self) -> str:
        """What it has told the user so far."""
        return self._errors.read_text()


@contextmanager
def provider_process(
    config: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[ProviderProcess]:
    """Started and configured; ended with the block.

    `config` is the stack's, its keys ours by default; without one it holds the simulations' token.
    """
    with tempfile.NamedTemporaryFile("w", prefix="provider-", suffix=".err") as errors:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "pulumi.dynamic"],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env={**os.environ, "PULUMI_PROJECT": PROJECT, **(environment or {})},
        )
        assert process.stdout is not None
        killer = threading.Timer(60, process.kill)
        killer.start()
        port = process.stdout.readline().decode().strip()
        killer.cancel()
        try:
            assert port.isdigit(), Path(errors.name).read_text()
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = services.ResourceProviderStub(channel)
                values = {
                    key if ":" in key else f"{PROJECT}:{key}": value
                    for key, value in ({"token": OWNER_TOKEN} if config is None else config).items()
                }
                stub.Configure(
                    pb.ConfigureRequest(args=_struct(values)), timeout=60, wait_for_ready=True
                )
                yield ProviderProcess(stub, Path(errors.name))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _struct(bag: Bag) -> Any:
    message = struct_pb2.Struct()
    message.update(bag)
    return message


def _bag(message: Any) -> Bag:
    """Without `__provider`, which the engine puts back."""
    bag: Bag = json_format.MessageToDict(message)
    return {key: value for key, value in bag.items() if key != "__provider"}
