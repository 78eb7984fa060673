"""A workspace proxy's registration."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts, allowed_again, named
from coder_stack.features import WORKSPACE_PROXIES

__all__ = ["WORKSPACE_PROXY"]

_TEXTS = {"display_name": "display name", "icon": "icon"}


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    proxy = named("proxy", drift)
    if drift.gone:
        return f"{proxy} was deleted in coderd."
    if drift.not_created:
        return f"{proxy} is declared, but was not registered yet."
    if "enabled" in drift.paths:
        return allowed_again(proxy, drift)
    if drift.origin == "refresh" and "name" in drift.paths:
        return f"{proxy} was renamed in coderd to `{drift.actual.get('name')}`."
    other = [_TEXTS[path] for path in drift.paths if path in _TEXTS]
    if drift.origin == "refresh" and other:
        return f"{proxy} has another {' and '.join(other)} in coderd."
    return None


WORKSPACE_PROXY = Descriptor(
    name="WorkspaceProxyRegistration",
    noun="workspace proxy",
    secret_fields=("proxy_token",),
    feature=WORKSPACE_PROXIES,
    config_list="proxies",
    component="proxy",
    cause=_cause,
)
