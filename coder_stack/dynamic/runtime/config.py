"""What a provider process takes from the stack's config: the cluster, credentials, and whose.

Read once when the process is configured. In `pulumi destroy` and in a refresh without the program
it is the config of the last update, which Pulumi keeps encrypted in the state.
"""

import json
from collections.abc import Callable
from typing import Any, cast

from pydantic import SecretStr, ValidationError

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd import Connection, InvalidConnection
from coder_stack.coderd.connection import direct_url
from coder_stack.config_keys import CONFIG
from coder_stack.dynamic.runtime.props import PropsModel
from coder_stack.naming import CODERD_NAME, CODERD_NAMESPACE

__all__ = ["StackConfig", "service_way", "url_way"]


class StackConfig(PropsModel):
    """Everything here is optional: a library user may have none of it."""

    token: SecretStr | None = None
    initial_password: SecretStr | None = None
    kubernetes: Kubeconfig = Kubeconfig()
    way: str = ""
    """The one coderd that the config's credentials are for; empty if the config names none."""

    @classmethod
    def read(cls, get: Callable[[str], str | None]) -> "StackConfig":
        """From Pulumi's config, in which everything is text."""
        token, password = get(f"{CONFIG}:token"), get(f"{CONFIG}:initialPassword")
        try:
            kubernetes = Kubeconfig.model_validate(_mapping(get(f"{CONFIG}:kubernetes")))
        except ValidationError:
            kubernetes = Kubeconfig()  # the program reports what is wrong in it
        return cls(
            token=SecretStr(token) if token else None,
            initial_password=SecretStr(password) if password else None,
            kubernetes=kubernetes,
            way=_configured_way(
                _mapping(get(f"{CONFIG}:access")), _mapping(get(f"{CONFIG}:controlPlane"))
            ),
        )


def url_way(url: str) -> str:
    """Name the coderd behind a URL, however the URL is spelled."""
    try:
        return Connection(base_url=url).base_url.lower()
    except InvalidConnection:
        return url


def service_way(namespace: str, service: str) -> str:
    """Name the coderd behind the API server's proxy to a Service."""
    return f"service {namespace}/{service}"


def _configured_way(access: dict[str, Any], plane: dict[str, Any]) -> str:
    url: object = direct_url(
        access.get("url"),
        plane.get("accessUrl"),
        through_api_server=bool(access.get("throughApiServer")),
    )
    if isinstance(url, str):
        return url_way(url)
    if not access and not plane:
        return ""
    namespace = str(plane.get("namespace", CODERD_NAMESPACE))
    return service_way(namespace, str(plane.get("name", CODERD_NAME)))


def _mapping(text: str | None) -> dict[str, Any]:
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
