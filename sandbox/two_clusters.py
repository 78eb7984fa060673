"""The sandbox's clusters: one, or with `make up CLUSTERS=2` a second one for the proxy `sydney`.

The second one is a control plane of its own, in a folder of its own. The pods in it are simulated
too, and use the coderd of the first one. It ends when the stack no longer uses it.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sandbox import cluster, stack_file
from sandbox.cluster import Say, api
from sandbox.errors import SandboxError
from sandbox.paths import SECOND, SandboxPaths

# As in Pulumi.sandbox.yaml. A stack creates its namespace only in coderd's own cluster.
_NAMESPACE = "coder"
_COUNTS = {"1": 1, "2": 2}


def wanted(paths: SandboxPaths, given: str | None) -> int:
    """Return how many clusters to run; by default as many as before."""
    if given and given not in _COUNTS:
        raise SandboxError(f"CLUSTERS (--clusters) is {given!r}; it must be 1 or 2")
    external = cluster.external_kubeconfig()
    if external and given == "2":
        raise SandboxError(
            f"a second cluster needs the sandbox's own first one; unset {cluster.EXTERNAL}"
        )
    if given:
        return _COUNTS[given]
    return 2 if is_used(paths) and not external else 1


def is_used(paths: SandboxPaths) -> bool:
    """Return whether there is a second cluster and the stack's file names it."""
    return has_second(paths) and stack_file.clusters() == 2


def has_second(paths: SandboxPaths) -> bool:
    """Return whether a second cluster has been started; it may be off."""
    return paths.second.kubeconfig.exists()


def up(
    paths: SandboxPaths, programs: Mapping[str, Path], port: int | None, count: int, say: Say
) -> None:
    """Start the clusters that do not run, and write their number into the stack's file.

    One that is no longer wanted is started too: only then can `pulumi up` delete what is in it.
    """
    cluster.up(paths, programs, port, say, with_pods=True)
    if count == 2 or has_second(paths):
        say(f"cluster {SECOND}:")
        kubeconfig = cluster.up(paths.second, programs, None, say, with_pods=True, home=paths)
        with api.client(kubeconfig) as http:
            api.ensure_namespace(http, _NAMESPACE)
    if stack_file.clusters() != count and paths.state.exists():
        paths.moving.touch()
    stack_file.switch(count)


def is_moving(paths: SandboxPaths) -> bool:
    """Return whether the next `pulumi up` moves the proxy from one cluster to the other."""
    return paths.moving.exists()


def moved(paths: SandboxPaths, say: Say) -> None:
    """Note that the stack is where its file says; delete the second cluster if it has left it."""
    paths.moving.unlink(missing_ok=True)
    if has_second(paths) and not is_used(paths):
        cluster.down_with_folder(paths.second)
        say(f"cluster {SECOND} is no longer used, and is deleted")


def status_of_second(paths: SandboxPaths) -> cluster.ClusterStatus | None:
    """Return the state of the second cluster, if there is one; coderd is in the first one."""
    if cluster.external_kubeconfig() or not has_second(paths):
        return None
    return replace(cluster.status(paths.second), coderd="")


def switch_off(paths: SandboxPaths) -> None:
    """Stop the second cluster as a power failure does; the next `up` finds its data."""
    if not is_used(paths):
        raise SandboxError("there is no second cluster; start one with: make up CLUSTERS=2")
    if not cluster.down(paths.second, keep=True):
        raise SandboxError(f"cluster {SECOND} is off already; switch it on with: make up")


def down(paths: SandboxPaths, *, keep: bool) -> list[str]:
    """Stop every cluster, and return what was running; delete all data unless `keep`."""
    stopped = cluster.down(paths, keep=keep)
    if not keep:
        stack_file.switch(1)
    return stopped
