"""coderd's container and its environment, from the settings.

listening.py has what a proxy shares, and pod.py adds what the config says about any workload (more
environment, resources, scheduling).
"""

from typing import Any

from coder_stack.components.parts.listening import (
    HTTP_ADDRESS,
    listening_container,
    listening_env,
    relay_env,
)
from coder_stack.components.parts.pod import Container, secret_env
from coder_stack.environment import ACCESS_URL
from coder_stack.settings import ControlPlaneSettings


def coderd_container(want: ControlPlaneSettings) -> Container:
    """Return the container of a pod of coderd."""
    return listening_container(
        want, name="coder", image=want.image, args=["server"], env=_env(want)
    )


def _env(want: ControlPlaneSettings) -> list[dict[str, Any]]:
    plain = {
        "CODER_HTTP_ADDRESS": HTTP_ADDRESS,
        # Without an access URL coderd opens a tunnel to the internet.
        ACCESS_URL: want.access_url or want.in_cluster_url,
    }
    if want.wildcard_access_url:
        plain["CODER_WILDCARD_ACCESS_URL"] = want.wildcard_access_url
    plain |= listening_env(want)
    env: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in plain.items()]
    if want.database_secret:
        env.append(secret_env("CODER_PG_CONNECTION_URL", *want.database_secret))
    return env + relay_env(want)
