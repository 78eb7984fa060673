"""Workspaces that nobody built: put into an organization, counted, seen by few."""

from pathlib import Path

from tests.unit.sandbox_coderd.simulation import Simulation, running

LIST = "/api/v2/workspaces"


def put(simulation: Simulation, name: str) -> str:
    answer = simulation.http.post("/_sim/workspaces", json={"name": name})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def test_the_count_is_of_all_and_the_rows_are_limited() -> None:
    with running() as simulation:
        first, _ = put(simulation, "a"), put(simulation, "b")
        shown = simulation.owner("GET", LIST, params={"q": "organization:coder", "limit": "1"})
        assert [row["id"] for row in shown.json()["workspaces"]] == [first]
        assert shown.json()["count"] == 2
        assert len(simulation.owner("GET", LIST, params={"limit": "0"}).json()["workspaces"]) == 2


def test_a_member_does_not_see_those_of_others() -> None:
    with running() as simulation:
        put(simulation, "a")
        for role, count in (("", 0), ("auditor", 0), ("template-admin", 1)):
            user = {"username": role or "member", "roles": [role] * bool(role)}
            token = simulation.http.post("/_sim/users", json=user).json()["token"]
            headers = {"Coder-Session-Token": token}
            assert simulation.http.get(LIST, headers=headers).json()["count"] == count


def test_it_survives_a_restart_and_goes_when_asked(tmp_path: Path) -> None:
    with running(tmp_path / "coderd.json") as before:
        identifier = put(before, "a")
    with running(tmp_path / "coderd.json") as after:
        assert after.owner("GET", LIST).json()["count"] == 1
        for status in (204, 404):
            removed = after.http.delete("/_sim/workspaces", params={"id": identifier})
            assert removed.status_code == status
        assert after.owner("GET", LIST).json() == {"workspaces": [], "count": 0}


def test_an_unknown_organization_gets_no_workspace() -> None:
    with running() as simulation:
        answer = simulation.http.post("/_sim/workspaces", json={"organization": "nope"})
        assert answer.status_code == 404
