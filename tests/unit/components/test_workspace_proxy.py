"""How a proxy's settings end up in a registration, a Secret, pods and a Service (W1, E4, E5, S1).

Wiring only, on Pulumi's mocks; that the objects work is seen in tests/engine.
"""

import base64
from typing import Any

import pytest

from coder_stack.components.workspace_proxy import WorkspaceProxy, WorkspaceProxyArgs
from coder_stack.settings import (
    Image,
    PodDisruptionBudget,
    Probe,
    ProxySettings,
    SecretRef,
    Service,
)
from tests.unit.components import rendering
from tests.unit.components.operator import operator
from tests.unit.components.rendering import Recorder

FEATURE = "workspace_proxy"
PROXY_TOKEN = "the-token-of-a-proxy"
REGISTERED = {
    "provisioned": True,
    "proxy_id": "p-1",
    "display_name": "Sydney",
    "proxy_token": PROXY_TOKEN,
    "proxy_token_sha256": "cd" * 32,
    "deferred": [],
    "reason": "",
}
HEALTHY = {"health": "ok", "version": "v2.30.0"}
PLACE_ONLY = {
    "provisioned": False,
    "proxy_id": "",
    "proxy_token": "",
    "proxy_token_sha256": "",
    "deferred": [],
    "reason": "NotEntitled",
}


@pytest.fixture
def licensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"WorkspaceProxyRegistration": REGISTERED, "ProxyHealth": HEALTHY}
    return recorder


@pytest.fixture
def unlicensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"WorkspaceProxyRegistration": PLACE_ONLY}
    return recorder


def sydney(**more: Any) -> ProxySettings:
    return ProxySettings(name="sydney", access_url="https://sydney.test", **more)


def render(settings: ProxySettings, *, features: tuple[str, ...] = (FEATURE,)) -> dict[str, Any]:
    def build() -> dict[str, Any]:
        made = WorkspaceProxy(
            settings.name,
            WorkspaceProxyArgs(
                settings=settings,
                operator=operator(*features),
                image=Image(tag="v2.30.0"),
                primary_url="https://coder.test",
                namespace="coder",
            ),
        )
        return {"conditions": made.conditions, "summary": made.summary}

    return rendering.render(build)


def environment(recorder: Recorder) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in recorder.container()["env"]}


class TestObjects:
    def test_W1_every_object_as_it_is_sent(self, licensed: Recorder) -> None:
        render(sydney())
        rendering.check_snapshot("workspace_proxy", "default", licensed.manifests().values())

    def test_W1_every_option_as_it_is_sent(self, licensed: Recorder) -> None:
        render(
            sydney(
                display_name="Sydney",
                icon="/emojis/1f30f.png",
                wildcard_access_url="*.sydney.test",
                derp_only=True,
                namespace="edge",
                replicas=2,
                image=Image(repository="registry.test/coder", tag="v9"),
                primary_url="https://primary.test",
                service=Service(type="LoadBalancer", port=8080, annotations={"lb": "internal"}),
                pod_disruption_budget=PodDisruptionBudget(min_available=1),
                readiness_probe=Probe(period_seconds=5),
                liveness_probe=Probe(initial_delay_seconds=30),
                secret_name="sydney-secret",
                secret_key="t",
                env={"CODER_VERBOSE": "true"},
                secret_env={"HTTPS_PROXY": SecretRef(name="net", key="proxy")},
                labels={"team": "apac"},
                annotations={"note": "a"},
                service_account_annotations={"cloud/identity": "d"},
            )
        )
        rendering.check_snapshot("workspace_proxy", "every-option", licensed.manifests().values())

    def test_every_snapshot_has_its_case(self) -> None:
        cases = ("default", "every-option", "not-entitled")
        assert rendering.snapshots_without_case("workspace_proxy", cases) == []

    def test_W1_the_environment_of_a_proxy(self, licensed: Recorder) -> None:
        render(sydney())
        assert licensed.container()["args"] == ["wsproxy", "server"]
        assert environment(licensed) == {
            "CODER_PRIMARY_ACCESS_URL": "https://coder.test",
            "CODER_ACCESS_URL": "https://sydney.test",
            "CODER_HTTP_ADDRESS": "0.0.0.0:8080",
            "CODER_PROXY_SESSION_TOKEN": None,
        }

    def test_W1_the_token_is_in_the_secret_and_nowhere_else(self, licensed: Recorder) -> None:
        render(sydney())
        encoded = base64.b64encode(PROXY_TOKEN.encode()).decode()
        assert licensed.one("Secret")["data"] == {"token": encoded}
        others = [r for r in licensed.resources if not r.typ.endswith(":Secret")]
        assert not any(text in str(r.inputs) for r in others for text in (PROXY_TOKEN, encoded))

    def test_W1_another_token_rolls_the_pods(self, licensed: Recorder) -> None:
        render(sydney())
        metadata = licensed.one("Deployment")["spec"]["template"]["metadata"]
        assert metadata["annotations"] == {"checksum/secret": REGISTERED["proxy_token_sha256"]}

    def test_W1_the_account_has_no_rights_and_no_token(self, licensed: Recorder) -> None:
        render(sydney())
        assert licensed.one("ServiceAccount")["automountServiceAccountToken"] is False
        assert licensed.objects("RoleBinding") == []

    def test_the_service_selects_these_pods_only(self, licensed: Recorder) -> None:
        render(sydney())
        render(ProxySettings(name="tokyo", access_url="https://tokyo.test"))
        services, pods = licensed.objects("Service"), licensed.objects("Deployment")
        selectors = [service["spec"]["selector"].items() for service in services]
        labels = [pod["spec"]["template"]["metadata"]["labels"].items() for pod in pods]
        assert [[s <= each for each in labels] for s in selectors] == [
            [True, False],
            [False, True],
        ]

    def test_P2_names_at_the_limit_fit(self, licensed: Recorder) -> None:
        render(ProxySettings(name="n" * 63, access_url="https://n.test"))
        names = [each["metadata"]["name"] for each in licensed.manifests().values()]
        assert all(len(name) <= 63 for name in names)


