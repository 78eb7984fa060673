"""One vocabulary of reasons: the same word in exception, condition, report and docs.

Which outcome of a call carries which word is drawn in errors.py. Two conditions know fewer words
(L7, E6): the functions here narrow them.
"""

from enum import StrEnum

__all__ = ["Reason", "entitlements_reason", "license_reason"]


class Reason(StrEnum):
    """Written as they are shown. The last five have no leaf in errors.py."""

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
    ENTITLEMENTS_QUERY_FAILED = "EntitlementsQueryFailed"  # E6: what is neither 401 nor 403
    ERROR = "Error"  # L7: what has no better word in the license condition


def license_reason(reason: Reason) -> Reason:
    """Narrow to what a license knows: L7's three, and a Secret that is missing."""
    if reason in (Reason.NOT_SUPPORTED, Reason.FORBIDDEN, Reason.SECRET_MISSING):
        return reason
    return Reason.ERROR


def entitlements_reason(reason: Reason) -> Reason:
    """The word for entitlements that could not be read (E6); no route is the AGPL build."""
    if reason in (Reason.NOT_SUPPORTED, Reason.FORBIDDEN):
        return reason
    return Reason.ENTITLEMENTS_QUERY_FAILED
