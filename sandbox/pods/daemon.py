"""`coder provisionerd start`: presents its key and stays connected for as long as its pod lives.

As the real one: an unknown key, or no coderd, ends it at once, and the kubelet starts it again.
Without a license the door stays shut for good: it neither ends nor tries again. Once it is in,
nothing but the end of its pod makes it stop; if its key is deleted it is just no longer listed. It
says no goodbye: coderd lists it for three minutes more.
"""

from collections.abc import Mapping

from sandbox.pods.program import PREFIX, Exited, Life, required

KEY = "CODER_PROVISIONER_DAEMON_KEY"
NAME = "CODER_PROVISIONER_DAEMON_NAME"
URL = "CODER_URL"
_HEADER = "Coder-Provisioner-Daemon-Key"
_FORBIDDEN = 403


async def run(life: Life, env: Mapping[str, str]) -> None:
    """From the first question to the end of the pod."""
    headers = {_HEADER: required(env, KEY)}
    await life.reach(required(env, URL))
    # The path is not looked at; the real program puts the key there, and so into every access log.
    known = await life.call("GET", f"{PREFIX}/provisionerkeys/own", headers)
    if known is None or not known.is_success:
        raise Exited("unable to get provisioner key details")
    name = env.get(NAME) or life.container.pod
    presence = {"name": name}
    if life.container.version:
        presence["version"] = life.container.version
    # The simulation speaks no websocket: this control is its door, with the same checks.
    entered = await life.call("POST", "/_sim/daemons", headers, json=presence)
    if entered is not None and entered.status_code == _FORBIDDEN:
        await life.ended.wait()
        return
    life.accepted = entered is not None and entered.is_success
    while not await life.rest(life.beat):
        seen = await life.call("POST", "/_sim/daemons", headers, json=presence)
        life.accepted = seen is not None and seen.is_success
    life.accepted = False
