"""coder-api.md section 7 with the feature: keys and daemons.

Only the simulation can show this: a real server takes no license of ours.
"""

from typing import Any

import httpx
import pytest

from tests.contract import expect
from tests.contract.servers import Server

pytestmark = [pytest.mark.contract, pytest.mark.licensed, pytest.mark.xdist_group("contract")]

KEYS = "/organizations/default/provisionerkeys"
DAEMONS = "/organizations/default/provisionerdaemons"
KEY_SHAPE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "created_at", "organization", "name"), str),
    "tags": dict,
}


def create(server: Server, name: str, **tags: str) -> str:
    answer = server.owner("POST", KEYS, json={"name": name, "tags": tags})
    body = expect.data(answer, 201)
    expect.shape(body, {"key": str})
    return body["key"]


def present(server: Server, key: str, name: str = "daemon-0", **more: Any) -> httpx.Response:
    headers = {"Coder-Provisioner-Daemon-Key": key}
    return server.call("POST", "/_sim/daemons", headers=headers, json={"name": name, **more})


def look_up(server: Server, key: str) -> httpx.Response:
    headers = {"Coder-Provisioner-Daemon-Key": key}
    return server.api("GET", "/provisionerkeys/placeholder", headers=headers)


class TestKeys:
    def test_a_new_key_is_43_characters_and_stored_under_its_lower_cased_name(
        self, licensed: Server
    ) -> None:
        key = create(licensed, "Team-A", region="eu", empty="")
        assert len(key) == 43
        assert key.isalnum()
        listed = expect.data(licensed.owner("GET", KEYS))
        expect.shape(listed[0], KEY_SHAPE)
        assert (listed[0]["name"], listed[0]["organization"]) == (
            "team-a",
            licensed.organization_id,
        )
        assert listed[0]["tags"] == {"empty": "", "region": "eu"}
        assert key not in licensed.owner("GET", KEYS).text

    def test_k3_the_key_shows_itself_whatever_the_path_says(self, licensed: Server) -> None:
        key = create(licensed, "team-a")
        shown = expect.data(look_up(licensed, key))
        assert shown == licensed.owner("GET", KEYS).json()[0]

    def test_no_keys_is_an_empty_list(self, licensed: Server) -> None:
        assert expect.data(licensed.owner("GET", KEYS)) == []

    def test_keys_are_listed_oldest_first(self, licensed: Server) -> None:
        for name in ("b", "a", "c"):
            create(licensed, name)
        assert [key["name"] for key in licensed.owner("GET", KEYS).json()] == ["b", "a", "c"]

    def test_tags_may_be_null_or_absent(self, licensed: Server) -> None:
        assert licensed.owner("POST", KEYS, json={"name": "a", "tags": None}).status_code == 201
        assert licensed.owner("POST", KEYS, json={"name": "b"}).status_code == 201
        assert [key["tags"] for key in licensed.owner("GET", KEYS).json()] == [{}, {}]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("", "Name is required"),
            ("x" * 65, "Name must be at most 64 characters"),
            ("ü" * 33, "Name must be at most 64 characters"),
            ("built-in", "Name cannot be reserved name 'built-in'"),
            ("User-Auth", "Name cannot be reserved name 'User-Auth'"),
            ("PSK", "Name cannot be reserved name 'PSK'"),
        ],
    )
    def test_p2_a_bad_name_is_400(self, licensed: Server, name: str, message: str) -> None:
        body = expect.refusal(licensed.owner("POST", KEYS, json={"name": name}), 400, message)
        assert body["validations"] == [{"field": "name", "detail": message}]

    @pytest.mark.parametrize("name", ["x" * 64, "a b", "ü" * 32, "a/b", "Ä"])
    def test_names_follow_no_pattern(self, licensed: Server, name: str) -> None:
        create(licensed, name)
        assert licensed.owner("GET", KEYS).json()[0]["name"] == name.lower()

    def test_k2_a_name_is_taken_in_any_case(self, licensed: Server) -> None:
        create(licensed, "team-a")
        answer = licensed.owner("POST", KEYS, json={"name": "TEAM-A"})
        message = "Provisioner key with name 'TEAM-A' already exists in organization"
        expect.refusal(answer, 409, message)

    def test_a_deleted_key_is_dead_and_its_name_is_free(self, licensed: Server) -> None:
        key = create(licensed, "team-a")
        answer = licensed.owner("DELETE", f"{KEYS}/TEAM-A")
        assert (answer.status_code, answer.content) == (204, b"")
        expect.refusal(look_up(licensed, key), 401, "provisioner daemon key invalid")
        expect.refusal(licensed.owner("DELETE", f"{KEYS}/team-a"), 404, expect.NOT_FOUND)
        assert create(licensed, "team-a") != key

    def test_a_name_with_a_space_can_be_deleted_and_one_with_a_slash_cannot(
        self, licensed: Server
    ) -> None:
        """The router takes an escaped slash for a slash."""
        for name in ("a b", "a/b"):
            create(licensed, name)
        assert licensed.owner("DELETE", f"{KEYS}/a%20b").status_code == 204
        expect.refusal(licensed.owner("DELETE", f"{KEYS}/a%2Fb"), 404, expect.NOT_FOUND)

    def test_a_key_is_not_deleted_by_its_id(self, licensed: Server) -> None:
        create(licensed, "team-a")
        identifier = licensed.owner("GET", KEYS).json()[0]["id"]
        expect.refusal(licensed.owner("DELETE", f"{KEYS}/{identifier}"), 404, expect.NOT_FOUND)

    @pytest.mark.parametrize("name", ["built-in", "user-auth", "psk"])
    def test_reserved_keys_cannot_be_deleted(self, licensed: Server, name: str) -> None:
        message = f"Cannot delete reserved '{name}' provisioner key"
        expect.refusal(licensed.owner("DELETE", f"{KEYS}/{name}"), 400, message)

    def test_a_member_may_read_but_gets_500_for_the_rest(self, licensed: Server) -> None:
        create(licensed, "team-a")
        assert [key["name"] for key in licensed.member("GET", KEYS).json()] == ["team-a"]
        message, detail = "An internal server error occurred.", "unauthorized: rbac: forbidden"
        refused = licensed.member("POST", KEYS, json={"name": "mine"})
        expect.refusal(refused, 500, message, detail)
        expect.refusal(licensed.member("DELETE", f"{KEYS}/team-a"), 500, message, detail)

    def test_losing_the_license_closes_the_list_but_not_the_key_itself(
        self, licensed: Server
    ) -> None:
        key = create(licensed, "team-a")
        licensed.owner("DELETE", "/licenses/1")
        assert licensed.owner("GET", KEYS).status_code == 403
        assert look_up(licensed, key).status_code == 200


