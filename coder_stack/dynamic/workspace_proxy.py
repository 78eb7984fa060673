"""The registration of a workspace proxy in coderd: its name, texts, and token.

Name, display name and icon are changed in place; a new `trigger` makes a new token (W1). The health
of the running proxy is in proxy_health.py.
"""

import hashlib
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pulumi
from pydantic import SecretStr

from coder_stack.coderd.errors import NotEntitled
from coder_stack.coderd.models import ProxyRecord, RegisteredProxy
from coder_stack.coderd.names import proxy_name_fault
from coder_stack.coderd.procedures.proxies import (
    ProxyTexts,
    change_proxy,
    register_proxy,
    remove_proxy,
)
from coder_stack.coderd.reasons import Reason
from coder_stack.descriptors import WORKSPACE_PROXY
from coder_stack.dynamic.runtime import answers
from coder_stack.dynamic.runtime.check import CheckRequest
from coder_stack.dynamic.runtime.declared import Declared
from coder_stack.dynamic.runtime.licensed import (
    NOT_PROVISIONED,
    LicensedInputs,
    settled_by_license,
)
from coder_stack.dynamic.runtime.props import Known, Problem, PropsSecret
from coder_stack.dynamic.runtime.provider import CoderdProvider
from coder_stack.dynamic.runtime.resource import CoderdResource
from coder_stack.dynamic.runtime.session import Session

# Coderd accepts a registration without an icon, but then never a change of it.
DEFAULT_ICON = "/emojis/1f30e.png"
_TEXTS = ("name", "display_name", "icon", "trigger")
_LONGEST_DISPLAY_NAME = 64
_DECLARED = Declared()
"""Names of proxies, in lower case as coderd compares them."""


class ProxyInputs(LicensedInputs):
    """What the program asks for. `check` fills in an empty display name or icon."""

    name: str
    display_name: str = ""
    icon: str = ""
    trigger: str = ""


class ProxyState(ProxyInputs):
    """What coderd has, and the token that it showed once."""

    proxy_id: str = ""
    proxy_token: PropsSecret = SecretStr("")
    proxy_token_sha256: str = ""
    status: str = ""
    """`ok`, `unreachable`, `unhealthy`, `unregistered` or `unknown`, as coderd saw it last."""
    version: str = ""
    proxy_url: str = ""
    reason: str = ""


class WorkspaceProxyRegistrationProvider(CoderdProvider[ProxyInputs, ProxyState]):
    """Only the first registration replaces the placeholder."""

    descriptor = WORKSPACE_PROXY
    delete_is_best_effort = True

    def label(self, model: ProxyInputs) -> str:
        """Name the proxy."""
        return f'{self.noun} "{model.name}"'

    def identify(self, state: ProxyState) -> str:
        """Return the proxy's uuid."""
        return state.proxy_id or NOT_PROVISIONED

    def examine(
        self, request: CheckRequest[ProxyInputs], session: Session | None
    ) -> tuple[Mapping[str, Any], list[Problem]]:
        """Fill in the texts, or defer the change while the license is gone."""
        if session is not None and isinstance(name := request.known.get("name"), str):
            _DECLARED.add(session.target, name.lower())
        problems, values = _problems(request.known), _default_texts(request.known)
        return settled_by_license(self.label, request.whole, request.old, values, _TEXTS), problems

    def create_object(self, session: Session, want: ProxyInputs) -> ProxyState:
        """Register the proxy; without entitlement keep a placeholder (E4)."""
        if not want.enabled:
            return ProxyState.model_validate({**dict(want), "reason": Reason.NOT_ENTITLED})
        registered = register_proxy(session.coderd, _texts(want))
        return ProxyState.model_validate(
            {**dict(want), **_of_coderd(registered.proxy), **_token(registered)}
        )

    def update_object(self, session: Session, want: ProxyInputs, known: ProxyState) -> ProxyState:
        """Send a PATCH if a text or the trigger changed."""
        facts = {"reason": "" if want.enabled else Reason.NOT_ENTITLED}
        changed = [name for name in _TEXTS if getattr(want, name) != getattr(known, name)]
        merged = {**dict(known), **dict(want), **facts}
        if not changed or not known.proxy_id:
            return ProxyState.model_validate(merged)
        registered = change_proxy(
            session.coderd, UUID(known.proxy_id), _texts(want), new_token="trigger" in changed
        )
        return ProxyState.model_validate(
            {**merged, **_of_coderd(registered.proxy), **_token(registered)}
        )

    def observe(self, session: Session, known: ProxyState) -> ProxyState | None:
        """Read it from the list, which leaves out deleted proxies."""
        if not known.proxy_id:
            return known
        try:
            proxies = session.cached(answers.PROXIES)
        except NotEntitled:
            return known.model_copy(update={"reason": Reason.NOT_ENTITLED})
        found = next((p for p in proxies if str(p.id) == known.proxy_id and not p.deleted), None)
        if found is None:
            return None
        facts = {"provisioned": True, "reason": "" if known.enabled else Reason.NOT_ENTITLED}
        return known.model_copy(update={**_of_coderd(found), **facts})

    def delete_object(self, session: Session, known: ProxyState) -> None:
        """Delete it by its id, since another proxy may have the name by now.

        Not if the program declares a proxy of that name: then another resource has adopted it.
        """
        if known.proxy_id and not self._is_adopted(session, known):
            remove_proxy(session.coderd, known.proxy_id)

    def _is_adopted(self, session: Session, known: ProxyState) -> bool:
        if not _DECLARED.has(session.target, known.name.lower()):
            return False
        named = (each for each in session.coderd.workspace_proxies() if not each.deleted)
        return any(
            (str(p.id), p.name.lower()) == (known.proxy_id, known.name.lower()) for p in named
        )


