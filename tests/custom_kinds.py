"""The kinds of others that we make objects of, as a cluster would have them installed.

Small definitions of our own with the fields that we use, spelled as in the Gateway API, the
Prometheus Operator and CloudNativePG; nothing unknown is let through, so a misspelt field is
refused. What CloudNativePG refuses in a webhook is a rule here.
"""

import time
from typing import Any

from sandbox.cluster import api
from tests.cluster_access import Cluster

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 253}
_HOST: Schema = {
    **_TEXT,
    "pattern": r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9][-a-z0-9]*)*$",
}
_PORT: Schema = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535}
_LABELS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}


def _object(*required: str, **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(required)}


def _list(of: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": of, **more}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


_HTTP_ROUTE = _object(
    parentRefs=_list(
        _object(
            "name",
            group=_TEXT,
            kind=_TEXT,
            name=_TEXT,
            namespace=_TEXT,
            sectionName=_TEXT,
            port=_PORT,
        ),
        maxItems=32,
    ),
    hostnames=_list(_HOST, maxItems=16),
    rules=_list(
        _object(
            matches=_list(
                _object(
                    path=_object(
                        type=_one_of("Exact", "PathPrefix", "RegularExpression"), value=_TEXT
                    )
                )
            ),
            backendRefs=_list(
                _object("name", group=_TEXT, kind=_TEXT, name=_TEXT, namespace=_TEXT, port=_PORT)
            ),
        ),
        maxItems=16,
    ),
)
_SERVICE_MONITOR = _object(
    "endpoints",
    "selector",
    selector=_object(matchLabels=_LABELS),
    endpoints=_list(
        _object(
            port=_TEXT,
            path=_TEXT,
            scheme=_one_of("http", "https"),
            interval={"type": "string", "pattern": r"^([0-9]+(ms|s|m|h|d|w|y))+$"},
        )
    ),
)
_ANYTHING: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CLUSTER = _object(
    "instances",
    "storage",
    instances={"type": "integer", "minimum": 1},
    imageName=_TEXT,
    storage={
        **_object("size", size=_TEXT, storageClass=_TEXT, resizeInUseVolumes={"type": "boolean"}),
        "x-kubernetes-validations": [
            {
                "rule": "quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
                "messageExpression": '"can\'t shrink existing storage from " + oldSelf.size'
                " + ' to ' + self.size",
            }
        ],
    },
    resources=_object(
        requests={"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}},
        limits={"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}},
    ),
    postgresql=_object(parameters=_LABELS),
    bootstrap={
        **_object(
            initdb=_object(database=_TEXT, owner=_TEXT),
            recovery=_object(source=_TEXT, database=_TEXT, owner=_TEXT),
        ),
        "maxProperties": 1,
    },
    affinity=_object(topologyKey=_TEXT),
    backup=_ANYTHING,
    externalClusters=_list(_object("name", name=_TEXT)),
)
_CLUSTER_STATUS = _object(
    phase={"type": "string"},
    phaseReason={"type": "string"},
    instances={"type": "integer"},
    readyInstances={"type": "integer"},
    conditions=_list(_ANYTHING),
)


def _definition(
    group: str, kind: str, plural: str, spec: Schema, status: Schema | None = None
) -> dict[str, Any]:
    schema = _object("spec", spec=spec, **({"status": status} if status else {}))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            # Kubernetes asks this of whoever defines kinds in its own domain.
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test's own"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    **({"subresources": {"status": {}}} if status else {}),
                }
            ],
        },
    }


DEFINITIONS = (
    _definition("gateway.networking.k8s.io", "HTTPRoute", "httproutes", _HTTP_ROUTE),
    _definition("monitoring.coreos.com", "ServiceMonitor", "servicemonitors", _SERVICE_MONITOR),
    _definition("postgresql.cnpg.io", "Cluster", "clusters", _CLUSTER, _CLUSTER_STATUS),
)


def install(cluster: Cluster) -> None:
    """Define the kinds and wait until they are served."""
    with cluster.http() as http:
        for definition in DEFINITIONS:
            http.post(_DEFINITIONS, json=definition).raise_for_status()
            plural, _, group = definition["metadata"]["name"].partition(".")
            api.wait_until(
                plural,
                lambda path=f"/apis/{group}/v1/{plural}": http.get(path).is_success,
                time.monotonic() + 30,
                lambda: None,
            )
