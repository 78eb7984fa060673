"""Find databases that this stack created and the config no longer declares.

A kept Cluster of CloudNativePG is in no state any more, so only the API server knows it. The
namespace must then be kept too, and a warning says that the Cluster still exists.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from coder_stack.cluster.client import request
from coder_stack.cluster.kubeconfig import Kubeconfig, kubeconfig_of
from coder_stack.coderd.errors import CoderdError
from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import DATABASE_COMPONENT
from coder_stack.settings import Settings

API_GROUP = "postgresql.cnpg.io"
VERSION = "v1"
KIND = "Cluster"
PLURAL = "clusters"
_OURS = (
    "app.kubernetes.io/managed-by=pulumi,app.kubernetes.io/part-of=coder,"
    f"app.kubernetes.io/component={DATABASE_COMPONENT}"
)


class _Metadata(FrozenModel):
    name: str


class _Cluster(FrozenModel):
    metadata: _Metadata


class _Clusters(FrozenModel):
    items: tuple[_Cluster, ...]


def kept_databases(settings: Settings) -> Sequence[str]:
    """Return the names of Clusters in coderd's namespace that only an earlier config declared.

    Empty if the API server does not say: without the CRD there is none, and who may not list
    Clusters has created none.
    """
    plane = settings.control_plane
    cluster = kubeconfig_of(settings.kubernetes)
    path = ("apis", API_GROUP, VERSION, "namespaces", plane.namespace, PLURAL)
    try:
        status, body = request(
            cluster, Kubeconfig(), "look for databases", path, query={"labelSelector": _OURS}
        )
        found = _Clusters.model_validate_json(body).items if status == 200 else ()
    except (CoderdError, ValidationError):
        return []
    declared = plane.database_name if plane.cloud_native_pg else None
    return sorted(each.metadata.name for each in found if each.metadata.name != declared)


def kept_hint(settings: Settings, name: str) -> str:
    """Return the warning about one of them."""
    namespace = settings.control_plane.namespace
    return (
        f"controlPlane.database: {KIND} {name} in namespace {namespace} is no longer part of the "
        "config; it is kept with its data, and so is the namespace. When you no longer need it: "
        f"kubectl -n {namespace} delete {PLURAL}.{API_GROUP} {name}"
    )
