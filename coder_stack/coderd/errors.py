"""The errors of requests to coderd: one class per outcome, one reason per class.

CoderdError                     reason                 what it is, and the requirement behind it
├── NeverSent                                          nothing left this machine
│   ├── InvalidConnection       InvalidConnection      CP8: unusable URL, CA bundle or token
│   └── InsecureConnection      InsecureConnection     CP8: a secret would go over plain http
├── NoAnswer                                           coderd itself did not answer
│   ├── Unavailable             Unavailable            U2: 502/503/504, no connection or endpoint
│   │   └── RateLimited         RateLimited            U2: 429
│   ├── AnswerLost              AnswerLost             U3: sent, then the connection broke
│   ├── CertificateNotTrusted   CertificateNotTrusted  CP8: TLS verification failed
│   └── ApiServerRefused        ApiServerRefused       CP8, U1: Kubernetes' own 401/403/404
├── Refused                                            coderd refused
│   ├── Unauthenticated         Forbidden              CP6, L7, E6: 401
│   │   ├── PasswordLoginDisabled  Forbidden           CP6: 403 on login: single sign-on only
│   │   └── CredentialMissing   SecretMissing          CP6, CP10: its Secret is not there
│   ├── ForbiddenByRole         Forbidden              L7, E6: 403, or the 500 `rbac: forbidden`
│   ├── NotEntitled             NotEntitled            E4: 403 of the license gate
│   ├── RouteAbsent             NotSupported           L7: 404 `Route not found.` (AGPL build)
│   ├── NotFound                NotFound               U1, K6: coderd's own 404: really gone
│   ├── Conflict                Conflict               K2: 409, or the 500 of a unique name
│   ├── NotEmpty                NotEmpty               500: an organization that holds something
│   ├── DuplicateLicense        DuplicateLicense       L5: the 500 of `licenses_jwt_key`
│   ├── InvalidLicense          InvalidLicense         L7: 400, with the check that failed
│   ├── InvalidRequest          InvalidRequest         P2: 400, with the fields
│   ├── KeyRejected             KeyRejected            K3: the material belongs to no key
│   └── ServerFault             ServerFault            L7: any other 500
└── ProtocolError               ProtocolError          U1: not JSON, wrong shape, redirect, …

Messages are stable sentences that name the operation and the next step. They never quote a
response, so that no secret gets into one.
"""

from typing import ClassVar, Literal

from coder_stack.coderd.reasons import Reason

Credential = Literal["session token", "password", "provisioner key"]
LicenseCheck = Literal[
    "empty", "signature", "version", "iat", "nbf", "license_expires", "exp", "account_type",
    "account_id", "deployment", "other",
]  # fmt: skip
ProtocolFault = Literal["redirect", "not-json", "shape", "status", "too-large", "not-coderd"]


class CoderdError(Exception):
    """A request that failed; `operation` names it, and `reason` is what users see."""

    reason: ClassVar[Reason]
    permanent: ClassVar[bool] = True
    """Whether the same request fails again until somebody changes something."""

    def __init__(
        self,
        operation: str,
        why: str,
        *,
        may_have_happened: bool = False,
        status: int | None = None,
    ) -> None:
        doubt = " It may have taken effect: look it up before repeating it." * may_have_happened
        super().__init__(f"Cannot {operation}: {why}{doubt}")
        self.operation = operation
        self.may_have_happened = may_have_happened
        """Whether a change may have taken effect: look it up before repeating it (U3)."""
        self.status = status


class NeverSent(CoderdError):
    """Nothing left this machine."""


class InvalidConnection(NeverSent):
    """The URL, CA bundle or token cannot be used as it is."""

    reason = Reason.INVALID_CONNECTION


class InsecureConnection(NeverSent):
    """A secret would have gone over plain http to another machine."""

    reason = Reason.INSECURE_CONNECTION


class NoAnswer(CoderdError):
    """Coderd itself did not answer: the object is unknown, not gone."""


