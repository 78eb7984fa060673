"""Simulate `coder wsproxy server`: register with a token repeatedly, and deregister at the end.

As in the real program: it exits if the first registration fails, and later after eleven failures in
a row. It serves no traffic.
"""

import uuid
from collections.abc import Mapping

from sandbox.pods.program import PREFIX, Exited, RunningContainer, required

TOKEN = "CODER_PROXY_SESSION_TOKEN"  # noqa: S105  # the name of the variable
URL = "CODER_ACCESS_URL"
PRIMARY = "CODER_PRIMARY_ACCESS_URL"
_HEADER = "Coder-External-Proxy-Token"
_ME = f"{PREFIX}/workspaceproxies/me"
_MAX_FAILURES = 10
_TRUE = ("1", "t", "true")


async def run(running: RunningContainer, env: Mapping[str, str]) -> None:
    """Run until the pod is deleted."""
    headers = {_HEADER: required(env, TOKEN)}
    await running.require_coderd(required(env, PRIMARY))
    # A new one per start: coderd refuses a replica that has deregistered.
    replica = str(uuid.uuid4())
    body = registration(env, replica, running.container.pod, running.container.version)
    failures = _MAX_FAILURES
    while True:
        answer = await running.call("POST", f"{_ME}/register", headers, json=body)
        running.accepted = answer is not None and answer.is_success
        failures = 0 if running.accepted else failures + 1
        if failures > _MAX_FAILURES:
            raise Exited("failed to register with coderd")
        if await running.wait(running.heartbeat):
            break
    running.accepted = False
    await running.call("POST", f"{_ME}/deregister", headers, json={"replica_id": replica})


def registration(
    env: Mapping[str, str], replica: str, host: str, version: str
) -> dict[str, str | bool]:
    """Build the body of a registration from the environment."""
    return {
        "access_url": required(env, URL),
        "wildcard_hostname": env.get("CODER_WILDCARD_ACCESS_URL", ""),
        "derp_enabled": env.get("CODER_DERP_SERVER_ENABLE", "true").lower() in _TRUE,
        "derp_only": env.get("CODER_PROXY_DERP_ONLY", "").lower() in _TRUE,
        "replica_id": replica,
        "hostname": host,
        "version": version,
    }
