"""Operator access through the real provider process: bootstrap, given tokens, readiness."""

from typing import Any

import pytest

from coder_stack.dynamic.operator_access import OperatorAccessProvider
from tests.provider.driver import UNKNOWN, Driven, Failure, Held, ProviderProcess, provider_process
from tests.provider.operators import HOME, PASSWORD, Place
from tests.simulation import Simulation


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(OperatorAccessProvider())


def given(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "wait_seconds": 5, "token": coderd.token, **more}


def names(coderd: Simulation) -> list[str]:
    return [key.token_name for key in coderd.state.records.api_keys.values()]


def test_CP5_CP6_bootstrap_creates_user_and_token_and_says_who_and_where(
    place: Place, driven: Driven
) -> None:
    held = driven.create(place.wish())
    state = place.coderd.state
    assert held.id == "admin"
    assert held.outputs["deployment_id"] == state.records.deployment_id
    assert held.outputs["version"] == state.flags.version
    assert (held.outputs["user"], held.outputs["url"]) == ("admin", place.coderd.url)
    assert place.lets_in
    assert place.token_names == ["coder-stack"], "the login's session was given back"
    assert place.coderd.requests()[:2] == ["GET /healthz", "GET /api/v2/buildinfo"]


def test_CP10_the_token_is_in_its_secret_and_nothing_of_it_or_the_password_in_state(
    place: Place, driven: Driven
) -> None:
    held = driven.create(place.wish())
    token = place.token
    assert token is not None
    assert held.outputs["token_id"] == token.partition("-")[0], "the public half"
    for secret in (token, PASSWORD):
        assert secret not in str(held.outputs)
        assert secret not in str(held.inputs)


def test_CP6_the_token_lives_as_long_as_coderd_lets_an_owner(place: Place, driven: Driven) -> None:
    driven.create(place.wish(token_days=90.0))
    (key,) = place.coderd.state.records.api_keys.values()
    assert key.lifetime_seconds == 7 * 24 * 3600


def test_K8_a_generated_token_name_carries_the_stack_and_is_kept(
    place: Place, driven: Driven
) -> None:
    held = driven.create(place.wish(owner="1a2b3c4d"))
    assert place.token_names == ["coder-stack-1a2b3c4d"]
    assert driven.check(place.wish(owner="another"), held.inputs).inputs["token_name"] == (
        "coder-stack-1a2b3c4d"
    )


def test_read_finds_the_same_and_no_drift(place: Place, driven: Driven) -> None:
    held = driven.create(place.wish())
    seen = driven.read(held)
    assert seen is not None
    assert (seen.outputs, seen.inputs) == (held.outputs, held.inputs)
    assert driven.diff(seen, held.inputs).changes == "unknown"


def test_CP6_a_given_token_is_used_and_nothing_is_made(coderd: Simulation, driven: Driven) -> None:
    before = names(coderd)
    held = driven.create(given(coderd))
    assert coderd.token not in str(held)
    assert names(coderd) == before
    assert coderd.requests("POST") == []
    driven.delete(held)
    assert names(coderd) == before, "a given token is not ours to revoke"


@pytest.mark.parametrize("project", ["coder-stack", "their-app"])
def test_CP6_our_own_config_hands_the_token_over_in_any_project(
    coderd: Simulation, project: str
) -> None:
    with provider_process(
        config={"coder-stack:token": coderd.token}, environment={"PULUMI_PROJECT": project}
    ) as process:
        wish = given(coderd, token=None)
        held = process.of(OperatorAccessProvider()).create(wish)
    assert held.outputs["user"]


def test_CP6_a_token_of_somebody_elses_project_is_never_sent(coderd: Simulation) -> None:
    """As a library we are handed the config of a project in which `token` may mean anything."""
    with provider_process(
        config={"their-app:token": coderd.token, "their-app:kubernetes": "theirs"},
        environment={"PULUMI_PROJECT": "their-app"},
    ) as process:
        checked = process.of(OperatorAccessProvider()).check(given(coderd, token=None))
    ((path, why),) = checked.failures
    assert path == ""
    assert why.endswith("pulumi config set --secret coder-stack:token")
    assert coderd.requests(path="/users") == []


def test_unknowns_pass_through_check(driven: Driven) -> None:
    checked = driven.check({"connection": {"url": UNKNOWN}, "token": UNKNOWN, "email": UNKNOWN})
    assert checked.failures == []
    assert checked.inputs["given"] == UNKNOWN
    assert checked.inputs["email"] == UNKNOWN
    assert "token" not in checked.inputs


def test_a_bad_connection_is_refused_at_preview_by_its_path(driven: Driven) -> None:
    both = {"url": "http://127.0.0.1:1", "service_proxy": {"namespace": "a", "service": "b"}}
    for wrong in ({}, both, {"url": "ftp://nowhere"}):
        ((path, why),) = driven.check({"connection": wrong}).failures
        assert path == "connection"
        assert why


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
@pytest.mark.parametrize("path", ["/api/v2/users/first", "*/users/login", "*/keys/tokens"])
def test_U3_a_lost_answer_is_looked_up_before_it_is_repeated(
    place: Place, driven: Driven, path: str, kind: str
) -> None:
    place.coderd.fault(kind, path, method="POST")
    driven.create(place.wish())
    assert place.lets_in
    assert len(place.coderd.state.records.users) == 1
    assert [name for name in place.token_names if name] == ["coder-stack"]


