"""Operator access through the real provider process: bootstrap, given tokens, renewal."""

from collections.abc import Iterator
from typing import Any

import pytest

from coder_stack.dynamic.operator_access import OperatorAccessProvider
from tests.provider.driver import UNKNOWN, Driven, Failure, Held, ProviderProcess, provider_process
from tests.simulation import Simulation, simulated

PASSWORD = "A-Rather-Long-Secret-7"


@pytest.fixture
def fresh() -> Iterator[Simulation]:
    """Nobody has set it up yet."""
    with simulated(fresh=True) as simulation:
        yield simulation


@pytest.fixture
def driven(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(OperatorAccessProvider())


def inputs(coderd: Simulation, **more: Any) -> dict[str, Any]:
    return {"connection": coderd.connection, "wait_seconds": 5, **more}


def names(coderd: Simulation) -> list[str]:
    return [key.token_name for key in coderd.world.records.api_keys.values()]


def works(coderd: Simulation, held: Held) -> bool:
    return coderd.act("GET", "/api/v2/users/me", token=held.outputs["token"])["username"] == "admin"


def test_CP5_CP6_bootstrap_creates_user_and_token_and_says_who_and_where(
    fresh: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(fresh))
    assert held.id == "admin"
    assert held.outputs["deployment_id"] == fresh.world.records.deployment_id
    assert held.outputs["version"] == fresh.world.settings.version
    assert (held.outputs["user"], held.outputs["url"]) == ("admin", fresh.url)
    assert len(held.outputs["password"]) >= 24
    assert works(fresh, held)
    assert names(fresh) == ["coder-stack"], "the login's session was given back"
    assert "password" not in held.inputs, "what was made up is no input"

    asked = fresh.requests()
    assert asked[:2] == ["GET /healthz", "GET /api/v2/buildinfo"]


def test_CP6_the_token_lives_as_long_as_coderd_lets_an_owner(
    fresh: Simulation, driven: Driven
) -> None:
    driven.create(inputs(fresh, token_days=90.0))
    (key,) = fresh.world.records.api_keys.values()
    assert key.lifetime_seconds == 7 * 24 * 3600


def test_read_finds_the_same_and_no_drift(fresh: Simulation, driven: Driven) -> None:
    held = driven.create(inputs(fresh, initial_password=PASSWORD))
    seen = driven.read(held)
    assert seen is not None
    assert (seen.outputs, seen.inputs) == (held.outputs, held.inputs)
    assert driven.diff(seen, held.inputs).changes == "unknown"


def test_CP6_a_given_token_is_used_and_nothing_is_made(coderd: Simulation, driven: Driven) -> None:
    before = names(coderd)
    held = driven.create(inputs(coderd, token=coderd.token))
    assert held.outputs["token"] == coderd.token
    assert coderd.token not in str(held.inputs)
    assert names(coderd) == before
    assert coderd.requests("POST") == []
    driven.delete(held)
    assert names(coderd) == before, "a given token is not ours to revoke"


def test_CP6_config_hands_the_token_over_too(coderd: Simulation) -> None:
    with provider_process(config={"token": coderd.token}) as process:
        held = process.of(OperatorAccessProvider()).create(inputs(coderd))
        assert held.outputs["token"] == coderd.token


def test_CP6_a_given_token_that_is_refused_ends_in_Forbidden(
    coderd: Simulation, driven: Driven
) -> None:
    bad = "abcdefghij-klmnopqrstuvwxyz012345"
    with pytest.raises(Failure) as failed:
        driven.create(inputs(coderd, token=bad))
    assert "Forbidden: operator access, create: " in failed.value.last
    assert bad not in str(failed.value)


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


def test_CP6_a_first_user_of_somebody_else_is_a_clear_Forbidden(
    coderd: Simulation, driven: Driven
) -> None:
    with pytest.raises(Failure) as failed:
        driven.create(inputs(coderd, initial_password=PASSWORD))
    assert "Forbidden: operator access, create: Cannot log in" in failed.value.last
    assert "give the right password, or a session token" in failed.value.last
    assert PASSWORD not in str(failed.value)


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
@pytest.mark.parametrize("path", ["/api/v2/users/first", "*/keys/tokens"])
def test_U3_a_lost_answer_is_looked_up_before_it_is_repeated(
    fresh: Simulation, driven: Driven, path: str, kind: str
) -> None:
    fresh.fault(kind, path, method="POST")
    held = driven.create(inputs(fresh))
    assert works(fresh, held)
    assert len(fresh.world.records.users) == 1
    assert names(fresh) == ["coder-stack"]


def test_U3_a_token_that_a_lost_run_left_is_replaced(fresh: Simulation, driven: Driven) -> None:
    driven.create(inputs(fresh, initial_password=PASSWORD))
    with provider_process() as another_run:
        held = another_run.of(OperatorAccessProvider()).create(
            inputs(fresh, initial_password=PASSWORD)
        )
    assert works(fresh, held)
    assert names(fresh) == ["coder-stack"]


def test_CP6_a_refused_token_makes_an_update_due_and_the_update_renews_it(
    fresh: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(fresh))
    fresh.world.records.api_keys.clear()
    assert driven.diff(held, held.inputs).changes == "some"
    now = driven.update(held, inputs(fresh))
    assert works(fresh, now)
    assert now.outputs["token"] != held.outputs["token"]
    assert set(now.outputs) == set(held.outputs)
    assert driven.diff(now, now.inputs).changes == "unknown"


def test_CP6_a_refused_token_is_renewed_by_a_refresh_in_a_new_process(fresh: Simulation) -> None:
    with provider_process() as first:
        held = first.of(OperatorAccessProvider()).create(inputs(fresh))
    fresh.world.records.api_keys.clear()
    with provider_process() as second:
        seen = second.of(OperatorAccessProvider()).read(held)
        assert seen is not None
        assert works(fresh, seen)
        assert seen.inputs == held.inputs
        assert "coderd refuses the token; a new one is made" in second.stderr
        assert seen.outputs["token"] not in second.stderr


@pytest.mark.parametrize(
    ("status", "message"), [(403, "Forbidden."), (500, "oops"), (200, "no user")]
)
def test_U1_a_doubtful_answer_renews_nothing(
    fresh: Simulation, driven: Driven, status: int, message: str
) -> None:
    held = driven.create(inputs(fresh))
    fresh.refuse(status, message, "/api/v2/users/me", count=-1)
    assert driven.diff(held, held.inputs).changes == "unknown"
    with pytest.raises(Failure):
        driven.read(held)
    assert names(fresh) == ["coder-stack"]


def test_CP5_another_deployment_behind_the_same_url_makes_an_update_due(
    fresh: Simulation, driven: Driven
) -> None:
    held = driven.create(inputs(fresh))
    moved = Held(held.id, {**held.outputs, "deployment_id": "of-the-old-database"}, held.inputs)
    assert driven.diff(moved, held.inputs).changes == "some"


def test_CP5_a_coderd_that_never_answers_fails_at_the_deadline(driven: Driven) -> None:
    nowhere = {"connection": {"url": "http://127.0.0.1:1"}, "wait_seconds": 1}
    with pytest.raises(Failure) as failed:
        driven.create(nowhere)
    assert "Unavailable: operator access, create: Cannot ask coderd for its health" in (
        failed.value.last
    )


def test_CP5_a_coderd_that_is_still_starting_is_waited_for(
    fresh: Simulation, driven: Driven
) -> None:
    fresh.fault("html", "/healthz", count=2, status=200)
    assert works(fresh, driven.create(inputs(fresh)))


def test_CP8_plain_http_to_another_machine_is_refused_at_preview_unless_a_setting_says_so(
    driven: Driven,
) -> None:
    far = {"url": "http://192.0.2.1"}
    ((path, why),) = driven.check({"connection": far}).failures
    assert (path, why.split(":")[0]) == ("connection", "InsecureConnection")
    assert driven.check({"connection": {**far, "allow_insecure": True}}).failures == []


def test_K6_destroy_revokes_our_token_and_is_never_blocked(
    fresh: Simulation, process: ProviderProcess
) -> None:
    driven = process.of(OperatorAccessProvider())
    held = driven.create(inputs(fresh))
    driven.delete(held)
    assert names(fresh) == []
    driven.delete(held)
    assert "warning: Forbidden: operator access, delete" in process.stderr
    assert len(fresh.world.records.users) == 1, "the first user stays"


def test_CP6_a_token_of_somebody_elses_project_is_never_sent(fresh: Simulation) -> None:
    """As a library we are handed the config of a project in which `token` may mean anything."""
    with provider_process(
        config={"their-app:token": "theirs", "their-app:kubernetes": "theirs"},
        environment={"PULUMI_PROJECT": "their-app"},
    ) as process:
        held = process.of(OperatorAccessProvider()).create(inputs(fresh))
    assert held.outputs["token"] != "theirs"
    assert held.inputs["given"] == "", "no token was given"


def test_CP6_our_own_token_is_found_in_any_project(coderd: Simulation) -> None:
    with provider_process(
        config={"coder-stack:token": coderd.token}, environment={"PULUMI_PROJECT": "their-app"}
    ) as process:
        held = process.of(OperatorAccessProvider()).create(inputs(coderd))
    assert held.outputs["token"] == coderd.token
