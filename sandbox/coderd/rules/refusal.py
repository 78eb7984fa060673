"""How coderd says no: a status, a message and sometimes a detail or the fields at fault.

Rules raise a RefusalError; the HTTP side words it as JSON. The texts here are shared.
"""

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
    """The answer is an error: everything an error body can hold."""

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
    """No route at that path."""

    def __init__(self) -> None:
        super().__init__(404, "Route not found.")


def not_found() -> RefusalError:
    """Missing, or not for this caller's eyes: coderd words both the same."""
    return RefusalError(404, NOT_FOUND_MESSAGE)


def forbidden() -> RefusalError:
    """Known caller, not permitted."""
    return RefusalError(403, "Forbidden.", FORBIDDEN_DETAIL)


def internal(detail: str) -> RefusalError:
    """An error coderd did not expect; also what several routes say for lack of permission."""
    return RefusalError(500, "An internal server error occurred.", detail)


def validation(*faults: FieldFault) -> RefusalError:
    """Struct validation failed."""
    return RefusalError(400, "Validation failed.", faults=faults)
