"""The policy pack on a real engine: it stops, advises and mends, in preview and in up (D5)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel

from pack import policies
from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine.deployed import deployed
from tests.engine.guarded import Guarded, Run
from tests.engine.prerequisites import provide
from tests.engine_project import Project
from tests.simulation import license_text, simulated

pytestmark = pytest.mark.engine

_START = """
import pulumi
import pulumi_kubernetes as k8s
from pulumi import dynamic
from coder_stack.dynamic.provisioner_key import ProvisionerKey

NAMESPACE = pulumi.get_stack()
cluster = k8s.Provider("cluster", kubeconfig={kubeconfig!r}, enable_server_side_apply=True)
there = pulumi.ResourceOptions(provider=cluster)
namespace = k8s.core.v1.Namespace("home", metadata={{"name": NAMESPACE}}, opts=there)

def meta(name, **more):
    return {{"name": name, "namespace": namespace.metadata.name, **more}}

def deployment(name, box, pod=None, replicas=0):
    labels = {{"app": name}}
    box = {{"name": "box", "image": "ghcr.io/coder/coder:v2.30.0", **box}}
    return k8s.apps.v1.Deployment(
        name,
        metadata=meta(name),
        spec={{
            "replicas": replicas,
            "selector": {{"matchLabels": labels}},
            "template": {{
                "metadata": {{"labels": labels}},
                "spec": {{"containers": [box], **(pod or {{}})}},
            }},
        }},
        opts=there,
    )

class Lenient(dynamic.ResourceProvider):
    def create(self, props):
        return dynamic.CreateResult("it", dict(props, made={made!r}))

class SloppyKey(dynamic.Resource, module="coder", name="ProvisionerKey"):
    made: pulumi.Output[str]
    def __init__(self, name, **props):
        super().__init__(Lenient(), name, dict(props, made=None))

class SloppyLicense(dynamic.Resource, module="coder", name="License"):
    def __init__(self, name, **props):
        opts = pulumi.ResourceOptions(additional_secret_outputs=["jwt", "token"])
        super().__init__(Lenient(), name, props, opts)
"""
HIDDEN = "correct-horse-battery"
JWT = "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiI0MiJ9.c2lnbmF0dXJlLW9m"
# Written out, and not asked of the pack: a rule that is lost or lowered must be missed here.
FILLED_IN = {
    "capabilities-dropped",
    "labels",
    "no-privilege-escalation",
    "resources-set",
    "run-as-non-root",
    "seccomp-profile",
}
STOPPED_BY_A_RESOURCE = FILLED_IN | {
    "coderd-over-https",
    "image-registry",
    "key-identity",
    "key-name",
    "no-host-access",
    "no-secret-in-args",
    "no-secret-in-config-map",
    "no-secret-in-env",
    "no-secret-in-metadata",
    "no-wildcard-rbac",
    "provisioner-rights",
    "secret-outputs-declared",
}
STOPPED_BY_THE_STACK = {
    "key-exact-name",
    "key-name-unique",
    "key-tags",
    "license-owner",
    "own-secret-by-key",
}
# One object for each rule on single resources, named after the rule.
_BREAKS_RESOURCE_RULES = """
deployment("image-registry", {{"image": "elsewhere.example/coder:v2"}})
deployment("run-as-non-root", {{"securityContext": {{"runAsUser": 0}}}})
deployment("no-privilege-escalation", {{"securityContext": {{"allowPrivilegeEscalation": True}}}})
deployment("seccomp-profile", {{"securityContext": {{"seccompProfile": {{"type": "Unconfined"}}}}}})
deployment(
    "capabilities-dropped", {{"securityContext": {{"capabilities": {{"add": ["NET_ADMIN"]}}}}}}
)
deployment("resources-set", {{}})
deployment("labels", {{}})
deployment("no-host-access", {{}}, {{"hostNetwork": True}})
deployment("no-secret-in-env", {{"env": [{{"name": "CODER_SESSION_TOKEN", "value": {hidden!r}}}]}})
deployment("no-secret-in-args", {{"args": ["server", "--psk", {hidden!r}]}})
deployment(
    "coderd-over-https", {{"env": [{{"name": "CODER_URL", "value": "http://coder.example.com"}}]}}
)
by_key = {{"secretKeyRef": {{"name": "k", "key": "key"}}}}
deployment("key-identity", {{"env": [
    {{"name": "CODER_PROVISIONER_DAEMON_KEY", "valueFrom": by_key}},
    {{"name": "CODER_ORGANIZATION", "value": "coder"}},
]}})
k8s.core.v1.ConfigMap(
    "no-secret-in-config-map", metadata=meta("a"), data={{"password": {hidden!r}}}, opts=there
)
k8s.core.v1.ConfigMap(
    "no-secret-in-metadata", metadata=meta("b", annotations={{"note": {jwt!r}}}), opts=there
)
k8s.rbac.v1.ClusterRole(
    "no-wildcard-rbac",
    metadata={{"name": f"{{NAMESPACE}}-all"}},
    rules=[{{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}}],
    opts=there,
)
provisioner = pulumi.ComponentResource("coder-stack:index:Provisioner", "gpu")
k8s.rbac.v1.Role(
    "provisioner-rights",
    metadata=meta("c"),
    rules=[{{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}}],
    opts=pulumi.ResourceOptions(provider=cluster, parent=provisioner),
)
SloppyKey("key-name", base_name="built-in", organization="coder")
SloppyKey("secret-outputs-declared", base_name="gpu", organization="data")
"""
# What is missing is filled in: that a rule stops it too is seen where it must not be filled in.
_NOT_FILLED_IN = {"labels": "mandatory", "resources-set": "mandatory"}
_BREAKS_STACK_RULES = """
import base64

