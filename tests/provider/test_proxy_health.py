"""A proxy's health through the real provider process, against the simulated coderd (W1)."""

from typing import Any

import httpx
import pytest

from coder_stack.dynamic.proxy_health import ProxyHealthProvider
from tests.provider.driver import Driven, ProviderProcess, Said
from tests.simulation import Simulation

PROXIES = "/api/v2/workspaceproxies"


@pytest.fixture
def health(shared_process: ProviderProcess) -> Driven:
    return shared_process.of(ProxyHealthProvider())


class Proxy:
    """Registered by an operator; `announce` is what its own program does when it starts."""

    def __init__(self, coderd: Simulation) -> None:
        self._url = coderd.url
        body = {"name": "sydney", "display_name": "Sydney", "icon": "/emojis/1f30e.png"}
        made = coderd.act("POST", PROXIES, body)
        self.id, self._token = made["proxy"]["id"], made["proxy_token"]

    def announce(self) -> None:
        body = {
            "access_url": "https://sydney.example.com",
            "wildcard_hostname": "",
            "derp_enabled": True,
            "derp_only": False,
            "replica_id": "6a6de4a5-9c4b-4d4e-9a0c-5d5f0f7f6a11",
            "replica_hostname": "pod",
            "replica_error": "",
            "replica_relay_address": "http://127.0.0.1:1",
            "version": "v2.30.0+abc1234",
        }
        httpx.post(
            f"{self._url}{PROXIES}/me/register",
            json=body,
            headers={"Coder-External-Proxy-Token": self._token},
            trust_env=False,
        ).raise_for_status()


def inputs(coderd: Simulation, proxy_id: str, **more: Any) -> dict[str, Any]:
    given = {"connection": coderd.connection, "proxy_name": "sydney"}
    return {**given, "proxy_id": proxy_id, **more}


def test_W1_a_proxy_that_comes_late_is_waited_for(licensed: Simulation, health: Driven) -> None:
    proxy = Proxy(licensed)
    with licensed.once_asked(PROXIES, proxy.announce):
        held = health.create(inputs(licensed, proxy.id, timeout_seconds=30))
    assert held.outputs["health"] == "ok"
    assert held.outputs["version"] == "v2.30.0+abc1234"


def test_W1_a_proxy_that_does_not_come_is_a_warning_and_no_failure(
    licensed: Simulation, health: Driven, said: Said
) -> None:
    held = health.create(inputs(licensed, Proxy(licensed).id, timeout_seconds=0))
    assert held.outputs["health"] == "unregistered"
    assert '"sydney": unregistered after 0 s; going on.' in said()


def test_W2_a_proxy_out_of_coderds_reach_is_told_in_coderds_own_words(
    licensed: Simulation, health: Driven, said: Said
) -> None:
    proxy = Proxy(licensed)
    proxy.announce()
    row = licensed.state.records.proxies[proxy.id]
    row.unreachable = "dial tcp: lookup sydney.example.com on 10.96.0.10:53: no such host"
    held = health.create(inputs(licensed, proxy.id, timeout_seconds=0))
    why = (
        'request to proxy failed: Get "https://sydney.example.com/healthz-report": '
        f"{row.unreachable}"
    )
    assert (held.outputs["health"], held.outputs["report"]) == ("unreachable", why)
    assert f'"sydney": unreachable after 0 s ({why}); going on.' in said()

    row.unreachable, row.errors = "", ["derp mesh is broken\n", "and more"]
    ill = health.read(held)
    assert ill is not None
    assert ill.outputs["health"] == "unhealthy"
    assert ill.outputs["report"] == "derp mesh is broken; and more"
    assert ill.inputs == held.inputs

    row.errors = []
    well = health.update(ill, inputs(licensed, proxy.id, timeout_seconds=0))
    assert (well.outputs["health"], well.outputs["report"]) == ("ok", "")


def test_W2_words_of_coderd_with_a_secret_in_them_are_not_repeated(
    licensed: Simulation, health: Driven, said: Said
) -> None:
    proxy = Proxy(licensed)
    proxy.announce()
    secret = "s3cret" * 10
    licensed.state.records.proxies[proxy.id].errors = [f"refused token {secret}"]
    held = health.create(inputs(licensed, proxy.id, timeout_seconds=0))
    assert held.outputs["report"] == "refused token [...]"
    assert secret not in str(held) + said()


def test_W1_a_refresh_looks_again_and_health_is_no_drift(
    licensed: Simulation, health: Driven
) -> None:
    proxy = Proxy(licensed)
    held = health.create(inputs(licensed, proxy.id, timeout_seconds=0))
    proxy.announce()
    now = health.read(held)
    assert now is not None
    assert now.outputs["health"] == "ok"
    assert now.inputs == held.inputs


def test_P4_what_coderd_saw_of_earlier_pods_says_nothing_about_others(
    licensed: Simulation, health: Driven, said: Said
) -> None:
    """Coderd looks once a minute: until then `ok` is about pods that are gone."""
    proxy = Proxy(licensed)
    proxy.announce()
    held = health.create(inputs(licensed, proxy.id, revision="these", timeout_seconds=0))
    assert held.outputs["health"] == "ok"

    licensed.fault("status", PROXIES, status=200, body=licensed.act("GET", PROXIES), count=-1)
    others = inputs(licensed, proxy.id, revision="others", timeout_seconds=1.5)
    unseen = health.update(held, others)
    assert unseen.outputs["health"] == "unknown"
    assert '"sydney": unknown after 1.5 s; going on.' in said()

    licensed.peace()
    assert health.update(held, others).outputs["health"] == "ok"


def test_P4_what_changes_no_pods_takes_coderds_word_at_once(
    licensed: Simulation, health: Driven
) -> None:
    proxy = Proxy(licensed)
    proxy.announce()
    held = health.create(inputs(licensed, proxy.id, revision="these", timeout_seconds=0))
    again = health.update(held, inputs(licensed, proxy.id, revision="these", timeout_seconds=1))
    assert again.outputs["health"] == "ok"
    assert len(licensed.requests("GET", PROXIES)) == 2


def test_E4_nobody_is_asked_about_a_proxy_that_is_not_registered(
    licensed: Simulation, health: Driven
) -> None:
    held = health.create(inputs(licensed, ""))
    assert held.outputs["health"] == ""
    assert licensed.requests(path=PROXIES) == []


def test_W1_a_proxy_that_is_well_again_makes_an_update_due_without_a_refresh(
    licensed: Simulation, health: Driven
) -> None:
    """A look that met a coderd out of reach would otherwise stand in the conditions for good."""
    proxy = Proxy(licensed)
    held = health.create(inputs(licensed, proxy.id, timeout_seconds=0))
    assert health.diff(held, held.inputs).changes == "unknown"
    proxy.announce()
    assert health.diff(held, held.inputs).changes == "some"
    well = health.update(held, held.inputs)
    assert well.outputs["health"] == "ok"
    assert health.diff(well, well.inputs).changes == "unknown"


def test_U1_a_coderd_that_cannot_be_asked_makes_no_update_due(
    licensed: Simulation, health: Driven
) -> None:
    held = health.create(inputs(licensed, Proxy(licensed).id, timeout_seconds=0))
    licensed.refuse(500, "no", PROXIES, count=-1)
    assert health.diff(held, held.inputs).changes == "unknown"
