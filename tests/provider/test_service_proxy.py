"""CP8: coderd behind the real API server's service proxy, with no other route to it.

The API server proxies only to addresses of pods, never to loopback. So a network namespace plays
the pod's host: the simulated coderd listens inside it, a pod held by a scheduling gate has its
address, and an Endpoints object points there. Needs root and iproute2, as CI has.
"""

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from tests.harness import Cluster
from tests.provider.driver import ROOT, Failure, provider_process
from tests.simulation import license_text

pytestmark = pytest.mark.cluster


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@contextmanager
def pod_host() -> Iterator[tuple[str, str]]:
    """A network namespace and its address; gone afterwards, with its half of the cable."""
    tag = secrets.token_hex(3)
    net = f"198.18.{secrets.randbelow(256)}.{4 * secrets.randbelow(64)}"
    base, last = net.rsplit(".", 1)
    ours, theirs = f"{base}.{int(last) + 1}", f"{base}.{int(last) + 2}"
    name = f"coder-stack-{tag}"
    ip("netns", "add", name)
    try:
        ip("link", "add", f"cs{tag}a", "type", "veth", "peer", "name", f"cs{tag}b", "netns", name)
        ip("addr", "add", f"{ours}/30", "dev", f"cs{tag}a")
        ip("link", "set", f"cs{tag}a", "up")
        ip("-n", name, "addr", "add", f"{theirs}/30", "dev", f"cs{tag}b")
        ip("-n", name, "link", "set", f"cs{tag}b", "up")
        yield name, theirs
    finally:
        ip("netns", "del", name)


@contextmanager
def coderd_in(namespace: str, address: str) -> Iterator[None]:
    command = ["ip", "netns", "exec", namespace, sys.executable, "-m", "coder_stack.cli"]
    options = ["sandbox", "coderd", "--host", address, "--port", "8080", "--fresh", "--unlicensed"]
    with subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert json.loads(process.stdout.readline())["url"] == f"http://{address}:8080"
            yield
        finally:
            process.terminate()


def publish(cluster: Cluster, namespace: str, address: str) -> None:
    """A Service in front of a pod that has that address."""
    gate = [{"name": "example.com/plays-a-pod"}]
    pod = {
        "serviceAccountName": "coder",
        "automountServiceAccountToken": False,
        "schedulingGates": gate,
        "containers": [{"name": "coder", "image": "example.com/coder:1"}],
    }
    base = f"/api/v1/namespaces/{namespace}"
    target = {"kind": "Pod", "name": "coder-0", "namespace": namespace}
    subset = {
        "addresses": [{"ip": address, "targetRef": target}],
        "ports": [{"name": "http", "port": 8080}],
    }
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    with cluster.http() as http:
        for path, body in (
            ("/api/v1/namespaces", {"metadata": {"name": namespace}}),
            (f"{base}/serviceaccounts", {"metadata": {"name": "coder"}}),
            (f"{base}/pods", {"metadata": {"name": "coder-0"}, "spec": pod}),
            (f"{base}/services", {"metadata": {"name": "coder"}, "spec": {"ports": ports}}),
            (f"{base}/endpoints", {"metadata": {"name": "coder"}, "subsets": [subset]}),
        ):
            http.post(path, json=body).raise_for_status()
    status = {"podIP": address, "podIPs": [{"ip": address}], "phase": "Running"}
    cluster.patch(f"{base}/pods/coder-0/status", {"status": status})


@dataclass(frozen=True)
class Behind:
    """Coderd as somebody with a kubeconfig finds it."""

    cluster: Cluster
    namespace: str

    def connection(self, **more: Any) -> dict[str, Any]:
        proxy = {"namespace": self.namespace, "service": "coder", "port": "http", **more}
        return {"service_proxy": proxy}


@pytest.fixture
def behind(cluster: Cluster) -> Iterator[Behind]:
    with ExitStack() as stack:
        host, address = stack.enter_context(pod_host())
        stack.enter_context(coderd_in(host, address))
        namespace = f"proxied-{secrets.token_hex(4)}"
        publish(cluster, namespace, address)
        yield Behind(cluster, namespace)
        cluster.delete(f"/api/v1/namespaces/{namespace}")


def test_CP8_from_first_user_to_license_with_nothing_but_the_kubeconfig(behind: Behind) -> None:
    kubernetes = json.dumps({"kubeconfig": str(behind.cluster.kubeconfig)})
    with provider_process(config={"kubernetes": kubernetes}) as process:
        connection = behind.connection()
        access = process.of(OperatorAccessProvider()).create({"connection": connection})
        assert access.outputs["user"] == "admin"
        assert "/services/http:coder:http/proxy" in access.outputs["url"]

        given = {"connection": connection, "token": access.outputs["token"]}
        licensed = process.of(LicenseProvider())
        held = licensed.create({**given, "jwt": license_text()})
        assert held.outputs["applied"] is True
        assert licensed.read(held) is not None
        facts = process.of(EntitlementsProvider()).check(given)
        assert facts.inputs["tier"] == "premium"
        licensed.delete(held)
        assert licensed.read(held) is None


def test_CP8_U1_a_service_that_is_not_there_is_no_gone_coderd(behind: Behind) -> None:
    with provider_process() as process:
        proxy = behind.connection(kubeconfig=str(behind.cluster.kubeconfig))
        access = process.of(OperatorAccessProvider())
        held = access.create({"connection": proxy})
        behind.cluster.delete(f"/api/v1/namespaces/{behind.namespace}/services/coder")
        with pytest.raises(Failure) as failed:
            access.read(held)
        assert "ApiServerRefused: operator access, read: " in failed.value.last


def test_CP8_a_kubeconfig_that_cannot_be_read_fails_at_preview() -> None:
    proxy = {"namespace": "a", "service": "b", "kubeconfig": "no-such-file"}
    with provider_process() as process:
        checked = process.of(EntitlementsProvider()).check({"connection": {"service_proxy": proxy}})
    ((path, why),) = checked.failures
    assert (path, why.split(":")[0]) == ("connection", "InvalidConnection")
