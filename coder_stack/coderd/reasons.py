"""The reasons that exceptions, conditions, reports and docs share.

errors.py shows which error has which reason. Two conditions have fewer reasons (L7, E6).
"""

from enum import StrEnum


class Reason(StrEnum):
    """A reason as users see it. The last five belong to no error of errors.py."""

    INVALID_CONNECTION = "InvalidConnection"
    INSECURE_CONNECTION = "InsecureConnection"
    UNAVAILABLE = "Unavailable"
    ANSWER_LOST = "AnswerLost"
    RATE_LIMITED = "RateLimited"
    CERTIFICATE_NOT_TRUSTED = "CertificateNotTrusted"
    API_SERVER_REFUSED = "ApiServerRefused"
    FORBIDDEN = "Forbidden"
    NOT_ENTITLED = "NotEntitled"
    NOT_SUPPORTED = "NotSupported"
    NOT_FOUND = "NotFound"
    CONFLICT = "Conflict"
    NOT_EMPTY = "NotEmpty"
    DUPLICATE_LICENSE = "DuplicateLicense"
    INVALID_LICENSE = "InvalidLicense"
    INVALID_REQUEST = "InvalidRequest"
    KEY_REJECTED = "KeyRejected"
    SERVER_FAULT = "ServerFault"
    PROTOCOL_ERROR = "ProtocolError"
    SECRET_MISSING = "SecretMissing"  # noqa: S105  # L1: the Kubernetes Secret, its key or its value is not there
    SECRET_CHANGED = "SecretChanged"  # noqa: S105  # S2: the Kubernetes Secret holds other bytes than coderd gave out
    PENDING = "Pending"  # L2: the control plane or operator access is not ready yet
    ENTITLEMENTS_QUERY_FAILED = "EntitlementsQueryFailed"  # E6: neither 401 nor 403
    ERROR = "Error"  # L7: any other reason in the license condition


def license_reason(reason: Reason) -> Reason:
    """Narrow a reason to those of the license condition (L7)."""
    if reason in (Reason.NOT_SUPPORTED, Reason.FORBIDDEN, Reason.SECRET_MISSING):
        return reason
    return Reason.ERROR


def entitlements_reason(reason: Reason) -> Reason:
    """Narrow a reason to those of entitlements that cannot be read (E6)."""
    if reason in (Reason.NOT_SUPPORTED, Reason.FORBIDDEN):
        return reason
    return Reason.ENTITLEMENTS_QUERY_FAILED
