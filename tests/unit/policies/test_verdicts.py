"""What single rules take and refuse, beyond their four cases."""

from typing import Any

import pytest

from tests.unit.policies import compliant
from tests.unit.policies.cases.row import BOX, JWT, SECRET, SPEC, it
from tests.unit.policies.judge import CODER, UNKNOWN, Res, changed, judge


def places(name: str, changes: dict[str, Any], **options: Any) -> set[str]:
    return judge(name, changed(it(compliant.deployment()), changes), options).places


@pytest.mark.parametrize(
    ("image", "pinned"),
    [
        ("coder", False),
        ("ghcr.io/coder/coder", False),
        ("registry.example.com:5000/coder", False),
        ("ghcr.io/coder/coder:edge", False),
        ("ghcr.io/coder/coder:v2.30.0", True),
        ("registry.example.com:5000/coder:v2", True),
        ("ghcr.io/coder/coder@sha256:" + "0" * 64, True),
        ("ghcr.io/coder/coder:latest@sha256:" + "0" * 64, True),
    ],
)
def test_CP2_a_version_or_digest_pins_an_image(image: str, pinned: bool) -> None:
    assert places("image-pinned", {f"{BOX}.image": image}) == (
        set() if pinned else {f"{BOX}.image"}
    )


@pytest.mark.parametrize(
    ("image", "registry", "allowed"),
    [
        ("nginx:1", "docker.io", True),
        ("nginx:1", "docker.io/library", True),
        ("bitnami/nginx:1", "docker.io/library", False),
        ("ghcr.io/coder/coder:v2", "ghcr.io/coder/coder", True),
        ("ghcr.io/coder/coder-evil:v2", "ghcr.io/coder/coder", False),
        ("registry.example.com:5000/coder:v2", "registry.example.com:5000", True),
        ("registry.example.com:5000/coder:v2", "registry.example.com", False),
        ("localhost/coder:v2", "localhost", True),
    ],
)
def test_a_registry_is_matched_by_whole_path_segments(
    image: str, registry: str, allowed: bool
) -> None:
    found = places("image-registry", {f"{BOX}.image": image}, registries=[registry])
    assert found == (set() if allowed else {f"{BOX}.image"})


def test_without_a_list_every_registry_is_allowed() -> None:
    assert places("image-registry", {f"{BOX}.image": "elsewhere.example/x:1"}) == set()


@pytest.mark.parametrize(
    ("image", "args", "passes"),
    [
        ("ghcr.io/coder/coder:v9.8.7", ["server"], False),
        ("ghcr.io/coder/coder:2.19.0", ["server"], False),
        ("ghcr.io/coder/coder:v2.30.9", ["server"], True),
        ("ghcr.io/coder/coder:edge", ["server"], True),
        ("ghcr.io/coder/coder:v9.8.7@sha256:" + "0" * 64, ["server"], True),
        ("ghcr.io/coder/coder:v9.8.7", ["wsproxy", "server"], True),
    ],
)
def test_V1_only_a_known_version_of_coderd_can_be_out_of_the_range(
    image: str, args: list[str], passes: bool
) -> None:
    found = places("coder-image-version", {f"{BOX}.image": image, f"{BOX}.args": args})
    assert found == (set() if passes else {f"{BOX}.image"})


def test_the_pods_context_counts_where_the_container_says_nothing() -> None:
    context = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    changes = {f"{SPEC}.securityContext": context, f"{BOX}.securityContext": {}}
    assert places("run-as-non-root", changes) == set()
    assert places("seccomp-profile", changes) == set()


def test_init_containers_are_looked_at_too() -> None:
    changes = {f"{SPEC}.initContainers": [{"name": "first", "image": "busybox"}]}
    for name in ("image-pinned", "capabilities-dropped", "resources-set"):
        assert any("initContainers[0]" in place for place in places(name, changes)), name


@pytest.mark.parametrize(
    ("type_", "wrap"),
    [
        ("core/v1:Pod", lambda spec: spec),
        ("apps/v1:StatefulSet", lambda spec: {"template": {"spec": spec}}),
        ("apps/v1:DaemonSet", lambda spec: {"template": {"spec": spec}}),
        ("batch/v1:Job", lambda spec: {"template": {"spec": spec}}),
        (
            "batch/v1:CronJob",
            lambda spec: {"jobTemplate": {"spec": {"template": {"spec": spec}}}},
        ),
    ],
)
def test_foreign_workloads_are_held_to_the_same_rules(type_: str, wrap: Any) -> None:
    spec = {"hostNetwork": True, "containers": [{"name": "any", "image": "any:latest"}]}
    resources = it(compliant.cluster_object(type_, spec=wrap(spec)))
    for name in ("image-pinned", "no-host-access", "resources-set", "run-as-non-root"):
        assert judge(name, resources).messages, name


