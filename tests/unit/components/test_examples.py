"""Every example as Kubernetes objects, and that the settings know their names beforehand.

The snapshots are read by people who wonder what an example makes, and sent to a real API server by
tests/cluster.
"""

from pathlib import Path
from typing import Any

import pytest

from coder_stack.components.control_plane import ControlPlane, ControlPlaneArgs
from coder_stack.components.provisioner import Provisioner, ProvisionerArgs
from coder_stack.components.workspace_proxy import WorkspaceProxy, WorkspaceProxyArgs
from coder_stack.settings import ControlPlaneSettings, ProvisionerSettings, Settings, load
from coder_stack.settings.objects import claims
from coder_stack.settings.stack_file import read_stack_file
from tests.example_files import EXAMPLES
from tests.unit.components.operator import operator
from tests.unit.components.rendering import (
    Recorder,
    check_snapshot,
    render,
    snapshots_without_case,
)

FOLDER = "examples"
NAMED = {
    "ServiceAccount", "Deployment", "Service", "Role", "RoleBinding", "Secret", "Cluster",
    "Ingress", "HTTPRoute", "PodDisruptionBudget", "NetworkPolicy", "ServiceMonitor",
}  # fmt: skip
COMMON = {"provisioned": True, "deferred": [], "reason": ""}
ANSWERS: dict[str, dict[str, Any]] = {
    "ProvisionerKey": {
        **COMMON,
        "key_id": "k-1",
        "name": "a-key",
        "material": "material",
        "material_sha256": "ab" * 32,
        "created_at": "2026-01-01T00:00:00+00:00",
    },
    "DaemonsConnected": {
        "count": 1,
        "versions": ["v2.30.0"],
        "skewed": [],
        "connected": True,
        "reason": "",
    },
    "WorkspaceProxyRegistration": {
        **COMMON,
        "proxy_id": "p-1",
        "proxy_token": "token",
        "proxy_token_sha256": "cd" * 32,
        "status": "ok",
        "version": "v2.30.0",
    },
}


def settings_in(file: Path) -> Settings:
    given = read_stack_file(file, "coder-stack")
    return load(given.texts, "coder-stack", given.secret_keys)


def _url_for(part: ProvisionerSettings, plane: ControlPlaneSettings) -> str:
    """The Service has a name in its own cluster only, and may be another one beside Helm."""
    outside = part.cluster or plane.exists_already
    return (outside and plane.access_url) or plane.in_cluster_url


def render_parts(settings: Settings) -> None:
    """All that a licensed coderd lets the stack have, each component with its own settings."""
    plane = settings.control_plane
    handle = operator("external_provisioner_daemons", "workspace_proxy")
    shared: dict[str, Any] = {
        "operator": handle, "image": plane.image, "namespace": plane.namespace
    }  # fmt: skip

    def build() -> dict[str, Any]:
        coderd = (
            ()
            if plane.exists_already
            else (ControlPlane("coder", ControlPlaneArgs(settings=plane)),)
        )
        made = [
            *coderd,
            *(
                Provisioner(
                    each.name,
                    ProvisionerArgs(
                        settings=each,
                        url=_url_for(each, plane),
                        **shared,
                    ),
                )
                for each in settings.provisioners
            ),
            *(
                WorkspaceProxy(
                    each.name,
                    WorkspaceProxyArgs(
                        settings=each,
                        primary_url=plane.access_url or plane.in_cluster_url,
                        **shared,
                    ),
                )
                for each in settings.proxies
            ),
        ]
        return {str(index): each.conditions for index, each in enumerate(made)}

    render(build)


@pytest.fixture
def licensed(recorder: Recorder) -> Recorder:
    recorder.answers = ANSWERS
    return recorder


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_object_of_an_example_as_it_is_sent(licensed: Recorder, file: Path) -> None:
    render_parts(settings_in(file))
    check_snapshot(FOLDER, file.stem, licensed.manifests().values())


def test_every_snapshot_belongs_to_an_example() -> None:
    assert EXAMPLES
    assert snapshots_without_case(FOLDER, [file.stem for file in EXAMPLES]) == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_B1_the_names_that_are_compared_are_those_of_the_objects(
    licensed: Recorder, file: Path
) -> None:
    """Else two parts could want one object without anybody noticing before the update."""
    settings = settings_in(file)
    render_parts(settings)
    made = {
        (each["kind"], each["metadata"]["namespace"], each["metadata"]["name"])
        for each in licensed.manifests().values()
        if each["kind"] in NAMED
    }
    home = settings.control_plane.namespace
    parts = [*settings.provisioners, *settings.proxies]
    claimed = {claim[:3] for part in parts for claim in claims(part, part.namespace or home)}
    claimed |= {claim[:3] for claim in claims(settings.control_plane, home)}
    others: set[tuple[str, str, str]] = set()
    if not settings.control_plane.exists_already:
        # Written by operator access itself, beside Pulumi's own objects.
        others.add(("Secret", home, f"{settings.control_plane.name}-operator"))
    if settings.control_plane.cloud_native_pg:  # whose operator creates these
        database = settings.control_plane.database_name
        others |= {(kind, home, database) for kind in ("ServiceAccount", "Role", "RoleBinding")}
        others.add(("Secret", home, f"{database}-app"))
    assert made | others == claimed
