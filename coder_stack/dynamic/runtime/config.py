"""What a provider process takes from the stack's config: cluster, credentials and their target.

In `pulumi destroy` and in a refresh without the program it is the config of the last update, which
Pulumi stores encrypted in the state.
"""

import json
from collections.abc import Callable
from typing import Any, cast

from pydantic import SecretStr, ValidationError

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.connection import Connection, direct_url
from coder_stack.coderd.errors import InvalidConnection
from coder_stack.config_keys import CONFIG
from coder_stack.dynamic.runtime.props import PropsModel
from coder_stack.naming import CODERD_NAME, CODERD_NAMESPACE


class StackConfig(PropsModel):
    """The config of a stack; all of it is optional, because a library user may have none."""

    token: SecretStr | None = None
    initial_password: SecretStr | None = None
    kubernetes: Kubeconfig = Kubeconfig()
    target: str = ""
    """The coderd that the config's credentials are for; empty if the config names none."""

    @classmethod
    def read(cls, get: Callable[[str], str | None]) -> "StackConfig":
        """Parse Pulumi's config, in which every value is text."""
        token, password = get(f"{CONFIG}:token"), get(f"{CONFIG}:initialPassword")
        try:
            kubernetes = Kubeconfig.model_validate(_mapping(get(f"{CONFIG}:kubernetes")))
        except ValidationError:
            kubernetes = Kubeconfig()  # the program reports what is wrong in it
        return cls(
            token=SecretStr(token) if token else None,
            initial_password=SecretStr(password) if password else None,
            kubernetes=kubernetes,
            target=_configured_target(
                _mapping(get(f"{CONFIG}:access")), _mapping(get(f"{CONFIG}:controlPlane"))
            ),
        )


def url_target(url: str) -> str:
    """Name the coderd behind a URL, in one spelling."""
    try:
        return Connection(base_url=url).base_url.lower()
    except InvalidConnection:
        return url


def service_target(namespace: str, service: str) -> str:
    """Name the coderd behind the API server's proxy to a Service."""
    return f"service {namespace}/{service}"


def _configured_target(access: dict[str, Any], plane: dict[str, Any]) -> str:
    url: object = direct_url(
        access.get("url"),
        plane.get("accessUrl"),
        through_api_server=bool(access.get("throughApiServer")),
    )
    if isinstance(url, str):
        return url_target(url)
    if not access and not plane:
        return ""
    namespace = str(plane.get("namespace", CODERD_NAMESPACE))
    return service_target(namespace, str(plane.get("name", CODERD_NAME)))


def _mapping(text: str | None) -> dict[str, Any]:
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
