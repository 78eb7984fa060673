"""Registrations of workspace proxies and their tokens (W1)."""

from uuid import UUID

from pydantic import TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.models import ApiModel, List, ProxyRecord, RegisteredProxy
from coder_stack.coderd.request import Request, quoted
from coder_stack.features import WORKSPACE_PROXIES


class _Regions(ApiModel):
    regions: List[ProxyRecord]


_REGIONS = TypeAdapter(_Regions)
_PROXY = TypeAdapter(ProxyRecord)
_REGISTERED = TypeAdapter(RegisteredProxy)
_PATH = ("api", "v2", "workspaceproxies")


class ProxyEndpoints(Endpoints):
    """Workspace proxies. `proxy` is an id, or a name in its exact case."""

    def workspace_proxies(self) -> tuple[ProxyRecord, ...]:
        """List the primary first, then the others, without deleted ones."""
        request = Request(
            operation="list workspace proxies", method="GET", path=_PATH, feature=WORKSPACE_PROXIES
        )
        return self._ask(request, _REGIONS).regions

    def workspace_proxy(self, proxy: str) -> ProxyRecord:
        """Return one proxy; by id this finds deleted ones too: look at `deleted`."""
        request = Request(
            operation=f"look up workspace proxy {quoted(proxy)}",
            method="GET",
            path=(*_PATH, proxy),
            feature=WORKSPACE_PROXIES,
        )
        return self._ask(request, _PROXY)

    def create_workspace_proxy(
        self, name: str, *, display_name: str = "", icon: str = ""
    ) -> RegisteredProxy:
        """Register a proxy; without display name or icon it cannot be updated later."""
        request = Request(
            operation=f"create workspace proxy {quoted(name)}",
            method="POST",
            path=_PATH,
            success=frozenset({201}),
            body={"name": name, "display_name": display_name, "icon": icon},
            feature=WORKSPACE_PROXIES,
        )
        return self._ask(request, _REGISTERED)

    def update_workspace_proxy(
        self,
        proxy: UUID,
        *,
        name: str,
        display_name: str,
        icon: str,
        regenerate_token: bool = False,
    ) -> RegisteredProxy:
        """Update all three texts, none of them empty. A new token ends the old one at once."""
        request = Request(
            operation=f"update workspace proxy {quoted(name)}",
            method="PATCH",
            path=(*_PATH, str(proxy)),
            body={
                "id": proxy,
                "name": name,
                "display_name": display_name,
                "icon": icon,
                "regenerate_token": regenerate_token,
            },
            feature=WORKSPACE_PROXIES,
            # A second new token would end the first, which may be in use already.
            repeatable=not regenerate_token,
        )
        return self._ask(request, _REGISTERED)

    def delete_workspace_proxy(self, proxy: str) -> None:
        """Delete and free the name; by name, not by id, raise NotFound if it is gone."""
        request = Request(
            operation=f"delete workspace proxy {quoted(proxy)}",
            method="DELETE",
            path=(*_PATH, proxy),
            feature=WORKSPACE_PROXIES,
        )
        self._done(request)
