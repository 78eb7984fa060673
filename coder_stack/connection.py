"""The `connection` of a stack's dynamic resources: how they reach coderd, and where their token is.

Holds no secret. The provider process reads it in dynamic/runtime/session.py.
"""

from typing import Any

import pulumi

from coder_stack.components.operator import credential_of
from coder_stack.naming import operator_secret_name, stack_hash
from coder_stack.settings import ControlPlaneSettings, Settings


def connection_of(settings: Settings, *, token_given: bool) -> dict[str, Any]:
    """Return it. `token_given`: the stack's config has a token."""
    plane = settings.control_plane
    own_secret = {"namespace": plane.namespace, "name": _operator_secret(plane)}
    credential = credential_of(settings.access, own_secret, token_given=token_given)
    return {**_address(settings), "credential": credential}


def _address(settings: Settings) -> dict[str, Any]:
    """Return a URL, or coderd's Service behind the API server's proxy."""
    access, plane, url = settings.access, settings.control_plane, settings.direct_url
    if url is None:
        return {
            "service_proxy": {
                "namespace": plane.namespace,
                "service": plane.name,
                "port": str(plane.service_port),
                "tls": plane.tls is not None,
            }
        }
    connection: dict[str, Any] = {"url": url.rstrip("/"), "allow_insecure": access.allow_insecure}
    if access.ca_bundle:
        connection["ca_bundle"] = access.ca_bundle
    return connection


def _operator_secret(plane: ControlPlaneSettings) -> str:
    """Return the name of the Secret for a token that the stack creates.

    Several stacks may use one coderd, but only one of them deploys it.
    """
    if not plane.exists_already:
        return operator_secret_name(plane.name)
    return operator_secret_name(plane.name, stack_hash(pulumi.get_project(), pulumi.get_stack()))
