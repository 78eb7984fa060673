"""Official releases as every vendor lays them out, made up and put on a site."""

from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.toolchain.catalogue import CATALOGUE
from sandbox.toolchain.platforms import Architecture, Platform, System
from sandbox.toolchain.recipes import Tool
from tests.unit.toolchain.machines import Machine
from tests.unit.toolchain.vendor_site import (
    SCRIPT,
    Site,
    github_record,
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
