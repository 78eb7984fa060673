"""The gRPC service: one method for each call of the protocol, which converts messages."""

from __future__ import annotations

import json
import threading
from importlib import import_module
from typing import Any

from sandbox.kubernetes_plugin import configuring, naming
from sandbox.kubernetes_plugin.checking import NamingRequest
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import PluginError
from sandbox.kubernetes_plugin.provider import KubernetesProvider
from sandbox.kubernetes_plugin.replies import answered, refused, struct
from sandbox.kubernetes_plugin.urns import Urn
from sandbox.kubernetes_plugin.values import decode, reveal_object

# The generated modules have no usable types.
_pb: Any = import_module("pulumi.runtime.proto.provider_pb2")
_plugin: Any = import_module("pulumi.runtime.proto.plugin_pb2")
_empty: Any = import_module("google.protobuf.empty_pb2")
_services: Any = import_module("pulumi.runtime.proto.provider_pb2_grpc")


class Servicer(_services.ResourceProviderServicer):
    """The service for one engine."""

    def __init__(self, engine_address: str) -> None:
        self.cancelled = threading.Event()
        self._log = EngineLog(engine_address)
        self._provider: KubernetesProvider | None = None

    # -- the plugin itself -----------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's names
        """Return our features, and store the address of the engine's log."""
        if request.engine_address:
            self._log.attach(request.engine_address)
        return _pb.ProviderHandshakeResponse(
            accept_secrets=True, supports_autonaming_configuration=True
        )

    def Attach(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Use another engine, for a plugin that was started manually."""
        self._log.attach(request.address)
        return _empty.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the version of the programs' SDK, which the engine expects."""
        return _plugin.PluginInfo(version=_sdk_version())

    def GetSchema(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return a minimal schema."""
        schema = {"name": "kubernetes", "version": _sdk_version()}
        return _pb.GetSchemaResponse(schema=json.dumps(schema))

    def GetMapping(self, request: Any, context: Any) -> Any:  # noqa: N802
        """No mappings to other ecosystems."""
        return _pb.GetMappingResponse()

    def GetMappings(self, request: Any, context: Any) -> Any:  # noqa: N802
        """No mappings to other ecosystems."""
        return _pb.GetMappingsResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Cancel all waits."""
        self.cancelled.set()
        return _empty.Empty()

    # -- provider options ------------------------------------------------------------------------

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse options that the SDK does not have."""
        failures = [
            _pb.CheckFailure(property=option, reason=f"unknown provider option `{option}`")
            for option in configuring.unknown_options(decode(request.news))
        ]
        return _pb.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Replace all resources if another cluster is selected."""
        old, new = reveal_object(decode(request.olds)), reveal_object(decode(request.news))
        changed, replacing = configuring.changed_options(old, new)
        answer = _pb.DiffResponse
        changes = answer.DIFF_SOME if changed else answer.DIFF_NONE
        return answer(changes=changes, diffs=changed, replaces=replacing)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Set the options, and check whether the cluster answers."""

        def answer() -> Any:
            self._provider = configuring.configure(
                dict(request.variables), self._log, self.cancelled
            )
            return _pb.ConfigureResponse(
                acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
            )

        return answered(context, answer)

    # -- resources -------------------------------------------------------------------------------

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Complete the inputs."""

        def answer() -> Any:
            autonaming = request.autonaming
            naming_request = NamingRequest(
                bytes(request.randomSeed),
                str(autonaming.proposed_name),
                naming.Mode(autonaming.mode),
            )
            inputs = self._configured().check(
                Urn(request.urn), decode(request.olds), decode(request.news), naming_request
            )
            return _pb.CheckResponse(inputs=struct(inputs))

        return answered(context, answer)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the changes."""

        def answer() -> Any:
            plan = self._configured().diff(
                decode(request.olds), decode(request.news), list(request.ignoreChanges)
            )
            found = plan.difference
            response = _pb.DiffResponse
            return response(
                changes=response.DIFF_SOME if found.changes else response.DIFF_NONE,
                replaces=found.replaces,
                deleteBeforeReplace=plan.delete_before_replace,
                detailedDiff={
                    path: _pb.PropertyDiff(kind=change.value)
                    for path, change in found.changes.items()
                },
                hasDetailedDiff=True,
            )

        return answered(context, answer)

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Create an object and wait until it is ready."""

        def answer() -> Any:
            identity, outputs = self._configured().create(
                Urn(request.urn),
                decode(request.properties),
                float(request.timeout),
                preview=bool(request.preview),
            )
            return _pb.CreateResponse(id=identity, properties=struct(outputs))

        return answered(context, answer)

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refresh or import an object."""

        def answer() -> Any:
            found = self._configured().read(
                Urn(request.urn),
                str(request.id),
                decode(request.properties),
                decode(request.inputs),
            )
            if found is None:
                return _pb.ReadResponse()
            identity, outputs, inputs = found
            return _pb.ReadResponse(id=identity, properties=struct(outputs), inputs=struct(inputs))

        return answered(context, answer)

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Apply the new inputs and wait until the object is ready."""

        def answer() -> Any:
            outputs = self._configured().update(
                Urn(request.urn),
                decode(request.olds),
                decode(request.news),
                float(request.timeout),
                list(request.ignoreChanges),
                preview=bool(request.preview),
            )
            return _pb.UpdateResponse(properties=struct(outputs))

        return answered(context, answer)

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Delete an object and wait until it is gone."""

        def answer() -> Any:
            self._configured().delete(
                Urn(request.urn),
                str(request.id),
                decode(request.properties),
                float(request.timeout),
            )
            return _empty.Empty()

        return answered(context, answer)

    # -- left to the official plugin -------------------------------------------------------------

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse to render YAML, Helm and kustomize."""
        return refused(context, f"the function {request.tok}")

    def Call(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse methods of components."""
        return refused(context, f"the method {request.tok}")

    def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse components: ConfigFile, ConfigGroup, Chart, Directory."""
        return refused(context, f"the component {request.type}")

    def Parameterize(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse packages from CRDs."""
        return refused(context, "a parameterized package")

    def _configured(self) -> KubernetesProvider:
        if self._provider is None:
            raise PluginError("the kubernetes provider is not configured yet")
        return self._provider


def _sdk_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - slow, and most starts never ask

    return version("pulumi-kubernetes")