def test_a_patch_is_part_of_an_object_and_not_judged() -> None:
    patch = compliant.cluster_object("apps/v1:DeploymentPatch", spec={"template": {"spec": {}}})
    patch.props["metadata"] = {}
    assert not any(judge(n, it(patch)).messages for n in ("labels", "resources-set"))


def test_an_unknown_value_hides_no_violation_beside_it() -> None:
    resources = it(
        compliant.deployment(compliant.container(), compliant.container(image="coder:latest"))
    )
    verdict = judge("image-pinned", changed(resources, {f"{BOX}.image": UNKNOWN}))
    assert verdict.places == {f"{SPEC}.containers[1].image"}
    assert verdict.unknown


def test_a_limit_counts_as_request_as_it_does_in_kubernetes() -> None:
    limits = {"cpu": "1", "memory": "1Gi"}
    assert places("resources-set", {f"{BOX}.resources": {"limits": limits}}) == set()


@pytest.mark.parametrize("kind", ["value", "configMapKeyRef"])
def test_a_secret_by_name_must_come_from_a_secret(kind: str) -> None:
    source = {"name": "all", "key": "token"}
    entry: dict[str, Any] = {"name": "CODER_PROXY_SESSION_TOKEN"}
    entry |= {"value": SECRET} if kind == "value" else {"valueFrom": {kind: source}}
    assert places("no-secret-in-env", {f"{BOX}.env": [entry]})
    assert not places(
        "no-secret-in-env", {f"{BOX}.env": [entry]}, allowedNames=["CODER_PROXY_SESSION_TOKEN"]
    )


@pytest.mark.parametrize(
    ("args", "at"),
    [
        (["server", "--psk", SECRET], "args[2]"),
        (["server", f"--session-token={SECRET}"], "args[1]"),
        (["server", "--postgres-url", f"postgres://coder:{SECRET}@db/coder"], "args[2]"),
        (["sh", "-c", f"echo {JWT}"], "args[2]"),
        (["server", "--tls-key-file", "/etc/tls/tls.key"], None),
        (["server", "--session-token", "$(TOKEN)"], None),
        (["server", "--disable-password-auth", "--verbose"], None),
    ],
)
def test_secrets_in_a_command_line(args: list[str], at: str | None) -> None:
    found = places("no-secret-in-args", {f"{BOX}.args": args})
    assert found == ({f"{BOX}.{at}"} if at else set())


def test_a_checksum_of_a_secret_is_no_secret_and_need_not_be_known() -> None:
    checksum = "it/spec.template.metadata.annotations.<checksum/secret>"
    verdict = judge(
        "no-secret-in-metadata", changed(it(compliant.deployment()), {checksum: UNKNOWN})
    )
    assert (verdict.messages, verdict.unknown) == ([], False)


def test_a_secret_of_somebody_else_may_be_mounted_as_a_whole() -> None:
    theirs = compliant.key_secret()
    theirs.property_dependencies = {}
    pods = compliant.daemons()
    pods.props["spec"]["template"]["spec"]["volumes"] = [
        {"secret": {"secretName": compliant.KEY_SECRET}}
    ]
    assert not judge("own-secret-by-key", {"it": pods, "secret": theirs}).messages


@pytest.mark.parametrize("kind", ["ClusterRole", "ClusterRoleBinding", "RoleBinding"])
def test_P1_a_provisioner_has_no_rights_on_the_whole_cluster(kind: str) -> None:
    binding = compliant.cluster_object(
        f"rbac.authorization.k8s.io/v1:{kind}", roleRef={"kind": "ClusterRole", "name": "edit"}
    )
    for parents in (compliant.PROVISIONER, ("coder-stack:index:ProvisionerAccount",)):
        binding.parents = parents
        assert judge("provisioner-rights", it(binding)).messages
    binding.parents = ("somebody:index:Else",)
    assert not judge("provisioner-rights", it(binding)).messages


def test_P1_more_rights_can_be_allowed_by_name() -> None:
    rule = {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["get"]}
    resources = it(compliant.role(rule))
    assert judge("provisioner-rights", resources).messages
    assert not judge(
        "provisioner-rights", resources, {"moreResources": ["apps/statefulsets"]}
    ).messages


@pytest.mark.parametrize(
    "expression",
    [
        {"key": "app.kubernetes.io/name", "operator": "In", "values": ["coder"]},
        {"key": "app.kubernetes.io/name", "operator": "Exists"},
        {"key": "legacy", "operator": "DoesNotExist"},
        {"key": "app.kubernetes.io/name", "operator": "NotIn", "values": ["other"]},
    ],
)
def test_a_budget_may_select_by_expressions(expression: dict[str, Any]) -> None:
    resources = {"it": compliant.deployment(replicas=2), "budget": compliant.budget()}
    selector = {"budget/spec.selector": {"matchExpressions": [expression]}}
    assert not judge("disruption-budget", changed(resources, selector)).messages


