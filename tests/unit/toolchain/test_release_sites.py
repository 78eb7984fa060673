"""Where releases are downloaded: sites that are slow, closed, elsewhere, or not to be asked."""

import socket
import time
from pathlib import Path

import pytest

from sandbox.toolchain.catalogue import CATALOGUE
from sandbox.toolchain.errors import SourceUnavailable
from sandbox.toolchain.platforms import Platform
from sandbox.toolchain.release import DownloadTimeouts, Releases
from tests.unit.toolchain.machines import NOBODY, QUICK
from tests.unit.toolchain.published import etcd, machine, publish, pulumi
from tests.unit.toolchain.vendor_site import Site


def test_a_site_that_never_answers_is_given_up_on_and_not_asked_again(
    site: Site, tmp_path: Path
) -> None:
    first, second = pulumi("linux", "amd64", "x64"), etcd("linux", "amd64")
    publish(site, first)
    publish(site, second)
    site.silent.add(first.checksums)
    releases = Releases(root=site.url, timeouts=DownloadTimeouts(connect=2.0, read=0.2))

    with pytest.raises(SourceUnavailable, match=r"github.com gave no answer within 0.2 s"):
        releases.download(CATALOGUE["pulumi"], first.platform, tmp_path, lambda _: None)
    with pytest.raises(SourceUnavailable, match=r"github.com cannot be reached \(no answer within"):
        releases.download(CATALOGUE["etcd"], second.platform, tmp_path, lambda _: None)
    assert site.asked == [first.checksums]


def test_a_redirect_to_where_the_files_are_stored_is_followed(site: Site, tmp_path: Path) -> None:
    published = etcd("linux", "amd64")
    publish(site, published)
    site.files["/stored-elsewhere"] = site.files.pop(published.asset)
    site.redirects[published.asset] = "/stored-elsewhere"

    assert machine(tmp_path, site, published).toolchain().ensure(["etcd"])["etcd"].path.exists()


def test_a_redirect_to_a_closed_host_closes_the_first_one_too(site: Site, tmp_path: Path) -> None:
    """The download site may answer while the place it redirects to is blocked."""
    published = etcd("linux", "amd64")
    publish(site, published)
    site.redirects[published.asset] = NOBODY
    releases = Releases(root=site.url, timeouts=QUICK)

    for _ in range(2):
        with pytest.raises(
            SourceUnavailable, match=r"github.com cannot be reached \(no connection to 127"
        ):
            releases.download(CATALOGUE["etcd"], published.platform, tmp_path, lambda _: None)
    assert site.asked == [published.checksums, published.asset]


def test_a_refused_connection_is_said_once_per_host(tmp_path: Path) -> None:
    releases = Releases(root=NOBODY, timeouts=QUICK)

    for name in ("pulumi", "etcd"):
        with pytest.raises(
            SourceUnavailable, match=r"github.com cannot be reached \(connection refused"
        ):
            releases.download(CATALOGUE[name], Platform("linux", "amd64"), tmp_path, lambda _: None)


def test_a_host_that_swallows_connections_costs_its_time_limit_once() -> None:
    """A full backlog leaves a connection hanging, as a firewall that drops packets does."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        releases = Releases(
            root=f"http://127.0.0.1:{address[1]}", timeouts=DownloadTimeouts(connect=0.5, read=0.5)
        )
        started = time.monotonic()
        for name in ("pulumi", "etcd", "pulumi", "etcd"):
            with pytest.raises(SourceUnavailable, match=r"no connection within 0.5 s"):
                releases.offers(CATALOGUE[name], Platform("linux", "amd64"))
        for filler in fillers:
            filler.close()

    assert time.monotonic() - started < 1.5


def test_kubernetes_publishes_no_servers_for_macos() -> None:
    with pytest.raises(SourceUnavailable, match="Kubernetes publishes its servers for Linux only"):
        Releases().offers(CATALOGUE["kube-apiserver"], Platform("darwin", "arm64"))


def test_the_contract_servers_are_never_downloaded() -> None:
    with pytest.raises(SourceUnavailable, match="not used, the contract is held against"):
        Releases().offers(CATALOGUE["coder"], Platform("linux", "amd64"))


def test_offline_means_that_no_site_is_asked(site: Site, tmp_path: Path) -> None:
    releases = Releases(root=site.url, offline=True)

    with pytest.raises(SourceUnavailable, match="CODER_STACK_OFFLINE is set"):
        releases.download(CATALOGUE["etcd"], Platform("linux", "amd64"), tmp_path, lambda _: None)
    assert site.asked == []