class WorkspaceProxyRegistration(CoderdResource, descriptor=WORKSPACE_PROXY):
    """A registered workspace proxy; `proxy_token` is what it runs with, a secret."""

    proxy_id: pulumi.Output[str]
    name: pulumi.Output[str]
    display_name: pulumi.Output[str]
    icon: pulumi.Output[str]
    proxy_token: pulumi.Output[str]
    proxy_token_sha256: pulumi.Output[str]
    status: pulumi.Output[str]
    version: pulumi.Output[str]
    proxy_url: pulumi.Output[str]
    enabled: pulumi.Output[bool]
    provisioned: pulumi.Output[bool]
    deferred: pulumi.Output[list[str]]
    reason: pulumi.Output[str]

    def __init__(
        self,
        resource_name: str,
        *,
        connection: pulumi.Input[Mapping[str, Any]],
        name: pulumi.Input[str],
        display_name: pulumi.Input[str] | None = None,
        icon: pulumi.Input[str] | None = None,
        trigger: pulumi.Input[str] | None = None,
        enabled: pulumi.Input[bool] = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        props = {
            "connection": connection,
            "name": name,
            "display_name": display_name,
            "icon": icon,
            "trigger": trigger,
            "enabled": enabled,
        }
        super().__init__(WorkspaceProxyRegistrationProvider(), resource_name, props, opts)


def _default_texts(known: Known) -> dict[str, str]:
    """Fill in the texts that are empty, as far as the name is known."""
    filled: dict[str, str] = {}
    if known.get("display_name") == "" and "name" in known:
        filled["display_name"] = known["name"][:_LONGEST_DISPLAY_NAME].strip()
    if known.get("icon") == "":
        filled["icon"] = DEFAULT_ICON
    return filled


def _problems(known: Known) -> list[Problem]:
    name, shown = known.get("name", "proxy"), known.get("display_name", "")
    found: list[Problem] = []
    if fault := proxy_name_fault(name):
        found.append(Problem("name", fault))
    if len(shown) > _LONGEST_DISPLAY_NAME or shown != shown.strip():
        found.append(
            Problem("display_name", "must be at most 64 characters, no spaces at its ends")
        )
    return found


def _texts(inputs: ProxyInputs) -> ProxyTexts:
    return ProxyTexts(inputs.name, inputs.display_name, inputs.icon)


def _of_coderd(proxy: ProxyRecord) -> dict[str, Any]:
    return {
        "proxy_id": str(proxy.id),
        "name": proxy.name,
        "display_name": proxy.display_name,
        "icon": proxy.icon_url,
        "status": proxy.status.status,
        "version": proxy.version,
        "proxy_url": proxy.path_app_url,
    }


def _token(registered: RegisteredProxy) -> dict[str, Any]:
    """Return the token, if coderd made one."""
    text = registered.proxy_token.get_secret_value()
    if not text:
        return {}
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"proxy_token": registered.proxy_token, "proxy_token_sha256": digest}
