"""What must fit together in how coderd and its proxies are reached (B1, W2)."""

from typing import Any

import pytest

from coder_stack.settings import ProxySettings
from coder_stack.settings.objects import claims
from tests.unit.config_problems import problems

PROXY: dict[str, Any] = {"name": "far", "accessUrl": "https://far.example.com"}
PLANE: dict[str, Any] = {"accessUrl": "https://coder.example.com", "ingress": {}}
ROUTE = {"parentRefs": [{"name": "gate"}]}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"ingress": {"wildcardTlsSecretName": "wild"}},
            "proxies[0].ingress.wildcardTlsSecretName: needs wildcardAccessUrl",
        ),
        (
            {"tls": {"secretNames": ["t"]}, "service": {"port": 443}},
            "proxies[0].service.tlsPort: must differ from port, which is 443",
        ),
        (
            {"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}},
            "proxies[0].podDisruptionBudget.maxUnavailable: set this or minAvailable, not both",
        ),
        (
            {"env": {"A": "1"}, "secretEnv": {"A": {"name": "s", "key": "k"}}},
            "proxies[0].secretEnv.A: is also set in env: remove one of them",
        ),
    ],
)
def test_B1_W2_what_does_not_fit_in_a_proxy_is_told_with_its_path(
    fields: dict[str, Any], sentence: str
) -> None:
    assert problems({"proxies": [{**PROXY, **fields}]}) == [sentence]


@pytest.mark.parametrize("exposed", [{"ingress": {}}, {"httpRoute": ROUTE}])
@pytest.mark.parametrize(
    ("plane", "proxy", "sentence"),
    [
        (
            {},
            {"accessUrl": "https://Coder.example.com:8443"},
            "proxies[0].accessUrl: host coder.example.com is already routed to controlPlane",
        ),
        (
            {"wildcardAccessUrl": "*--apps.example.com"},
            {"wildcardAccessUrl": "*--far.example.com"},
            "proxies[0].wildcardAccessUrl: host *.example.com is already routed to controlPlane",
        ),
    ],
)
def test_B1_W2_a_host_is_routed_to_one_part_only(
    exposed: dict[str, Any], plane: dict[str, Any], proxy: dict[str, Any], sentence: str
) -> None:
    """Kubernetes takes a wildcard for a whole label, so two wildcard hosts may be one there."""
    config = {"controlPlane": {**PLANE, **plane}, "proxies": [{**PROXY, **exposed, **proxy}]}
    assert problems(config) == [sentence]


def test_B1_W2_two_proxies_do_not_share_a_host_either() -> None:
    other = {**PROXY, "name": "near", "ingress": {}}
    found = problems({"proxies": [{**PROXY, "httpRoute": ROUTE}, other]})
    assert found == ["proxies[1].accessUrl: host far.example.com is already routed to proxies[0]"]


def test_W2_hosts_that_the_stack_does_not_route_are_nobodys() -> None:
    config = {"controlPlane": PLANE, "proxies": [{**PROXY, "accessUrl": PLANE["accessUrl"]}]}
    assert problems(config) == []


def test_W2_each_part_with_its_own_hosts_is_fine() -> None:
    plane = {**PLANE, "wildcardAccessUrl": "*.coder.example.com"}
    proxy = {**PROXY, "ingress": {}, "wildcardAccessUrl": "*.far.example.com"}
    assert problems({"controlPlane": plane, "proxies": [proxy]}) == []


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ({"ingress": {}}, "Ingress"),
        ({"httpRoute": ROUTE}, "HTTPRoute"),
        ({"podDisruptionBudget": {}}, "PodDisruptionBudget"),
        ({"networkPolicy": {}}, "NetworkPolicy"),
        ({"serviceMonitor": {}}, "ServiceMonitor"),
    ],
)
def test_B1_W2_the_objects_around_a_proxy_are_claimed(field: dict[str, Any], kind: str) -> None:
    """So that no other part may create an object of that kind and name."""

    def kinds(config: dict[str, Any]) -> set[str]:
        part = ProxySettings.model_validate(config, by_alias=True, by_name=False)
        return {each.kind for each in claims(part, "coder") if each.name == "far-proxy"}

    assert kinds({**PROXY, **field}) - kinds(PROXY) == {kind}
