"""How credentials live, through the real provider process: one home, which survives (CP9, CP10).

Each test is a bad day: a first run that dies, a renewed or rotated token, a changed password, a
move to another coderd, a look beside an update.
"""

from pathlib import Path
from typing import Any

import pytest

from coder_stack.dynamic.daemons_connected import DaemonsConnectedProvider
from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.feature_gate import FeatureGateProvider
from coder_stack.dynamic.proxy_health import ProxyHealthProvider
from sandbox.coderd.rules.identifiers import hashed_password
from tests.provider.driver import Failure, Held, ProviderProcess, provider_process
from tests.provider.operators import (
    ACCESS,
    HOME,
    KEYS,
    LICENSES,
    PASSWORD,
    PASSWORDS,
    Place,
    given,
    keys,
    licensed,
    revoke_all_tokens,
)
from tests.simulation import Simulation, license_text, simulated

# A first run that dies (CP9) ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/api/v2/users/login", "*/keys/tokens/tokenconfig", "*/keys/tokens"]
)
@pytest.mark.parametrize("status", [500, 502])
def test_CP9_a_first_run_that_fails_after_the_first_user_locks_nobody_out(
    place: Place, path: str, status: int
) -> None:
    place.coderd.fault("status", path, status=status, count=-1)
    hasty = {"CODER_STACK_DEADLINE": "1"}
    with provider_process(environment=hasty) as first, pytest.raises(Failure):
        first.of(ACCESS).create(place.wish())
    assert len(place.coderd.state.records.users) == 1
    place.coderd.peace()
    with provider_process() as second:
        second.of(ACCESS).create(place.wish())
    assert place.lets_in
    assert [name for name in place.token_names if name] == ["coder-stack"]


def test_CP9_destroy_and_up_on_the_same_database_get_in_again(place: Place) -> None:
    with provider_process() as first:
        access, license_, key = licensed(place, first)
    with provider_process() as destroy:
        destroy.of(KEYS).delete(key)
        destroy.of(LICENSES).delete(license_)
        destroy.of(ACCESS).delete(access)
    assert (keys(place.coderd), place.coderd.license_ids()) == ([], [])
    with provider_process() as again:
        licensed(place, again)
    assert place.lets_in


def test_CP9_without_a_password_and_a_token_preview_fails_with_the_command_that_sets_it(
    place: Place, process: ProviderProcess
) -> None:
    ((path, why),) = process.of(ACCESS).check(place.wish(password_secret=None)).failures
    assert path == ""
    assert why.endswith("pulumi config set --secret initialPassword")
    assert place.coderd.requests("POST") == []


def test_CP9_the_password_of_the_config_is_used_and_kept_nowhere(place: Place) -> None:
    config = {"coder-stack:initialPassword": PASSWORD}
    with provider_process(config=config) as process:
        held = process.of(ACCESS).create(place.wish(password_secret=None))
    assert place.lets_in
    assert PASSWORD not in str(held)
    assert PASSWORD not in str(place.cluster.secrets[HOME])


