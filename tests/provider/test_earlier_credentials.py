"""Stacks of the first version: copies of the token in their states, made-up passwords (CP10)."""

from typing import Any

import pytest

from tests.provider.driver import Held, provider_process
from tests.provider.operators import (
    ACCESS,
    HOME,
    KEYS,
    LICENSES,
    PASSWORD,
    Place,
    given,
    key_wish,
    keys,
    licensed,
    revoke_all_tokens,
)


def of_the_first_version(held: Held, token: str, **more: Any) -> Held:
    """A state as it was then: no home named, and a copy of the token."""
    connection = {k: v for k, v in held.outputs["connection"].items() if k != "credential"}
    outputs = {**held.outputs, "connection": connection, "token": token, **more}
    new = ("make_token", "password_hash", "accepted", "owner", "reason", "password_secret")
    outputs = {key: value for key, value in outputs.items() if key not in new}
    inputs = {key: outputs[key] for key in held.inputs if key in outputs and key != "token"}
    return Held(held.id, outputs, inputs)


@pytest.fixture
def old_stack(place: Place) -> tuple[Held, Held, Held]:
    """With a password that was made up, and is in the state alone."""
    with provider_process() as first:
        access, license_, key = licensed(place, first)
    token = place.token or ""
    del place.cluster.secrets[HOME]
    return (
        of_the_first_version(access, token, password=PASSWORD),
        of_the_first_version(license_, token),
        of_the_first_version(key, token),
    )


def test_CP10_an_existing_stack_moves_over_in_one_update_without_a_rotation(
    place: Place, old_stack: tuple[Held, Held, Held]
) -> None:
    access, license_, key = old_stack
    token, wish = access.outputs["token"], place.wish(password_secret=None)
    with provider_process() as up:
        driven = up.of(ACCESS)
        assert driven.check(wish, access.inputs).failures == []
        now = driven.update(access, wish)
        assert "pulumi config set --secret initialPassword" in up.stderr
        difference = up.of(KEYS).diff(key, up.of(KEYS).check(key_wish(place), key.inputs).inputs)
        assert difference.replaces == []
        moved = [
            up.of(KEYS).update(key, key_wish(place)),
            up.of(LICENSES).update(
                license_, {"connection": place.connection, "jwt": license_.outputs["jwt"]}
            ),
        ]
    assert place.token == token
    for each in (now, *moved):
        assert token not in str(each)
    assert place.cluster.text(HOME, "password") == PASSWORD, "it is not in the state alone"
    revoke_all_tokens(place)
    with provider_process() as later:
        assert later.of(ACCESS).check(wish, now.inputs).failures == []
        later.of(ACCESS).update(now, wish)
    assert place.lets_in


def moved_over(place: Place, old_stack: tuple[Held, Held, Held]) -> Held:
    """Operator access after the first update, without a declared password."""
    with provider_process() as up:
        return up.of(ACCESS).update(old_stack[0], place.wish(password_secret=None))


def test_CP9_a_password_that_was_made_up_leaves_our_secret_once_it_is_declared(
    place: Place, old_stack: tuple[Held, Held, Held]
) -> None:
    held = moved_over(place, old_stack)
    with provider_process() as up:
        assert up.of(ACCESS).check(place.wish(password_secret=None), held.inputs).failures == []
        assert "is declared nowhere" in up.stderr, "until somebody does it"
        up.of(ACCESS).update(held, place.wish())
    assert place.cluster.text(HOME, "password") is None
    assert place.lets_in


@pytest.mark.parametrize("by", ["destroy", "a given token"])
def test_CP9_a_password_that_is_declared_nowhere_outlives_the_token(
    place: Place, old_stack: tuple[Held, Held, Held], by: str
) -> None:
    held = moved_over(place, old_stack)
    with provider_process() as run:
        if by == "destroy":
            run.of(ACCESS).delete(held)
        else:
            run.of(ACCESS).update(held, given(place))
        assert f"Secret {HOME} was left: it holds the first user's password" in run.stderr
    assert (place.token, "coder-stack" in place.token_names) == (None, False)
    with provider_process() as again:
        again.of(ACCESS).create(place.wish(password_secret=None))
    assert place.lets_in


def test_CP10_a_state_that_has_not_moved_can_be_refreshed_twice_and_destroyed(
    place: Place, old_stack: tuple[Held, Held, Held]
) -> None:
    for _ in range(2):
        with provider_process({}) as refresh:
            kinds = (ACCESS, LICENSES, KEYS)
            seen = [
                refresh.of(kind).read(held) for kind, held in zip(kinds, old_stack, strict=True)
            ]
            access, license_, key = old_stack = tuple(each for each in seen if each)  # type: ignore[assignment]
            assert refresh.stderr == ""
    with provider_process({}) as destroy:
        destroy.of(KEYS).delete(key)
        destroy.of(LICENSES).delete(license_)
        destroy.of(ACCESS).delete(access)
        assert destroy.stderr == ""
    assert (keys(place.coderd), place.coderd.license_ids()) == ([], [])
    assert place.token_names == []
