"""Stacks of the first version: tokens in their states, and generated passwords (CP10)."""

from typing import Any

import pytest

from tests.provider.driver import Held, provider_process
from tests.provider.operators import (
    ACCESS,
    KEYS,
    LICENSES,
    PASSWORD,
    TOKEN_SECRET,
    Deployment,
    Stack,
    destroy,
    up,
    update,
)


def as_first_version(held: Held, token: str, **more: Any) -> Held:
    """A state of that version: a copy of the token, and no location of it."""
    connection = {k: v for k, v in held.outputs["connection"].items() if k != "credential"}
    outputs = {**held.outputs, "connection": connection, "token": token, **more}
    new = ("make_token", "password_hash", "accepted", "owner", "reason", "password_secret")
    outputs = {key: value for key, value in outputs.items() if key not in new}
    inputs = {key: outputs[key] for key in held.inputs if key in outputs and key != "token"}
    return Held(held.id, outputs, inputs)


@pytest.fixture
def old_stack(deployment: Deployment) -> Stack:
    """With a generated password, which is in the state alone."""
    access, license_, key = up(deployment)
    token = deployment.token or ""
    del deployment.cluster.secrets[TOKEN_SECRET]
    return (
        as_first_version(access, token, password=PASSWORD),
        as_first_version(license_, token),
        as_first_version(key, token),
    )


@pytest.fixture
def moved(deployment: Deployment, old_stack: Stack) -> Held:
    """Operator access after the first update, without a declared password."""
    return update(old_stack[0], deployment.inputs(password_secret=None))


def test_CP10_an_existing_stack_moves_over_in_one_update_without_a_rotation(
    deployment: Deployment, old_stack: Stack
) -> None:
    access, license_, key = old_stack
    token, inputs = access.outputs["token"], deployment.inputs(password_secret=None)
    license_inputs = {"connection": deployment.connection, "jwt": license_.outputs["jwt"]}
    with provider_process() as process:
        now = process.of(ACCESS).update(access, inputs)
        assert "pulumi config set --secret initialPassword" in process.stderr
        keys = process.of(KEYS)
        key_inputs = keys.check(deployment.key_inputs(), key.inputs).inputs
        assert keys.diff(key, key_inputs).replaces == []
        key = keys.update(key, deployment.key_inputs())
        license_ = process.of(LICENSES).update(license_, license_inputs)
    assert deployment.token == token
    assert token not in str((now, key, license_))
    assert deployment.cluster.text(TOKEN_SECRET, "password") == PASSWORD, "not in the state alone"
    deployment.revoke_all_tokens()
    update(now, inputs)
    assert deployment.accepts_token


def test_CP9_a_generated_password_leaves_our_secret_once_it_is_declared(
    deployment: Deployment, moved: Held
) -> None:
    with provider_process() as process:
        access, undeclared = process.of(ACCESS), deployment.inputs(password_secret=None)
        assert access.check(undeclared, moved.inputs).failures == []
        assert "is declared nowhere" in process.stderr, "until somebody declares it"
        access.update(moved, deployment.inputs())
    assert deployment.cluster.text(TOKEN_SECRET, "password") is None
    assert deployment.accepts_token


@pytest.mark.parametrize("by", ["destroy", "a given token"])
def test_CP9_a_password_that_is_declared_nowhere_outlives_the_token(
    deployment: Deployment, moved: Held, by: str
) -> None:
    with provider_process() as process:
        if by == "destroy":
            process.of(ACCESS).delete(moved)
        else:
            process.of(ACCESS).update(moved, deployment.given_inputs())
        left = f"Secret {TOKEN_SECRET} was left: it holds the first user's password"
        assert left in process.stderr
    assert (deployment.token, "coder-stack" in deployment.token_names) == (None, False)
    with provider_process() as again:
        again.of(ACCESS).create(deployment.inputs(password_secret=None))
    assert deployment.accepts_token


def test_CP10_a_state_that_has_not_moved_can_be_refreshed_twice_and_destroyed(
    deployment: Deployment, old_stack: Stack
) -> None:
    for _ in range(2):
        with provider_process({}) as process:
            kinds = (ACCESS, LICENSES, KEYS)
            seen = [
                process.of(kind).read(each) for kind, each in zip(kinds, old_stack, strict=True)
            ]
            assert process.stderr == ""
        old_stack = tuple(each for each in seen if each)  # type: ignore[assignment]
    assert destroy(*old_stack, config={}) == ""
    assert deployment.keys_and_licenses == ([], [])
    assert deployment.token_names == []
