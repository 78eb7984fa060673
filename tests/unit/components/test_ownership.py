"""What marks an object as a resource's own, and where the API server has it."""

import pytest

from coder_stack.cluster.object_path import object_path


@pytest.mark.parametrize(
    ("type_", "namespace", "path"),
    [
        ("kubernetes:core/v1:Namespace", None, "/api/v1/namespaces/x"),
        ("kubernetes:core/v1:Secret", "n", "/api/v1/namespaces/n/secrets/x"),
        ("kubernetes:core/v1:ServiceAccount", "n", "/api/v1/namespaces/n/serviceaccounts/x"),
        ("kubernetes:apps/v1:Deployment", "n", "/apis/apps/v1/namespaces/n/deployments/x"),
        ("kubernetes:batch/v1:CronJob", "n", "/apis/batch/v1/namespaces/n/cronjobs/x"),
        (
            "kubernetes:networking.k8s.io/v1:Ingress",
            "n",
            "/apis/networking.k8s.io/v1/namespaces/n/ingresses/x",
        ),
        (
            "kubernetes:networking.k8s.io/v1:NetworkPolicy",
            "n",
            "/apis/networking.k8s.io/v1/namespaces/n/networkpolicies/x",
        ),
        (
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
            None,
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/x",
        ),
        (
            "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute",
            "n",
            "/apis/gateway.networking.k8s.io/v1/namespaces/n/httproutes/x",
        ),
        (
            "kubernetes:postgresql.cnpg.io/v1:Cluster",
            "n",
            "/apis/postgresql.cnpg.io/v1/namespaces/n/clusters/x",
        ),
    ],
)
def test_objects_are_looked_for_where_the_API_server_has_them(
    type_: str, namespace: str | None, path: str
) -> None:
    assert object_path(type_, namespace, "x") == path
