"""The reconcile job of a stack in several clusters, or beside a coderd of others (M5); on mocks."""

from typing import Any

import pulumi
import pytest

from coder_stack.components.parts.reconcile_pod import PROJECT
from coder_stack.components.parts.reconcile_rbac import (
    Rule,
    account_namespace,
    cluster_rules,
    namespace_rules,
)
from coder_stack.settings import Settings
from coder_stack.stack import CoderStack
from tests.unit.components.rendering import Object, Recorder, render, unwrap
from tests.unit.components.test_examples import ANSWERS

URL = "https://coder.example.com"
DEPLOYED: dict[str, Any] = {"accessUrl": URL}
BESIDE: dict[str, Any] = {"deploy": False, **DEPLOYED}
JOB: dict[str, Any] = {
    "image": "registry.example.com/coder-stack:1.2.0",
    "backend": {"name": "pulumi", "key": "backend"},
}
FAR: dict[str, Any] = {"cluster": "sydney"}
PROXY: dict[str, Any] = {"name": "far", "accessUrl": "https://far.example.com", **FAR}


def settings(plane: dict[str, Any] | None = None, **parts: Any) -> Settings:
    """A stack with a job, and with a cluster `sydney` that has a provisioner unless given."""
    whole = {
        "controlPlane": plane or DEPLOYED,
        "clusters": {"sydney": {"kubeconfig": "kubeconfigs/sydney.yaml"}},
        "provisioners": [{"name": "au", **FAR}],
        "reconcileJob": {**JOB, "kubeconfigs": {"sydney": {"name": "sydney", "key": "config"}}},
        **parts,
    }
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def alone(plane: dict[str, Any], **parts: Any) -> Settings:
    """A stack with a job in one cluster."""
    return settings(plane, **{"clusters": {}, "provisioners": [], "reconcileJob": JOB, **parts})


def kinds(rules: list[Rule]) -> set[str]:
    return {resource for rule in rules for resource in rule.resources}


# Permissions --------------------------------------------------------------------------------------


def test_M5_each_cluster_has_the_rights_for_its_own_parts_only() -> None:
    found = settings(
        provisioners=[
            {"name": "eu", "namespace": "near", "workspaceNamespaces": ["near-work"]},
            {"name": "au", "namespace": "far", "workspaceNamespaces": ["far-work"], **FAR},
        ]
    )
    assert set(namespace_rules(found)) == {"coder", "near", "near-work"}
    there = namespace_rules(found, "sydney")
    assert set(there) == {"far", "far-work"}
    assert kinds(there["far-work"]) == kinds(namespace_rules(found)["near-work"])
    assert {"secrets", "serviceaccounts", "roles"} <= kinds(there["far"])


def test_M5_nothing_of_coderd_and_of_the_job_is_allowed_in_another_cluster() -> None:
    """A namespace of the same name has the rights for what is in it."""
    found = settings(
        {**DEPLOYED, "networkPolicy": {}, "podDisruptionBudget": {}},
        access={"throughApiServer": True, "tokenSecret": {"name": "token", "namespace": "vault"}},
    )
    here, there = namespace_rules(found), namespace_rules(found, "sydney")
    assert set(there) == {"coder"}
    of_coderd = {"networkpolicies", "poddisruptionbudgets"}
    of_job = {"configmaps", "cronjobs", "services/proxy"}
    assert kinds(here["coder"]) - kinds(there["coder"]) == of_coderd | of_job


@pytest.mark.parametrize(
    ("field", "resource"),
    [
        ("ingress", "ingresses"),
        ("httpRoute", "httproutes"),
        ("networkPolicy", "networkpolicies"),
        ("serviceMonitor", "servicemonitors"),
        ("podDisruptionBudget", "poddisruptionbudgets"),
    ],
)
def test_M5_D4_the_exposure_of_a_proxy_is_allowed_where_the_proxy_is(
    field: str, resource: str
) -> None:
    value = {"parentRefs": [{"name": "gateway"}]} if field == "httpRoute" else {}
    two = [{**PROXY, "name": name, "accessUrl": f"https://{name}.test"} for name in ("a", "b")]
    found = settings(
        provisioners=[], proxies=[{**each, "namespace": "edge", field: value} for each in two]
    )
    (rule,) = [
        each for each in namespace_rules(found, "sydney")["edge"] if resource in each.resources
    ]
    assert {"create", "delete", "patch"} <= set(rule.verbs)
    assert resource not in kinds(namespace_rules(found)["coder"])


def test_M5_beside_a_coderd_of_others_only_the_job_and_the_token_may_be_kept() -> None:
    found = namespace_rules(alone(BESIDE))
    own = {"roles", "rolebindings", "secrets", "serviceaccounts", "configmaps", "cronjobs"}
    assert {name: kinds(rules) for name, rules in found.items()} == {"coder": own}
    assert cluster_rules(alone(BESIDE), "x") == [], "its namespace is not the stack's"
    assert cluster_rules(alone(DEPLOYED), "x")


def test_M5_a_coderd_of_others_may_be_asked_through_the_api_server() -> None:
    plane = {"deploy": False, "name": "c", "namespace": "helm"}
    found = namespace_rules(alone(plane, access={"throughApiServer": True}))
    (proxy,) = [each for each in found["helm"] if "services/proxy" in each.resources]
    assert proxy.names == ("http:c:80",)
    assert not kinds(namespace_rules(alone(BESIDE))["coder"]) & {"services/proxy", "services"}


