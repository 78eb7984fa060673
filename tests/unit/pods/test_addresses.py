"""Whether a URL reaches coderd: the parts that need no cluster."""

import pytest

from sandbox.pods.addresses import has_access_url_host, service_of
from tests.unit.pods.manifests import coderd


@pytest.mark.parametrize(
    ("host", "service"),
    [
        ("coder.ns.svc.cluster.local", ("ns", "coder")),
        ("coder.ns.svc.cluster.local.", ("ns", "coder")),
        ("coder.ns.svc", ("ns", "coder")),
        ("coder.example.com", None),
        ("coder.ns", None),
        ("", None),
    ],
)
def test_names_of_services_are_told_from_others(host: str, service: tuple[str, str] | None) -> None:
    assert service_of(host) == service


def test_any_other_name_leads_to_the_coderd_that_calls_itself_so() -> None:
    pod = coderd(env=[{"name": "CODER_ACCESS_URL", "value": "https://coder.example.com"}])
    assert has_access_url_host(pod, "coder.example.com")
    assert not has_access_url_host(pod, "elsewhere.example.com")
    assert not has_access_url_host(pod, "")
    assert not has_access_url_host(coderd(), "coder.example.com")
