"""Credentials that move: to another token, another Secret or another coderd (CP10)."""

from pathlib import Path
from typing import Any

import pytest

from tests.provider.driver import ProviderProcess, provider_process
from tests.provider.operators import (
    ACCESS,
    KEYS,
    TOKEN_SECRET,
    Deployment,
    create,
    destroy,
    keys,
    problem_of,
    up,
    update,
)
from tests.simulation import Simulation, simulated

LEFT_IN_OLD_CODERD = 'the former token "coder-stack" was left in the coderd at'


# Another token, another Secret (CP10) ------------------------------------------------------------


def test_CP10_a_given_token_replaces_the_created_one_and_leaves_nothing_of_it(
    deployment: Deployment, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held = access.update(access.create(deployment.inputs()), deployment.given_inputs())
    assert (deployment.token, "coder-stack" in deployment.token_names) == (None, False)
    held = access.update(held, deployment.inputs())
    assert deployment.accepts_token, "and back"
    destroy(held)
    assert (deployment.token, "coder-stack" in deployment.token_names) == (None, False)


def test_CP10_another_secret_for_the_token_leaves_none_behind(
    deployment: Deployment, process: ProviderProcess
) -> None:
    """E.g. after `pulumi stack rename`, or with another name of coderd."""
    held = process.of(ACCESS).create(deployment.inputs())
    moved = deployment.with_secret("coder/renamed")
    process.of(ACCESS).update(held, moved.inputs())
    assert moved.accepts_token
    assert deployment.token is None
    assert deployment.named_tokens == ["coder-stack"]


def test_CP10_the_same_secret_by_another_kubeconfig_stays(
    deployment: Deployment, process: ProviderProcess, tmp_path: Path
) -> None:
    held, token = process.of(ACCESS).create(deployment.inputs()), deployment.token
    copy = tmp_path / "another"
    copy.write_text(Path(deployment.cluster.kubeconfig).read_text())
    connection = deployment.connection
    connection["credential"]["kubeconfig"] = str(copy)
    process.of(ACCESS).update(held, deployment.inputs(connection=connection))
    assert deployment.token == token
    assert deployment.accepts_token


def test_CP10_a_secret_in_which_another_stack_stores_its_token_is_left_alone(
    deployment: Deployment, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held, token = access.create(deployment.inputs(owner="one")), deployment.token
    why = problem_of(process, deployment.inputs(owner="two"))
    assert why.startswith(f"Conflict: Cannot use Secret {TOKEN_SECRET}: it is another stack's; ")
    renamed = access.update(held, deployment.inputs(owner="renamed"))
    assert (deployment.token, renamed.inputs["owner"]) == (token, "renamed"), "by state it is ours"


def test_CP10_a_replacement_on_demand_does_not_remove_the_token_that_it_uses(
    deployment: Deployment,
) -> None:
    """Or another name of the resource: the engine creates first, and then deletes the old one."""
    held, _, _ = up(deployment)
    with provider_process() as replacing:
        again = replacing.of(ACCESS).create(deployment.inputs())
        replacing.of(ACCESS).delete(held)
    assert deployment.accepts_token
    destroy(again)
    assert (deployment.token, deployment.token_names) == (None, [])


def test_CP10_two_stacks_on_one_coderd_have_a_token_each_and_end_apart(
    deployment: Deployment,
) -> None:
    other = deployment.with_secret("coder/two")
    with provider_process() as one, provider_process() as two:
        first = one.of(ACCESS).create(deployment.inputs(owner="one"))
        second = two.of(ACCESS).create(other.inputs(owner="two"))
    assert sorted(deployment.token_names) == ["coder-stack-one", "coder-stack-two"]
    destroy(second)
    assert (deployment.accepts_token, other.token) == (True, None)
    destroy(first)
    assert deployment.token_names == []


def test_CP10_a_token_that_only_the_program_knows_is_warned_of(coderd: Simulation) -> None:
    inputs = {"connection": coderd.connection, "token": coderd.token}
    with provider_process({}) as unknown, provider_process(coderd.config) as known:
        for process in (unknown, known):
            process.of(ACCESS).create(inputs)
        assert "the token is known to the program alone" in unknown.stderr
        assert known.stderr == ""


# Another coderd: a token is sent to its own only (CP10) ------------------------------------------


def test_CP10_a_move_to_another_coderd_removes_at_the_old_one_what_moves_away(
    deployment: Deployment, other_deployment: Deployment, process: ProviderProcess
) -> None:
    """With the old one's own token, in this run: the Secret holds the new one already."""
    access, _, key = create(deployment, process)
    process.of(ACCESS).update(access, other_deployment.inputs())
    process.of(KEYS).delete(key)
    assert other_deployment.accepts_token
    assert keys(deployment.coderd) == []
    assert LEFT_IN_OLD_CODERD in process.stderr


def test_CP10_a_move_away_from_a_coderd_that_is_gone_continues_and_says_what_stayed(
    deployment: Deployment, other_deployment: Deployment
) -> None:
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process:
        held = process.of(ACCESS).create(deployment.inputs())
        deployment.coderd.fault("drop_before", count=-1)
        process.of(ACCESS).update(held, other_deployment.inputs())
        assert LEFT_IN_OLD_CODERD in process.stderr
    assert other_deployment.accepts_token


def test_CP10_another_url_of_the_same_coderd_leaves_one_token_and_no_warning(
    deployment: Deployment, process: ProviderProcess
) -> None:
    held = process.of(ACCESS).create(deployment.inputs())
    url = deployment.coderd.url.replace("127.0.0.1", "localhost")
    connection = {**deployment.connection, "url": url}
    process.of(ACCESS).update(held, deployment.inputs(connection=connection))
    assert deployment.accepts_token
    assert deployment.token_names == ["coder-stack"]
    assert process.stderr == ""


@pytest.mark.parametrize("owner", ["", "one"])
def test_CP10_a_secret_with_the_token_of_another_coderd_is_left_alone(
    deployment: Deployment, other_deployment: Deployment, process: ProviderProcess, owner: str
) -> None:
    """Unless state or owner tell that it is this stack's own, which moves."""
    access = process.of(ACCESS)
    held, token = access.create(deployment.inputs(owner=owner)), deployment.token
    conflict = f"Conflict: Cannot use Secret {TOKEN_SECRET}: its token is for "
    why = problem_of(process, other_deployment.inputs())
    assert why.startswith(f"{conflict}{deployment.coderd.url}")
    assert deployment.token == token
    inputs = other_deployment.inputs(owner=owner)
    assert access.check(inputs, held.inputs).failures == [], "by its state"
    assert (access.check(inputs).failures == []) is bool(owner), "the state was lost"


def test_CP10_moving_to_another_url_never_shows_the_new_token_to_the_old_host(
    licensed: Simulation,
) -> None:
    """The config has a token and an address; both change in one step."""

    def config(coderd: Simulation) -> dict[str, str]:
        return {"token": coderd.token, "access": f'{{"url": "{coderd.url}"}}'}

    def inputs(coderd: Simulation) -> dict[str, Any]:
        deployment_id = coderd.state.records.deployment_id
        wanted = {"organization": "coder", "base_name": "f", "deployment_id": deployment_id}
        return {"connection": coderd.connection, **wanted}

    with simulated(licensed=True, token="otherOwner-ofTheFirstOwnerForTest") as new:
        with provider_process(config(licensed)) as first:
            key = first.of(KEYS).create(inputs(licensed))
        licensed.forget_requests()
        with provider_process(config(new)) as moving:
            moving.of(KEYS).create(inputs(new))
            moving.of(KEYS).delete(key)
            assert f"it is for {new.url} and is not sent to {licensed.url}" in moving.stderr
            assert f'"{key.outputs["name"]}"' in moving.stderr, "what stays is named"
        assert licensed.requests(path="/organizations") == [], "nothing was sent with a token"
        assert len(keys(new)) == 1


def test_CP10_the_token_of_our_secret_is_sent_to_the_coderd_that_the_secret_names(
    deployment: Deployment, other_deployment: Deployment
) -> None:
    access, _, key = up(deployment)
    update(access, other_deployment.inputs())
    deployment.coderd.forget_requests()
    with provider_process() as later:
        later.of(KEYS).delete(key)
        assert "is not sent to" in later.stderr
    assert deployment.coderd.requests() == []
    assert other_deployment.accepts_token
