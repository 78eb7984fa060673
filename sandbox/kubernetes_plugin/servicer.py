"""The engine's side: protobuf messages in, protobuf messages out, errors as gRPC statuses.

No decisions here. An object that exists but is not live is reported with `ErrorResourceInitFailed` in the
status details, which is how the engine knows to keep it in the state.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any, Final

from sandbox.kubernetes_plugin import configuring, naming
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import PluginError, Unsupported
from sandbox.kubernetes_plugin.provider import InitFailed, Named, Provider
from sandbox.kubernetes_plugin.values import Object, decode, encode, reveal_object

# The generated modules have no usable types; here is where they stay.
_grpc: Any = import_module("grpc")
_pb: Any = import_module("pulumi.runtime.proto.provider_pb2")
_plugin: Any = import_module("pulumi.runtime.proto.plugin_pb2")
_struct: Any = import_module("google.protobuf.struct_pb2")
_empty: Any = import_module("google.protobuf.empty_pb2")
_any: Any = import_module("google.protobuf.any_pb2")
_status: Any = import_module("pulumi.runtime.proto.status_pb2")
_services: Any = import_module("pulumi.runtime.proto.provider_pb2_grpc")

_UNKNOWN_CODE: Final = 2


def struct(tree: Object) -> Any:
    """An object as a protobuf Struct."""
    message: Any = _struct.Struct()
    message.update(encode(tree))
    return message


class Servicer(_services.ResourceProviderServicer):
    """Answers one engine."""

    def __init__(self, engine_address: str) -> None:
        self.cancelled = threading.Event()
        self._log = EngineLog(engine_address)
        self._provider: Provider | None = None

    # -- the plugin itself -----------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - gRPC's names
        """Say what we understand; learn where the engine's log is."""
        if request.engine_address:
            self._log.attach(request.engine_address)
        return _pb.ProviderHandshakeResponse(
            accept_secrets=True, supports_autonaming_configuration=True
        )

    def Attach(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """An engine takes over a plugin that was started by hand."""
        self._log.attach(request.address)
        return _empty.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """The version of the SDK that programs use, so that the engine sees what it expects."""
        return _plugin.PluginInfo(version=metadata.version("pulumi-kubernetes"))

    def GetSchema(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """The least that is a schema; programs bring their own types."""
        version = metadata.version("pulumi-kubernetes")
        return _pb.GetSchemaResponse(schema=json.dumps({"name": "kubernetes", "version": version}))

    def GetMapping(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """No mappings to other ecosystems."""
        return _pb.GetMappingResponse()

    def GetMappings(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """No mappings to other ecosystems."""
        return _pb.GetMappingsResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """End all waits."""
        self.cancelled.set()
        return _empty.Empty()

    # -- provider options ------------------------------------------------------------------------

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Options that the SDK does not have are mistakes."""
        failures = [
            _pb.CheckFailure(property=option, reason=f"unknown provider option `{option}`")
            for option in configuring.unknown_options(decode(request.news))
        ]
        return _pb.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Another cluster replaces everything; other changes do not."""
        old, new = reveal_object(decode(request.olds)), reveal_object(decode(request.news))
        changed, replacing = configuring.changed_options(old, new)
        answer = _pb.DiffResponse
        changes = answer.DIFF_SOME if changed else answer.DIFF_NONE
        return answer(changes=changes, diffs=changed, replaces=replacing)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take the options and look whether the cluster answers."""

        def answer() -> Any:
            self._provider = configuring.configure(
                dict(request.variables), self._log, self.cancelled
            )
            return _pb.ConfigureResponse(
                acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
            )

        return _answered(context, answer)

    # -- resources -------------------------------------------------------------------------------

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Names, namespaces, canonical inputs."""

        def answer() -> Any:
            autonaming = request.autonaming
            inputs = self._configured().check(
                Named(request.urn),
                decode(request.olds),
                decode(request.news),
                bytes(request.randomSeed),
                str(autonaming.proposed_name),
                naming.Mode(autonaming.mode),
            )
            return _pb.CheckResponse(inputs=struct(inputs))

        return _answered(context, answer)

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        """What would change, and how."""

        def answer() -> Any:
            found, delete_first = self._configured().diff(
                Named(request.urn),
                decode(request.olds),
                decode(request.news),
                list(request.ignoreChanges),
            )
            response = _pb.DiffResponse
            return response(
                changes=response.DIFF_SOME if found.changes else response.DIFF_NONE,
                replaces=found.replaces,
                deleteBeforeReplace=delete_first,
                detailedDiff={
                    path: _pb.PropertyDiff(kind=change.value)
                    for path, change in found.changes.items()
                },
                hasDetailedDiff=True,
            )

        return _answered(context, answer)

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Create, and wait until live."""

        def answer() -> Any:
            identity, outputs = self._configured().create(
                Named(request.urn),
                decode(request.properties),
                float(request.timeout),
                preview=bool(request.preview),
            )
            return _pb.CreateResponse(id=identity, properties=struct(outputs))

        return _answered(context, answer)

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refresh or import."""

        def answer() -> Any:
            provider, named = self._configured(), Named(request.urn)
            if provider.drops_unreachable:
                self._log.warning(named.urn, "the cluster is unreachable: dropped from the state")
                return _pb.ReadResponse()
            found = provider.read(
                named, str(request.id), decode(request.properties), decode(request.inputs)
            )
            if found is None:
                return _pb.ReadResponse()
            identity, outputs, inputs = found
            return _pb.ReadResponse(id=identity, properties=struct(outputs), inputs=struct(inputs))

        return _answered(context, answer)

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Apply the new inputs, and wait until live."""

        def answer() -> Any:
            outputs = self._configured().update(
                Named(request.urn),
                decode(request.olds),
                decode(request.news),
                float(request.timeout),
                list(request.ignoreChanges),
                preview=bool(request.preview),
            )
            return _pb.UpdateResponse(properties=struct(outputs))

        return _answered(context, answer)

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Delete, and wait until gone."""

        def answer() -> Any:
            self._configured().delete(
                Named(request.urn),
                str(request.id),
                decode(request.properties),
                float(request.timeout),
            )
            return _empty.Empty()

        return _answered(context, answer)

    # -- left to the official plugin -------------------------------------------------------------

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        """YAML, Helm and kustomize rendering."""
        return _refused(context, f"the function {request.tok}")

    def Call(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Methods of components."""
        return _refused(context, f"the method {request.tok}")

    def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Components: ConfigFile, ConfigGroup, Chart, Directory."""
        return _refused(context, f"the component {request.type}")

    def Parameterize(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Packages made from CRDs."""
        return _refused(context, "a parameterized package")

    def _configured(self) -> Provider:
        if self._provider is None:
            raise PluginError("the kubernetes provider is not configured yet")
        return self._provider


def _refused(context: Any, what: str) -> Any:
    return context.abort(_grpc.StatusCode.UNIMPLEMENTED, str(Unsupported(what)))


def _answered(context: Any, answer: Callable[[], Any]) -> Any:
    """The answer, or its failure as a status with one sentence."""
    try:
        return answer()
    except InitFailed as failure:
        detail = _pb.ErrorResourceInitFailed(
            id=failure.id, properties=struct(failure.outputs), reasons=failure.reasons
        )
        if failure.inputs is not None:
            detail.inputs.CopyFrom(struct(failure.inputs))
        packed = _any.Any()
        packed.Pack(detail)
        status = _status.Status(code=_UNKNOWN_CODE, message=failure.reasons[0], details=[packed])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        return context.abort(_grpc.StatusCode.UNKNOWN, failure.reasons[0])
    except Unsupported as error:
        return context.abort(_grpc.StatusCode.UNIMPLEMENTED, str(error))
    except PluginError as error:
        return context.abort(_grpc.StatusCode.UNKNOWN, str(error))
