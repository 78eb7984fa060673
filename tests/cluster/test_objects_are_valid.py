"""Every object in the snapshots of tests/unit/components is what a real API server takes.

Sent as a dry run with strict field validation: misspelt or misplaced fields are refused. Pods of
ours also pass the strictest Pod Security level, as long as the config leaves their context alone.
"""

import secrets
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import yaml

from tests.cluster_access import Cluster
from tests.unit.components.rendering import SNAPSHOTS, Object

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("extended")]

STRICT = {"dryRun": "All", "fieldValidation": "Strict"}


def snapshots() -> dict[str, list[Object]]:
    """The objects of every case, by `component/case`."""
    return {
        str(path.relative_to(SNAPSHOTS).with_suffix("")): list(yaml.safe_load_all(path.read_text()))
        for path in sorted(SNAPSHOTS.rglob("*.yaml"))
    }


def of_kind(kind: str, case: str) -> Object:
    return next(o for o in snapshots()[f"control_plane/{case}"] if o["kind"] == kind)


@dataclass
class ApiServer:
    """Says what it would answer to an object, in a namespace that nothing else uses."""

    http: httpx.Client
    namespace: str
    known: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def refusal(self, thing: Object) -> str | None:
        """Why it would not take the object, or None."""
        body = deepcopy(thing)
        kind = self._resource(body["apiVersion"], body["kind"])
        path = self._base(body["apiVersion"])
        if kind["namespaced"]:
            body["metadata"]["namespace"] = self.namespace
            path = f"{path}/namespaces/{self.namespace}"
        answer = self.http.post(f"{path}/{kind['name']}", json=body, params=STRICT)
        return None if answer.is_success else answer.json()["message"]

    def refusal_of_pod(self, template: Object) -> str | None:
        """The same for a bare pod made from a template, whose account is there."""
        account = {"metadata": {"name": template["spec"]["serviceAccountName"]}}
        self.make(f"/api/v1/namespaces/{self.namespace}/serviceaccounts", account)
        metadata = {**template["metadata"], "name": "one"}
        return self.refusal({**template, "apiVersion": "v1", "kind": "Pod", "metadata": metadata})

    def make(self, path: str, body: Object) -> None:
        answer = self.http.post(path, json=body)
        assert answer.is_success or answer.status_code == httpx.codes.CONFLICT, answer.text

    @staticmethod
    def _base(api_version: str) -> str:
        return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"

    def _resource(self, api_version: str, kind: str) -> dict[str, Any]:
        if api_version not in self.known:
            listed = self.http.get(self._base(api_version)).raise_for_status().json()
            whole = (r for r in listed["resources"] if "/" not in r["name"])
            self.known[api_version] = {r["kind"]: r for r in whole}
        return self.known[api_version][kind]


@pytest.fixture
def server(extended_cluster: Cluster) -> Iterator[ApiServer]:
    """A namespace in which only pods of the `restricted` level may run."""
    name = f"valid-{secrets.token_hex(4)}"
    level = {"pod-security.kubernetes.io/enforce": "restricted"}
    with extended_cluster.http() as http:
        server = ApiServer(http, name)
        server.make("/api/v1/namespaces", {"metadata": {"name": name, "labels": level}})
        yield server
        http.delete(f"/api/v1/namespaces/{name}").raise_for_status()


def test_CP3_every_object_of_every_case_is_accepted(server: ApiServer) -> None:
    refused = {
        f"{case}: {thing['kind']}": why
        for case, things in snapshots().items()
        for thing in things
        if (why := server.refusal(thing))
    }
    assert snapshots()
    assert refused == {}


@pytest.mark.parametrize(
    ("kind", "case", "right", "wrong"),
    [
        ("Deployment", "defaults", "replicas", "replcas"),
        ("Ingress", "ingress_class", "ingressClassName", "ingressClass"),
        ("HTTPRoute", "http_route", "hostnames", "hostname"),
        ("ServiceMonitor", "service_monitor", "endpoints", "endpoint"),
        ("Cluster", "cloud_native_pg", "instances", "replicas"),
    ],
)
def test_a_misspelt_field_is_refused(
    server: ApiServer, kind: str, case: str, right: str, wrong: str
) -> None:
    """Else the test above would accept anything."""
    thing = of_kind(kind, case)
    thing["spec"][wrong] = thing["spec"].pop(right)
    assert f'unknown field "spec.{wrong}"' in str(server.refusal(thing))


def contexts(template: Object) -> list[Any]:
    spec = template["spec"]
    return [spec["securityContext"], *(c["securityContext"] for c in spec["containers"])]


def templates() -> dict[str, Object]:
    """Every pod template whose security context is what it is by default."""
    usual = contexts(of_kind("Deployment", "defaults")["spec"]["template"])
    return {
        case: thing["spec"]["template"]
        for case, things in snapshots().items()
        for thing in things
        if thing["kind"] == "Deployment" and contexts(thing["spec"]["template"]) == usual
    }


def test_CP3_pods_run_in_a_namespace_of_the_restricted_level(server: ApiServer) -> None:
    refused = {
        case: why for case, each in templates().items() if (why := server.refusal_of_pod(each))
    }
    assert len(templates()) > 1
    assert refused == {}


def job_template() -> Object:
    things = snapshots()["reconcile_job/defaults"]
    (job,) = [each for each in things if each["kind"] == "CronJob"]
    return job["spec"]["jobTemplate"]["spec"]["template"]


def test_D4_the_pod_of_the_reconcile_job_passes_the_restricted_level(server: ApiServer) -> None:
    assert server.refusal_of_pod(job_template()) is None


@pytest.mark.parametrize("given_away", ["allowPrivilegeEscalation", "capabilities"])
def test_without_its_context_that_pod_is_refused(server: ApiServer, given_away: str) -> None:
    template = job_template()
    del template["spec"]["containers"][0]["securityContext"][given_away]
    assert "violates PodSecurity" in str(server.refusal_of_pod(template))


@pytest.mark.parametrize("given_away", ["allowPrivilegeEscalation", "capabilities"])
def test_a_pod_without_the_safe_defaults_is_refused_there(
    server: ApiServer, given_away: str
) -> None:
    template = of_kind("Deployment", "defaults")["spec"]["template"]
    del template["spec"]["containers"][0]["securityContext"][given_away]
    assert "violates PodSecurity" in str(server.refusal_of_pod(template))
