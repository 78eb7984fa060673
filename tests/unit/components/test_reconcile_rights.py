"""The rights of the reconcile job and of the watcher: those for a repair, and no more (D4)."""

from typing import Any

import pytest

from coder_stack.components.parts.reconcile_rbac import Rule, namespace_rules
from coder_stack.settings import (
    AccessSettings,
    CloudNativePg,
    ControlPlaneSettings,
    Database,
    LicenseSettings,
    PasswordSecret,
    PodDisruptionBudget,
    ProvisionerSettings,
    ProxySettings,
    Settings,
)
from tests.unit.components.reconcile_settings import LICENSE, TOKEN, exposed, job


def test_D4_every_namespace_of_the_stack_has_its_rights() -> None:
    fleet = ProvisionerSettings(
        name="eu", namespace="builders", workspace_namespaces=("workspaces",)
    )
    rules = namespace_rules(Settings(provisioners=(fleet,)))
    assert set(rules) == {"coder", "builders", "workspaces"}
    assert not any("secrets" in rule.resources for rule in rules["workspaces"])


def test_D4_only_kinds_that_the_config_makes_are_allowed() -> None:
    plain = {r for rule in namespace_rules(Settings())["coder"] for r in rule.resources}
    with_ingress = Settings(control_plane=exposed(), access=AccessSettings(through_api_server=True))
    more = {r for rule in namespace_rules(with_ingress)["coder"] for r in rule.resources}
    assert more - plain == {"ingresses"}


def test_D4_secrets_elsewhere_may_be_read_and_nothing_beside_them() -> None:
    """Kubernetes grants a job no right to make objects by name, so it may only keep its own."""
    rules = namespace_rules(
        Settings(access=AccessSettings(token_secret=TOKEN), license=LicenseSettings(secret=LICENSE))
    )
    rights = Rule(
        "rbac.authorization.k8s.io",
        ("roles", "rolebindings"),
        ("get", "patch", "update"),
        ("coder-reconcile",),
    )
    secrets = Rule("", ("secrets",), ("get",), ("coder-license", "coder-token"))
    assert rules["vault"] == [rights, secrets]


def test_N1_only_a_watcher_may_watch_its_own_rights_beside_secrets_elsewhere() -> None:
    """They are objects of the stack; Kubernetes allows no list of one name by its labels."""

    def verbs(mode: str) -> dict[str, set[str]]:
        settings = Settings(license=LicenseSettings(secret=LICENSE), reconcile_job=job(mode=mode))
        rules = namespace_rules(settings)["vault"]
        return {
            kind: {verb for rule in rules if kind in rule.resources for verb in rule.verbs}
            for kind in ("roles", "rolebindings", "secrets")
        }

    kept, watched = {"get", "patch", "update"}, {"list", "watch"}
    assert verbs("schedule") == {"roles": kept, "rolebindings": kept, "secrets": {"get"}}
    assert verbs("watch") == {
        "roles": kept | watched,
        "rolebindings": kept | watched,
        "secrets": {"get"},
    }


def test_D4_the_password_may_be_read_elsewhere_too() -> None:
    """Else the job could not renew the operator's token."""
    password = PasswordSecret(name="first-user", namespace="vault")
    rules = namespace_rules(Settings(access=AccessSettings(password_secret=password)))
    assert Rule("", ("secrets",), ("get",), ("first-user",)) in rules["vault"]


def test_D4_CP10_the_job_may_renew_and_remove_the_operators_token() -> None:
    """Our Secret is beside coderd: read, applied (which may create it), deleted."""
    (secrets,) = [
        rule for rule in namespace_rules(Settings())["coder"] if "secrets" in rule.resources
    ]
    assert {"get", "create", "patch", "delete"} <= set(secrets.verbs)
    assert secrets.names == ()


@pytest.mark.parametrize("namespace", [None, "coder"])
def test_D4_secrets_beside_coderd_need_no_further_right(namespace: str | None) -> None:
    token = TOKEN.model_copy(update={"namespace": namespace})
    assert namespace_rules(Settings(access=AccessSettings(token_secret=token))) == namespace_rules(
        Settings()
    )


def test_D4_secrets_beside_workspaces_may_be_read_by_name_only() -> None:
    fleet = ProvisionerSettings(name="eu", workspace_namespaces=("workspaces",))
    license_ = LICENSE.model_copy(update={"namespace": "workspaces"})
    rules = namespace_rules(
        Settings(provisioners=(fleet,), license=LicenseSettings(secret=license_))
    )
    assert [rule for rule in rules["workspaces"] if "secrets" in rule.resources] == [
        Rule("", ("secrets",), ("get",), ("coder-license",))
    ]


def test_D4_budgets_are_allowed_where_they_are_made() -> None:
    budget = PodDisruptionBudget()
    here = ProxySettings(name="near", access_url="https://near.test", pod_disruption_budget=budget)
    there = here.model_copy(update={"name": "far", "namespace": "edge"})
    plane = ControlPlaneSettings(pod_disruption_budget=budget)

    def allowed(**settings: Any) -> dict[str, int]:
        return {
            namespace: sum("poddisruptionbudgets" in rule.resources for rule in rules)
            for namespace, rules in namespace_rules(Settings(**settings)).items()
        }

    assert allowed() == {"coder": 0}
    assert allowed(control_plane=plane, proxies=(here,)) == {"coder": 1}
    assert allowed(proxies=(there,)) == {"coder": 0, "edge": 1}


@pytest.mark.parametrize(
    ("database", "verbs"),
    [
        (CloudNativePg(), {"create", "get", "list", "watch", "patch", "update"}),
        (
            CloudNativePg(deletion="delete"),
            {"create", "delete", "get", "list", "watch", "patch", "update"},
        ),
    ],
)
def test_F3_the_job_may_delete_a_database_only_if_the_config_says_so(
    database: CloudNativePg, verbs: set[str]
) -> None:
    plane = ControlPlaneSettings(database=Database(cloud_native_pg=database))
    (rule,) = database_rules(Settings(control_plane=plane))
    assert (rule.resources, set(rule.verbs)) == (("clusters",), verbs)


def test_F3_the_job_sees_a_kept_database_and_asks_for_nothing_if_there_is_none() -> None:
    (rule,) = database_rules(Settings(), kept_databases=True)
    assert rule.verbs == ("list",)
    assert database_rules(Settings()) == []


def database_rules(settings: Settings, **more: bool) -> list[Rule]:
    rules = namespace_rules(settings, **more)["coder"]
    return [each for each in rules if each.group == "postgresql.cnpg.io"]


def test_N2_only_a_watcher_may_write_leases_and_events() -> None:
    def verbs(mode: str, resource: str) -> set[str]:
        rules = namespace_rules(Settings(reconcile_job=job(mode=mode)))["coder"]
        return {verb for rule in rules if resource in rule.resources for verb in rule.verbs}

    assert "patch" in verbs("watch", "leases")
    assert "patch" in verbs("watch", "events")
    assert verbs("schedule", "leases") == set()
    assert "patch" not in verbs("schedule", "events")