def test_W1_the_registration_is_what_the_settings_say(licensed: Recorder) -> None:
    render(sydney(display_name="Sydney", icon="/emojis/1f30f.png", rotation="leaked"))
    wanted = {
        "connection": {"url": "https://coder.test"},
        "name": "sydney",
        "display_name": "Sydney",
        "icon": "/emojis/1f30f.png",
        "trigger": "leaked",
        "enabled": True,
    }
    assert wanted.items() <= licensed.one("WorkspaceProxyRegistration").items()


class TestGate:
    def test_E4_without_entitlement_nothing_is_registered_and_no_pod_runs(
        self, unlicensed: Recorder
    ) -> None:
        render(sydney(), features=())
        assert unlicensed.one("WorkspaceProxyRegistration")["enabled"] is False
        assert unlicensed.one("Deployment")["spec"]["replicas"] == 0
        assert unlicensed.one("Secret")["data"] == {"token": ""}
        rendering.check_snapshot("workspace_proxy", "not-entitled", unlicensed.manifests().values())

    def test_E5_a_license_that_is_lost_later_stops_no_pod(self, licensed: Recorder) -> None:
        render(sydney(replicas=2), features=())
        assert licensed.one("WorkspaceProxyRegistration")["enabled"] is False
        assert licensed.one("Deployment")["spec"]["replicas"] == 2


class TestStatus:
    def test_S1_all_is_well(self, licensed: Recorder) -> None:
        seen = render(sydney())["conditions"]
        assert licensed.resources
        assert [(each["type"], each["status"]) for each in seen] == [
            ("WorkspaceProxyEntitled", "True"),
            ("ProxyRegistered", "True"),
            ("DeploymentReady", "True"),
            ("ProxyHealthy", "True"),
        ]
        assert {each["component"] for each in seen} == {"proxy/sydney"}

    def test_S1_E4_not_entitled(self, unlicensed: Recorder) -> None:
        seen = render(sydney(), features=())["conditions"]
        assert unlicensed.resources
        assert {(each["status"], each["reason"]) for each in seen} == {("False", "NotEntitled")}

    def test_S1_W2_coderd_does_not_reach_it_and_says_why(self, licensed: Recorder) -> None:
        why = "request to proxy failed: no such host"
        licensed.answers["ProxyHealth"] = {**HEALTHY, "health": "unreachable", "report": why}
        seen = render(sydney())
        by_type = {each["type"]: each for each in seen["conditions"]}
        health = by_type["ProxyHealthy"]
        assert (health["status"], health["reason"]) == ("False", "Unreachable")
        assert health["message"] == f"Coderd reports the proxy as unreachable: {why}"
        assert seen["summary"]["report"] == why

    def test_the_summary_and_the_conditions_hold_no_token(self, licensed: Recorder) -> None:
        seen = render(sydney(display_name="Sydney"))
        assert licensed.resources
        assert seen["summary"] == {
            "name": "sydney",
            "displayName": "Sydney",
            "proxyId": "p-1",
            "accessUrl": "https://sydney.test",
            "health": "ok",
            "version": "v2.30.0",
        }
        assert PROXY_TOKEN not in str(seen)
