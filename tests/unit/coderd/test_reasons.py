"""Reasons: one for each error, and fewer for conditions."""

import pytest

from coder_stack.coderd import errors
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.reasons import Reason, entitlements_reason, license_reason

# Each error, its reason, and whether the same request fails again until somebody acts.
LEAVES = [
    (errors.AnswerLost, "AnswerLost", False),
    (errors.ApiServerRefused, "ApiServerRefused", True),
    (errors.CertificateNotTrusted, "CertificateNotTrusted", True),
    (errors.Conflict, "Conflict", True),
    (errors.CredentialMissing, "SecretMissing", True),
    (errors.DuplicateLicense, "DuplicateLicense", True),
    (errors.ForbiddenByRole, "Forbidden", True),
    (errors.InsecureConnection, "InsecureConnection", True),
    (errors.InvalidConnection, "InvalidConnection", True),
    (errors.InvalidLicense, "InvalidLicense", True),
    (errors.InvalidRequest, "InvalidRequest", True),
    (errors.KeyRejected, "KeyRejected", True),
    (errors.NotEmpty, "NotEmpty", True),
    (errors.NotEntitled, "NotEntitled", True),
    (errors.NotFound, "NotFound", True),
    (errors.PasswordLoginDisabled, "Forbidden", True),
    (errors.ProtocolError, "ProtocolError", True),
    (errors.RateLimited, "RateLimited", False),
    (errors.RouteAbsent, "NotSupported", True),
    (errors.ServerFault, "ServerFault", False),
    (errors.Unauthenticated, "Forbidden", True),
    (errors.Unavailable, "Unavailable", False),
]


@pytest.mark.parametrize(("leaf", "word", "permanent"), LEAVES)
def test_each_leaf_has_one_word(leaf: type[CoderdError], word: str, permanent: bool) -> None:
    assert (leaf.reason, leaf.permanent) == (word, permanent)


def test_the_vocabulary_is_complete() -> None:
    """Every error has a reason here, and every reason but those of conditions has an error."""

    def below(parent: type[CoderdError]) -> set[type[CoderdError]]:
        return {parent}.union(*(below(child) for child in parent.__subclasses__()))

    of_conditions = {
        "SecretChanged",
        "Pending",
        "EntitlementsQueryFailed",
        "Error",
    }
    assert {leaf for leaf in below(CoderdError) if hasattr(leaf, "reason")} == {
        leaf for leaf, _, _ in LEAVES
    }
    assert {word for _, word, _ in LEAVES} | of_conditions == set(Reason)


def test_a_license_knows_four_words() -> None:
    """L1: SecretMissing; L7: NotSupported, Forbidden, and Error for anything else."""
    words = {license_reason(reason) for reason in Reason}
    assert words == {"SecretMissing", "NotSupported", "Forbidden", "Error"}


def test_unread_entitlements_have_three_words() -> None:
    """E6, and NotSupported for the AGPL build."""
    words = {entitlements_reason(reason) for reason in Reason}
    assert words == {"NotSupported", "Forbidden", "EntitlementsQueryFailed"}