def test_M5_beside_a_coderd_of_others_the_parts_still_have_their_rights() -> None:
    found = namespace_rules(alone(BESIDE, provisioners=[{"name": "eu"}]))
    assert {"deployments", "secrets", "services", "cronjobs"} <= kinds(found["coder"])
    elsewhere = [{"name": "eu", "namespace": "builders", "workspaceNamespaces": ["coder"]}]
    rules = namespace_rules(alone(BESIDE, provisioners=elsewhere))
    assert {"deployments", "secrets", "cronjobs"} <= kinds(rules["coder"])
    assert "services" not in kinds(rules["coder"])


def test_M5_the_account_is_where_a_part_is_at_best_in_a_namespace_with_coderds_name() -> None:
    parts = [{"name": name, "namespace": name, **FAR} for name in ("b", "a")]
    found = settings(provisioners=parts)
    assert account_namespace(found, None) == "coder"
    assert account_namespace(found, "sydney") == "a"
    assert account_namespace(settings(provisioners=parts, proxies=[PROXY]), "sydney") == "coder"


# Objects ------------------------------------------------------------------------------------------


def built(recorder: Recorder, wanted: Settings) -> None:
    recorder.answers = ANSWERS

    def build() -> dict[str, pulumi.Input[Any]]:
        return {"conditions": CoderStack("coder", wanted).conditions}

    render(build)


def of_sydney(recorder: Recorder) -> dict[str, Object]:
    """The job's objects that the provider of the other cluster creates."""
    return {
        f"{each.name} {each.typ.split(':')[-1]}": unwrap(each.inputs)
        for each in recorder.resources
        if "coder-cluster@sydney::" in (each.provider or "") and "reconcile" in each.name
    }


def test_M5_the_other_cluster_has_an_account_with_roles_through_its_own_provider(
    recorder: Recorder,
) -> None:
    part = {"name": "au", "namespace": "far", "workspaceNamespaces": ["work"], **FAR}
    built(recorder, settings(provisioners=[part]))
    found = of_sydney(recorder)
    assert set(found) == {
        "coder-reconcile-sydney-account ServiceAccount",
        *(
            f"coder-reconcile-sydney-{name} {kind}"
            for name in ("far", "work")
            for kind in ("Role", "RoleBinding")
        ),
    }
    account = found["coder-reconcile-sydney-account ServiceAccount"]
    assert account["automountServiceAccountToken"] is False
    for name in ("far", "work"):
        binding = found[f"coder-reconcile-sydney-{name} RoleBinding"]
        assert binding["metadata"]["namespace"] == name
        (subject,) = binding["subjects"]
        assert (subject["namespace"], subject["name"]) == ("far", "coder-reconcile")


def test_M5_a_stack_in_one_cluster_or_without_a_job_has_no_further_account(
    recorder: Recorder,
) -> None:
    built(recorder, alone(DEPLOYED))
    assert of_sydney(recorder) == {}
    recorder.resources.clear()
    built(recorder, settings(reconcileJob=None))
    assert recorder.objects("ReconcileAccount") == []
    assert not [name for name in recorder.manifests() if "reconcile" in name]


@pytest.mark.parametrize(
    ("path", "mounted"),
    [
        ("kubeconfigs/sydney.yaml", f"{PROJECT}/kubeconfigs/sydney.yaml"),
        ("../sydney.yaml", "/srv/sydney.yaml"),
        ("/etc/sydney.yaml", "/etc/sydney.yaml"),
        ("~/sydney.yaml", "/work/sydney.yaml"),
    ],
)
def test_M5_the_kubeconfig_is_one_file_where_the_config_names_it(
    recorder: Recorder, path: str, mounted: str
) -> None:
    """With another path the provider would differ from the recorded one in every run."""
    built(recorder, settings(clusters={"sydney": {"kubeconfig": path}}))
    pod = recorder.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (volume,) = [each for each in pod["volumes"] if "secret" in each]
    items = [{"key": "config", "path": "kubeconfig"}]
    assert volume["secret"] == {"secretName": "sydney", "items": items}
    (mount,) = [
        each
        for each in pod["containers"][0]["volumeMounts"]
        if each["name"] == volume["name"] and each["readOnly"]
    ]
    assert (mount["mountPath"], mount["subPath"]) == (mounted, "kubeconfig")


def test_M5_a_context_without_a_file_is_found_in_a_further_file_of_kubeconfig(
    recorder: Recorder,
) -> None:
    """The job's own file is the first, so that the current context is that of its account."""
    built(recorder, settings(clusters={"sydney": {"context": "sydney"}}))
    pod = recorder.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (mount,) = [each for each in container["volumeMounts"] if each.get("subPath")]
    (files,) = [each["value"] for each in container["env"] if each["name"] == "KUBECONFIG"]
    assert files.split(":") == ["/etc/coder-stack/kubeconfig", mount["mountPath"]]
    assert not mount["mountPath"].startswith("/etc/coder-stack/"), "that folder is a volume"


def test_M5_clusters_with_one_file_have_one_mount(recorder: Recorder) -> None:
    """The API server refuses two at one path."""
    secret = {"name": "fleet", "key": "config"}
    built(
        recorder,
        settings(
            clusters={
                name: {"kubeconfig": "fleet.yaml", "context": name} for name in ("rome", "sydney")
            },
            provisioners=[{"name": name, "cluster": name} for name in ("rome", "sydney")],
            reconcileJob={**JOB, "kubeconfigs": {"rome": secret, "sydney": secret}},
        ),
    )
    pod = recorder.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert len([each for each in pod["volumes"] if "secret" in each]) == 1
