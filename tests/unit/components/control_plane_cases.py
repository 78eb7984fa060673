"""Every option of the control plane, as a stack's config file would have it (CP3).

A case is compared with the same control plane without it; its snapshot holds what differs.
"""

from dataclasses import dataclass, field
from typing import Any

Config = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`given` alone is what the objects are compared with."""

    config: Config
    given: Config = field(default_factory=dict[str, Any])

    @property
    def whole(self) -> Config:
        return {**self.given, **self.config}


REACHED: Config = {"accessUrl": "https://Coder.example.com:8443"}
WILDCARD: Config = {**REACHED, "wildcardAccessUrl": "*--apps.coder.example.com:8443"}
IN_RACK = {"matchExpressions": [{"key": "rack", "operator": "In", "values": ["a", "b"]}]}
OF_CODER = {"matchLabels": {"app.kubernetes.io/instance": "coder"}}
GATEWAY = {"name": "edge", "namespace": "gateways", "sectionName": "https"}
MONITORS = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}

CASES: dict[str, Case] = {
    # Names and places
    "name": Case({"name": "hub"}),
    "existing_namespace": Case({"namespace": "there", "createNamespace": False}),
    "workspace_namespaces": Case({"workspaceNamespaces": ["dev", "ml"]}),
    "workspace_deployments": Case({"workspaceDeployments": False}),
    # What runs, and with what
    "image": Case(
        {
            "image": {"repository": "mirror.test/coder", "tag": "v2.31.0", "pullPolicy": "Always"},
            # Changes no object: it is decided before any is registered (V2).
            "allowDowngrade": True,
        }
    ),
    "image_digest": Case({"image": {"digest": "sha256:" + "ab" * 32}}),
    "image_pull_secrets": Case({"image": {"pullSecrets": ["mirror", "backup-mirror"]}}),
    "replicas": Case({"replicas": 3}),
    "no_replicas": Case({"replicas": 0}),
    "resources": Case(
        {"resources": {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "8Gi"}}}
    ),
    "no_resources": Case({"resources": {"requests": {}, "limits": {}}}),
    "env": Case({"env": {"CODER_VERBOSE": "true", "CODER_HTTP_ADDRESS": "127.0.0.1:8080"}}),
    "secret_env": Case(
        {"secretEnv": {"CODER_OIDC_CLIENT_SECRET": {"name": "oidc", "key": "client-secret"}}}
    ),
    "env_from": Case(
        {
            "envFrom": [
                {"secretRef": {"name": "coder-env"}},
                {"prefix": "CODER_", "configMapRef": {"name": "coder-flags", "optional": True}},
            ]
        }
    ),
    "database": Case({"database": {"secretName": "coder-db", "secretKey": "uri"}}),
    "cloud_native_pg": Case({"database": {"cloudNativePg": {}}}),
    "cloud_native_pg_settings": Case(
        {
            "database": {
                "cloudNativePg": {
                    "name": "people",
                    "instances": 3,
                    "storage": "50Gi",
                    "storageClass": "fast",
                    "imageName": "mirror.test/postgresql:18",
                    "resources": {"requests": {"cpu": "1", "memory": "2Gi"}},
                    "parameters": {"max_connections": "400"},
                    "waitSeconds": 900,
                    "deletion": "delete",
                    "spec": {
                        "storage": {"resizeInUseVolumes": False},
                        "affinity": {"topologyKey": "topology.kubernetes.io/zone"},
                        "bootstrap": {"recovery": {"source": "old", "database": "coder"}},
                        "externalClusters": [{"name": "old"}],
                    },
                }
            }
        }
    ),
    "access_url": Case(REACHED),
    "wildcard_access_url": Case({"wildcardAccessUrl": "*.coder.example.com"}),
    "tls": Case({"tls": {"secretNames": ["coder-tls"]}}),
    "tls_several": Case({"tls": {"secretNames": ["coder-tls", "wildcard-tls"]}}),
    "ca_bundles": Case(
        {
            "caBundles": [
                {"name": "company-ca", "key": "ca.crt"},
                {"name": "company-ca", "key": "old.pem"},
                {"name": "c" * 63, "key": "bundle"},
            ]
        }
    ),
    "volumes": Case(
        {
            "volumes": [
                {"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}},
                {"name": "branding", "configMap": {"name": "branding"}},
            ],
            "volumeMounts": [
                {"name": "cache", "mountPath": "/home/coder/.cache"},
                {"name": "branding", "mountPath": "/branding", "readOnly": True},
            ],
        }
    ),
    "readiness_probe": Case(
        {
            "readinessProbe": {
                "initialDelaySeconds": 5,
                "periodSeconds": 3,
                "timeoutSeconds": 2,
                "failureThreshold": 9,
            }
        }
    ),
    "no_readiness_probe": Case({"readinessProbe": {"enabled": False}}),
    "liveness_probe": Case({"livenessProbe": {"enabled": True}}),
    "liveness_probe_settings": Case(
        {
            "livenessProbe": {
                "enabled": True,
                "initialDelaySeconds": 60,
                "periodSeconds": 30,
                "timeoutSeconds": 5,
                "failureThreshold": 6,
            }
        }
    ),
    "security_context": Case(
        {"securityContext": {"readOnlyRootFilesystem": True, "runAsUser": 2000}}
    ),
    "pod_security_context": Case(
        {"podSecurityContext": {"fsGroup": 2000, "supplementalGroups": [3000]}}
    ),
    # Where it runs
    "node_selector": Case({"nodeSelector": {"kubernetes.io/arch": "amd64"}}),
    "tolerations": Case(
        {"tolerations": [{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]}
    ),
    "affinity": Case(
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [IN_RACK]
                    }
                },
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "podAffinityTerm": {
                                "topologyKey": "kubernetes.io/hostname",
                                "labelSelector": OF_CODER,
                            },
                        }
                    ]
                },
            }
        }
    ),
    "topology_spread_constraints": Case(
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": OF_CODER,
                }
            ]
        }
    ),
    "priority_class": Case({"priorityClassName": "system-cluster-critical"}),
    # What is written on it
    "labels": Case({"labels": {"team": "platform", "app.kubernetes.io/name": "not-yours"}}),
    "annotations": Case({"annotations": {"example.com/owner": "platform"}}),
    "pod_labels": Case({"podLabels": {"mesh": "on", "app.kubernetes.io/instance": "not-yours"}}),
    "pod_annotations": Case({"podAnnotations": {"example.com/log": "json"}}),
    "service_account_annotations": Case(
        {"serviceAccountAnnotations": {"example.com/cloud-role": "coder"}}
    ),
    # How it is reached
    "service_type": Case({"service": {"type": "LoadBalancer"}}),
    "service_ports": Case({"service": {"port": 8000}}),
    "service_tls_port": Case(
        {"service": {"tlsPort": 8443}}, given={"tls": {"secretNames": ["coder-tls"]}}
    ),
    "service_annotations": Case({"service": {"annotations": {"example.com/lb": "internal"}}}),
    "ingress": Case({"ingress": {}}, given=REACHED),
    "ingress_class": Case({"ingress": {"className": "nginx"}}, given=REACHED),
    "ingress_annotations": Case(
        {"ingress": {"annotations": {"example.com/timeout": "3600"}}}, given=REACHED
    ),
    "ingress_tls": Case(
        {"ingress": {"tlsSecretName": "host", "wildcardTlsSecretName": "wild"}}, given=WILDCARD
    ),
    "ingress_without_waiting": Case(
        {"ingress": {"wait": False, "annotations": {"example.com/timeout": "3600"}}}, given=REACHED
    ),
    "http_route": Case({"httpRoute": {"parentRefs": [GATEWAY]}}, given=REACHED),
    "http_route_wildcard": Case(
        {"httpRoute": {"parentRefs": [GATEWAY]}, "service": {"port": 8000}}, given=WILDCARD
    ),
    "http_route_annotations": Case(
        {"httpRoute": {"parentRefs": [GATEWAY], "annotations": {"example.com/team": "platform"}}},
        given=REACHED,
    ),
    # What stands around it
    "pod_disruption_budget": Case({"podDisruptionBudget": {}}),
    "pod_disruption_budget_min": Case({"podDisruptionBudget": {"minAvailable": 2}}),
    "pod_disruption_budget_max": Case({"podDisruptionBudget": {"maxUnavailable": "50%"}}),
    "network_policy": Case({"networkPolicy": {}}),
    "network_policy_peers": Case({"networkPolicy": {"allowFrom": [MONITORS]}}),
    "network_policy_of_several_pods": Case(
        {"networkPolicy": {"allowFrom": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}},
        given={"replicas": 2, "tls": {"secretNames": ["coder-tls"]}, "serviceMonitor": {}},
    ),
    "service_monitor": Case({"serviceMonitor": {}}),
    "service_monitor_settings": Case(
        {"serviceMonitor": {"interval": "1m", "labels": {"release": "prometheus"}}}
    ),
}
