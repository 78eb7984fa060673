"""Every way a call to coderd can end badly: one leaf per outcome, one reason word per leaf.

CoderdError                     reason                 what it is, and the requirement behind it
├── NeverSent                                          nothing left this machine
│   ├── InvalidConnection       InvalidConnection      CP8: unusable URL, CA bundle or token
│   └── InsecureConnection      InsecureConnection     CP8: a secret would go over plain http
├── NoAnswer                                           coderd itself did not get to answer
│   ├── Unavailable             Unavailable            U2: 502/503/504, no connection or endpoint
│   │   └── RateLimited         RateLimited            U2: 429
│   ├── AnswerLost              AnswerLost             U3: sent, then the connection broke
│   ├── CertificateNotTrusted   CertificateNotTrusted  CP8: TLS verification failed
│   └── ApiServerRefused        ApiServerRefused       CP8, U1: Kubernetes' own 401/403/404
├── Refused                                            coderd said no
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
│   ├── KeyRejected             KeyRejected            K3: the material opens no key (any more)
│   └── ServerFault             ServerFault            L7: any other 500
└── ProtocolError               ProtocolError          U1: not JSON, wrong shape, redirect, …

Messages are stable sentences that name the operation and the next step. They are made of words of
this package and of names the caller gave, never of a response: no secret and no body gets into one.
"""

from typing import ClassVar, Literal

from coder_stack.coderd.reasons import Reason

__all__ = [
    "AnswerLost",
    "ApiServerRefused",
    "CertificateNotTrusted",
    "CoderdError",
    "Conflict",
    "Credential",
    "CredentialMissing",
    "DuplicateLicense",
    "ForbiddenByRole",
    "InsecureConnection",
    "InvalidConnection",
    "InvalidLicense",
    "InvalidRequest",
    "KeyRejected",
    "LicenseCheck",
    "NeverSent",
    "NoAnswer",
    "NotEmpty",
    "NotEntitled",
    "NotFound",
    "PasswordLoginDisabled",
    "ProtocolError",
    "ProtocolFault",
    "RateLimited",
    "Refused",
    "RouteAbsent",
    "ServerFault",
    "Unauthenticated",
    "Unavailable",
]

Credential = Literal["session token", "password", "provisioner key"]
LicenseCheck = Literal[
    "empty", "signature", "version", "iat", "nbf", "license_expires", "exp", "account_type",
    "account_id", "deployment", "other",
]  # fmt: skip
ProtocolFault = Literal["redirect", "not-json", "shape", "status", "too-large", "not-coderd"]


class CoderdError(Exception):
    """One call that did not end in a result; `operation` names it, `reason` is the word to show."""

    reason: ClassVar[Reason]
    permanent: ClassVar[bool] = True
    """True: the same call fails again until somebody changes something."""

    def __init__(
        self,
        operation: str,
        why: str,
        *,
        may_have_happened: bool = False,
        status: int | None = None,
    ) -> None:
        look = " It may have taken effect: look it up before repeating it." * may_have_happened
        super().__init__(f"Cannot {operation}: {why}{look}")
        self.operation = operation
        self.may_have_happened = may_have_happened
        """Only for calls that change something: look up before repeating (U3)."""
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
    """Coderd itself did not get to answer: its state is unknown, not gone."""


class Unavailable(NoAnswer):
    """Nobody there now; `retry_after` in seconds if the other side named a time."""

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
    """A call that must not be repeated blindly was sent, and its answer never came (U3)."""

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
    """Coderd answered, and the answer is no."""


class Unauthenticated(Refused):
    """The `credential` was not accepted."""

    reason = Reason.FORBIDDEN

    def __init__(
        self, operation: str, why: str, *, credential: Credential, status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.credential: Credential = credential


class PasswordLoginDisabled(Unauthenticated):
    """No password is accepted, neither this one nor another: give a session token (CP6)."""

    def __init__(self, operation: str, why: str, *, status: int | None = None) -> None:
        super().__init__(operation, why, credential="password", status=status)


class CredentialMissing(Unauthenticated):
    """There is no credential in the Secret that should hold it; nothing was sent."""

    reason = Reason.SECRET_MISSING


class ForbiddenByRole(Refused):
    """The token's user lacks the permission."""

    reason = Reason.FORBIDDEN


class NotEntitled(Refused):
    """The license lacks `feature` (None: a feature the client did not expect to be gated)."""

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
    """Coderd itself says that the object is not there (or not visible to this token)."""

    reason = Reason.NOT_FOUND


class Conflict(Refused):
    """The name is taken, or the first user exists."""

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
    """This very JWT is stored already: converged, once it is found in the list."""

    reason = Reason.DUPLICATE_LICENSE


class InvalidLicense(Refused):
    """Coderd does not accept the license; `check` says at which test."""

    reason = Reason.INVALID_LICENSE

    def __init__(
        self, operation: str, why: str, *, check: LicenseCheck, status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.check: LicenseCheck = check


class InvalidRequest(Refused):
    """A value is not allowed; `fields` are those of the request that coderd named."""

    reason = Reason.INVALID_REQUEST

    def __init__(
        self, operation: str, why: str, *, fields: tuple[str, ...] = (), status: int | None = None
    ) -> None:
        super().__init__(operation, why, status=status)
        self.fields = fields


class KeyRejected(Refused):
    """A provisioner key that coderd does not know (any more)."""

    reason = Reason.KEY_REJECTED


class ServerFault(Refused):
    """An internal error of coderd."""

    reason = Reason.SERVER_FAULT
    permanent = False


class ProtocolError(CoderdError):
    """The answer is not one that coderd gives; `fault` says in which way."""

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
