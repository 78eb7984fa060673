"""Official releases: every vendor's layout, and everything that can go wrong on the way."""

import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sandbox.toolchain.catalogue import CATALOGUE
from sandbox.toolchain.errors import Unavailable
from sandbox.toolchain.platforms import Architecture, Platform, System
from sandbox.toolchain.recipes import Tool
from sandbox.toolchain.release import Patience, Releases
from tests.unit.toolchain.machines import QUICK, Machine, closed_address
from tests.unit.toolchain.vendor_site import (
    SCRIPT,
    Site,
    github_record,
    serving,
    sha256,
    sums,
    tar_gz,
    zipped,
)

PULUMI = "/github.com/pulumi/pulumi/releases/download/v3.220.0"
ETCD = "/github.com/etcd-io/etcd/releases/download/v3.6.8"
KUBERNETES = "/dl.k8s.io/release/v1.36.3/bin/linux"
KWOK = "/github.com/kubernetes-sigs/kwok/releases/download/v0.8.0"
ENGINE_FILES = (
    "pulumi",
    "pulumi-language-python",
    "pulumi-language-python-exec",
    "pulumi-resource-pulumi-python",
    "pulumi-analyzer-policy-python",
)
STAGES = {
    "node/fast/node-initialize.yaml": b"kind: Stage # 1\n",
    "node/heartbeat/node-heartbeat.yaml": b"kind: Stage # 2\n",
    "pod/fast/pod-complete.yaml": b"kind: Stage # 3\n",
    "pod/fast/pod-delete.yaml": b"kind: Stage # 4\n",
    "pod/fast/pod-ready.yaml": b"kind: Stage # 5\n",
}
STAGES_YAML = b"---\n".join(STAGES.values())


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as running:
        yield running


@dataclass(frozen=True)
class Published:
    """A release as the vendor lays it out: the asset, its content, and the checksum file."""

    tool: str
    platform: Platform
    asset: str
    content: bytes
    checksums: str
    checksum_file: bytes
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.tool}-{self.platform}"


def pulumi(os: System, arch: Architecture, vendor_arch: str) -> Published:
    name = f"pulumi-v3.220.0-{os}-{vendor_arch}.tar.gz"
    content = tar_gz({f"pulumi/{file}": SCRIPT for file in ENGINE_FILES})
    return Published(
        "pulumi",
        Platform(os, arch),
        f"{PULUMI}/{name}",
        content,
        f"{PULUMI}/pulumi-3.220.0-checksums.txt",
        sums(**{name: content}),
        ENGINE_FILES,
    )


def etcd(os: System, arch: Architecture) -> Published:
    stem = f"etcd-v3.6.8-{os}-{arch}"
    pack, suffix = (zipped, ".zip") if os == "darwin" else (tar_gz, ".tar.gz")
    content = pack({f"{stem}/etcd": SCRIPT, f"{stem}/etcdctl": b"not wanted"})
    return Published(
        "etcd",
        Platform(os, arch),
        f"{ETCD}/{stem}{suffix}",
        content,
        f"{ETCD}/SHA256SUMS",
        sums(**{f"{stem}{suffix}": content}),
        ("etcd",),
    )


def kubernetes(name: str, arch: Architecture) -> Published:
    asset = f"{KUBERNETES}/{arch}/{name}"
    checksum = sha256(SCRIPT).encode()
    return Published(
        name, Platform("linux", arch), asset, SCRIPT, f"{asset}.sha256", checksum, (name,)
    )


def kwok(os: System, arch: Architecture) -> Published:
    name = f"kwok-{os}-{arch}"
    return Published(
        "kwok",
        Platform(os, arch),
        f"{KWOK}/{name}",
        SCRIPT,
        "/api.github.com/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0",
        github_record(**{name: SCRIPT}),
        ("kwok", "stages.yaml"),
    )


