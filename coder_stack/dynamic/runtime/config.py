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
from coder_stack.config_keys import CONFIG, namespace_in
from coder_stack.dynamic.runtime.props import PropsModel
from coder_stack.naming import CODERD_NAME, CODERD_NAMESPACE


class StackConfig(PropsModel):
    """The config of a stack; all of it is optional, because a library user may have none."""

    token: SecretStr | None = None
    initial_password: SecretStr | None = None
    kubernetes: Kubeconfig = Kubeconfig()
    targets: tuple[str, ...] = ()
    """The coderd that the config's credentials are for, by every name that the config has for it.

    The first is the one that the program uses. Empty if the config names none.
    """
    namespace: str = CONFIG
    """Where the keys are: `coder-stack`, or the name of a project that is this program."""

    @classmethod
    def read(cls, get: Callable[[str], str | None], project: str = CONFIG) -> "StackConfig":
        """Parse Pulumi's config, in which every value is text."""
        namespace = namespace_in(project, lambda key: get(key) is not None)
        token, password = get(f"{namespace}:token"), get(f"{namespace}:initialPassword")
        try:
            kubernetes = Kubeconfig.model_validate(_mapping(get(f"{namespace}:kubernetes")))
        except ValidationError:
            kubernetes = Kubeconfig()  # the program reports what is wrong in it
        return cls(
            token=SecretStr(token) if token else None,
            initial_password=SecretStr(password) if password else None,
            kubernetes=kubernetes,
            targets=_configured_targets(
                _mapping(get(f"{namespace}:access")), _mapping(get(f"{namespace}:controlPlane"))
            ),
            namespace=namespace,
        )

    @property
    def target(self) -> str:
        """Return the program's name of that coderd; empty if the config names none."""
        return self.targets[0] if self.targets else ""

    def canonical(self, target: str) -> str:
        """Return one name for all targets that are the config's coderd; others as they are."""
        return self.target if target in self.targets else target


def url_target(url: str) -> str:
    """Name the coderd behind a URL, in one spelling."""
    try:
        return Connection(base_url=url).base_url.lower()
    except InvalidConnection:
        return url


def service_target(namespace: str, service: str) -> str:
    """Name the coderd behind the API server's proxy to a Service."""
    return f"service {namespace}/{service}"


def _configured_targets(access: dict[str, Any], plane: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of coderd: `access.url` alone, or its Service and its access URL.

    A stack may move between those two and keep its token, also in a destroy without the program.
    """
    if not access and not plane:
        return ()
    own, public = access.get("url"), plane.get("accessUrl")
    if isinstance(own, str):
        return (url_target(own),)
    through, of_another = access.get("throughApiServer"), plane.get("fromStack")
    if of_another and not through:
        return ()  # only that stack's outputs tell its URL
    namespace = str(plane.get("namespace", CODERD_NAMESPACE))
    service = service_target(namespace, str(plane.get("name", CODERD_NAME)))
    if not isinstance(public, str):
        return (service,)
    url: object = direct_url(
        None, public, through_api_server=through, deployed=plane.get("deploy") is not False
    )
    return (service, url_target(public)) if url is None else (url_target(public), service)


def _mapping(text: str | None) -> dict[str, Any]:
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
