"""Waiting until objects are live: what counts, what a time-out says, and how a wait ends early."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes_plugin.values import Object, as_int, as_list, as_object, dig
from tests.cluster.kubernetes_plugin import manifests
from tests.cluster.kubernetes_plugin.conftest import Kubectl, kubeconfig_with_token
from tests.cluster.kubernetes_plugin.driver import Failure, Plugin, grpc, start

pytestmark = pytest.mark.cluster
NOWHERE: Object = {"nodeSelector": {"no": "such-node"}}


def test_a_deployment_is_awaited_until_it_is_rolled_out(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.deployment(namespace, replicas=2))
    assert dig(created.outputs, "status", "availableReplicas") == 2
    updated = plugin.update(created, manifests.deployment(namespace, replicas=2, image="app:2"))
    assert dig(updated.outputs, "status", "updatedReplicas") == 2
    assert dig(updated.outputs, "status", "replicas") == 2, "no old pod is left"


def test_a_deployment_without_replicas_is_done_at_once(plugin: Plugin, namespace: str) -> None:
    created = plugin.create(manifests.deployment(namespace, replicas=0, pod=NOWHERE), timeout=5)
    assert dig(created.outputs, "spec", "replicas") == 0


def test_a_time_out_names_the_pod_and_keeps_the_object(plugin: Plugin, namespace: str) -> None:
    with pytest.raises(Failure) as failure:
        plugin.create(manifests.deployment(namespace, pod=NOWHERE), timeout=6)
    told = str(failure.value)
    assert "was successfully created, but" in told
    assert 'Deployment "app" timed out after 6 s' in told
    assert "Unschedulable: " in told
    assert 'pod "app-' in told
    assert failure.value.init.id == f"{namespace}/app"
    assert dig(failure.value.outputs, "metadata", "uid"), "the engine stores what was created"
    assert dig(failure.value.outputs, "__inputs", "spec", "replicas") == 1


def test_a_quota_that_keeps_pods_away_is_named(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    kubectl("-n", namespace, "create", "quota", "none", "--hard=pods=0")
    # It counts only from when the quota controller has seen it.
    seen = "--for=jsonpath={.status.hard.pods}=0"
    kubectl("-n", namespace, "wait", "quota/none", seen, "--timeout=30s")
    with pytest.raises(Failure, match=r"FailedCreate: .*exceeded quota"):
        plugin.create(manifests.deployment(namespace), timeout=10)


def test_a_container_that_waits_is_named_with_its_reason(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """As after a mistyped image: the pod is there, its container waits."""
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": manifests.metadata(namespace, "lonely"),
        "spec": {"containers": [manifests.container()], "schedulingGates": [{"name": "test/held"}]},
    }
    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(plugin.create, pod, timeout=10)
        kubectl("-n", namespace, "wait", "pod/lonely", "--for=create", "--timeout=10s")
        kubectl(
            "-n", namespace, "patch", "pod", "lonely", "--subresource=status", "--type=merge",
            '-p={"status":{"containerStatuses":[{"name":"app","ready":false,"restartCount":0,'
            '"image":"x","imageID":"","state":{"waiting":{"reason":"ImagePullBackOff",'
            '"message":"Back-off pulling image"}}}]}}',
        )  # fmt: skip
        with pytest.raises(Failure, match=r'pod "lonely", container "app": ImagePullBackOff: Back'):
            creating.result()


def test_the_timeout_annotation_counts_where_the_program_sets_none(
    plugin: Plugin, namespace: str
) -> None:
    annotations: Object = {"pulumi.com/timeoutSeconds": "1"}
    with pytest.raises(Failure, match="timed out after 1 s"):
        plugin.create(manifests.deployment(namespace, pod=NOWHERE, annotations=annotations))


def test_the_programs_own_condition_replaces_the_rule_of_the_kind(
    plugin: Plugin, namespace: str
) -> None:
    """These pods are never scheduled, so the kind's own rule would wait.

    The Deployment's controller sets the condition before it counts the pods.
    """
    annotations: Object = {"pulumi.com/waitFor": "condition=Progressing"}
    created = plugin.create(
        manifests.deployment(namespace, pod=NOWHERE, annotations=annotations), timeout=60
    )
    conditions = map(as_object, as_list(dig(created.outputs, "status", "conditions")))
    assert ("Progressing", "True") in [(each["type"], each["status"]) for each in conditions]
    assert dig(created.outputs, "status", "availableReplicas") is None, "no pod is ready"


def test_a_condition_that_does_not_hold_is_named_when_the_time_is_up(
    plugin: Plugin, namespace: str
) -> None:
    annotations: Object = {"pulumi.com/waitFor": "condition=Available"}
    wanted = manifests.deployment(namespace, pod=NOWHERE, annotations=annotations)
    with pytest.raises(Failure, match="condition Available is False, not True") as failure:
        plugin.create(wanted, timeout=10)
    assert 'Deployment "app" timed out after 10 s' in str(failure.value)


def test_a_condition_that_cannot_be_understood_is_refused_before_anything_is_created(
    plugin: Plugin, namespace: str
) -> None:
    annotations: Object = {"pulumi.com/waitFor": "Ready"}
    with pytest.raises(Failure, match='expected a "jsonpath=" or "condition=" prefix'):
        plugin.check(manifests.deployment(namespace, annotations=annotations))


def test_skip_await_does_not_wait(plugin: Plugin, namespace: str) -> None:
    annotations: Object = {"pulumi.com/skipAwait": "true"}
    wanted = manifests.deployment(namespace, pod=NOWHERE, annotations=annotations)
    created = plugin.create(wanted)
    assert plugin.refresh(created) is not None, "and a refresh does not complain either"


def test_an_object_that_may_be_created_but_not_watched_is_kept(
    unconfigured: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    """Whatever goes wrong after the create, the engine must learn of the object."""
    kubectl("-n", namespace, "create", "role", "r", "--verb=create", "--resource=deployments")
    account = f"--serviceaccount={namespace}:default"
    kubectl("-n", namespace, "create", "rolebinding", "rb", "--role=r", account)
    token = kubectl("-n", namespace, "create", "token", "default")
    weak = unconfigured.configure(kubeconfig=json.dumps(kubeconfig_with_token(kubectl, token)))
    with pytest.raises(Failure, match=r"cannot be watched.*forbidden") as failure:
        weak.create(manifests.deployment(namespace))
    assert failure.value.init.id == f"{namespace}/app"


def test_an_unready_object_is_reported_by_a_refresh_and_kept(
    plugin: Plugin, namespace: str
) -> None:
    with pytest.raises(Failure) as first:
        plugin.create(manifests.deployment(namespace, pod=NOWHERE), timeout=1)
    resource = plugin.check(manifests.deployment(namespace, pod=NOWHERE))
    resource.id, resource.outputs = first.value.init.id, first.value.outputs
    with pytest.raises(Failure) as failure:
        plugin.refresh(resource)
    assert 'Deployment "app" is not ready' in failure.value.reasons
    assert failure.value.init.inputs.fields["kind"].string_value == "Deployment"


def test_cancelling_ends_a_wait_at_once(
    unconfigured: Plugin, kubeconfig: Path, namespace: str, kubectl: Kubectl
) -> None:
    plugin = unconfigured.configure(kubeconfig=str(kubeconfig))
    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(plugin.create, manifests.deployment(namespace, pod=NOWHERE))
        kubectl("-n", namespace, "wait", "deployment/app", "--for=create", "--timeout=10s")
        plugin.cancel()
        with pytest.raises(Failure, match=r'waiting for Deployment "app" was cancelled') as failure:
            creating.result(timeout=10)
    assert failure.value.init.id == f"{namespace}/app", "what was created is kept"


def test_a_service_with_ready_pods_is_live(plugin: Plugin, namespace: str) -> None:
    plugin.create(manifests.deployment(namespace))
    created = plugin.create(manifests.service(namespace, selector={"app": "app"}))
    assert dig(created.outputs, "spec", "clusterIP")


def test_a_service_that_selects_nothing_is_live_after_a_while(
    plugin: Plugin, namespace: str
) -> None:
    created = plugin.create(manifests.service(namespace, selector={"app": "nobody"}), timeout=60)
    assert plugin.drift(created) == set()


def test_a_service_whose_pods_are_not_ready_is_not_live(
    plugin: Plugin, namespace: str, kubectl: Kubectl
) -> None:
    annotations: Object = {"pulumi.com/skipAwait": "true"}
    plugin.create(manifests.deployment(namespace, annotations=annotations))
    kubectl("-n", namespace, "rollout", "status", "deployment/app", "--timeout=30s")
    plugin.create(manifests.service(namespace, "first", selector={"app": "app"}))
    pod = kubectl("-n", namespace, "get", "pod", "-o", "name")
    kubectl(
        "-n", namespace, "patch", pod, "--subresource=status", "--type=strategic",
        '-p={"status":{"conditions":[{"type":"Ready","status":"False"}]}}',
    )  # fmt: skip
    kubectl(
        "-n", namespace, "wait", "endpointslice", "-l", "kubernetes.io/service-name=first",
        "--for=jsonpath={.endpoints[0].conditions.ready}=false", "--timeout=20s",
    )  # fmt: skip
    with pytest.raises(Failure, match="Service selects Pods that are not ready: app-"):
        plugin.create(manifests.service(namespace, "second", selector={"app": "app"}), timeout=2)


@pytest.mark.parametrize(
    "spec",
    [
        {"clusterIP": "None", "selector": {"app": "nobody"}},
        {"type": "ExternalName", "externalName": "example.com"},
        {},
    ],
    ids=["headless", "external name", "without selector"],
)
def test_services_without_endpoints_of_their_own_are_live_at_once(
    plugin: Plugin, namespace: str, spec: Object
) -> None:
    created = plugin.create(manifests.service(namespace, **spec), timeout=2)
    assert created.id


def test_a_load_balancer_needs_an_address(plugin: Plugin, namespace: str) -> None:
    with pytest.raises(Failure, match="not allocated an IP address"):
        plugin.create(manifests.service(namespace, type="LoadBalancer"), timeout=1)


def test_an_ingress_needs_an_address_unless_awaiting_is_skipped(
    plugin: Plugin, namespace: str
) -> None:
    ingress: Object = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": manifests.metadata(namespace, "front"),
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
    }
    with pytest.raises(Failure, match=r"\.status\.loadBalancer"):
        plugin.create(ingress, timeout=1)
    annotations: Object = {"pulumi.com/skipAwait": "true"}
    ingress["metadata"] = manifests.metadata(namespace, "other", annotations=annotations)
    assert plugin.create(ingress).id


def test_a_job_is_awaited_until_it_is_complete(plugin: Plugin, namespace: str) -> None:
    spec: Object = {"containers": [manifests.container()], "restartPolicy": "Never"}
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": manifests.metadata(namespace, "once"),
        "spec": {"template": {"spec": spec}},
    }
    created = plugin.create(job, timeout=60)
    assert dig(created.outputs, "status", "succeeded") == 1


def test_a_stateful_set_and_a_daemon_set_are_awaited(plugin: Plugin, namespace: str) -> None:
    workload = manifests.deployment(namespace, "db", replicas=2)
    workload["kind"] = "StatefulSet"
    created = plugin.create(workload)
    assert dig(created.outputs, "status", "readyReplicas") == 2
    on_every_node = manifests.deployment(namespace, "agent")
    on_every_node["kind"] = "DaemonSet"
    spec = on_every_node["spec"]
    assert isinstance(spec, dict)
    del spec["replicas"]
    created = plugin.create(on_every_node)
    assert as_int(dig(created.outputs, "status", "numberAvailable")) >= 1


def test_an_unbound_claim_is_not_live(plugin: Plugin, namespace: str) -> None:
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": manifests.metadata(namespace, "disk"),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1024Mi"}},
        },
    }
    with pytest.raises(Failure, match="claim is Pending"):
        plugin.create(claim, timeout=1)


def test_the_engine_is_told_what_is_waited_for(
    tmp_path: Path, kubeconfig: Path, namespace: str
) -> None:
    messages: list[Any] = []
    engine = _engine(messages)
    port = engine.add_insecure_port("127.0.0.1:0")
    engine.start()
    plugin = start(tmp_path, f"127.0.0.1:{port}").configure(kubeconfig=str(kubeconfig))
    try:
        with pytest.raises(Failure):
            plugin.create(manifests.deployment(namespace, pod=NOWHERE), timeout=6)
    finally:
        plugin.stop()
        engine.stop(None)
    assert any("Unschedulable" in message.message for message in messages)
    assert all(message.ephemeral and message.urn for message in messages)


def _engine(messages: list[Any]) -> Any:
    services: Any = import_module("pulumi.runtime.proto.engine_pb2_grpc")
    empty: Any = import_module("google.protobuf.empty_pb2")
    lock = threading.Lock()

    class Engine(services.EngineServicer):
        def Log(self, request: Any, context: Any) -> Any:
            with lock:
                messages.append(request)
            return empty.Empty()

    server = grpc.server(ThreadPoolExecutor(2))
    services.add_EngineServicer_to_server(Engine(), server)
    return server
