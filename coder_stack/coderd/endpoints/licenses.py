"""Licenses and what they entitle to (L, E). What is inside a license is read in license.py."""

from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.models import EntitlementsRecord, LicenseRecord, List
from coder_stack.coderd.request import Request

__all__ = ["LicenseEndpoints"]

_LICENSE = TypeAdapter(LicenseRecord)
_LICENSES = TypeAdapter[tuple[LicenseRecord, ...]](List[LicenseRecord])
_ENTITLEMENTS = TypeAdapter(EntitlementsRecord)
_PATH = ("api", "v2", "licenses")


class LicenseEndpoints(Endpoints):
    """Licenses and entitlements."""

    def licenses(self) -> tuple[LicenseRecord, ...]:
        """All stored ones by id. Empty also for a user who may not see them: only an owner may."""
        return self._ask(Request(operation="list licenses", method="GET", path=_PATH), _LICENSES)

    def add_license(self, jwt: SecretStr) -> LicenseRecord:
        """The trimmed text: coderd would store a copy with a line break as another license."""
        request = Request(
            operation="add the license",
            method="POST",
            path=_PATH,
            success=frozenset({201}),
            body={"license": SecretStr(jwt.get_secret_value().strip())},
        )
        return self._ask(request, _LICENSE)

    def delete_license(self, license_id: int) -> None:
        """For good; NotFound if it is gone."""
        request = Request(
            operation=f"delete license {license_id}",
            method="DELETE",
            path=(*_PATH, str(license_id)),
        )
        self._done(request)

    def entitlements(self) -> EntitlementsRecord:
        """What coderd computed last. The route asks for no token, so none is sent."""
        request = Request(
            operation="read entitlements",
            method="GET",
            path=("api", "v2", "entitlements"),
            auth="none",
        )
        return self._ask(request, _ENTITLEMENTS)