def test_CP9_a_changed_password_is_tried_before_it_is_relied_on(
    place: Place, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held = access.create(place.wish())
    place.cluster.put(PASSWORDS, password="Not-The-Password-At-All-9")
    with pytest.raises(Failure) as failed:
        access.update(held, place.wish())
    assert "coderd does not accept the password for admin@example.com" in failed.value.last
    assert place.lets_in, "and nothing was changed"

    (user,) = place.coderd.state.records.users.values()
    user.password_hash = hashed_password("Not-The-Password-At-All-9", user.password_salt)
    now = access.update(held, place.wish())
    assert access.diff(now, now.inputs).changes == "unknown"
    revoke_all_tokens(place)
    access.update(now, place.wish())
    assert place.lets_in, "the new password renews"


# Renewal, rotation by hand, in any order (CP10) --------------------------------------------------


def test_CP10_a_refused_token_makes_an_update_due_and_the_update_renews_it(
    place: Place, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held, before = access.create(place.wish()), place.token
    revoke_all_tokens(place)
    assert access.diff(held, held.inputs).changes == "some"
    now = access.update(held, place.wish())
    assert place.lets_in
    assert place.token != before
    assert set(now.outputs) == set(held.outputs)
    assert access.diff(now, now.inputs).changes == "unknown"


def test_CP10_after_a_renewal_destroy_and_a_plain_refresh_work_without_the_program(
    place: Place,
) -> None:
    with provider_process() as first:
        access, license_, key = licensed(place, first)
    revoke_all_tokens(place)
    with provider_process() as up:
        access = up.of(ACCESS).update(access, place.wish())
    with provider_process() as refresh:
        assert refresh.of(KEYS).read(key) is not None
        assert refresh.of(LICENSES).read(license_) is not None
    with provider_process() as destroy:
        destroy.of(KEYS).delete(key)
        destroy.of(LICENSES).delete(license_)
        destroy.of(ACCESS).delete(access)
        assert "remove it by hand" not in destroy.stderr
    assert (keys(place.coderd), place.coderd.license_ids()) == ([], [])
    assert [name for name in place.token_names if name] == []


def test_CP10_a_destroy_with_an_expired_token_logs_in_once_and_leaves_nothing(
    place: Place,
) -> None:
    with provider_process() as first:
        access, license_, key = licensed(place, first)
    revoke_all_tokens(place)
    with provider_process() as destroy:
        destroy.of(KEYS).delete(key)
        destroy.of(LICENSES).delete(license_)
        destroy.of(ACCESS).delete(access)
        assert destroy.stderr == ""
    assert len(place.coderd.requests("POST", "/login")) == 2, "the first run, and this one"
    assert (keys(place.coderd), place.coderd.license_ids()) == ([], [])
    assert place.token_names == []


def test_CP10_a_token_of_the_users_own_can_be_rotated_in_its_secret(
    place: Place, process: ProviderProcess
) -> None:
    """By a refresh without the program, and within one process that has used the old one."""
    process.of(ACCESS).create(place.wish())
    own = Place(place.coderd, place.cluster, home="coder/their-token")
    first = place.coderd.act("POST", "/_sim/users", {"username": "a", "roles": ["owner"]},
                             token=place.token or "")["token"]  # fmt: skip
    place.cluster.put(own.home, token=first)
    license_ = process.of(LICENSES).create({"connection": own.connection, "jwt": license_text()})
    second = place.coderd.act("POST", "/_sim/users", {"username": "b", "roles": ["owner"]},
                              token=place.token or "")["token"]  # fmt: skip
    place.coderd.act("DELETE", f"/api/v2/users/me/keys/{first.partition('-')[0]}", token=first)
    place.cluster.put(own.home, token=second)

    assert process.of(LICENSES).read(license_) is not None
    with provider_process() as refresh:
        assert refresh.of(LICENSES).read(license_) is not None
    assert place.cluster.text(own.home, "token") == second


def test_CP10_no_state_keeps_a_copy(place: Place, process: ProviderProcess) -> None:
    held = licensed(place, process)
    facts = process.of(EntitlementsProvider()).create({"connection": place.connection})
    for each in (*held, facts):
        seen = process.of(ACCESS).read(each) if each is held[0] else each
        assert place.token is not None
        assert place.token not in str((each, seen))


# From one home to another (CP10) -----------------------------------------------------------------


def test_CP10_a_given_token_takes_the_place_of_the_made_one_and_leaves_nothing_of_it(
    place: Place, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held = access.create(place.wish())
    held = access.update(held, given(place))
    assert (place.token, "coder-stack" in place.token_names) == (None, False)
    held = access.update(held, place.wish())
    assert place.lets_in, "and back"
    with provider_process() as destroy:
        destroy.of(ACCESS).delete(held)
    assert (place.token, "coder-stack" in place.token_names) == (None, False)


def test_CP10_another_secret_for_the_token_leaves_none_behind(
    place: Place, process: ProviderProcess
) -> None:
    """E.g. after `pulumi stack rename`, or with another name of coderd."""
    access = process.of(ACCESS)
    held = access.create(place.wish())
    moved = Place(place.coderd, place.cluster, home="coder/renamed")
    access.update(held, moved.wish())
    assert moved.lets_in
    assert place.token is None
    assert [name for name in place.token_names if name] == ["coder-stack"]


def test_CP10_the_same_secret_by_another_kubeconfig_stays(
    place: Place, process: ProviderProcess, tmp_path: Path
) -> None:
    access = process.of(ACCESS)
    held, token = access.create(place.wish()), place.token
    other = tmp_path / "another"
    other.write_text(Path(place.cluster.kubeconfig).read_text())
    credential = {**place.connection["credential"], "kubeconfig": str(other)}
    access.update(held, place.wish(connection={**place.connection, "credential": credential}))
    assert place.token == token
    assert place.lets_in


def test_CP10_a_move_to_another_coderd_removes_at_the_old_one_what_moves_away(
    place: Place, elsewhere: Place, process: ProviderProcess
) -> None:
    """With the old one's own token, in this run: its home holds the new one already."""
    access, _, key = licensed(place, process)
    process.of(ACCESS).update(access, elsewhere.wish())
    process.of(KEYS).delete(key)
    assert elsewhere.lets_in
    assert keys(place.coderd) == []
    assert 'the former token "coder-stack" was left in the coderd at' in process.stderr


def test_CP10_another_way_to_the_same_coderd_leaves_one_token_and_no_warning(
    place: Place, process: ProviderProcess
) -> None:
    held = process.of(ACCESS).create(place.wish())
    by_name = {**place.connection, "url": place.coderd.url.replace("127.0.0.1", "localhost")}
    process.of(ACCESS).update(held, place.wish(connection=by_name))
    assert place.lets_in
    assert place.token_names == ["coder-stack"]
    assert process.stderr == ""


def test_CP10_a_move_away_from_a_coderd_that_is_gone_goes_on_and_says_what_stayed(
    place: Place, elsewhere: Place
) -> None:
    with provider_process(environment={"CODER_STACK_DEADLINE": "1"}) as process:
        held = process.of(ACCESS).create(place.wish())
        place.coderd.fault("drop_before", count=-1)
        process.of(ACCESS).update(held, elsewhere.wish())
        assert 'the former token "coder-stack" was left in the coderd at' in process.stderr
    assert elsewhere.lets_in


def test_CP10_a_secret_in_which_another_stack_keeps_its_token_is_left_alone(
    place: Place, process: ProviderProcess
) -> None:
    access = process.of(ACCESS)
    held, token = access.create(place.wish(owner="one")), place.token
    ((_, why),) = access.check(place.wish(owner="two")).failures
    assert why.startswith(f"Conflict: Cannot use Secret {HOME}: it is another stack's; ")
    renamed = access.update(held, place.wish(owner="renamed"))
    assert (place.token, renamed.inputs["owner"]) == (token, "renamed"), "by state it is ours"


@pytest.mark.parametrize("owner", ["", "one"])
def test_CP10_a_secret_with_the_token_of_another_coderd_is_left_alone(
    place: Place, elsewhere: Place, process: ProviderProcess, owner: str
) -> None:
    """Unless state or owner tell that it is this stack's own, which moves."""
    access = process.of(ACCESS)
    held, token = access.create(place.wish(owner=owner)), place.token
    ((_, why),) = access.check(elsewhere.wish()).failures
    assert why.startswith(
        f"Conflict: Cannot use Secret {HOME}: its token is for {place.coderd.url}"
    )
    assert place.token == token
    assert access.check(elsewhere.wish(owner=owner), held.inputs).failures == [], "by its state"
    by_owner = access.check(elsewhere.wish(owner=owner)).failures
    assert (by_owner == []) is bool(owner), "the state was lost"


def test_CP10_a_replacement_on_demand_does_not_take_the_token_that_it_took_over(
    place: Place,
) -> None:
    """Or another name of the resource: the engine creates first, and then deletes the old one."""
    with provider_process() as first:
        held = first.of(ACCESS).create(place.wish())
    with provider_process() as replacing:
        again = replacing.of(ACCESS).create(place.wish())
        replacing.of(ACCESS).delete(held)
    assert place.lets_in
    with provider_process() as destroy:
        destroy.of(ACCESS).delete(again)
    assert (place.token, place.token_names) == (None, [])


def test_CP10_two_stacks_on_one_coderd_have_a_token_each_and_end_apart(place: Place) -> None:
    other = Place(place.coderd, place.cluster, home="coder/two")
    with provider_process() as one, provider_process() as two:
        first = one.of(ACCESS).create(place.wish(owner="one"))
        second = two.of(ACCESS).create(other.wish(owner="two"))
    assert sorted(place.token_names) == ["coder-stack-one", "coder-stack-two"]
    with provider_process() as destroy:
        destroy.of(ACCESS).delete(second)
        assert (place.lets_in, other.token) == (True, None)
        destroy.of(ACCESS).delete(first)
    assert place.token_names == []


def test_CP10_a_token_that_only_the_program_knows_is_warned_of(coderd: Simulation) -> None:
    wish = {"connection": coderd.connection, "token": coderd.token}
    with provider_process({}) as unknown, provider_process(coderd.config) as known:
        for process in (unknown, known):
            process.of(ACCESS).create(wish)
        assert "the token is known to the program alone" in unknown.stderr
        assert known.stderr == ""


# A look makes and revokes nothing (CP10) ---------------------------------------------------------


def test_CP10_a_look_at_a_refused_token_makes_none_and_names_it_as_drift(place: Place) -> None:
    with provider_process() as first:
        access, license_, _ = licensed(place, first)
    revoke_all_tokens(place)
    place.coderd.forget_requests()
    with provider_process() as look:
        driven = look.of(ACCESS)
        seen = driven.read(access)
        assert seen is not None
        assert (seen.inputs["accepted"], access.inputs["accepted"]) == (False, True)
        assert seen.outputs["reason"] == "Forbidden"
        assert "The next `pulumi up` makes another one." in look.stderr
        driven.check(place.wish(), access.inputs)
        driven.diff(access, access.inputs)
        with pytest.raises(Failure) as failed:
            look.of(LICENSES).read(license_)
        assert "coderd did not accept the session token" in failed.value.last
    assert {request.split(" ")[0] for request in place.coderd.requests()} == {"GET"}


def test_CP10_a_home_that_is_gone_is_drift_and_the_next_update_makes_it_again(
    place: Place,
) -> None:
    with provider_process() as first:
        access, license_, key = licensed(place, first)
    del place.cluster.secrets[HOME]
    place.coderd.forget_requests()
    with provider_process() as look:
        seen = look.of(ACCESS).read(access)
        assert seen is not None
        assert (seen.inputs["accepted"], seen.outputs["reason"]) == (False, "SecretMissing")
        told = (
            f"Cannot use the operator's token: Secret {HOME} does not exist; `pulumi up` makes it, "
        )
        assert f"warning: SecretMissing: operator access, read: {told}" in look.stderr
        for kind, held in ((LICENSES, license_), (KEYS, key)):
            with pytest.raises(Failure) as failed:
                look.of(kind).read(held)
            assert failed.value.last.startswith("Failed: SecretMissing: "), "unknown, never gone"
            assert told in failed.value.last
    assert {request.split(" ")[0] for request in place.coderd.requests()} == {"GET"}
    with provider_process() as up:
        assert up.of(ACCESS).diff(access, access.inputs).changes == "some"
        up.of(ACCESS).update(access, place.wish())
    assert place.lets_in
    assert [name for name in place.token_names if name] == ["coder-stack"]


@pytest.mark.parametrize("garbage", ["spoilt-by-somebody", "two words", "ünprintable", "", b"\xff"])
def test_CP10_a_home_with_something_else_in_it_is_drift_and_the_next_update_repairs_it(
    place: Place, garbage: str | bytes
) -> None:
    with provider_process() as first:
        access = first.of(ACCESS).create(place.wish())
    place.cluster.put(HOME, token=garbage)
    with provider_process() as look:
        seen = look.of(ACCESS).read(access)
        assert seen is not None
        assert seen.inputs["accepted"] is False
    with provider_process() as up:
        assert up.of(ACCESS).diff(access, access.inputs).changes == "some"
        up.of(ACCESS).update(access, place.wish())
    assert place.lets_in
    assert [name for name in place.token_names if name] == ["coder-stack"]


# A credential is shown to its own coderd only (CP10) ---------------------------------------------


def test_CP10_moving_to_another_url_never_shows_the_new_token_to_the_old_host(
    licensed: Simulation,
) -> None:
    """The config has a token and an address; both change in one step."""
    other_token = "otherOwner-ofTheFirstOwnerForTest"
    with simulated(licensed=True, token=other_token) as new:
        old_config = {"token": licensed.token, "access": f'{{"url": "{licensed.url}"}}'}
        with provider_process(config=old_config) as first:
            wish = {"connection": licensed.connection, "organization": "coder", "base_name": "f"}
            wish["deployment_id"] = licensed.state.records.deployment_id
            key = first.of(KEYS).create(wish)
        licensed.forget_requests()
        new_config = {"token": new.token, "access": f'{{"url": "{new.url}"}}'}
        with provider_process(config=new_config) as moving:
            driven = moving.of(KEYS)
            moved = {**wish, "connection": new.connection}
            moved["deployment_id"] = new.state.records.deployment_id
            driven.create(moved)
            driven.delete(key)
            assert f"it is for {new.url} and is not sent to {licensed.url}" in moving.stderr
            assert f'"{key.outputs["name"]}"' in moving.stderr, "what stays is named"
        assert licensed.requests(path="/organizations") == [], "nothing was sent with a token"
        assert len(keys(new)) == 1


def test_CP10_a_secret_of_ours_is_for_the_coderd_that_it_names(
    place: Place, elsewhere: Place
) -> None:
    with provider_process() as first:
        access, _, key = licensed(place, first)
    with provider_process() as moving:
        moving.of(ACCESS).update(access, elsewhere.wish())
    place.coderd.forget_requests()
    with provider_process() as later:
        later.of(KEYS).delete(key)
        assert "is not sent to" in later.stderr
    assert place.coderd.requests() == []
    assert elsewhere.lets_in


# What only reads ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "more"),
    [
        (EntitlementsProvider(), {}),
        (FeatureGateProvider(), {"feature": "high_availability"}),
        (DaemonsConnectedProvider(), {"organization": "coder", "key_id": "k"}),
        (ProxyHealthProvider(), {"proxy_id": "p", "proxy_name": "p"}),
    ],
    ids=["entitlements", "gate", "daemons", "proxy"],
)
def test_K6_what_only_reads_is_deleted_without_a_connection(
    shared_process: ProviderProcess, tmp_path: Path, provider: Any, more: dict[str, Any]
) -> None:
    """E.g. with the CA file gone, which used to block a destroy."""
    gone = {"url": "https://coder.test", "ca_bundle": str(tmp_path / "gone.pem")}
    shared_process.of(provider).delete(Held("a-look", {"connection": gone, **more}, {}))
