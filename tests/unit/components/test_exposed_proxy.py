"""A proxy is exposed as the control plane is: the same settings make the same objects (W2)."""

from typing import Any

import pytest

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.components.workspace_proxy import WorkspaceProxy, WorkspaceProxyArgs
from coder_stack.settings import (
    ControlPlaneSettings,
    ExposedSettings,
    Image,
    ProxySettings,
    WorkloadSettings,
)
from tests.unit.components.control_plane_cases import CASES, GATEWAY, Config
from tests.unit.components.operator import operator
from tests.unit.components.rendering import (
    Object,
    Recorder,
    check_snapshot,
    render,
    snapshots_without_case,
)

FOLDER = "exposed_proxy"
SYDNEY: Config = {
    "name": "sydney",
    "accessUrl": "https://Sydney.example.com",
    "wildcardAccessUrl": "*--apps.sydney.example.com:8443",
}
SNAPSHOTS: dict[str, Config] = {
    "ingress": {
        **SYDNEY,
        "replicas": 2,
        "service": {"type": "NodePort", "port": 8000, "tlsPort": 8443},
        "tls": {"secretNames": ["sydney-tls"]},
        "ingress": {
            "className": "nginx",
            "tlsSecretName": "host",
            "wildcardTlsSecretName": "wild",
            "annotations": {"example.com/timeout": "3600"},
        },
        "livenessProbe": {"enabled": True},
        "podDisruptionBudget": {},
        "networkPolicy": {"allowFrom": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},
        "serviceMonitor": {"labels": {"release": "prometheus"}},
    },
    "http_route": {**SYDNEY, "httpRoute": {"parentRefs": [GATEWAY]}, "networkPolicy": {}},
}
FIELDS = {
    info.alias or name
    for name, info in ExposedSettings.model_fields.items()
    if name not in WorkloadSettings.model_fields
}
# Every option of the control plane that a proxy has too.
SHARED = {name: case for name, case in CASES.items() if set(case.config) <= FIELDS}
AROUND = ("Service", "Ingress", "HTTPRoute", "PodDisruptionBudget", "NetworkPolicy")
OF_THE_PROGRAM = ("CODER_TLS_", "CODER_PROMETHEUS_", "CODER_DERP_", "CODER_WILDCARD_", "KUBE_")


@pytest.fixture
def licensed(recorder: Recorder) -> Recorder:
    registered = {"provisioned": True, "proxy_id": "p-1", "deferred": [], "reason": ""}
    token = {"proxy_token": "t", "proxy_token_sha256": "cd" * 32}
    recorder.answers = {
        "WorkspaceProxyRegistration": {**registered, **token},
        "ProxyHealth": {"health": "ok"},
    }
    return recorder


def proxy(recorder: Recorder, config: Config) -> list[Object]:
    settings = ProxySettings.model_validate(config, by_alias=True, by_name=False)
    args = WorkspaceProxyArgs(
        settings=settings,
        operator=operator("workspace_proxy"),
        image=Image(),
        primary_url="https://coder.test",
        namespace="coder",
    )
    recorder.resources.clear()
    render(lambda: {"conditions": WorkspaceProxy("proxy", args).conditions})
    return list(recorder.manifests().values())


def control_plane(recorder: Recorder, config: Config) -> list[Object]:
    settings = ControlPlaneSettings.model_validate(config, by_alias=True, by_name=False)
    recorder.resources.clear()
    render(lambda: {"url": ControlPlane("plane", ControlPlaneArgs(settings=settings)).url})
    return list(recorder.manifests().values())


def exposure(objects: list[Object]) -> dict[str, Any]:
    """What users meet, without the names and labels in which the two differ by design."""
    (deployment,) = [each for each in objects if each["kind"] == "Deployment"]
    selector = deployment["spec"]["selector"]["matchLabels"]
    own = {deployment["metadata"]["name"]: "NAME"}
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    env = [each for each in container["env"] if each["name"].startswith(OF_THE_PROGRAM)]
    kept = ("ports", "readinessProbe", "livenessProbe", "volumeMounts")
    return {
        "pod": {
            **{key: container.get(key) for key in kept},
            "volumes": pod.get("volumes"),
            "env": env,
        },
        **{
            each["kind"]: anonymous(
                {"spec": each["spec"], "annotations": each["metadata"].get("annotations")},
                selector,
                own,
            )
            for each in objects
            if each["kind"] in (*AROUND, "ServiceMonitor")
        },
    }


def anonymous(value: Any, selector: Object, names: dict[str, str]) -> Any:
    if value == selector:
        return "PODS"
    if isinstance(value, dict):
        return {key: anonymous(each, selector, names) for key, each in value.items()}
    if isinstance(value, list):
        return [anonymous(each, selector, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.parametrize("case", SNAPSHOTS)
def test_W2_every_object_as_it_is_sent(licensed: Recorder, case: str) -> None:
    check_snapshot(FOLDER, case, proxy(licensed, SNAPSHOTS[case]))


def test_every_snapshot_belongs_to_a_case() -> None:
    assert snapshots_without_case(FOLDER, SNAPSHOTS) == []


@pytest.mark.parametrize("case", SHARED)
def test_W2_an_option_makes_of_a_proxy_what_it_makes_of_coderd(
    licensed: Recorder, case: str
) -> None:
    config = SHARED[case].whole
    of_coderd = exposure(control_plane(licensed, config))
    of_proxy = exposure(proxy(licensed, {"accessUrl": "https://x.test", **config, "name": "far"}))
    assert of_proxy == of_coderd


def test_W2_no_option_of_a_proxy_is_left_out_of_that_comparison() -> None:
    assert {field for case in SHARED.values() for field in case.config} == FIELDS


def test_W2_the_hosts_of_a_proxy_are_routed_and_its_wildcard_is_told_to_it(
    licensed: Recorder,
) -> None:
    made = {each["kind"]: each for each in proxy(licensed, SNAPSHOTS["ingress"])}
    hosts = [rule["host"] for rule in made["Ingress"]["spec"]["rules"]]
    assert hosts == ["sydney.example.com", "*.sydney.example.com"]
    (container,) = made["Deployment"]["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["CODER_WILDCARD_ACCESS_URL"] == SYDNEY["wildcardAccessUrl"]
    route = {each["kind"]: each for each in proxy(licensed, SNAPSHOTS["http_route"])}["HTTPRoute"]
    assert route["spec"]["hostnames"] == hosts


def test_W2_several_pods_of_a_proxy_relay_to_each_other_and_one_does_not(
    licensed: Recorder,
) -> None:
    def names(config: Config) -> set[str]:
        (made,) = [each for each in proxy(licensed, config) if each["kind"] == "Deployment"]
        return {each["name"] for each in made["spec"]["template"]["spec"]["containers"][0]["env"]}

    relay = {"KUBE_POD_IP", "CODER_DERP_SERVER_RELAY_URL"}
    assert relay <= names({**SYDNEY, "replicas": 2})
    assert not relay & names(SYDNEY)
