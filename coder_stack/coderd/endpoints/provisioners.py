"""Provisioner keys and the daemons that use them (K, P3)."""

import re
from collections.abc import Mapping

from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.errors import KeyRejected
from coder_stack.coderd.models import (
    KeyDaemons,
    KeyRecord,
    List,
    NewProvisionerKey,
)
from coder_stack.coderd.request import Request, quoted
from coder_stack.features import EXTERNAL_PROVISIONERS

_NEW_KEY = TypeAdapter(NewProvisionerKey)
_KEY = TypeAdapter(KeyRecord)
_KEYS = TypeAdapter[tuple[KeyRecord, ...]](List[KeyRecord])
_KEY_DAEMONS = TypeAdapter[tuple[KeyDaemons, ...]](List[KeyDaemons])


class ProvisionerEndpoints(Endpoints):
    """Keys and daemons. `organization` is a name or an id."""

    def provisioner_keys(self, organization: str) -> tuple[KeyRecord, ...]:
        """List all keys but the built-in ones, oldest first."""
        request = Request(
            operation=f"list provisioner keys of organization {quoted(organization)}",
            method="GET",
            path=_keys(organization),
            feature=EXTERNAL_PROVISIONERS,
        )
        return self._ask(request, _KEYS)

    def create_provisioner_key(
        self, organization: str, name: str, tags: Mapping[str, str] | None = None
    ) -> NewProvisionerKey:
        """Create a key and return its plaintext, shown once. Coderd lower-cases the name."""
        request = Request(
            operation=f"create provisioner key {quoted(name)}",
            method="POST",
            path=_keys(organization),
            success=frozenset({201}),
            body={"name": name, "tags": dict(tags or {})},
            feature=EXTERNAL_PROVISIONERS,
        )
        return self._ask(request, _NEW_KEY)

    def delete_provisioner_key(self, organization: str, name: str) -> None:
        """Delete by name; raise NotFound if it is gone. Daemons stay connected for now."""
        request = Request(
            operation=f"delete provisioner key {quoted(name)}",
            method="DELETE",
            path=(*_keys(organization), name),
            success=frozenset({204}),
            feature=EXTERNAL_PROVISIONERS,
        )
        self._done(request)

    def provisioner_key_of(self, material: SecretStr) -> KeyRecord:
        """Return the key of this plaintext, which is the credential (K3); or raise KeyRejected."""
        operation = "check the provisioner key's material"
        key = material.get_secret_value()
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            why = "it is empty or holds characters that no key has; rotate it."
            raise KeyRejected(operation, why)
        request = Request(
            operation=operation,
            method="GET",
            # coderd ignores the last segment; a placeholder keeps the key out of access logs.
            path=("api", "v2", "provisionerkeys", "self"),
            auth="key",
            key=material,
        )
        return self._ask(request, _KEY)

    def daemons_by_key(self, organization: str) -> tuple[KeyDaemons, ...]:
        """List all keys, each with the daemons seen in the last three minutes."""
        request = Request(
            operation=f"list daemons by key of organization {quoted(organization)}",
            method="GET",
            path=(*_keys(organization), "daemons"),
            feature=EXTERNAL_PROVISIONERS,
        )
        return self._ask(request, _KEY_DAEMONS)


def _keys(organization: str) -> tuple[str, ...]:
    return ("api", "v2", "organizations", organization, "provisionerkeys")
