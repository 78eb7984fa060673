"""coder-api.md sections 5 to 8 without a license: what is refused, and in which order."""

import re
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from sandbox.coderd.rules import features
from sandbox.coderd.rules.license_key import LicenseTerms, issue, private_key
from sandbox.coderd.rules.versions import lists_feature
from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.xdist_group("contract")]

KEYS_GATE = "External Provisioner Daemons is a Premium feature. Contact sales!"
SERVE_GATE = "External provisioner daemons is an Enterprise feature. Contact sales!"
PROXY_GATE = "Workspace Proxy is a Premium feature. Contact sales!"
MULTIPLE_ISSUES = "license has multiple issues; contact support"
FORBIDDEN_DETAIL = (
    "You don't have permission to view this content. If you believe this is a mistake, please "
    "contact your administrator or try signing in with different credentials."
)


def foreign_license() -> str:
    """A well-formed license, signed with a key that no real server knows, under an unknown id."""
    return issue(LicenseTerms(), datetime.now(UTC)).replace(".", "x.", 1)


class TestLicenses:
    @pytest.mark.parametrize("who", ["owner", "member"])
    def test_no_licenses_is_null(self, enterprise: Server, who: str) -> None:
        """For a member too, who could not see any: the two cannot be told apart."""
        ask = enterprise.owner if who == "owner" else enterprise.member
        answer = ask("GET", "/licenses")
        assert (answer.status_code, answer.text) == (200, "null\n")

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/licenses"),
            ("POST", "/licenses"),
            ("DELETE", "/licenses/1"),
            ("POST", "/licenses/refresh-entitlements"),
            ("PUT", "/licenses"),
        ],
    )
    def test_a_session_is_needed(self, enterprise: Server, method: str, path: str) -> None:
        expect.refusal(enterprise.api(method, path), 401, expect.SIGNED_OUT)

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "/licenses"),
            ("DELETE", "/licenses/1"),
            ("POST", "/licenses/refresh-entitlements"),
        ],
    )
    def test_a_member_is_forbidden(self, enterprise: Server, method: str, path: str) -> None:
        """Before the body is read or the license looked for."""
        answer = enterprise.member(method, path, content="not json")
        expect.refusal(answer, 403, "Forbidden.", FORBIDDEN_DETAIL)

    @pytest.mark.parametrize("body", ["{}", '{"license":""}', '{"license":null}'])
    def test_a_license_is_required(self, enterprise: Server, body: str) -> None:
        expect.validation(enterprise.owner("POST", "/licenses", content=body), license="required")

    def test_a_license_must_be_text(self, enterprise: Server) -> None:
        answer = enterprise.owner("POST", "/licenses", json={"license": 3})
        detail = (
            "json: cannot unmarshal number into Go struct field AddLicenseRequest.license of type "
            "string"
        )
        expect.refusal(answer, 400, "Request body must be valid JSON.", detail)

    @pytest.mark.parametrize(
        "case",
        ["word", "dots", "space", "none", "hs256", "no kid", "unknown kid", "tampered", "expired"],
    )
    def test_every_fault_of_the_jwt_is_the_same_sentence(
        self, enterprise: Server, case: str
    ) -> None:
        claims = {"version": 3}
        now = datetime.now(UTC)
        text = {
            "word": "x",
            "dots": "a.b.c",
            "space": f" {foreign_license()}",
            "none": jwt.encode(claims, None, algorithm="none"),
            "hs256": jwt.encode(claims, "a shared secret of more than 32 bytes", algorithm="HS256"),
            "no kid": jwt.encode(claims, private_key(), algorithm="EdDSA"),
            "unknown kid": jwt.encode(claims, private_key(), "EdDSA", headers={"kid": "unknown"}),
            "tampered": foreign_license(),
            "expired": issue(LicenseTerms(days=-2, grace_days=1), now),
        }[case]
        answer = enterprise.owner("POST", "/licenses", json={"license": text})
        expect.refusal(answer, 400, "Invalid license", MULTIPLE_ISSUES)
        assert enterprise.owner("GET", "/licenses").text == "null\n"

    def test_a_real_server_takes_no_license_of_the_simulation(
        self, real_enterprise: Server
    ) -> None:
        text = issue(LicenseTerms(), datetime.now(UTC))
        answer = real_enterprise.owner("POST", "/licenses", json={"license": text})
        expect.refusal(answer, 400, "Invalid license", MULTIPLE_ISSUES)

    @pytest.mark.parametrize("identifier", ["abc", "1.5", "2147483648", "-"])
    def test_a_license_id_is_a_number(self, enterprise: Server, identifier: str) -> None:
        answer = enterprise.owner("DELETE", f"/licenses/{identifier}")
        expect.refusal(answer, 404, "License ID must be an integer")

    def test_an_unknown_license_is_404(self, enterprise: Server) -> None:
        expect.refusal(enterprise.owner("DELETE", "/licenses/77"), 404, "Unknown license ID")

    @pytest.mark.parametrize("method", ["GET", "PATCH", "PUT"])
    def test_one_license_can_only_be_deleted(self, enterprise: Server, method: str) -> None:
        answer = enterprise.owner(method, "/licenses/1")
        assert (answer.status_code, answer.content) == (405, b"")

    def test_a_forced_refresh_is_refused_within_a_minute_of_any_other(
        self, enterprise: Server
    ) -> None:
        """400 and not 429, with the wait in words and in a header."""
        # The third: the minute since an earlier one may end between the first two.
        for _ in range(3):
            answer = enterprise.owner("POST", "/licenses/refresh-entitlements")
        wait = answer.headers["retry-after"]
        assert 0 < int(wait) < 60
        message = (
            "Entitlements already recently refreshed, please wait "
            f"{wait} seconds to force a new refresh"
        )
        expect.refusal(answer, 400, message)


