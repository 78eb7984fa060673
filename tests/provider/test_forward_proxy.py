"""CP11: the way to the API server that the kubeconfig and the environment describe.

Real sockets: a proxy that tunnels, and an API server whose certificate is for one name that no
resolver knows. What gets there got there through the proxy, or under the name of the kubeconfig.
"""

import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coder_stack.dynamic.entitlements import EntitlementsProvider
from coder_stack.dynamic.secret_value import SecretValueProvider
from tests.certificates import certificate
from tests.forward_proxy import ForwardProxy, forward_proxy
from tests.provider.api_server import write_kubeconfig
from tests.provider.driver import ProviderProcess, provider_process
from tests.provider.tls_api_server import TlsApiServer, tls_api_server
from tests.simulation import Simulation

NAME = "api.cluster.test"
ELSEWHERE = f"https://{NAME}:6443"
VALUE = "the-license-is-hunter2"
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy")


@dataclass
class Asked:
    """The two things that are asked of an API server, through one provider process."""

    process: ProviderProcess
    kubeconfig: str

    def secret(self) -> Any:
        """A Secret's value, or the reason why there is none."""
        place = {"namespace": "coder", "name": "license", "key": "license", "value": ""}
        driven = self.process.of(SecretValueProvider())
        seen = driven.check({"kubeconfig": self.kubeconfig, **place})
        assert seen.failures == []
        return seen.inputs["reason"] or seen.inputs["value"]

    def coderd(self) -> Any:
        """What coderd's license grants, through the service proxy; or what the user is told."""
        where = {"namespace": "coder", "service": "coder", "kubeconfig": self.kubeconfig}
        driven = self.process.of(EntitlementsProvider())
        seen = driven.check({"connection": {"service_proxy": where}})
        assert seen.failures == []
        return self.process.stderr if seen.inputs["reason"] else seen.inputs["tier"]


Start = Callable[..., AbstractContextManager[Asked]]


@pytest.fixture
def cluster(tmp_path: Path, licensed: Simulation) -> Iterator[TlsApiServer]:
    with tls_api_server(tmp_path, NAME, licensed.url) as server:
        server.api.put("coder/license", license=VALUE)
        yield server


@pytest.fixture
def proxy(cluster: TlsApiServer) -> Iterator[ForwardProxy]:
    with forward_proxy(cluster.port) as running:
        yield running


@pytest.fixture
def start(cluster: TlsApiServer, licensed: Simulation, monkeypatch: pytest.MonkeyPatch) -> Start:
    """A provider process with a kubeconfig and an environment."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)

    @contextmanager
    def started(server: str, fields: dict[str, str], **environment: str) -> Iterator[Asked]:
        trusted = {"certificate-authority": str(cluster.ca)}
        path = write_kubeconfig(cluster.api.folder, server, **trusted, **fields)
        with provider_process({"token": licensed.token}, environment) as process:
            yield Asked(process, path)

    return started


def test_CP11_the_kubeconfigs_proxy_is_on_both_ways(
    start: Start, cluster: TlsApiServer, proxy: ForwardProxy
) -> None:
    """NO_PROXY has no say in it: so it is with kubectl."""
    with start(ELSEWHERE, {"proxy-url": proxy.url}, NO_PROXY="*") as asked:
        assert asked.secret() == VALUE
        assert asked.coderd() == "premium"
    assert proxy.asked == [f"{NAME}:6443"] * 2
    assert set(cluster.names) == {NAME}


def test_CP11_the_environments_proxy_is_on_both_ways(start: Start, proxy: ForwardProxy) -> None:
    login = proxy.url.replace("http://", "http://ann:s%20cret@")
    with start(ELSEWHERE, {}, HTTPS_PROXY=login) as asked:
        assert asked.secret() == VALUE
        assert asked.coderd() == "premium"
        assert "cret@" not in asked.process.stderr
    assert proxy.asked == [f"{NAME}:6443"] * 2
    assert set(proxy.logins) == {"Basic YW5uOnMgY3JldA=="}


@pytest.mark.parametrize("exception", ["10.0.0.0/8,0.0.0.0/31", "*"])
def test_CP11_what_no_proxy_names_is_reached_without_the_proxy(
    start: Start, cluster: TlsApiServer, proxy: ForwardProxy, exception: str
) -> None:
    # This machine, under an address that no rule takes for a loopback.
    server = f"https://0.0.0.0:{cluster.port}"
    environment = {"HTTPS_PROXY": proxy.url, "NO_PROXY": exception}
    with start(server, {"tls-server-name": NAME}, **environment) as asked:
        assert asked.secret() == VALUE
        assert asked.coderd() == "premium"
    assert proxy.asked == []


@pytest.mark.parametrize("proxied", [False, True])
def test_CP11_the_kubeconfigs_server_name_is_asked_for_and_verified(
    start: Start, cluster: TlsApiServer, proxy: ForwardProxy, proxied: bool
) -> None:
    fields = {"tls-server-name": NAME, **({"proxy-url": proxy.url} if proxied else {})}
    with start(f"https://127.0.0.1:{cluster.port}", fields) as asked:
        assert asked.secret() == VALUE
        assert asked.coderd() == "premium"
    assert set(cluster.names) == {NAME}
    assert len(proxy.asked) == 2 * proxied


@pytest.mark.parametrize("proxied", [False, True])
def test_CP11_a_certificate_for_another_name_is_refused(
    start: Start, cluster: TlsApiServer, proxy: ForwardProxy, proxied: bool
) -> None:
    fields = {"tls-server-name": "other.test", **({"proxy-url": proxy.url} if proxied else {})}
    with start(f"https://127.0.0.1:{cluster.port}", fields) as asked:
        assert asked.secret() == "CertificateNotTrusted"
        assert "is not trusted" in asked.coderd()
    assert cluster.asked == []
    assert set(cluster.names) == {"other.test"}


def test_CP11_a_proxy_that_speaks_https_is_trusted_by_the_machines_own_authorities(
    start: Start, cluster: TlsApiServer, tmp_path: Path
) -> None:
    """And the cluster by the kubeconfig's, under its own name, inside of that."""
    certificate_file, key_file = certificate(tmp_path, "proxy")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate_file, key_file)
    with forward_proxy(cluster.port, tls) as proxy:
        fields = {"proxy-url": f"https://{proxy.address}", "tls-server-name": NAME}
        with start(ELSEWHERE, fields, SSL_CERT_FILE=str(certificate_file)) as asked:
            assert asked.secret() == VALUE
            assert asked.coderd() == "premium"
    assert proxy.asked == [f"{NAME}:6443"] * 2


def test_CP11_a_proxy_that_refuses_is_named(
    start: Start, cluster: TlsApiServer, proxy: ForwardProxy
) -> None:
    proxy.refusal = "403 Forbidden"
    with start(ELSEWHERE, {"proxy-url": proxy.url}) as asked:
        assert asked.secret() == "Unavailable"
        assert "check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY." in asked.coderd()
    assert cluster.asked == []


def test_CP11_no_secret_is_asked_for_in_plain_text_through_a_proxy(
    start: Start, proxy: ForwardProxy
) -> None:
    with start("http://127.0.0.1:1", {"proxy-url": proxy.url}) as asked:
        assert asked.secret() == "InvalidConnection"
    assert proxy.asked == []
