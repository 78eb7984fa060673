"""The claims of a license, and the problems found in them (L3, L6, L8)."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_stack.coderd.license import NotALicense, find_license, fingerprint, read_license
from coder_stack.coderd.license_problems import license_problems
from coder_stack.coderd.models import LicenseRecord
from tests.unit.coderd.fakes import ID, NOW, TIME
from tests.unit.coderd.licenses import claims, license_text, signed

PREMIUM_ONLY = {"custom_roles", "multiple_organizations"}


def reasons(text: str, **how: Any) -> list[tuple[str, str]]:
    return [(found.severity, found.reason) for found in license_problems(text, NOW, **how)]


def test_L8_both_dates_are_read() -> None:
    read = read_license(license_text(days=10, grace=5))

    assert read.license_expires == NOW + timedelta(days=10)
    assert read.expires == NOW + timedelta(days=15)


def test_every_claim_is_read() -> None:
    read = read_license(
        license_text(
            trial=True,
            require_telemetry=True,
            deployment_ids=[ID],
            addons=["ai_governance"],
            all_features=True,
        )
    )

    assert (read.version, read.algorithm, read.key_id) == (3, "EdDSA", "2022-08-12")
    assert (read.account_type, read.account_id) == ("salesforce", "A-1")
    assert read.identity == UUID(ID)
    assert read.features == {"user_limit": 100}
    assert read.deployment_ids == (ID,)
    assert read.addons == ("ai_governance",)
    assert (read.trial, read.require_telemetry, read.all_features) == (True, True, True)


def test_L3_the_fingerprint_is_of_the_trimmed_text() -> None:
    text = license_text()

    assert fingerprint(f"\n {text}\r\n") == hashlib.sha256(text.encode()).hexdigest()
    assert read_license(text + "\n").sha256 == fingerprint(text)


@pytest.mark.parametrize("jti", ["7", "not a uuid", None, 12, ["x"]])
def test_an_identity_is_a_uuid_or_none(jti: object) -> None:
    assert read_license(license_text(jti=jti)).identity is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "hello",
        "a.b.c",
        "a.b",
        "....",
        "\x00",
        "ключ",
        "-----BEGIN CERTIFICATE-----",
        "\ud800.\ud800.\ud800",
        jwt.encode({}, None, algorithm="none").replace(".", "", 1),
        "x" * 70_000,
    ],
)
def test_L8_what_is_not_a_jwt_is_said_to_be_none(text: str) -> None:
    with pytest.raises(NotALicense):
        read_license(text)
    assert reasons(text) == [("error", "NotAJwt")]


def test_the_text_is_nowhere_in_what_was_read_or_said() -> None:
    text = license_text()
    read = read_license(text)

    assert text not in repr(read)
    assert text.rpartition(".")[2] not in repr(read)
    with pytest.raises(NotALicense) as caught:
        read_license(text.replace(".", "!"))
    assert text.partition(".")[0] not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("changes", "absent"),
    [
        ({"feature_set": "premium", "features": None}, set[str]()),
        ({"feature_set": "PREMIUM", "features": None}, set[str]()),
        ({"feature_set": "enterprise", "features": None}, PREMIUM_ONLY),
        ({"feature_set": None, "all_features": True, "features": None}, PREMIUM_ONLY),
    ],
)
def test_a_feature_set_stands_for_its_features(changes: dict[str, Any], absent: set[str]) -> None:
    granted = read_license(license_text(**changes)).granted

    assert {"workspace_proxy", "high_availability", "external_provisioner_daemons"} <= granted
    assert granted & PREMIUM_ONLY == PREMIUM_ONLY - absent
    assert "user_limit" not in granted


def test_single_features_are_on_from_one() -> None:
    features = {"workspace_proxy": 1, "high_availability": 0, "user_limit": 50, "odd": "x"}

    granted = read_license(license_text(feature_set="", features=features)).granted

    assert granted == {"workspace_proxy", "user_limit"}


def test_L8_a_good_license_has_no_findings() -> None:
    needed = ["workspace_proxy", "external_provisioner_daemons", "high_availability"]
    text = license_text(deployment_ids=[ID.upper()])

    assert reasons(text, deployment_id=ID, needed_features=needed, telemetry=False) == []


@pytest.mark.parametrize(
    ("changes", "how", "expected"),
    [
        ({"days": -40, "grace": 30}, {}, [("error", "Expired")]),
        ({"days": -5, "grace": 30}, {}, [("warning", "InGrace")]),
        ({"days": 30}, {"warn_days": 30}, [("warning", "ExpiringSoon")]),
        ({"days": 30.1}, {"warn_days": 30}, []),
        ({"days": 1}, {"warn_days": 0}, []),
        ({"starts": NOW + timedelta(days=2)}, {}, [("error", "NotYetValid")]),
        ({"starts": NOW + timedelta(seconds=30)}, {}, []),
        ({"deployment_ids": ["other"]}, {"deployment_id": ID}, [("error", "WrongDeployment")]),
        ({"deployment_ids": ["other"]}, {"deployment_id": None}, []),
        ({"deployment_ids": []}, {"deployment_id": ID}, []),
        ({}, {"needed_features": ["custom_roles"]}, [("error", "FeatureMissing")]),
        ({"require_telemetry": True}, {"telemetry": False}, [("error", "TelemetryRequired")]),
        ({"require_telemetry": True}, {"telemetry": None}, []),
        ({"version": 2}, {}, [("error", "InvalidClaims")]),
        ({"iat": None}, {}, [("error", "InvalidClaims")]),
        ({"nbf": None}, {}, [("error", "InvalidClaims")]),
        ({"exp": None}, {}, [("error", "InvalidClaims")]),
        ({"license_expires": None}, {}, [("error", "InvalidClaims")]),
        ({"account_id": ""}, {}, [("error", "InvalidClaims")]),
        ({"account_type": None}, {}, [("error", "InvalidClaims")]),
        ({"exp": 10**30}, {}, [("error", "InvalidClaims")]),
        ({"license_expires": "tomorrow"}, {}, [("error", "InvalidClaims")]),
        ({"days": 5, "version": 1}, {}, [("error", "InvalidClaims"), ("warning", "ExpiringSoon")]),
    ],
)
def test_L8_each_finding(
    changes: dict[str, Any], how: dict[str, Any], expected: Sequence[tuple[str, str]]
) -> None:
    assert reasons(license_text(**changes), **how) == list(expected)


def test_L8_a_token_of_another_kind_is_not_a_license() -> None:
    """Any JWT can be decoded; coderd takes only those signed with EdDSA and a key it can name."""
    text = jwt.encode(claims(), "x" * 32, algorithm="HS256")

    assert reasons(text) == [("error", "InvalidClaims")]
    (found,) = license_problems(text, NOW)
    assert "alg, kid missing or wrong" in found.message


def test_a_claim_is_named_by_its_own_name() -> None:
    (found,) = license_problems(license_text(version=2, account_id=None), NOW)

    assert "version, account_id missing or wrong" in found.message


def stored(number: int, payload: dict[str, Any], uuid: str = ID) -> LicenseRecord:
    return LicenseRecord.model_validate(
        {"id": number, "uuid": uuid, "uploaded_at": TIME, "claims": payload}
    )


def test_L6_ours_is_found_among_others() -> None:
    ours, reissued, foreign = claims(), claims(days=400), claims(jti=None, account_id="B")
    everything = [stored(1, foreign), stored(2, reissued), stored(3, ours)]

    found = find_license(read_license(signed(ours)), everything)

    assert found is not None
    assert found.id == 3
    assert find_license(read_license(signed(ours)), everything[:2]) is None


def test_L6_a_license_without_identity_is_found_by_its_claims() -> None:
    ours = claims(jti=None)
    at_random = "00000000-0000-4000-8000-000000000001"

    assert find_license(read_license(signed(ours)), [stored(9, ours, at_random)]) is not None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_are_a_license_or_not_one(raw: bytes) -> None:
    text = raw.decode("utf-8", "replace")

    assert [f.reason for f in license_problems(text, NOW)] == ["NotAJwt"]
    assert len(fingerprint(text)) == 64


@given(st.text(alphabet='aAbB09-_.={}"', max_size=60))
def test_any_text_that_looks_like_a_jwt_is_judged(text: str) -> None:
    assert license_problems(text, NOW)


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from([*claims(), "trial", "addons", "deployment_ids"]), ANYTHING),
    st.integers(min_value=0, max_value=10_000),
)
def test_any_claims_are_judged(changes: dict[str, Any], warn_days: int) -> None:
    text = signed(claims() | changes)

    for found in license_problems(text, NOW, ID, ["workspace_proxy"], warn_days, telemetry=False):
        assert found.message.endswith(".")
        assert text not in found.message


@pytest.mark.parametrize("payload", [b"[" * 40_000, b"9" * 40_000, b"[]", b"null", b"{", b"\xff"])
def test_a_payload_made_to_hurt_is_no_license(payload: bytes) -> None:
    encode = jwt.utils.base64url_encode
    head = encode(b'{"alg":"EdDSA","kid":"k"}')
    text = b".".join([head, encode(payload), encode(b"x")]).decode()

    assert reasons(text) == [("error", "NotAJwt")]


def test_time_zones_do_not_matter() -> None:
    read = read_license(license_text())

    assert read.expires is not None
    assert read.expires.tzinfo is UTC
    assert isinstance(read.issued_at, datetime)
