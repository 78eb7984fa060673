"""coderd's error responses: rules raise RefusalError, application.py sends it as JSON."""

from dataclasses import dataclass

NOT_FOUND_MESSAGE = "Resource not found or you do not have access to this resource"
FORBIDDEN_DETAIL = (
    "You don't have permission to view this content. If you believe this is a mistake, "
    "please contact your administrator or try signing in with different credentials."
)
RBAC_FORBIDDEN = "unauthorized: rbac: forbidden"


@dataclass(frozen=True)
class FieldFault:
    """One entry of `validations`."""

    field: str
    detail: str


class RefusalError(Exception):
    """An error response: status, message, detail, invalid fields and headers."""

    def __init__(
        self,
        status: int,
        message: str,
        detail: str = "",
        faults: tuple[FieldFault, ...] = (),
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.detail = detail
        self.faults = faults
        self.headers = headers


class NoSuchRouteError(RefusalError):
    """There is no route at that path."""

    def __init__(self) -> None:
        super().__init__(404, "Route not found.")


def not_found() -> RefusalError:
    """Return the 404 for objects that do not exist or that the actor may not see."""
    return RefusalError(404, NOT_FOUND_MESSAGE)


def forbidden() -> RefusalError:
    """Return the 403 for actors without permission."""
    return RefusalError(403, "Forbidden.", FORBIDDEN_DETAIL)


def internal(detail: str) -> RefusalError:
    """Return the 500, which several routes also use for a missing permission."""
    return RefusalError(500, "An internal server error occurred.", detail)


def validation(*faults: FieldFault) -> RefusalError:
    """Return the 400 for invalid fields."""
    return RefusalError(400, "Validation failed.", faults=faults)
