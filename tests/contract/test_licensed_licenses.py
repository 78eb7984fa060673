"""coder-api.md section 5 with licenses that the server accepts.

Only the simulation can show this: a real server takes no license of ours.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from sandbox.coderd.rules.license_key import KEY_ID, LicenseTerms, claims_of, issue, sign
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.licensed, pytest.mark.xdist_group("contract")]

JTI = "0a0b0c0d-0000-4000-8000-000000000001"
DAY = timedelta(days=1)


def a_license(**terms: Any) -> str:
    return issue(LicenseTerms(**terms), datetime.now(UTC))


def upload(server: Server, text: str) -> httpx.Response:
    return server.owner("POST", "/licenses", json={"license": text})


def test_an_upload_answers_with_the_claims_and_never_with_the_text(licensed: Server) -> None:
    text = a_license(jti=JTI)
    body = expect.data(upload(licensed, text), 201)
    expect.shape(body, {"id": int, "uuid": str, "uploaded_at": str, "claims": dict})
    assert body["uuid"] == body["claims"]["jti"] == JTI
    assert body["claims"]["license_expires"] < body["claims"]["exp"]
    assert text not in licensed.owner("GET", "/licenses").text


def test_the_list_is_ordered_by_id(licensed: Server) -> None:
    upload(licensed, a_license(jti=JTI))
    listed = expect.data(licensed.owner("GET", "/licenses"))
    assert [item["id"] for item in listed] == [1, 2]


def test_a_member_sees_null_although_there_are_licenses(licensed: Server) -> None:
    assert licensed.member("GET", "/licenses").text == "null\n"


def test_without_a_jti_every_upload_gets_a_random_uuid(licensed: Server) -> None:
    body = expect.data(upload(licensed, a_license()), 201)
    assert "jti" not in body["claims"]
    assert re.fullmatch(r"[0-9a-f-]{36}", body["uuid"])
    listed = licensed.owner("GET", "/licenses").json()
    assert ("jti" in listed[-1]["claims"], listed[-1]["uuid"]) == (False, body["uuid"])


def test_the_same_text_again_is_a_500_that_names_the_constraint(licensed: Server) -> None:
    text = a_license(jti=JTI)
    assert upload(licensed, text).status_code == 201
    body = expect.refusal(upload(licensed, text), 500, "Unable to add license to database")
    constraint = 'duplicate key value violates unique constraint "licenses_jwt_key"'
    assert constraint in body["detail"]
    assert len(licensed.owner("GET", "/licenses").json()) == 2


def test_two_texts_with_one_jti_live_side_by_side(licensed: Server) -> None:
    assert upload(licensed, a_license(jti=JTI)).status_code == 201
    assert upload(licensed, a_license(jti=JTI, days=100)).status_code == 201


def test_a_trailing_newline_is_accepted_and_makes_another_text(licensed: Server) -> None:
    text = a_license(jti=JTI)
    assert upload(licensed, f"{text}\n").status_code == 201
    assert upload(licensed, text).status_code == 201


@pytest.mark.parametrize("spoil", [" {}", "{} ", "\n{}", "{}\t"])
def test_other_white_space_is_not(licensed: Server, spoil: str) -> None:
    answer = upload(licensed, spoil.format(a_license()))
    detail = "license has multiple issues; contact support"
    expect.refusal(answer, 400, "Invalid license", detail)


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"version": 2}, "license must be version 3"),
        ({"version": None}, "license must be version 3"),
        ({"iat": None}, "license has invalid or missing iat (issued at) claim"),
        ({"nbf": None}, "license has invalid or missing nbf (not before) claim"),
        (
            {"license_expires": None},
            "license has invalid or missing license_expires claim",
        ),
        (
            {"license_expires": int((datetime.now(UTC) + 1826 * DAY).timestamp())},
            "license has invalid or missing license_expires claim",
        ),
        ({"exp": None}, "license has invalid or missing exp (expires at) claim"),
        ({"account_type": ""}, "license must contain valid account type"),
        ({"account_id": None}, "license must contain valid account ID"),
        # Several at once: the first in this order is named.
        ({"version": 2, "iat": None, "account_id": None}, "license must be version 3"),
        ({"nbf": None, "exp": None}, "license has invalid or missing nbf (not before) claim"),
        # The token itself is bad: one sentence for everything.
        ({"exp": 1}, "license has multiple issues; contact support"),
        ({"iat": 4102444800}, "license has multiple issues; contact support"),
        ({"version": "3"}, "license has multiple issues; contact support"),
        ({"features": {"scim": "yes"}}, "license has multiple issues; contact support"),
    ],
)
def test_each_claim_is_checked_in_order(
    licensed: Server, change: dict[str, object], detail: str
) -> None:
    claims = claims_of(LicenseTerms(), datetime.now(UTC)) | change
    text = sign({name: value for name, value in claims.items() if value is not None})
    expect.refusal(upload(licensed, text), 400, "Invalid license", detail)


def test_an_unknown_key_id_is_refused(licensed: Server) -> None:
    text = sign(claims_of(LicenseTerms(), datetime.now(UTC)), key_id=f"not-{KEY_ID}")
    assert upload(licensed, text).status_code == 400


def test_a_license_for_another_deployment_is_refused(licensed: Server) -> None:
    here = licensed.api("GET", "/buildinfo").json()["deployment_id"]
    elsewhere = "11111111-1111-1111-1111-111111111111"
    body = expect.refusal(
        upload(licensed, a_license(deployment_ids=(elsewhere,))),
        400,
        "License cannot be used on this deployment!",
    )
    assert here in body["detail"]
    assert upload(licensed, a_license(deployment_ids=(elsewhere, here))).status_code == 201


def test_deleting_answers_200_with_nothing_and_the_text_may_come_back(licensed: Server) -> None:
    text = a_license(jti=JTI)
    first = upload(licensed, text).json()["id"]
    deleted = licensed.owner("DELETE", f"/licenses/{first}")
    assert (deleted.status_code, deleted.content) == (200, b"")
    expect.refusal(licensed.owner("DELETE", f"/licenses/{first}"), 404, "Unknown license ID")
    assert upload(licensed, text).json()["id"] > first


def test_adding_and_deleting_show_in_entitlements_at_once(licensed: Server) -> None:
    licensed.owner("DELETE", "/licenses/1")
    assert not licensed.api("GET", "/entitlements").json()["has_license"]
    upload(licensed, a_license())
    assert licensed.api("GET", "/entitlements").json()["has_license"]


def test_a_change_counts_as_a_refresh(licensed: Server) -> None:
    answer = licensed.owner("POST", "/licenses/refresh-entitlements")
    assert answer.status_code == 400
    assert 50 < int(answer.headers["retry-after"]) <= 60
    licensed.call("POST", "/_sim/clock", json={"advance_seconds": 61})
    answer = licensed.owner("POST", "/licenses/refresh-entitlements")
    assert expect.data(answer) == {"message": "Entitlements updated"}


def test_a_license_that_demands_telemetry_is_stored_but_grants_nothing(licensed: Server) -> None:
    """And it stands in the way of every other license until it is gone."""
    licensed.owner("DELETE", "/licenses/1")
    stored = upload(licensed, a_license(require_telemetry=True))
    assert stored.status_code == 201
    upload(licensed, a_license())
    shown = licensed.api("GET", "/entitlements").json()
    assert shown["errors"] == ["License requires telemetry but telemetry is disabled"]
    assert not shown["has_license"]

    licensed.owner("DELETE", f"/licenses/{stored.json()['id']}")

    shown = licensed.api("GET", "/entitlements").json()
    assert (shown["errors"], shown["has_license"]) == ([], True)


def test_claims_come_back_as_they_were_signed(licensed: Server) -> None:
    claims = claims_of(LicenseTerms(jti=JTI), datetime.now(UTC)) | {"note": {"z": 1, "a": [1.5]}}
    shown = upload(licensed, sign(claims)).json()["claims"]
    assert shown == json.loads(json.dumps(claims))
