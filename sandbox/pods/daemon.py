"""Simulate `coder provisionerd start`: connect with a key until the pod is deleted.

As in the real program: without coderd or with an unknown key it exits, and the kubelet restarts it.
Without a license it waits for ever and does not retry. A connected daemon keeps running if its key
is deleted. It does not sign off, so coderd lists it for another three minutes.
"""

from collections.abc import Mapping

from sandbox.pods.program import PREFIX, Exited, RunningContainer, required

KEY = "CODER_PROVISIONER_DAEMON_KEY"
NAME = "CODER_PROVISIONER_DAEMON_NAME"
URL = "CODER_URL"
_HEADER = "Coder-Provisioner-Daemon-Key"
_FORBIDDEN = 403


async def run(running: RunningContainer, env: Mapping[str, str]) -> None:
    """Run until the pod is deleted."""
    headers = {_HEADER: required(env, KEY)}
    await running.require_coderd(required(env, URL))
    # The real program sends the key in the path, which coderd does not read.
    known = await running.call("GET", f"{PREFIX}/provisionerkeys/own", headers)
    if known is None or not known.is_success:
        raise Exited("unable to get provisioner key details")
    name = env.get(NAME) or running.container.pod
    presence = {"name": name}
    if running.container.version:
        presence["version"] = running.container.version
    # The simulated coderd has no websocket; this route makes the same checks.
    entered = await running.call("POST", "/_sim/daemons", headers, json=presence)
    if entered is not None and entered.status_code == _FORBIDDEN:
        await running.ended.wait()
        return
    running.accepted = entered is not None and entered.is_success
    while not await running.wait(running.heartbeat):
        seen = await running.call("POST", "/_sim/daemons", headers, json=presence)
        running.accepted = seen is not None and seen.is_success
    running.accepted = False
