"""The request log: what was asked, by whom, and never with which credential."""

import threading

from sandbox.coderd.request_log import KEPT, Entry, RequestLog
from tests.unit.sandbox_coderd.simulation import KEYS, running


def test_a_request_is_logged_with_its_name_and_status() -> None:
    with running() as simulation:
        simulation.owner("GET", KEYS)
        simulation.http.get("/api/v2/licenses")
        logged = simulation.requests()
        assert [(r["method"], r["status"], r["who"]) for r in logged] == [
            ("GET", 200, "admin"),
            ("GET", 401, None),
        ]
        assert logged[0]["route"] == "/api/v2/organizations/{organization}/provisionerkeys"
        simulation.http.delete("/_sim/requests")
        assert simulation.requests() == []


def test_no_credential_is_ever_logged() -> None:
    with running() as simulation:
        key = simulation.new_key("team-a")
        headers = {"Coder-Provisioner-Daemon-Key": key}
        # Upstream's own client puts the key itself into the path.
        simulation.http.get(f"/api/v2/provisionerkeys/{key}", headers=headers)
        for name in ("coder_session_token", "access_token"):
            simulation.http.get("/api/v2/users/me", params={name: simulation.token, "x": "y"})
        text = simulation.http.get("/_sim/requests").text
        assert key not in text
        assert simulation.token not in text
        logged = simulation.requests()
        assert logged[-3]["path"] == "/api/v2/provisionerkeys/{provisionerkey}"
        assert logged[-3]["who"] == "key:team-a"
        assert logged[-1]["query"] == "access_token=%2A%2A%2A&x=y"


def test_a_fault_is_marked_and_a_cut_connection_has_no_status() -> None:
    with running() as simulation:
        simulation.fault("status", status=500)
        simulation.owner("GET", KEYS)
        assert [(r["fault"], r["status"]) for r in simulation.requests()] == [("status", 500)]


def test_the_state_summary_holds_names_and_no_secrets() -> None:
    with running() as simulation:
        key = simulation.new_key("team-a")
        headers = {"Coder-Provisioner-Daemon-Key": key}
        simulation.http.post("/_sim/daemons", headers=headers, json={"name": "d-0"})
        answer = simulation.http.get("/_sim/state")
        assert answer.json()["provisioner_keys"][0]["name"] == "team-a"
        assert answer.json()["daemons"] == [{"name": "d-0", "key": "team-a", "online": True}]
        assert key not in answer.text
        assert simulation.token not in answer.text


def test_the_log_can_be_read_while_requests_are_added() -> None:
    entry = Entry("GET", "/", "", "/", 200, "2030-01-01T00:00:00Z", None, None)
    log, ended = RequestLog(), threading.Event()

    def ask() -> None:
        while not ended.is_set():
            log.add(entry)

    for _ in range(KEPT // 10):
        log.add(entry)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(5):
            assert len(log.to_json()) >= KEPT // 10
    finally:
        ended.set()
        asking.join()
