"""The sandbox's tools: versions, locations of the vendors' releases, Go packages.

To change a version, change it here and lock the module (`modules/<part>`). Pulumi and Coder come in
several versions: see engines.py and coder_servers.py, and chosen.py for the choice.
"""

from collections.abc import Mapping
from pathlib import Path

from sandbox.toolchain import coder_servers, engines
from sandbox.toolchain.recipes import GoProgram, ModuleFile, Release, Tool, Version, VersionProbe

KUBERNETES = "1.36.3"
ETCD = "3.6.8"
KWOK = "0.8.0"
ACTIONLINT = "1.7.12"
GO_AT_LEAST: Version = (1, 26, 0)

MODULES = Path(__file__).parent / "modules"

PART_GIGABYTES: Mapping[str, float] = {
    **{engines.part_of(version): 2.5 for version in engines.ENGINES},
    "language-host": 0.6,
    "kubernetes": 3.5,
    "kwok": 1.4,
    **{coder_servers.part_of(version): 5.0 for version in coder_servers.SERVERS},
    "actionlint": 0.3,
}
"""Size of the Go caches while a part is built, rounded up."""

_GITHUB = "github.com"

_etcd = Tool(
    name="etcd",
    version=ETCD,
    probe=VersionProbe(arguments=("--version",), at_least=(3, 6, 0), below=(4, 0, 0)),
    release=Release(
        host=_GITHUB,
        asset="etcd-io/etcd/releases/download/v{version}/etcd-v{version}-{os}-{arch}{suffix}",
        checksums="etcd-io/etcd/releases/download/v{version}/SHA256SUMS",
        checksum_format="sums",
        members=("etcd-v{version}-{os}-{arch}/etcd",),
        suffixes={"linux": ".tar.gz", "darwin": ".zip"},
    ),
    programs=(GoProgram(part="kubernetes", package="go.etcd.io/etcd/server/v3", output="etcd"),),
)


# The same minor version only, because the three programs may come from different sources.
_SERVER = VersionProbe(arguments=("--version",), at_least=(1, 36, 0), below=(1, 37, 0))
_CLIENT = VersionProbe(arguments=("version", "--client"), at_least=(1, 30, 0), below=(2, 0, 0))
_LINUX_ONLY = {"darwin": "Kubernetes publishes its servers for Linux only"}
_EVERYWHERE: Mapping[str, str] = {}


def _kubernetes(
    name: str, probe: VersionProbe = _SERVER, unpublished: Mapping[str, str] = _LINUX_ONLY
) -> Tool:
    return Tool(
        name=name,
        version=KUBERNETES,
        probe=probe,
        release=Release(
            host="dl.k8s.io",
            asset=f"release/v{{version}}/bin/{{os}}/{{arch}}/{name}",
            checksums=f"release/v{{version}}/bin/{{os}}/{{arch}}/{name}.sha256",
            checksum_format="bare",
            unpublished=unpublished,
        ),
        programs=(
            GoProgram(
                part="kubernetes",
                package=f"k8s.io/kubernetes/cmd/{name}",
                output=name,
                # Clients cannot parse the server's version without it.
                ldflags=f"-s -w -X k8s.io/component-base/version.gitVersion=v{KUBERNETES}",
            ),
        ),
    )


_kwok = Tool(
    name="kwok",
    version=KWOK,
    probe=VersionProbe(arguments=("--version",), at_least=(0, 8, 0), below=(1, 0, 0)),
    release=Release(
        host=_GITHUB,
        asset="kubernetes-sigs/kwok/releases/download/v{version}/kwok-{os}-{arch}",
        # KWOK has no checksum file; GitHub's description of the release has digests.
        checksums_host="api.github.com",
        checksums="repos/kubernetes-sigs/kwok/releases/tags/v{version}",
        checksum_format="github",
    ),
    programs=(GoProgram(part="kwok", package="sigs.k8s.io/kwok/cmd/kwok", output="kwok"),),
    files=(
        ModuleFile(
            part="kwok",
            module="sigs.k8s.io/kwok",
            sources=(
                "kustomize/stage/node/fast/node-initialize.yaml",
                "kustomize/stage/node/heartbeat/node-heartbeat.yaml",
                "kustomize/stage/pod/fast/pod-complete.yaml",
                "kustomize/stage/pod/fast/pod-delete.yaml",
                "kustomize/stage/pod/fast/pod-ready.yaml",
            ),
            output="stages.yaml",
            sha256="5272a98d6d928bb7a8373cd49116db9c0f5dfb15d438e85d2574cbf3f95c8343",
            published_host="raw.githubusercontent.com",
            published_under=f"kubernetes-sigs/kwok/v{KWOK}",
        ),
    ),
)


_actionlint = Tool(
    name="actionlint",
    version=ACTIONLINT,
    probe=VersionProbe(arguments=("-version",), at_least=(1, 7, 7), below=(2, 0, 0)),
    release=Release(
        host=_GITHUB,
        asset="rhysd/actionlint/releases/download/v{version}/actionlint_{version}_{os}_{arch}.tar.gz",
        checksums="rhysd/actionlint/releases/download/v{version}/actionlint_{version}_checksums.txt",
        checksum_format="sums",
        members=("actionlint",),
    ),
    programs=(
        GoProgram(
            part="actionlint",
            package="github.com/rhysd/actionlint/cmd/actionlint",
            output="actionlint",
        ),
    ),
)


CATALOGUE: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        engines.pulumi(),
        _etcd,
        _kubernetes("kube-apiserver"),
        _kubernetes("kube-controller-manager"),
        _kubernetes("kube-scheduler"),
        _kubernetes("kubectl", _CLIENT, _EVERYWHERE),
        _kwok,
        *coder_servers.coder_servers(),
        _actionlint,
    )
}

ENGINE = ("pulumi",)
CLUSTER = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
)
CONTRACT = (coder_servers.ENTERPRISE, coder_servers.AGPL)
CHECKS = ("actionlint",)
WHEELS = ("axe", "moto")
"""Python packages for tests, which are installed separately: see wheels.py."""
