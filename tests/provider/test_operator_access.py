"""Operator access through the real provider process: bootstrap, given tokens, readiness."""

from typing import Any

import pytest

from tests.provider.driver import UNKNOWN, Driven, Held, ProviderProcess, provider_process
from tests.provider.operators import (
    ACCESS,
    PASSWORD,
    TOKEN_SECRET,
    Deployment,
    failure_of,
    problem_of,
)
from tests.simulation import Simulation


@pytest.fixture
def access(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(ACCESS)


def given(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "wait_seconds": 5, "token": coderd.token, **more}


def names(coderd: Simulation) -> list[str]:
    return [key.token_name for key in coderd.state.records.api_keys.values()]


def test_CP5_CP6_bootstrap_creates_user_and_token_and_outputs_who_and_where(
    deployment: Deployment, access: Driven
) -> None:
    held = access.create(deployment.inputs())
    state = deployment.coderd.state
    assert held.id == "admin"
    assert held.outputs["deployment_id"] == state.records.deployment_id
    assert held.outputs["version"] == state.flags.version
    assert (held.outputs["user"], held.outputs["url"]) == ("admin", deployment.coderd.url)
    assert deployment.accepts_token
    assert deployment.token_names == ["coder-stack"], "the login's session has ended"
    assert deployment.coderd.requests()[:2] == ["GET /healthz", "GET /api/v2/buildinfo"]


def test_CP10_the_token_is_in_its_secret_and_neither_it_nor_the_password_in_the_state(
    deployment: Deployment, access: Driven
) -> None:
    held = access.create(deployment.inputs())
    token = deployment.token
    assert token is not None
    assert held.outputs["token_id"] == token.partition("-")[0], "the public part"
    for secret in (token, PASSWORD):
        assert secret not in str(held)


def test_CP6_the_token_lives_as_long_as_coderd_lets_an_owner(
    deployment: Deployment, access: Driven
) -> None:
    access.create(deployment.inputs(token_days=90.0))
    (key,) = deployment.coderd.state.records.api_keys.values()
    assert key.lifetime_seconds == 7 * 24 * 3600


def test_K8_a_generated_token_name_contains_the_stack_and_stays(
    deployment: Deployment, access: Driven
) -> None:
    held = access.create(deployment.inputs(owner="1a2b3c4d"))
    assert deployment.token_names == ["coder-stack-1a2b3c4d"]
    checked = access.check(deployment.inputs(owner="another"), held.inputs)
    assert checked.inputs["token_name"] == "coder-stack-1a2b3c4d"


def test_read_finds_the_same_and_no_drift(deployment: Deployment, access: Driven) -> None:
    held = access.create(deployment.inputs())
    seen = access.read(held)
    assert seen is not None
    assert (seen.outputs, seen.inputs) == (held.outputs, held.inputs)
    assert access.diff(seen, held.inputs).changes == "unknown"


def test_CP6_a_given_token_is_used_and_nothing_is_created(
    coderd: Simulation, access: Driven
) -> None:
    before = names(coderd)
    held = access.create(given(coderd))
    assert coderd.token not in str(held)
    assert names(coderd) == before
    assert coderd.requests("POST") == []
    access.delete(held)
    assert names(coderd) == before, "a given token is not ours to revoke"


@pytest.mark.parametrize("project", ["coder-stack", "their-app"])
def test_CP6_the_token_of_our_own_config_is_used_in_any_project(
    coderd: Simulation, project: str
) -> None:
    with provider_process(
        config={"coder-stack:token": coderd.token}, environment={"PULUMI_PROJECT": project}
    ) as process:
        held = process.of(ACCESS).create(given(coderd, token=None))
    assert held.outputs["user"]


def test_CP6_a_token_of_somebody_elses_project_is_never_sent(coderd: Simulation) -> None:
    """As a library we are handed the config of a project in which `token` may mean anything."""
    with provider_process(
        config={"their-app:token": coderd.token, "their-app:kubernetes": "theirs"},
        environment={"PULUMI_PROJECT": "their-app"},
    ) as process:
        why = problem_of(process, given(coderd, token=None))
    assert why.endswith("pulumi config set --secret coder-stack:token")
    assert coderd.requests(path="/users") == []


def test_unknowns_pass_through_check(access: Driven) -> None:
    checked = access.check({"connection": {"url": UNKNOWN}, "token": UNKNOWN, "email": UNKNOWN})
    assert checked.failures == []
    assert checked.inputs["given"] == UNKNOWN
    assert checked.inputs["email"] == UNKNOWN
    assert "token" not in checked.inputs


def test_a_bad_connection_is_refused_at_preview_by_its_path(access: Driven) -> None:
    both = {"url": "http://127.0.0.1:1", "service_proxy": {"namespace": "a", "service": "b"}}
    for wrong in ({}, both, {"url": "ftp://nowhere"}):
        ((path, why),) = access.check({"connection": wrong}).failures
        assert path == "connection"
        assert why


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
@pytest.mark.parametrize("path", ["/api/v2/users/first", "*/users/login", "*/keys/tokens"])
def test_U3_after_a_lost_answer_a_request_is_repeated_only_if_needed(
    deployment: Deployment, access: Driven, path: str, kind: str
) -> None:
    deployment.coderd.fault(kind, path, method="POST")
    access.create(deployment.inputs())
    assert deployment.accepts_token
    assert len(deployment.coderd.state.records.users) == 1
    assert deployment.named_tokens == ["coder-stack"]


def test_U3_a_token_that_a_lost_run_did_not_store_is_replaced(
    deployment: Deployment, access: Driven
) -> None:
    access.create(deployment.inputs())
    del deployment.cluster.secrets[TOKEN_SECRET]
    with provider_process() as later_run:
        later_run.of(ACCESS).create(deployment.inputs())
    assert deployment.accepts_token
    assert deployment.token_names == ["coder-stack"]


def test_U3_a_token_that_a_lost_run_stored_is_used(deployment: Deployment, access: Driven) -> None:
    access.create(deployment.inputs())
    before = deployment.token
    with provider_process() as later_run:
        later_run.of(ACCESS).create(deployment.inputs())
    assert deployment.token == before


def test_a_secret_of_that_name_that_somebody_else_created_is_left_alone(
    deployment: Deployment, access: Driven
) -> None:
    """Also if it was created after the preview; see test_bad_credentials.py for the preview."""
    inputs = access.check(deployment.inputs()).inputs
    deployment.cluster.put(TOKEN_SECRET, token="somebody-elses")
    assert "is not this program's" in failure_of(access.create_checked, inputs)
    assert deployment.token == "somebody-elses"
    assert deployment.coderd.requests("POST") == []


def test_a_token_that_cannot_be_stored_is_not_left_in_coderd(
    deployment: Deployment, access: Driven
) -> None:
    deployment.cluster.refuse(403, "Forbidden")
    deployment.cluster.reads_in_trouble = True
    assert "right to create and patch Secrets" in failure_of(access.create, deployment.inputs())
    assert deployment.token_names == []


@pytest.mark.parametrize(
    ("status", "message"), [(403, "Forbidden."), (500, "oops"), (200, "no user")]
)
def test_U1_a_doubtful_answer_renews_nothing(
    deployment: Deployment, access: Driven, status: int, message: str
) -> None:
    held = access.create(deployment.inputs())
    deployment.coderd.refuse(status, message, "/api/v2/users/me", count=-1)
    assert access.diff(held, held.inputs).changes == "unknown"
    failure_of(access.read, held)
    assert deployment.token_names == ["coder-stack"]


@pytest.mark.parametrize("fact", ["deployment_id", "version"])
def test_CP5_P4_another_deployment_or_version_behind_the_same_url_makes_an_update_due(
    deployment: Deployment, access: Driven, fact: str
) -> None:
    held = access.create(deployment.inputs())
    moved = Held(held.id, {**held.outputs, fact: "of-yesterday"}, held.inputs)
    assert access.diff(moved, held.inputs).changes == "some"


def test_CP5_a_coderd_that_never_answers_fails_at_the_deadline(access: Driven) -> None:
    nowhere = {"connection": {"url": "http://127.0.0.1:1"}, "wait_seconds": 1, "token": "a-token"}
    why = failure_of(access.create, nowhere)
    cannot = "Cannot reach coderd at http://127.0.0.1:1 within 1 s: nothing answers there; check"
    assert f"Unavailable: operator access, create: {cannot}" in why
    assert "leave out access.url and access.throughApiServer" in why, "the way that needs no DNS"


def test_CP5_a_coderd_that_is_still_starting_is_waited_for(
    deployment: Deployment, access: Driven
) -> None:
    deployment.coderd.fault("html", "/healthz", count=2, status=200)
    access.create(deployment.inputs())
    assert deployment.accepts_token


def test_CP8_plain_http_to_another_machine_is_refused_at_preview_unless_a_setting_says_so(
    access: Driven,
) -> None:
    far = {"url": "http://192.0.2.1"}
    ((path, why),) = access.check({"connection": far, "token": UNKNOWN}).failures
    assert (path, why.split(":")[0]) == ("connection", "InsecureConnection")
    allowed = {**far, "allow_insecure": True}
    assert access.check({"connection": allowed, "token": UNKNOWN}).failures == []


def test_K6_destroy_revokes_our_token_and_is_never_blocked(
    deployment: Deployment, access: Driven, process: ProviderProcess
) -> None:
    held = access.create(deployment.inputs())
    destroy = process.of(ACCESS)
    destroy.delete(held)
    assert deployment.token_names == []
    assert deployment.token is None, "nor is there its Secret"
    destroy.delete(held)
    assert len(deployment.coderd.state.records.users) == 1, "the first user stays"


def test_K6_a_token_that_was_lost_is_named(
    deployment: Deployment, access: Driven, process: ProviderProcess
) -> None:
    held = access.create(deployment.inputs())
    del deployment.cluster.secrets[TOKEN_SECRET]
    process.of(ACCESS).delete(held)
    assert 'operator access: token "coder-stack" may still be in coderd' in process.stderr


def test_K6_without_coderd_the_secret_is_deleted_and_a_warning_names_the_token(
    deployment: Deployment, access: Driven
) -> None:
    held = access.create(deployment.inputs())
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process:
        deployment.coderd.fault("drop_before", count=-1)
        process.of(ACCESS).delete(held)
        assert "operator access, delete" in process.stderr
    assert deployment.token is None
