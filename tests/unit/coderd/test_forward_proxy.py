"""CP11: which proxy counts, by the same rules as kubectl's."""

import pytest

from coder_stack.coderd.errors import InvalidConnection
from coder_stack.coderd.forward_proxy import forward_proxy, proxy_login

SERVER = "https://api.cluster.test:6443"
PROXY = "http://proxy.test:3128"


def test_CP11_the_kubeconfigs_proxy_outweighs_the_environment() -> None:
    environment = {"HTTPS_PROXY": "http://other.test", "NO_PROXY": "*"}
    assert forward_proxy(SERVER, PROXY, environment) == PROXY


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"HTTPS_PROXY": PROXY}, PROXY),
        ({"https_proxy": PROXY}, PROXY),
        ({"HTTPS_PROXY": "proxy.test:3128"}, PROXY),
        ({"HTTP_PROXY": PROXY}, None),
        ({"ALL_PROXY": PROXY}, None),
    ],
)
def test_CP11_the_environments_proxy_for_https_counts(
    environment: dict[str, str], found: str | None
) -> None:
    assert forward_proxy(SERVER, None, environment) == found
    assert forward_proxy(SERVER, "", environment) == found


@pytest.mark.parametrize(
    ("server", "exceptions", "direct"),
    [
        (SERVER, "", False),
        (SERVER, "*", True),
        (SERVER, "other.test, API.cluster.test", True),
        (SERVER, "cluster.test", True),
        (SERVER, ".cluster.test", True),
        (SERVER, "*.cluster.test", True),
        (SERVER, ".api.cluster.test", False),
        (SERVER, "i.cluster.test", False),
        (SERVER, "cluster.test:6443", True),
        (SERVER, "cluster.test:443", False),
        ("https://api.cluster.test", "cluster.test:443", True),
        ("https://10.1.2.3:6443", "10.0.0.0/8", True),
        ("https://10.1.2.3:6443", "192.168.0.0/16,10.1.2.3", True),
        ("https://10.1.2.3:6443", "10.1.2.3:6443", True),
        ("https://10.1.2.3:6443", "10.2.0.0/16", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
        ("https://[fd00::1]:6443", "[fd00::1]:1", False),
        (SERVER, ",", False),
        (SERVER, "[", False),
    ],
)
def test_CP11_no_proxy_names_hosts_domains_addresses_and_networks(
    server: str, exceptions: str, direct: bool
) -> None:
    environment = {"HTTPS_PROXY": PROXY, "NO_PROXY": exceptions}
    assert forward_proxy(server, None, environment) == (None if direct else PROXY)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_CP11_this_machine_is_not_asked_through_the_environments_proxy(host: str) -> None:
    assert forward_proxy(f"https://{host}:6443", None, {"HTTPS_PROXY": PROXY}) is None


@pytest.mark.parametrize(
    "proxy", ["socks5://p:1080", "ftp://p", "http://:3128", "http://p:x", "p:3128"]
)
def test_CP11_a_proxy_that_cannot_be_used_is_refused_and_not_repeated(proxy: str) -> None:
    with pytest.raises(InvalidConnection) as refused:
        forward_proxy(SERVER, proxy, {})
    assert "the kubeconfig's proxy-url must be" in str(refused.value)
    assert proxy not in str(refused.value)


def test_CP11_a_proxys_login_is_read_off_its_url() -> None:
    assert proxy_login(PROXY) is None
    assert proxy_login("http://ann:s%20cret@proxy.test") == "ann:s cret"
    assert proxy_login("http://ann@proxy.test") == "ann:"
