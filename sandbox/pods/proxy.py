"""`coder wsproxy server`: registers with its token, again and again, and says goodbye.

As the real one: if the first registration fails it ends, and the kubelet starts it again; later it
gives up after the eleventh failure in a row. It relays nothing.
"""

import uuid
from collections.abc import Mapping

from sandbox.pods.program import PREFIX, Exited, Life, required

TOKEN = "CODER_PROXY_SESSION_TOKEN"  # noqa: S105  # the name of the variable
URL = "CODER_ACCESS_URL"
PRIMARY = "CODER_PRIMARY_ACCESS_URL"
_HEADER = "Coder-External-Proxy-Token"
_ME = f"{PREFIX}/workspaceproxies/me"
_PATIENCE = 10
_TRUE = ("1", "t", "true")


async def run(life: Life, env: Mapping[str, str]) -> None:
    """From the first registration to the goodbye."""
    headers = {_HEADER: required(env, TOKEN)}
    await life.reach(required(env, PRIMARY))
    # Another one each time: coderd does not let a replica come back that has said goodbye.
    replica = str(uuid.uuid4())
    body = registration(env, replica, life.container.pod, life.container.version)
    failures = _PATIENCE
    while True:
        answer = await life.call("POST", f"{_ME}/register", headers, json=body)
        life.accepted = answer is not None and answer.is_success
        failures = 0 if life.accepted else failures + 1
        if failures > _PATIENCE:
            raise Exited("failed to register with coderd")
        if await life.rest(life.beat):
            break
    life.accepted = False
    await life.call("POST", f"{_ME}/deregister", headers, json={"replica_id": replica})


def registration(
    env: Mapping[str, str], replica: str, host: str, version: str
) -> dict[str, str | bool]:
    """What a proxy says about itself, from its environment."""
    return {
        "access_url": required(env, URL),
        "wildcard_hostname": env.get("CODER_WILDCARD_ACCESS_URL", ""),
        "derp_enabled": env.get("CODER_DERP_SERVER_ENABLE", "true").lower() in _TRUE,
        "derp_only": env.get("CODER_PROXY_DERP_ONLY", "").lower() in _TRUE,
        "replica_id": replica,
        "hostname": host,
        "version": version,
    }