class TestDaemons:
    def test_a_daemon_that_presents_its_key_is_listed(self, licensed: Server) -> None:
        key = create(licensed, "team-a", region="eu", dropped="")
        assert present(licensed, key, version="v2.29.0").status_code == 200
        listed = expect.data(licensed.owner("GET", DAEMONS))
        texts = ("id", "organization_id", "key_id", "created_at", "last_seen_at", "name")
        texts += ("version", "api_version", "key_name", "status")
        nothing = dict.fromkeys(("current_job", "previous_job"), type(None))
        expect.shape(
            listed[0], dict.fromkeys(texts, str) | {"provisioners": list, "tags": dict} | nothing
        )
        assert listed[0]["tags"] == {"owner": "", "region": "eu", "scope": "organization"}
        assert (listed[0]["key_name"], listed[0]["status"]) == ("team-a", "idle")
        assert (listed[0]["name"], listed[0]["version"]) == ("daemon-0", "v2.29.0")

    def test_daemons_are_listed_under_their_key_beside_the_reserved_ones(
        self, licensed: Server
    ) -> None:
        present(licensed, create(licensed, "team-a"))
        rows = expect.data(licensed.owner("GET", f"{KEYS}/daemons"))
        assert [row["key"]["name"] for row in rows] == ["built-in", "user-auth", "psk", "team-a"]
        assert [len(row["daemons"]) for row in rows] == [0, 0, 0, 1]
        daemon = rows[3]["daemons"][0]
        assert (daemon["key_id"], daemon["status"]) == (rows[3]["key"]["id"], None)

    def test_an_unseen_daemon_is_offline_after_90_seconds(self, licensed: Server) -> None:
        present(licensed, create(licensed, "team-a"))
        licensed.call("POST", "/_sim/clock", json={"advance_seconds": 91})
        assert licensed.owner("GET", DAEMONS).json() == []
        offline = licensed.owner("GET", DAEMONS, params={"offline": "true"}).json()
        assert [daemon["status"] for daemon in offline] == ["offline"]
        assert len(licensed.owner("GET", f"{KEYS}/daemons").json()[3]["daemons"]) == 1
        licensed.call("POST", "/_sim/clock", json={"advance_seconds": 90})
        assert licensed.owner("GET", f"{KEYS}/daemons").json()[3]["daemons"] == []

    def test_a_heartbeat_keeps_one_row_per_name(self, licensed: Server) -> None:
        key = create(licensed, "team-a")
        present(licensed, key)
        licensed.call("POST", "/_sim/clock", json={"advance_seconds": 80})
        present(licensed, key)
        licensed.call("POST", "/_sim/clock", json={"advance_seconds": 80})
        assert len(licensed.owner("GET", DAEMONS).json()) == 1

    def test_a_daemon_that_goes_away_is_no_longer_listed(self, licensed: Server) -> None:
        key = create(licensed, "team-a")
        present(licensed, key)
        headers = {"Coder-Provisioner-Daemon-Key": key}
        answer = licensed.call("DELETE", "/_sim/daemons?name=daemon-0", headers=headers)
        assert answer.status_code == 204
        assert licensed.owner("GET", DAEMONS).json() == []

    def test_deleting_the_key_takes_its_daemons_along(self, licensed: Server) -> None:
        key, other = create(licensed, "team-a"), create(licensed, "team-b")
        present(licensed, key)
        present(licensed, other, "daemon-1")
        licensed.owner("DELETE", f"{KEYS}/team-a")
        left = licensed.owner("GET", DAEMONS, params={"offline": "true"}).json()
        assert [daemon["name"] for daemon in left] == ["daemon-1"]
        expect.refusal(present(licensed, key), 401, "provisioner daemon key invalid")

    def test_a_daemon_without_license_or_with_a_bad_key_is_turned_away(
        self, licensed: Server
    ) -> None:
        assert present(licensed, "x" * 43).status_code == 401
        key = create(licensed, "team-a")
        licensed.owner("DELETE", "/licenses/1")
        assert present(licensed, key).status_code == 403

    def test_newest_first_with_filters(self, licensed: Server) -> None:
        for index, region in enumerate(("eu", "us")):
            present(licensed, create(licensed, region, region=region), f"daemon-{index}")
        names = [daemon["name"] for daemon in licensed.owner("GET", DAEMONS).json()]
        assert names == ["daemon-1", "daemon-0"]
        only = licensed.owner("GET", DAEMONS, params={"tags": '{"region":"eu"}'}).json()
        assert [daemon["name"] for daemon in only] == ["daemon-0"]
        assert len(licensed.owner("GET", DAEMONS, params={"limit": "1"}).json()) == 1


