"""Licenses and entitlements (L, E). license.py reads what is in a license."""

from pydantic import SecretStr, TypeAdapter

from coder_stack.coderd.endpoints.base import Endpoints
from coder_stack.coderd.models import EntitlementsRecord, LicenseRecord, List
from coder_stack.coderd.request import Request

_LICENSE = TypeAdapter(LicenseRecord)
_LICENSES = TypeAdapter[tuple[LicenseRecord, ...]](List[LicenseRecord])
_ENTITLEMENTS = TypeAdapter(EntitlementsRecord)
_PATH = ("api", "v2", "licenses")


class LicenseEndpoints(Endpoints):
    """Licenses and entitlements."""

    def licenses(self) -> tuple[LicenseRecord, ...]:
        """List all licenses by id; the list is empty for users who are not owners."""
        return self._ask(Request(operation="list licenses", method="GET", path=_PATH), _LICENSES)

    def add_license(self, jwt: SecretStr) -> LicenseRecord:
        """Upload the trimmed text: with a line break coderd would store it a second time."""
        request = Request(
            operation="add the license",
            method="POST",
            path=_PATH,
            success=frozenset({201}),
            body={"license": SecretStr(jwt.get_secret_value().strip())},
        )
        return self._ask(request, _LICENSE)

    def delete_license(self, license_id: int) -> None:
        """Delete by id; raise NotFound if it is gone."""
        request = Request(
            operation=f"delete license {license_id}",
            method="DELETE",
            path=(*_PATH, str(license_id)),
        )
        self._done(request)

    def entitlements(self) -> EntitlementsRecord:
        """Return what coderd computed last. The route needs no token, so none is sent."""
        request = Request(
            operation="read entitlements",
            method="GET",
            path=("api", "v2", "entitlements"),
            auth="none",
        )
        return self._ask(request, _ENTITLEMENTS)