PUBLISHED = [
    pulumi("linux", "amd64", "x64"),
    pulumi("linux", "arm64", "arm64"),
    pulumi("darwin", "amd64", "x64"),
    pulumi("darwin", "arm64", "arm64"),
    etcd("linux", "amd64"),
    etcd("linux", "arm64"),
    etcd("darwin", "amd64"),
    etcd("darwin", "arm64"),
    kubernetes("kube-apiserver", "amd64"),
    kubernetes("kube-apiserver", "arm64"),
    kubernetes("kube-controller-manager", "amd64"),
    kubernetes("kube-controller-manager", "arm64"),
    kubernetes("kube-scheduler", "amd64"),
    kubernetes("kube-scheduler", "arm64"),
    kwok("linux", "amd64"),
    kwok("linux", "arm64"),
    kwok("darwin", "amd64"),
    kwok("darwin", "arm64"),
]
every_release = pytest.mark.parametrize("published", PUBLISHED, ids=str)


def publish(site: Site, published: Published) -> None:
    site.files[published.asset] = published.content
    site.files[published.checksums] = published.checksum_file
    for path, content in STAGES.items():
        raw = f"/raw.githubusercontent.com/kubernetes-sigs/kwok/v0.8.0/kustomize/stage/{path}"
        site.files[raw] = content


def catalogue_with_these_stages() -> dict[str, Tool]:
    """The catalogue, except that KWOK's stages are pinned to the made-up ones of this file."""
    tool = CATALOGUE["kwok"]
    stages = replace(tool.files[0], sha256=sha256(STAGES_YAML))
    return {**CATALOGUE, "kwok": replace(tool, files=(stages,))}


def machine(tmp_path: Path, site: Site, published: Published) -> Machine:
    return Machine(
        tmp_path,
        releases_root=site.url,
        platform=published.platform,
        catalogue=catalogue_with_these_stages(),
    )