class Unavailable(NoAnswer):
    """Coderd cannot be reached now; `retry_after` are seconds, if the server named them."""

    reason = Reason.UNAVAILABLE
    permanent = False

    def __init__(
        self,
        operation: str,
        why: str,
        *,
        may_have_happened: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(operation, why, may_have_happened=may_have_happened, status=status)
        self.retry_after = retry_after


class AnswerLost(NoAnswer):
    """A request was sent that must not be repeated blindly, and no response came (U3)."""

    reason = Reason.ANSWER_LOST
    permanent = False


class RateLimited(Unavailable):
    """429: nothing was done; try again after `retry_after` seconds."""

    reason = Reason.RATE_LIMITED


class CertificateNotTrusted(NoAnswer):
    """The server's certificate failed verification."""

    reason = Reason.CERTIFICATE_NOT_TRUSTED


class ApiServerRefused(NoAnswer):
    """The Kubernetes API server answered instead: credentials, RBAC or a missing Service."""

    reason = Reason.API_SERVER_REFUSED


class Refused(CoderdError):
    """Coderd answered and refused."""


class Unauthenticated(Refused):
    """The `credential` was not accepted."""

    reason = Reason.FORBIDDEN

    def __init__(
        self, operation: str, why: str, *, credential: Credential, status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.credential: Credential = credential


class PasswordLoginDisabled(Unauthenticated):
    """Coderd accepts no password at all: give a session token (CP6)."""

    def __init__(self, operation: str, why: str, *, status: int | None = None) -> None:
        super().__init__(operation, why, credential="password", status=status)


class CredentialMissing(Unauthenticated):
    """The Secret does not hold the credential; nothing was sent."""

    reason = Reason.SECRET_MISSING


class ForbiddenByRole(Refused):
    """The token's user lacks the permission."""

    reason = Reason.FORBIDDEN


class NotEntitled(Refused):
    """The license lacks `feature`; None if the client does not know which one."""

    reason = Reason.NOT_ENTITLED

    def __init__(
        self, operation: str, why: str, *, feature: str | None, status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.feature = feature


class RouteAbsent(Refused):
    """This build of coderd has no such route."""

    reason = Reason.NOT_SUPPORTED


class NotFound(Refused):
    """Coderd itself says that the object does not exist, or this token may not see it."""

    reason = Reason.NOT_FOUND


class Conflict(Refused):
    """The name is taken, or the first user exists already."""

    reason = Reason.CONFLICT


class NotEmpty(Refused):
    """The organization still holds `contents`, such as `2 workspaces`."""

    reason = Reason.NOT_EMPTY

    def __init__(
        self, operation: str, why: str, *, contents: tuple[str, ...], status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.contents = contents


class DuplicateLicense(Refused):
    """This license is stored already; find it in the list."""

    reason = Reason.DUPLICATE_LICENSE


class InvalidLicense(Refused):
    """Coderd does not accept the license; `check` is the one that failed."""

    reason = Reason.INVALID_LICENSE

    def __init__(
        self, operation: str, why: str, *, check: LicenseCheck, status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.check: LicenseCheck = check


class InvalidRequest(Refused):
    """A value is not allowed; `fields` are the fields of the request that coderd named."""

    reason = Reason.INVALID_REQUEST

    def __init__(
        self, operation: str, why: str, *, fields: tuple[str, ...] = (), status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.fields = fields


class KeyRejected(Refused):
    """Coderd does not know the provisioner key, or no longer."""

    reason = Reason.KEY_REJECTED


class ServerFault(Refused):
    """An internal error of coderd."""

    reason = Reason.SERVER_FAULT
    permanent = False


class ProtocolError(CoderdError):
    """The response is not one that coderd gives; `fault` says why."""

    reason = Reason.PROTOCOL_ERROR

    def __init__(
        self,
        operation: str,
        why: str,
        *,
        fault: ProtocolFault,
        may_have_happened: bool = False,
        status: int | None = None,
    ) -> None:
        super().__init__(operation, why, may_have_happened=may_have_happened, status=status)
        self.fault: ProtocolFault = fault