def test_daemons_are_called_by_nobody_and_need_no_budget() -> None:
    assert not judge("disruption-budget", it(compliant.daemons(replicas=5))).messages


def test_one_message_a_namespace_without_a_network_policy() -> None:
    resources = {"a": compliant.deployment(), "b": compliant.daemons()}
    assert len(judge("network-policy", resources).messages) == 1


def test_W2_a_policy_of_coderd_does_not_guard_the_proxies_beside_it() -> None:
    proxy = compliant.deployment(compliant.container("wsproxy", "server"), name="sydney-proxy")
    labels = proxy.props["spec"]["template"]["metadata"]["labels"]
    labels["app.kubernetes.io/name"] = "coder-workspace-proxy"
    policy = compliant.network_policy()
    policy.props["spec"]["podSelector"] = {"matchLabels": {"app.kubernetes.io/name": "coder"}}
    beside = {"coderd": compliant.deployment(), "proxy": proxy, "policy": policy}
    (message,) = judge("network-policy", beside).messages
    assert '"proxy": spec.template.metadata.labels: ' in message

    own = compliant.network_policy()
    own.props["spec"]["podSelector"] = {"matchLabels": dict(labels)}
    assert not judge("network-policy", {**beside, "own": own}).messages


def test_daemons_have_no_port_that_a_network_policy_could_guard() -> None:
    policy = compliant.network_policy()
    policy.props["spec"]["podSelector"] = {"matchLabels": {"app.kubernetes.io/name": "other"}}
    assert not judge("network-policy", {"it": compliant.daemons(), "policy": policy}).messages


def test_E3_grace_counts_as_entitled_and_nothing_is_said_before_coderd_answered() -> None:
    need = {"key": compliant.key()}
    grace = compliant.entitlements(external_provisioner_daemons="grace_period")
    silent = Res(f"{CODER}Entitlements", {"tier": "unknown", "features": {}})
    assert not judge("features-entitled", {**need, "seen": grace}).messages
    assert not judge("features-entitled", {**need, "seen": silent}).messages
    assert not judge("features-entitled", need).messages


def test_E4_gates_and_second_organizations_are_needs_too() -> None:
    gate = Res(f"{CODER}FeatureGate", {"feature": "high_availability"})
    resources = {
        "gate": gate,
        "a": compliant.key("a"),
        "b": compliant.key("b", organization="research"),
        "seen": compliant.entitlements(external_provisioner_daemons="entitled"),
    }
    assert judge("features-entitled", resources).places == {"gate/feature", "b/organization"}


def test_L8_how_soon_is_soon_is_a_matter_of_taste() -> None:
    resources = it(compliant.license_(days=40))
    assert not judge("license-expiry", resources).messages
    assert judge("license-expiry", resources, {"days": 60.0}).messages


def test_K5_a_gap_can_be_accepted_and_one_replica_has_none_to_spare() -> None:
    resources = {
        "it": compliant.daemons(replicas=2),
        "secret": compliant.key_secret(),
        "key": compliant.key(exact_name=True),
    }
    assert judge("key-exact-name", resources).messages
    assert not judge("key-exact-name", resources, {"acknowledged": ["gpu"]}).messages
    assert not judge("key-exact-name", {**resources, "it": compliant.daemons(replicas=1)}).messages


def test_P2_one_name_in_two_organizations_is_no_clash() -> None:
    resources = {"first": compliant.key("gpu"), "it": compliant.key("gpu", organization="data")}
    assert not judge("key-name-unique", resources).messages
    assert not judge("key-tags", changed(resources, {"first/tags": {}, "it/tags": {}})).messages


@pytest.mark.parametrize("name", ["PSK", "built-in", "user-auth", "x" * 65, "a/b", " a"])
def test_P2_names_that_coderd_does_not_take(name: str) -> None:
    assert judge("key-name", it(compliant.key(name))).places == {"it/base_name"}


def test_the_organization_is_only_refused_beside_a_key() -> None:
    entry = {"name": "CODER_ORGANIZATION", "value": "coder"}
    assert not places("key-identity", {f"{BOX}.env": [entry]})


@pytest.mark.parametrize("name", ["key-name-unique", "key-tags", "license-owner"])
def test_of_two_that_clash_the_same_one_is_named_in_every_run(name: str) -> None:
    make = compliant.license_ if name == "license-owner" else lambda: compliant.key(tags={})
    resources = {"a": make(), "b": make()}
    backwards = dict(reversed(resources.items()))
    assert judge(name, resources).messages == judge(name, backwards).messages != []
