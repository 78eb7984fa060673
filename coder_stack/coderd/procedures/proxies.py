"""Register, update and delete one workspace proxy in coderd without leaving an orphan.

Coderd shows the token once, updates only name, display name and icon together, and keeps the name
of a proxy that a killed run left (U3).
"""

from dataclasses import dataclass
from uuid import UUID

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.errors import CoderdError, Conflict, NoAnswer, NotFound
from coder_stack.coderd.models import ProxyRecord, RegisteredProxy

_ATTEMPTS = 3


@dataclass(frozen=True)
class ProxyTexts:
    """The texts of a proxy; with an empty one coderd would refuse every update."""

    name: str
    display_name: str
    icon: str


def register_proxy(coderd: Coderd, texts: ProxyTexts) -> RegisteredProxy:
    """Register a proxy; if the name is taken or the response lost, take it with a new token."""
    attempt = 1
    while True:
        try:
            return coderd.create_workspace_proxy(
                texts.name, display_name=texts.display_name, icon=texts.icon
            )
        except CoderdError as error:
            if not (isinstance(error, Conflict) or error.may_have_happened):
                raise
            left_behind = _find_by_name(coderd, texts.name, cause=error)
            if left_behind is not None:
                return change_proxy(coderd, left_behind.id, texts, new_token=True)
            if attempt == _ATTEMPTS or not isinstance(error, NoAnswer):
                raise
        attempt += 1


def change_proxy(
    coderd: Coderd, proxy_id: UUID, texts: ProxyTexts, *, new_token: bool
) -> RegisteredProxy:
    """Write all texts. If a new token's response is lost, ask again: the last one counts."""
    attempt = 1
    while True:
        try:
            return coderd.update_workspace_proxy(
                proxy_id,
                name=texts.name,
                display_name=texts.display_name,
                icon=texts.icon,
                regenerate_token=new_token,
            )
        except NoAnswer as error:
            if not error.may_have_happened or attempt == _ATTEMPTS:
                raise
        attempt += 1


def remove_proxy(coderd: Coderd, proxy_id: str) -> bool:
    """Delete by id, since the name may belong to another proxy by now; False if it was gone."""
    try:
        coderd.delete_workspace_proxy(proxy_id)
    except NotFound:
        return False
    return True


def _find_by_name(coderd: Coderd, name: str, *, cause: CoderdError) -> ProxyRecord | None:
    try:
        listed = coderd.workspace_proxies()
    except CoderdError:
        # The next run asks for the same name, and finds what is left as a conflict.
        raise cause from None
    return next((proxy for proxy in listed if proxy.name.lower() == name.lower()), None)
