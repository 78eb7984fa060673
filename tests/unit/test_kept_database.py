"""Databases that only an earlier config declared: the API server is asked, and a doubt is none."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from coder_stack.cluster.kept_database import kept_databases, kept_hint
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.components.parts.database import not_ready
from tests.provider.api_server import write_kubeconfig
from tests.unit.test_cluster_apis import cluster, settings

OURS = [f"app.kubernetes.io/{label}" for label in ("managed-by=pulumi", "part-of=coder")]
SELECTOR = ",".join([*OURS, "app.kubernetes.io/component=database"])
PATH = (
    "/apis/postgresql.cnpg.io/v1/namespaces/coder/clusters?labelSelector="
    f"{quote(SELECTOR, safe='/')}"
)
ONE = "/apis/postgresql.cnpg.io/v1/namespaces/coder/clusters/coder-database"


def listed(*names: str) -> tuple[int, dict[str, Any]]:
    return 200, {"items": [{"metadata": {"name": name}} for name in names]}


def test_F3_a_database_that_the_config_does_not_declare_is_found(tmp_path: Path) -> None:
    with cluster({PATH: listed("older", "coder-database")}) as (port, _):
        given = settings(tmp_path, port, {})
        assert kept_databases(given) == ["coder-database", "older"]
        declared = settings(tmp_path, port, {"database": {"cloudNativePg": {}}})
        assert kept_databases(declared) == ["older"]
    assert "delete clusters.postgresql.cnpg.io older" in kept_hint(given, "older")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_F3_an_api_server_that_does_not_say_has_none(tmp_path: Path, status: int) -> None:
    with cluster({PATH: (status, {"kind": "Status", "code": status})}) as (port, asked):
        assert kept_databases(settings(tmp_path, port, {})) == []
        assert asked == [PATH]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {"phase": "Setting up primary", "phaseReason": "Creating primary instance x-1"},
            'its phase is "Setting up primary" (Creating primary instance x-1).',
        ),
        ({"phase": "Failing over"}, 'its phase is "Failing over".'),
        ({}, "it has no phase yet. Is the CloudNativePG operator running?"),
    ],
)
def test_F3_a_database_that_is_not_ready_is_named_with_its_phase(
    tmp_path: Path, status: dict[str, str], said: str
) -> None:
    with cluster({ONE: (200, {"status": status})}) as (port, _):
        where = Kubeconfig(kubeconfig=write_kubeconfig(tmp_path, f"http://127.0.0.1:{port}"))
        assert not_ready(where, "coder", "coder-database") == (
            f"The database, Cluster coder-database in namespace coder, is not ready: {said} "
            "See: kubectl -n coder describe clusters.postgresql.cnpg.io coder-database"
        )
