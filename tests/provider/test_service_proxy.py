"""CP8: coderd behind the real API server's service proxy, with no other route to it."""

import base64
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
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from tests.cluster_access import Cluster
from tests.pod_network import PORT, Pod, expose, pod
from tests.provider.driver import ROOT, Failure, provider_process
from tests.simulation import license_text

pytestmark = pytest.mark.cluster


@contextmanager
def coderd_in(where: Pod) -> Iterator[None]:
    """A coderd that nobody has set up yet, inside the pod's network."""
    listen = ["--host", where.address, "--port", str(PORT)]
    command = [sys.executable, "-m", "coder_stack.cli", "sandbox", "coderd", *listen]
    with subprocess.Popen(
        where.command(*command, "--fresh", "--unlicensed"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            assert json.loads(process.stdout.readline())["token"] is None
            yield
        finally:
            process.terminate()


@dataclass(frozen=True)
class Behind:
    """Coderd as somebody with a kubeconfig finds it."""

    cluster: Cluster
    namespace: str

    def connection(self, **more: Any) -> dict[str, Any]:
        proxy = {"namespace": self.namespace, "service": "coder", "port": "http", **more}
        return {"service_proxy": proxy}

    def secret(self, name: str, key: str) -> dict[str, str]:
        return {"namespace": self.namespace, "name": name, "key": key}

    def put_password(self) -> None:
        """For the first user."""
        password = base64.b64encode(b"A-Rather-Long-Secret-7").decode()
        content = {"metadata": {"name": "first-user"}, "data": {"password": password}}
        self.cluster.create(f"/api/v1/namespaces/{self.namespace}/secrets", content)

    def operator(self, connection: dict[str, Any]) -> dict[str, Any]:
        password = self.secret("first-user", "password")
        return {"connection": connection, "make_token": True, "password_secret": password}


@pytest.fixture
def behind(cluster: Cluster) -> Iterator[Behind]:
    with ExitStack() as stack:
        where = stack.enter_context(pod())
        stack.enter_context(coderd_in(where))
        namespace = f"proxied-{secrets.token_hex(4)}"
        expose(cluster, where, namespace, "coder")
        yield Behind(cluster, namespace)
        cluster.delete(f"/api/v1/namespaces/{namespace}")


def test_CP8_from_first_user_to_provisioner_key_with_nothing_but_the_kubeconfig(
    behind: Behind,
) -> None:
    kubernetes = json.dumps({"kubeconfig": str(behind.cluster.kubeconfig)})
    with provider_process(config={"kubernetes": kubernetes}) as process:
        behind.put_password()
        connection = {**behind.connection(), "credential": behind.secret("coder-operator", "token")}
        access = process.of(OperatorAccessProvider()).create(behind.operator(connection))
        assert access.outputs["user"] == "admin"
        assert "/services/http:coder:http/proxy" in access.outputs["url"]

        given = {"connection": connection}
        licensed = process.of(LicenseProvider())
        held = licensed.create({**given, "jwt": license_text()})
        assert held.outputs["applied"] is True
        assert licensed.read(held) is not None
        facts = process.of(EntitlementsProvider()).check(given)
        assert facts.inputs["tier"] == "premium"

        keys = process.of(ProvisionerKeyProvider())
        deployment = access.outputs["deployment_id"]
        place = {"organization": "coder", "base_name": "gpu", "deployment_id": deployment}
        key = keys.create({**given, **place, "tags": {"region": "eu"}})
        seen = keys.read(key)
        assert seen is not None
        assert seen.outputs["material_valid"] is True
        keys.delete(key)
        assert keys.read(key) is None
    with provider_process(config={"kubernetes": kubernetes}) as destroy:
        licensed = destroy.of(LicenseProvider())
        licensed.delete(held)
        assert licensed.read(held) is None


def test_CP8_U1_a_service_that_is_not_there_is_no_gone_coderd(behind: Behind) -> None:
    with provider_process() as process:
        proxy = behind.connection(kubeconfig=str(behind.cluster.kubeconfig))
        access = process.of(OperatorAccessProvider())
        behind.put_password()
        own = {"kubeconfig": str(behind.cluster.kubeconfig)}
        proxy["credential"] = {**behind.secret("coder-operator", "token"), **own}
        given = behind.operator(proxy)
        given["password_secret"] |= own
        held = access.create(given)
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
