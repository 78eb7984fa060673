"""Replies to the engine: values as protobuf, errors as gRPC statuses with one sentence.

For an object that exists but is not ready, the status details contain `ErrorResourceInitFailed`, so
that the engine keeps it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from sandbox.kubernetes_plugin.errors import InitFailed, PluginError, Unsupported
from sandbox.kubernetes_plugin.values import Object, encode

_grpc: Any = import_module("grpc")
_pb: Any = import_module("pulumi.runtime.proto.provider_pb2")
_struct: Any = import_module("google.protobuf.struct_pb2")
_any: Any = import_module("google.protobuf.any_pb2")
_status: Any = import_module("pulumi.runtime.proto.status_pb2")

_UNKNOWN_CODE: Final = 2


def struct(tree: Object) -> Any:
    """Convert an object to a protobuf Struct."""
    message: Any = _struct.Struct()
    message.update(encode(tree))
    return message


def refused(context: Any, what: str) -> Any:
    """Reply that only the official plugin can do this."""
    return context.abort(_grpc.StatusCode.UNIMPLEMENTED, str(Unsupported(what)))


def answered(context: Any, answer: Callable[[], Any]) -> Any:
    """Return the reply, or set the error's status and sentence."""
    try:
        return answer()
    except InitFailed as failure:
        detail = _pb.ErrorResourceInitFailed(
            id=failure.identity, properties=struct(failure.outputs), reasons=failure.reasons
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