def key(name, **more):
    return ProvisionerKey(
        name,
        connection={{"url": "http://127.0.0.1:9"}},
        organization="coder",
        deployment_id="11111111-2222-3333-4444-555555555555",
        **more,
    )

exact = key("key-exact-name", base_name="gpu", exact_name=True)
key("key-name-unique", base_name="GPU", tags={{"pool": "other"}})
key("key-tags", base_name="cpu")
for name in ("license", "license-owner"):
    SloppyLicense(name, jwt={jwt!r})
secret = k8s.core.v1.Secret(
    "secret",
    metadata=meta("gpu-key"),
    data={{"key": exact.material.apply(lambda text: base64.b64encode(text.encode()).decode())}},
    opts=there,
)
by_key = {{"secretKeyRef": {{"name": "gpu-key", "key": "key"}}}}
deployment(
    "own-secret-by-key",
    {{"env": [{{"name": "CODER_PROVISIONER_DAEMON_KEY", "valueFrom": by_key}}],
      "envFrom": [{{"secretRef": {{"name": "gpu-key"}}}}]}},
    replicas=2,
)
"""
_KNOWN_ONLY_LATER = """
later = SloppyKey("later", base_name="gpu", organization="coder")
k8s.core.v1.ConfigMap("leak", metadata=meta("leak"), data={{"config": later.made}}, opts=there)
"""
_BARE = """
deployment("bare", {{}})
k8s.core.v1.Service("plain", metadata=meta("plain"), spec={{"ports": [{{"port": 80}}]}}, opts=there)
"""


def test_D5_every_rule_that_stops_is_seen_to_stop_here() -> None:
    stopping = {p.name for p in policies() if p.enforcement_level != EnforcementLevel.ADVISORY}
    assert stopping == STOPPED_BY_A_RESOURCE | STOPPED_BY_THE_STACK


@pytest.fixture
def guard(engine: Engine, cluster: Cluster, tmp_path: Path) -> Iterator[Any]:
    made: list[Project] = []

    def start(program: str) -> Guarded:
        words = {
            "kubeconfig": str(cluster.kubeconfig),
            "hidden": HIDDEN,
            "jwt": JWT,
            "made": JWT,
        }
        text = (_START + program).format(**words)
        made.append(Project.create(engine, cluster, tmp_path, text))
        return Guarded(made[0])

    yield start
    for project in made:
        project.clean_up()


def assert_says_no_value(run: Run) -> None:
    said = "\n".join(each.message for each in run.violations)
    assert not [value for value in (HIDDEN, JWT) if value in said]


def test_D5_every_mandatory_rule_on_a_resource_stops_a_preview_and_levels_can_be_lowered(
    guard: Any,
) -> None:
    stack = guard(_BREAKS_RESOURCE_RULES)
    registries = {"image-registry": {"registries": ["ghcr.io/coder"]}}
    run = stack.preview({**registries, **_NOT_FILLED_IN})
    assert run.failed
    assert run.rules("mandatory") == STOPPED_BY_A_RESOURCE, run.text
    for rule in STOPPED_BY_A_RESOURCE:
        assert any(v.resource == rule for v in run.violations if v.rule == rule), rule
    assert_says_no_value(run)

    lowered = stack.preview({"all": "advisory", **registries})
    assert not lowered.failed, lowered.text
    assert lowered.rules("mandatory") == set()


def test_D5_every_mandatory_rule_on_the_stack_stops_a_preview(guard: Any) -> None:
    # The doubles of licenses and keys declare no secrets; that rule is seen in another test.
    run = guard(_BREAKS_STACK_RULES).preview({"secret-outputs-declared": "advisory"})
    assert run.failed
    assert run.rules("mandatory") == STOPPED_BY_THE_STACK, run.text
    for rule in STOPPED_BY_THE_STACK:
        assert any(v.resource == rule for v in run.violations if v.rule == rule), rule
    assert_says_no_value(run)


def test_D5_what_a_preview_cannot_know_is_stopped_by_up_before_it_is_applied(guard: Any) -> None:
    stack = guard(_KNOWN_ONLY_LATER)
    lowered = {"secret-outputs-declared": "advisory"}
    preview = stack.preview(lowered)
    assert not preview.failed, preview.text
    assert "can't run policy" in preview.message("no-secret-in-config-map")

    run = stack.up(lowered)
    assert run.failed
    assert run.rules("mandatory") == {"no-secret-in-config-map"}
    assert stack.project.cluster.get(stack.project.path("configmaps", "leak")) is None
    assert_says_no_value(run)


def test_D5_what_is_missing_is_filled_in_and_seen_in_the_cluster(guard: Any) -> None:
    stack = guard(_BARE)
    run = stack.up()
    assert not run.failed, run.text
    assert run.rules("mandatory") == set()
    assert run.filled_in == FILLED_IN

    project = stack.project
    bare = project.cluster.get(project.path("deployments", "bare"))
    (box,) = bare["spec"]["template"]["spec"]["containers"]
    assert box["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert box["resources"] == {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"memory": "512Mi"},
    }
    service = project.cluster.get(project.path("services", "plain"))
    assert service["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "pulumi",
        "app.kubernetes.io/part-of": "coder",
    }
    assert stack.preview().changes == []


@pytest.mark.usefixtures("impatient")
def test_D5_the_whole_stack_passes_in_preview_and_up_with_nothing_filled_in(
    engine: Engine, cluster: Cluster, tmp_path: Path
) -> None:
    fleet = [
        {"name": "eu", "key": {"tags": {"region": "eu"}, "rotateAfterDays": 30}},
        {"name": "ml", "organization": "research", "replicas": 2, "key": {"rotateAfterDays": 30}},
    ]
    many = {"replicas": 2, "podDisruptionBudget": {}, "networkPolicy": {}}
    proxy = {"name": "sydney", "accessUrl": "https://sydney.example.com", **many}
    plane = {"createNamespace": False, **many}
    job = {
        "image": "registry.example.com/coder-stack:1.0.0",
        "backend": {"name": "pulumi", "key": "url"},
        "passphrase": {"name": "pulumi", "key": "passphrase"},
    }
    with (
        simulated(licensed=True) as coderd,
        deployed(
            engine, cluster, coderd, tmp_path,
            controlPlane=plane, provisioners=fleet, proxies=[proxy], reconcileJob=job,
        ) as stack,
    ):  # fmt: skip
        coderd.act("POST", "/api/v2/organizations", {"name": "research"})
        stack.give("token", coderd.token)
        stack.give("licenseJwt", license_text())
        cluster.create("/api/v1/namespaces", {"metadata": {"name": stack.project.namespace}})
        provide(stack.project)
        guarded = Guarded(stack.project)
        guarded.preview().assert_clean()
        guarded.up().assert_clean()
        again = guarded.preview()
        again.assert_clean()
        assert (again.changes, again.violations) == ([], [])

        # E5: without the license the update goes through; the pack only says what is missing.
        coderd.lose_licenses()
        unlicensed = guarded.preview()
        assert not unlicensed.rules("mandatory")
        assert "features-entitled" in unlicensed.rules("advisory")
        stack.destroy()  # the job's rights on the cluster do not go with the namespace