def test_U3_a_token_that_a_lost_run_left_is_replaced(place: Place, driven: Driven) -> None:
    driven.create(place.wish())
    del place.cluster.secrets[HOME]
    with provider_process() as another_run:
        another_run.of(OperatorAccessProvider()).create(place.wish())
    assert place.lets_in
    assert place.token_names == ["coder-stack"]


def test_U3_a_token_that_a_lost_run_kept_is_taken_over(place: Place, driven: Driven) -> None:
    driven.create(place.wish())
    before = place.token
    with provider_process() as another_run:
        another_run.of(OperatorAccessProvider()).create(place.wish())
    assert place.token == before


def test_a_secret_of_that_name_that_somebody_else_made_is_left_alone(
    place: Place, driven: Driven
) -> None:
    """Also if it came after the preview; that names it, too (test_credentials.py)."""
    inputs = driven.check(place.wish()).inputs
    place.cluster.put(HOME, token="somebody-elses")
    with pytest.raises(Failure) as failed:
        driven.create_checked(inputs)
    assert "is not this program's" in failed.value.last
    assert place.token == "somebody-elses"
    assert place.coderd.requests("POST") == []


def test_a_token_that_cannot_be_kept_is_not_left_in_coderd(place: Place, driven: Driven) -> None:
    place.cluster.refuse(403, "Forbidden")
    place.cluster.reads_in_trouble = True
    with pytest.raises(Failure) as failed:
        driven.create(place.wish())
    assert "right to create and patch Secrets" in failed.value.last
    assert place.token_names == []


@pytest.mark.parametrize(
    ("status", "message"), [(403, "Forbidden."), (500, "oops"), (200, "no user")]
)
def test_U1_a_doubtful_answer_renews_nothing(
    place: Place, driven: Driven, status: int, message: str
) -> None:
    held = driven.create(place.wish())
    place.coderd.refuse(status, message, "/api/v2/users/me", count=-1)
    assert driven.diff(held, held.inputs).changes == "unknown"
    with pytest.raises(Failure):
        driven.read(held)
    assert place.token_names == ["coder-stack"]


@pytest.mark.parametrize("fact", ["deployment_id", "version"])
def test_CP5_P4_another_deployment_or_version_behind_the_same_url_makes_an_update_due(
    place: Place, driven: Driven, fact: str
) -> None:
    held = driven.create(place.wish())
    moved = Held(held.id, {**held.outputs, fact: "of-yesterday"}, held.inputs)
    assert driven.diff(moved, held.inputs).changes == "some"


def test_CP5_a_coderd_that_never_answers_fails_at_the_deadline(driven: Driven) -> None:
    nowhere = {"connection": {"url": "http://127.0.0.1:1"}, "wait_seconds": 1, "token": "a-token"}
    with pytest.raises(Failure) as failed:
        driven.create(nowhere)
    assert "Unavailable: operator access, create: Cannot ask coderd for its health" in (
        failed.value.last
    )


def test_CP5_a_coderd_that_is_still_starting_is_waited_for(place: Place, driven: Driven) -> None:
    place.coderd.fault("html", "/healthz", count=2, status=200)
    driven.create(place.wish())
    assert place.lets_in


def test_CP8_plain_http_to_another_machine_is_refused_at_preview_unless_a_setting_says_so(
    driven: Driven,
) -> None:
    far = {"url": "http://192.0.2.1"}
    ((path, why),) = driven.check({"connection": far, "token": UNKNOWN}).failures
    assert (path, why.split(":")[0]) == ("connection", "InsecureConnection")
    allowed = {**far, "allow_insecure": True}
    assert driven.check({"connection": allowed, "token": UNKNOWN}).failures == []


def test_K6_destroy_revokes_our_token_and_is_never_blocked(
    place: Place, driven: Driven, process: ProviderProcess
) -> None:
    held = driven.create(place.wish())
    destroy = process.of(OperatorAccessProvider())
    destroy.delete(held)
    assert place.token_names == []
    assert place.token is None, "and so is its Secret"
    destroy.delete(held)
    assert len(place.coderd.state.records.users) == 1, "the first user stays"


def test_K6_a_token_that_nobody_knows_any_more_is_named(
    place: Place, driven: Driven, process: ProviderProcess
) -> None:
    held = driven.create(place.wish())
    del place.cluster.secrets[HOME]
    process.of(OperatorAccessProvider()).delete(held)
    assert 'operator access: token "coder-stack" may still be in coderd' in process.stderr


def test_K6_without_coderd_the_secret_goes_and_a_warning_tells_of_the_token(
    place: Place, driven: Driven
) -> None:
    held = driven.create(place.wish())
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process:
        place.coderd.fault("drop_before", count=-1)
        process.of(OperatorAccessProvider()).delete(held)
        assert "operator access, delete" in process.stderr
    assert place.token is None
