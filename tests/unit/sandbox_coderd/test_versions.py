"""The simulation answers as the version that it reports does: each row of the list is seen (V3).

tests/contract compares the same rows with unmodified servers.
"""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.coderd.rules import versions
from sandbox.coderd.rules.state import VERSION, ServerFlags
from sandbox.coderd.rules.versions import Change
from tests.unit.sandbox_coderd.simulation import KEYS, Simulation, running

API = "/api/v2"
TOKENS = f"{API}/users/me/keys/tokens"
DAEMONS = f"{API}/organizations/default/provisionerdaemons"


def undeletable(coderd: Simulation) -> object:
    coderd.owner("POST", f"{API}/organizations", json={"name": "second"})
    coderd.owner("POST", KEYS.replace("default", "second"), json={"name": "a"})
    return coderd.owner("DELETE", f"{API}/organizations/second").json()


def bad_password(coderd: Simulation) -> object:
    user = {"email": "x@example.com", "username": "x", "password": "weak"}
    organizations = ["00000000-0000-0000-0000-000000000000"]
    body = {**user, "organization_ids": organizations}
    return coderd.owner("POST", f"{API}/users", json=body).json()["message"]


def wrong_scope(coderd: Simulation) -> object:
    return coderd.owner("POST", TOKENS, json={"scope": "everything"}).status_code


def bearer(coderd: Simulation) -> object:
    headers = {"Authorization": f"Bearer {coderd.token}"}
    return coderd.http.get(f"{API}/users/me", headers=headers).status_code


SEEN: dict[Change, Callable[[Simulation], Any]] = {
    versions.USER_AFTER_ROUTE: lambda c: c.owner("GET", f"{API}/users/nobody/x").status_code,
    versions.EMPTY_FIELDS_LEFT_OUT: lambda c: set(c.owner("GET", f"{API}/users/me").json()),
    versions.OWNER_LIFETIME: lambda c: c.owner("GET", f"{TOKENS}/tokenconfig").json(),
    versions.CONTENTS_COUNTED: undeletable,
    versions.BEARER: bearer,
    versions.CHALLENGE: lambda c: "www-authenticate" in c.http.get(f"{API}/users/me").headers,
    versions.PASSWORD_MESSAGE: bad_password,
    versions.DAEMON_STATUS_FILTER: lambda c: c.owner("GET", f"{DAEMONS}?offline=1").status_code,
    versions.SCOPE_LIST: wrong_scope,
}


def answer(version: str, ask: Callable[[Simulation], Any]) -> object:
    with running(flags=ServerFlags(version=version)) as coderd:
        return ask(coderd)


def just_before(since: tuple[int, int]) -> str:
    return f"v{since[0]}.{since[1] - 1}.9"


def test_V3_every_change_has_a_test() -> None:
    assert set(SEEN) == set(versions.CHANGES)


@pytest.mark.parametrize("change", versions.CHANGES, ids=lambda change: change.what)
def test_V3_a_change_is_seen_from_its_version_on(change: Change) -> None:
    since = f"v{change.since[0]}.{change.since[1]}.0"
    before, now, newest = (
        answer(version, SEEN[change]) for version in (just_before(change.since), since, VERSION)
    )
    assert now == newest
    assert before != now


@pytest.mark.parametrize("name", versions.FEATURES_SINCE)
def test_V3_a_feature_is_listed_from_its_version_on(name: str) -> None:
    def listed(coderd: Simulation) -> bool:
        return name in coderd.owner("GET", f"{API}/entitlements").json()["features"]

    since = versions.FEATURES_SINCE[name]
    assert not answer(just_before(since), listed)
    assert answer(f"v{since[0]}.{since[1]}.0", listed)


@pytest.mark.parametrize("version", ["v0.0.0-devel", "devel", ""])
def test_V3_a_build_without_a_release_counts_as_the_newest(version: str) -> None:
    assert all(versions.has(version, change) for change in versions.CHANGES)
