"""Clusters that do not answer: which they are, and what a report says because of them (M2)."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from coder_stack.operate.drift import build_report
from coder_stack.operate.engine.events import EngineRun, Registered, read_events
from coder_stack.operate.engine.recorded_outputs import CODER_STACK, STACK
from coder_stack.operate.fleet import ExitCode, exit_code
from coder_stack.operate.report.model import Report
from coder_stack.operate.report.summary import summary
from coder_stack.operate.report.text import plain_lines
from coder_stack.operate.report.view import view_of
from coder_stack.operate.silent_clusters import SilentCluster, silent_clusters, unknown_resources
from coder_stack.settings import DriftSettings
from tests.unit.operate.engine_events import CODER, step
from tests.unit.operate.reports import NOW
from tests.unit.test_kubeconfig import server, write_kubeconfig

AWAY = "http://127.0.0.1:1"
SYDNEY = SilentCluster("sydney", "the API server does not answer (Connection refused)")
ROOT = "urn:pulumi:dev::coder-stack::"
ROOT_COMPONENT = f"{ROOT}{CODER_STACK}"
AU = f"{ROOT_COMPONENT}$coder-stack:index:Provisioner::coder-provisioner-au"
EU = f"{ROOT_COMPONENT}$coder-stack:index:Provisioner::coder-provisioner-eu"
PROXY = f"{ROOT_COMPONENT}$coder-stack:index:WorkspaceProxy::coder-proxy-sydney"
DYNAMIC = f"{ROOT}pulumi:providers:pulumi-python::default::1"
SECRET = "kubernetes:core/v1:Secret"


def kubernetes(cluster: str) -> str:
    return f"{ROOT_COMPONENT}$pulumi:providers:kubernetes::coder-cluster{cluster}::an-id"


def registered(
    parent: str, *kinds: tuple[str, str], cluster: str = "@sydney"
) -> dict[str, Registered]:
    name = parent.rpartition("::")[2]
    return {
        f"{parent}${type_}::{name}-{suffix}": Registered(
            type_, parent, DYNAMIC if type_.startswith(CODER) else kubernetes(cluster)
        )
        for type_, suffix in kinds
    }


def without_sydney() -> EngineRun:
    """A run in which everything at home was refreshed, and nothing in sydney was."""
    home = registered(EU, (SECRET, "secret"), (f"{CODER}ProvisionerKey", "key"), cluster="")
    away = {
        **registered(AU, (f"{CODER}ProvisionerKey", "key"), (SECRET, "secret")),
        **registered(PROXY, (f"{CODER}WorkspaceProxyRegistration", "registration"), (SECRET, "s")),
    }
    run = EngineRun(unchanged={**home, **away})
    same = {"a": 1}
    seen = read_events(step("refresh", SECRET, same, same) for _ in home).refreshed
    run.refreshed = {urn: next(iter(seen.values())) for urn in home}
    run.outputs_of[STACK] = {
        "conditions": [
            condition("provisioner/eu", "ProvisionerKeyReady"),
            condition("provisioner/au", "ProvisionerKeyReady"),
            condition("proxy/sydney", "ProxyHealthy"),
            condition("stack", "Ready"),
        ],
        "provisioners": [{"name": "eu", "daemons": 2}, {"name": "au", "daemons": 2}],
        "proxies": [{"name": "sydney", "health": "ok", "version": "v2.30.0", "report": "well"}],
    }
    return run


def condition(component: str, kind: str) -> dict[str, str]:
    fields = {"status": "True", "reason": "Ready", "message": "Well."}
    return {"component": component, "type": kind, **fields}


def report(silent: Iterable[SilentCluster] = (SYDNEY,)) -> Report:
    return build_report("dev", without_sydney(), DriftSettings(), NOW, tuple(silent))


def test_M2_everything_that_depends_on_the_cluster_is_unknown_and_nothing_else() -> None:
    """A key in coderd has another provider, but the component of what is in the cluster."""
    found = {each.name: each for each in unknown_resources("dev", without_sydney(), [SYDNEY])}
    assert set(found) == {
        "coder-provisioner-au-key",
        "coder-provisioner-au-secret",
        "coder-proxy-sydney-registration",
        "coder-proxy-sydney-s",
    }
    assert {(each.kind, each.cluster) for each in found.values()} == {("unknown", "sydney")}
    key = found["coder-provisioner-au-key"]
    assert key.type == f"{CODER}ProvisionerKey"
    assert key.cause == f"Cluster sydney was not looked at: {SYDNEY.why}."
    assert key.next_step
    assert key.next_step.command == "coder-stack drift --stack dev"


def test_M2_a_cluster_whose_name_ends_as_another_is_another() -> None:
    assert unknown_resources("dev", without_sydney(), [SilentCluster("ney", "silent")]) == []


def test_M2_a_stack_with_anything_unknown_is_not_clean() -> None:
    found = report()
    assert (found.result, exit_code([found])) == ("drift", ExitCode.DRIFT)
    assert ExitCode.DRIFT == 2
    assert summary(found) == "4 resources could not be looked at."
    assert report(silent=()).result == "clean", "the run alone found nothing"


def test_M2_what_differs_and_what_could_not_be_looked_at_are_counted_apart() -> None:
    run = without_sydney()
    gone = step("refresh", SECRET, {"a": 1}, None, name="gone")
    run.refreshed |= read_events([gone]).refreshed
    found = build_report("dev", run, DriftSettings(), NOW, [SYDNEY])
    assert summary(found) == "1 resource differs, 4 resources could not be looked at."


def test_M2_conditions_keys_and_proxies_of_the_cluster_are_unknown_too() -> None:
    found = report()
    reasons = {each.component: (each.status, each.reason) for each in found.conditions}
    assert reasons["provisioner/eu"] == ("True", "Ready")
    assert reasons["provisioner/au"] == ("Unknown", "ClusterLeftOut")
    assert reasons["proxy/sydney"] == ("Unknown", "ClusterLeftOut")
    assert reasons["stack"][0] == "Unknown"
    assert found.readiness == "unknown"
    assert {each.provisioner: each.daemons for each in found.keys} == {"eu": 2, "au": None}
    (proxy,) = found.proxies
    assert (proxy.health, proxy.version, proxy.report) == ("unknown", "", "")


def test_M2_the_report_names_the_cluster_once() -> None:
    (findings,) = view_of(report()).findings
    (group,) = findings.groups
    assert len(group.resources) == 4
    assert group.cause == f"Cluster sydney was not looked at: {SYDNEY.why}."
    lines = "\n".join(plain_lines(report(), details=False))
    assert lines.count("was not looked at") == 1


# Which clusters are silent ------------------------------------------------------------------------


def run_with(clusters: object, project: str = "coder-stack") -> EngineRun:
    text = clusters if isinstance(clusters, str) else json.dumps(clusters)
    return EngineRun(config={f"{project}:clusters": text}, project=project)


def names(run: EngineRun, folder: Path) -> list[str]:
    return [each.name for each in silent_clusters(run, folder)]


def two_contexts(folder: Path, answering: str) -> None:
    contexts = ("well", answering), ("away", AWAY)
    write_kubeconfig(
        folder,
        AWAY,
        contexts=[
            {"name": name, "context": {"cluster": name, "user": "u"}} for name, _ in contexts
        ],
        clusters=[{"name": name, "cluster": {"server": url}} for name, url in contexts],
    )


def test_M2_only_a_cluster_that_does_not_answer_is_silent(tmp_path: Path) -> None:
    """Its path is relative to the project, wherever the command was started."""
    clusters = {name: {"kubeconfig": "kubeconfig", "context": name} for name in ("well", "away")}
    with server(403) as url:
        two_contexts(tmp_path, url)
        (silent,) = silent_clusters(run_with(clusters), tmp_path)
    assert silent.name == "away"
    assert silent.why.endswith("does not answer (Connection refused)")
    assert AWAY in silent.why


def test_M2_a_project_of_another_name_has_its_clusters_under_that_name(tmp_path: Path) -> None:
    two_contexts(tmp_path, AWAY)
    clusters = {"sydney": {"kubeconfig": "kubeconfig", "context": "away"}}
    run = run_with(clusters, "acme")
    run.config["acme:controlPlane"] = "{}"
    assert names(run, tmp_path) == ["sydney"]


@pytest.mark.parametrize(
    "clusters",
    [
        {},
        [],
        "not json",
        "[secret]",
        {"sydney": "text"},
        {"sydney": {"bogus": 1}},
        {"sydney": {"kubeconfig": "nowhere"}},
        {"sydney": {"kubeconfig": "kubeconfig", "context": "bogus"}},
    ],
)
def test_B1_M2_a_mistake_in_the_config_is_no_silent_cluster(tmp_path: Path, clusters: Any) -> None:
    """Else a misspelt context would look like a cluster that is away for a while."""
    two_contexts(tmp_path, AWAY)
    assert yaml.safe_load((tmp_path / "kubeconfig").read_text())["contexts"]
    assert names(run_with(clusters), tmp_path) == []


def test_M2_a_stack_without_other_clusters_has_no_silent_one(tmp_path: Path) -> None:
    assert names(EngineRun(project="coder-stack"), tmp_path) == []