@every_release
def test_a_published_release_is_installed_and_then_asked_for_no_more(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    here = machine(tmp_path, site, published)

    installed = here.toolchain().ensure([published.tool])[published.tool]

    assert installed.source == "release"
    assert installed.version == CATALOGUE[published.tool].version
    assert installed.reason == "on PATH: not found"
    assert sorted(f.name for f in installed.path.parent.iterdir()) == sorted(published.files)
    assert installed.path.read_bytes() == SCRIPT
    asked = len(site.asked)
    assert here.toolchain().ensure([published.tool])[published.tool] == installed
    assert len(site.asked) == asked


@every_release
def test_a_file_with_another_checksum_is_not_taken(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.files[published.asset] = published.content + b"\n# and something of mine"

    why = refusal(site, published, tmp_path)

    assert "does not match its published checksum" in why
    assert published.asset.rsplit("/", 1)[1] in why


@every_release
def test_a_download_that_breaks_off_is_not_taken(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.truncated.add(published.asset)

    assert "broke off" in refusal(site, published, tmp_path)


@every_release
def test_a_missing_asset_is_named(published: Published, site: Site, tmp_path: Path) -> None:
    publish(site, published)
    del site.files[published.asset]

    assert f"answers 404 for {published.asset.rsplit('/', 1)[1]}" in refusal(
        site, published, tmp_path
    )


@every_release
def test_without_a_published_checksum_nothing_is_downloaded(
    published: Published, site: Site, tmp_path: Path
) -> None:
    publish(site, published)
    site.files[published.checksums] = b"{}"

    assert "publishes no checksum of" in refusal(site, published, tmp_path)
    assert published.asset not in site.asked


def refusal(site: Site, published: Published, into: Path) -> str:
    tool = catalogue_with_these_stages()[published.tool]
    with pytest.raises(Unavailable) as caught:
        Releases(root=site.url, patience=QUICK).download(
            tool, published.platform, into, lambda _: None
        )
    return str(caught.value)


def test_a_site_that_never_answers_is_given_up_on_and_not_asked_again(
    site: Site, tmp_path: Path
) -> None:
    first, second = pulumi("linux", "amd64", "x64"), etcd("linux", "amd64")
    publish(site, first)
    publish(site, second)
    site.silent.add(first.checksums)
    releases = Releases(root=site.url, patience=Patience(connect=2.0, read=0.2))

    with pytest.raises(Unavailable, match=r"github.com gave no answer within 0.2 s"):
        releases.download(CATALOGUE["pulumi"], first.platform, tmp_path, lambda _: None)
    with pytest.raises(Unavailable, match=r"github.com cannot be reached \(no answer within"):
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
    site.redirects[published.asset] = closed_address()
    releases = Releases(root=site.url, patience=QUICK)

    for _ in range(2):
        with pytest.raises(
            Unavailable, match=r"github.com cannot be reached \(no connection to 127"
        ):
            releases.download(CATALOGUE["etcd"], published.platform, tmp_path, lambda _: None)
    assert site.asked == [published.checksums, published.asset]


def test_a_refused_connection_is_said_once_per_host(tmp_path: Path) -> None:
    releases = Releases(root=closed_address(), patience=QUICK)

    for name in ("pulumi", "etcd"):
        with pytest.raises(Unavailable, match=r"github.com cannot be reached \(connection refused"):
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
            root=f"http://127.0.0.1:{address[1]}", patience=Patience(connect=0.5, read=0.5)
        )
        started = time.monotonic()
        for name in ("pulumi", "etcd", "pulumi", "etcd"):
            with pytest.raises(Unavailable, match=r"no connection within 0.5 s"):
                releases.offers(CATALOGUE[name], Platform("linux", "amd64"))
        for filler in fillers:
            filler.close()

    assert time.monotonic() - started < 1.5


def test_kubernetes_publishes_no_servers_for_macos() -> None:
    with pytest.raises(Unavailable, match="Kubernetes publishes its servers for Linux only"):
        Releases().offers(CATALOGUE["kube-apiserver"], Platform("darwin", "arm64"))


def test_the_contract_servers_are_never_downloaded() -> None:
    with pytest.raises(Unavailable, match="not used, the contract is held against"):
        Releases().offers(CATALOGUE["coder"], Platform("linux", "amd64"))


def test_offline_means_that_no_site_is_asked(site: Site, tmp_path: Path) -> None:
    releases = Releases(root=site.url, offline=True)

    with pytest.raises(Unavailable, match="CODER_STACK_OFFLINE is set"):
        releases.download(CATALOGUE["etcd"], Platform("linux", "amd64"), tmp_path, lambda _: None)
    assert site.asked == []


def test_stages_that_are_not_the_pinned_ones_are_not_taken(site: Site, tmp_path: Path) -> None:
    published = kwok("linux", "amd64")
    publish(site, published)

    with pytest.raises(Unavailable, match=r"stages.yaml does not have the content"):
        Releases(root=site.url, patience=QUICK).download(
            CATALOGUE["kwok"], published.platform, tmp_path, lambda _: None
        )


def test_an_archive_without_the_executable_is_not_taken(site: Site, tmp_path: Path) -> None:
    published = pulumi("linux", "amd64", "x64")
    content = tar_gz({"pulumi/pulumi": SCRIPT})
    name = published.asset.rsplit("/", 1)[1]
    site.files |= {published.asset: content, published.checksums: sums(**{name: content})}

    assert "does not hold pulumi/pulumi-language-python" in refusal(site, published, tmp_path)


def test_something_that_is_no_archive_is_not_taken(site: Site, tmp_path: Path) -> None:
    published = etcd("darwin", "arm64")
    name = published.asset.rsplit("/", 1)[1]
    site.files |= {published.asset: b"<html>", published.checksums: sums(**{name: b"<html>"})}

    assert "cannot be unpacked" in refusal(site, published, tmp_path)


def test_stages_yaml_is_the_concatenation_in_order(site: Site, tmp_path: Path) -> None:
    published = kwok("linux", "arm64")
    publish(site, published)

    installed = machine(tmp_path, site, published).toolchain().ensure(["kwok"])["kwok"]

    assert (installed.path.parent / "stages.yaml").read_bytes() == STAGES_YAML
