"""Clusters that a run leaves out: which, by which options, and what is then not known (M2)."""

import pytest

from coder_stack.conditions import Condition
from coder_stack.left_out import (
    VARIABLE,
    command,
    engine_options,
    left_out,
    provider_name,
    unseen,
    unseen_summary,
)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, ()),
        ("", ()),
        (" , ,", ()),
        ("sydney", ("sydney",)),
        (" sydney ,rome,", ("sydney", "rome")),
        ("rome,sydney,rome", ("rome", "sydney")),
    ],
)
def test_M2_the_variable_is_read_however_people_write_it(
    value: str | None, names: tuple[str, ...]
) -> None:
    environment = {} if value is None else {VARIABLE: value}
    assert left_out(environment) == names


def test_M2_providers_are_named_after_their_clusters_and_the_options_find_them_by_that() -> None:
    assert provider_name("coder", None) == "coder-cluster"
    assert provider_name("coder", "sydney") == "coder-cluster@sydney"
    pattern = "urn:pulumi:**pulumi:providers:kubernetes::*-cluster@"
    assert engine_options(["sydney", "rome"]) == [
        "--exclude",
        f"{pattern}sydney",
        "--exclude",
        f"{pattern}rome",
        "--exclude-dependents",
    ]


def test_M2_without_clusters_to_leave_out_the_engine_gets_no_option() -> None:
    """It refuses `--exclude-dependents` alone."""
    assert engine_options([]) == []


def test_M2_the_command_can_be_pasted_into_a_shell() -> None:
    assert command(["sydney", "sydney"]) == (
        f"{VARIABLE}=sydney pulumi up --exclude "
        "'urn:pulumi:**pulumi:providers:kubernetes::*-cluster@sydney' --exclude-dependents"
    )
    assert command(["a", "b"]).startswith(f"{VARIABLE}=a,b pulumi up --exclude 'urn:")


@pytest.mark.parametrize("status", ["True", "False", "Unknown"])
def test_M2_a_condition_is_unknown_whatever_it_was_and_names_the_cluster(status: str) -> None:
    given = {"component": "proxy/sydney", "type": "ProxyHealthy", "reason": "Ready", "message": "m"}
    found = unseen(Condition.model_validate({**given, "status": status}), "sydney")
    assert (found.component, found.type) == ("proxy/sydney", "ProxyHealthy")
    assert (found.status, found.reason) == ("Unknown", "ClusterLeftOut")
    assert "Cluster sydney was left out" in found.message


def test_M2_a_summary_keeps_what_is_declared_and_drops_what_was_seen() -> None:
    proxy = {
        "id": "p-1",
        "url": "https://sydney.test",
        "health": "ok",
        "version": "v2.30.0",
        "report": "coderd cannot reach it",
    }
    assert unseen_summary(proxy, "sydney") == {
        "id": "p-1",
        "url": "https://sydney.test",
        "health": "unknown",
        "version": "",
        "report": "",
        "leftOut": "sydney",
    }
    provisioner = {"keyName": "au", "daemons": 2, "versions": ["v2.30.0"]}
    seen = unseen_summary(provisioner, "sydney")
    assert seen == {"keyName": "au", "daemons": None, "versions": [], "leftOut": "sydney"}
    assert unseen_summary({}, "sydney") == {"leftOut": "sydney"}