class TestServe:
    SERVE = f"{DAEMONS}/serve"

    def ask(self, server: Server, key: str = "", **options: Any) -> httpx.Response:
        headers = {"Coder-Provisioner-Daemon-Key": key} if key else {}
        params = {"provisioner": "terraform", "name": "d", **options.pop("params", {})}
        return server.api("GET", self.SERVE, headers=headers, params=params, **options)

    @pytest.mark.parametrize("key", ["", "x" * 43, "short"])
    def test_a_credential_is_needed(self, licensed: Server, key: str) -> None:
        message = "API key or external provisioner authentication required, but none provided"
        expect.refusal(self.ask(licensed, key), 401, message)

    def test_only_one_credential_is_allowed(self, licensed: Server) -> None:
        key = create(licensed, "team-a")
        answer = self.ask(licensed, key, token=licensed.owner_token)
        message = (
            "API key and external provisioner authentication provided, but only one is allowed"
        )
        expect.refusal(answer, 400, message)

    def test_tags_beside_a_key_are_forbidden(self, licensed: Server) -> None:
        answer = self.ask(licensed, create(licensed, "team-a"), params={"tag": "region=eu"})
        message = 'You aren\'t allowed to create provisioner daemons with scope ""'
        detail = "tags are not allowed when using a provisioner key"
        expect.refusal(answer, 403, message, detail)

    def test_a_good_key_comes_as_far_as_the_upgrade(self, licensed: Server) -> None:
        assert self.ask(licensed, create(licensed, "team-a")).status_code == 426