class TestEntitlements:
    @pytest.mark.parametrize("who", ["anybody", "owner", "member"])
    def test_entitlements_need_no_session(self, enterprise: Server, who: str) -> None:
        token = {"owner": enterprise.owner_token, "member": enterprise.member_token}.get(who)
        body = expect.data(enterprise.api("GET", "/entitlements", token))
        flags = dict.fromkeys(("has_license", "trial", "require_telemetry"), bool)
        others = {"features": dict, "warnings": list, "errors": list, "refreshed_at": str}
        expect.shape(body, flags | others)
        assert not any(body[flag] for flag in flags)
        assert (body["warnings"], body["errors"]) == ([], [])

    def test_every_feature_is_there_and_off(self, enterprise: Server) -> None:
        shown = enterprise.api("GET", "/entitlements").json()["features"]
        known = {name for name in features.NAMES if lists_feature(enterprise.version, name)}
        assert set(shown) == known
        for name, feature in shown.items():
            off = {"entitlement": "not_entitled", "enabled": False}
            if name == "user_limit":
                assert feature.pop("actual") >= 1
            assert feature == off

    def test_a_bad_token_does_not_matter(self, enterprise: Server) -> None:
        assert enterprise.api("GET", "/entitlements", "nonsense").status_code == 200


class TestProvisionerKeys:
    KEYS = "/organizations/{}/provisionerkeys"

    @pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
    def test_session_then_organization_then_license(self, enterprise: Server, method: str) -> None:
        """401, 404, 403: in this order, and before the method is looked at."""
        missing, there = self.KEYS.format("nope"), self.KEYS.format("default")
        expect.refusal(enterprise.api(method, missing), 401, expect.SIGNED_OUT)
        expect.refusal(enterprise.owner(method, missing), 404, expect.NOT_FOUND)
        expect.refusal(enterprise.owner(method, there, content="x"), 403, KEYS_GATE)
        expect.refusal(enterprise.member(method, there, content="x"), 403, KEYS_GATE)

    @pytest.mark.parametrize(
        ("method", "path"), [("DELETE", "/some-key"), ("GET", "/daemons"), ("GET", "/some-key")]
    )
    def test_everything_below_is_gated_too(
        self, enterprise: Server, method: str, path: str
    ) -> None:
        answer = enterprise.owner(method, self.KEYS.format("default") + path)
        expect.refusal(answer, 403, KEYS_GATE)

    @pytest.mark.parametrize(
        ("headers", "status", "message", "detail"),
        [
            ({}, 401, "provisioner daemon key required", ""),
            ({"PSK": "x"}, 401, "provisioner daemon key required", ""),
            ({"Key": "x"}, 400, "provisioner daemon key invalid", "must be 43 characters"),
            ({"Key": "x" * 44}, 400, "provisioner daemon key invalid", "must be 43 characters"),
            ({"Key": "x" * 43}, 401, "provisioner daemon key invalid", ""),
            (
                {"Key": "x" * 43, "PSK": "x"},
                400,
                "provisioner daemon key and psk provided, but only one is allowed",
                "",
            ),
        ],
    )
    @pytest.mark.parametrize("path", ["/provisionerkeys/placeholder", "/provisionerkeys"])
    def test_a_key_shows_itself_without_license_or_session(
        self,
        enterprise: Server,
        path: str,
        headers: dict[str, str],
        status: int,
        message: str,
        detail: str,
    ) -> None:
        sent = {f"Coder-Provisioner-Daemon-{name}": value for name, value in headers.items()}
        expect.refusal(enterprise.api("GET", path, headers=sent), status, message, detail)

    def test_a_session_does_not_replace_the_key(self, enterprise: Server) -> None:
        answer = enterprise.owner("GET", "/provisionerkeys/placeholder")
        expect.refusal(answer, 401, "provisioner daemon key required")


class TestDaemons:
    DAEMONS = "/organizations/default/provisionerdaemons"

    @pytest.mark.parametrize("organization", ["default", "nope"])
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_connecting_asks_for_the_license_first(
        self, enterprise: Server, organization: str, method: str
    ) -> None:
        path = f"/organizations/{organization}/provisionerdaemons/serve"
        expect.refusal(enterprise.api(method, path), 403, SERVE_GATE)
        expect.refusal(enterprise.owner(method, path), 403, SERVE_GATE)


class TestProxies:
    @pytest.mark.parametrize("token", [None, "nonsense", "owner", "member"])
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/workspaceproxies"),
            ("POST", "/workspaceproxies"),
            ("GET", "/workspaceproxies/primary"),
            ("PATCH", "/workspaceproxies/primary"),
            ("DELETE", "/workspaceproxies/nope"),
            ("POST", "/workspaceproxies/me/register"),
            ("PUT", "/workspaceproxies/me/nothing"),
        ],
    )
    def test_the_license_is_asked_for_before_any_credential(
        self, enterprise: Server, method: str, path: str, token: str | None
    ) -> None:
        known = {"owner": enterprise.owner_token, "member": enterprise.member_token}
        answer = enterprise.api(method, path, known.get(token or "", token))
        expect.refusal(answer, 403, PROXY_GATE)


def test_refreshed_at_is_recent_and_utc(enterprise: Server) -> None:
    shown = enterprise.api("GET", "/entitlements").json()["refreshed_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", shown)
    moment = datetime.fromisoformat(shown[:23].rstrip("Z") + "Z")
    assert datetime.now(UTC) - moment < timedelta(minutes=11)
