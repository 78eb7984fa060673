"""What is said of a license before it is uploaded: refusals and warnings, from what is known."""

from typing import Any

import pytest

from coder_stack.dynamic.license import LicenseProvider
from tests.provider.driver import UNKNOWN, Driven, ProviderProcess
from tests.provider.licenses import inputs, uploads
from tests.simulation import Simulation, license_text


def test_L1_the_text_is_trimmed_and_numbers_may_be_floats(
    coderd: Simulation, licenses: Driven
) -> None:
    jwt = license_text()
    plain = licenses.check(inputs(coderd, jwt, warn_days=14))
    padded = licenses.check(inputs(coderd, f"  {jwt}\n", warn_days=14.0))
    assert plain == padded
    assert plain.inputs["jwt"] == jwt
    assert plain.inputs["warn_days"] == 14


@pytest.mark.parametrize("nothing", ["", "  \n"])
def test_L1_an_empty_license_fails_as_SecretMissing_and_uploads_nothing(
    coderd: Simulation, licenses: Driven, nothing: str
) -> None:
    ((path, why),) = licenses.check(inputs(coderd, nothing)).failures
    assert path == ""
    assert why.startswith("SecretMissing: ")
    assert uploads(coderd) == 0


@pytest.mark.parametrize(
    ("terms", "more", "reason"),
    [
        ({"days": -60, "grace_days": 30}, {}, "Expired"),
        ({"nbf_days": 3}, {}, "NotYetValid"),
        ({"deployment_ids": ("another",)}, {}, "WrongDeployment"),
        ({"feature_set": "enterprise"}, {"needed_features": ["custom_roles"]}, "FeatureMissing"),
        ({"require_telemetry": True}, {}, "TelemetryRequired"),
    ],
)
def test_L8_preflight_refuses_at_preview(
    coderd: Simulation, licenses: Driven, terms: Any, more: Any, reason: str
) -> None:
    failures = licenses.check(inputs(coderd, license_text(**terms), **more)).failures
    assert [why.split(":")[0] for _, why in failures] == [reason]
    assert [path for path, _ in failures] == [""]
    assert uploads(coderd) == 0


def test_L8_no_jwt_is_refused_without_being_repeated(coderd: Simulation, licenses: Driven) -> None:
    ((path, why),) = licenses.check(inputs(coderd, "hunter2-is-no-jwt")).failures
    assert (path, why.split(":")[0]) == ("", "NotAJwt")
    assert "hunter2" not in why


@pytest.mark.parametrize(
    ("terms", "said"), [({"days": -1}, "InGrace"), ({"days": 5}, "ExpiringSoon")]
)
def test_L8_grace_and_a_near_end_are_warnings(
    coderd: Simulation, process: ProviderProcess, terms: Any, said: str
) -> None:
    checked = process.of(LicenseProvider()).check(inputs(coderd, license_text(**terms)))
    assert checked.failures == []
    assert f"warning: {said}: " in process.stderr


def test_L8_E5_an_applied_license_that_ran_out_blocks_nothing_else(
    coderd: Simulation, process: ProviderProcess
) -> None:
    licenses = process.of(LicenseProvider())
    expired = license_text(days=-60, grace_days=30)
    old = {"connection": coderd.connection, "jwt": expired}
    assert licenses.check(inputs(coderd, expired), old).failures == []
    assert "warning: Expired: " in process.stderr


def test_unknowns_pass_through_check_and_what_is_known_is_still_judged(
    coderd: Simulation, licenses: Driven
) -> None:
    unknown = {"connection": {"url": UNKNOWN}, "deployment_id": UNKNOWN}
    good = licenses.check({**unknown, "jwt": license_text()})
    assert good.failures == []
    assert good.inputs["connection"] == {"url": UNKNOWN}
    assert good.inputs["deployment_id"] == UNKNOWN
    assert licenses.check({**unknown, "jwt": "no jwt"}).failures
    jwt_unknown = licenses.check(inputs(coderd, UNKNOWN))
    assert (jwt_unknown.failures, jwt_unknown.inputs["jwt"]) == ([], UNKNOWN)


def test_CP6_an_unknown_deployment_id_is_asked_of_coderd_itself(
    coderd: Simulation, licenses: Driven
) -> None:
    """It is unknown in a preview that renews the token, and that must be no change of this."""
    deployment = coderd.state.records.deployment_id
    jwt = license_text()
    held = licenses.create(inputs(coderd, jwt, deployment_id=deployment))
    news = licenses.check(inputs(coderd, jwt, deployment_id=UNKNOWN))
    assert news.inputs == held.inputs
