"""The CronJob that repairs the stack, and a watcher in its place (D4, N1); on mocks."""

from typing import Any

import pytest
import yaml

from coder_stack.components.parts.reconcile_pod import PROJECT
from coder_stack.components.reconcile_job import ReconcileJob, ReconcileJobArgs
from coder_stack.settings import (
    AccessSettings,
    ControlPlaneSettings,
    KubernetesSettings,
    LicenseSettings,
    ProvisionerSettings,
    ReconcileJobSettings,
    SecretRef,
    Settings,
)
from sandbox.paths import CHECKOUT
from tests.unit.components import rendering
from tests.unit.components.reconcile_settings import IMAGE, LICENSE, TOKEN, exposed, job
from tests.unit.components.rendering import Recorder


def render(recorder: Recorder, job: ReconcileJobSettings, **settings: Any) -> Recorder:
    whole = Settings(reconcile_job=job, **settings)

    def build() -> dict[str, Any]:
        args = ReconcileJobArgs(job=job, settings=whole, stack="production", namespace="coder")
        made = ReconcileJob("reconcile", args)
        runner = made.cron_job or made.watcher
        assert runner is not None
        return {"name": runner.metadata.name}

    rendering.render(build)
    return recorder


def pod(recorder: Recorder) -> dict[str, Any]:
    return recorder.one("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def variables(recorder: Recorder) -> dict[str, Any]:
    (container,) = pod(recorder)["containers"]
    return {each["name"]: each for each in container["env"]}


@pytest.mark.parametrize("case", ["defaults", "options", "clusters"])
def test_D4_the_rendered_objects_are_those_of_the_snapshot(recorder: Recorder, case: str) -> None:
    if case == "defaults":
        render(recorder, job())
    elif case == "clusters":
        names = ("rome", "sydney")
        render(
            recorder,
            job(kubeconfigs={name: SecretRef(name="clusters", key=name) for name in names}),
            clusters={
                "rome": KubernetesSettings(context="rome"),
                "sydney": KubernetesSettings(kubeconfig="kubeconfigs/sydney.yaml"),
            },
            control_plane=ControlPlaneSettings(deploy=False, access_url="https://coder.test"),
            provisioners=tuple(ProvisionerSettings(name=name, cluster=name) for name in names),
        )
    else:
        render(
            recorder,
            job(
                passphrase=None,
                schedule="@hourly",
                suspended=True,
                env={"AWS_REGION": "eu-central-1"},
                secret_env={"AWS_SECRET_ACCESS_KEY": SecretRef(name="aws", key="secret")},
                service_account_annotations={"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"},
                pull_secrets=("registry",),
                node_selector={"pool": "ops"},
                tolerations=({"key": "ops", "operator": "Exists"},),
            ),
            kubernetes=KubernetesSettings(context="production"),
            control_plane=exposed(create_namespace=False),
            access=AccessSettings(through_api_server=True, token_secret=TOKEN),
            license=LicenseSettings(secret=LICENSE),
        )
    rendering.check_snapshot("reconcile_job", case, recorder.manifests().values())


def test_D4_one_run_at_a_time_and_few_are_kept(recorder: Recorder) -> None:
    spec = render(recorder, job()).one("CronJob")["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["successfulJobsHistoryLimit"] == 1
    assert spec["jobTemplate"]["spec"]["backoffLimit"] == 0


def test_D4_nothing_can_be_written_but_the_empty_folder(recorder: Recorder) -> None:
    spec = pod(render(recorder, job()))
    (container,) = spec["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    writable = {m["name"] for m in container["volumeMounts"] if not m.get("readOnly")}
    assert [v for v in spec["volumes"] if v["name"] in writable] == [
        {"name": "work", "emptyDir": {}}
    ]


def test_D4_the_backend_and_the_passphrase_stay_in_their_secrets(recorder: Recorder) -> None:
    env = variables(render(recorder, job()))
    for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE"):
        assert "value" not in env[name]
        assert env[name]["valueFrom"]["secretKeyRef"]["name"] == "pulumi"


def test_D4_without_a_passphrase_a_key_service_decrypts(recorder: Recorder) -> None:
    assert "PULUMI_CONFIG_PASSPHRASE" not in variables(render(recorder, job(passphrase=None)))


def test_D4_the_kubeconfig_has_the_context_of_the_config(recorder: Recorder) -> None:
    """Else the provider would differ from the recorded one, inside and outside the cluster."""
    render(recorder, job(), kubernetes=KubernetesSettings(context="production"))
    config = yaml.safe_load(recorder.one("ConfigMap")["data"]["kubeconfig"])
    assert config["current-context"] == "production"
    assert "token" not in config["users"][0]["user"], "the token stays in its file"


def test_D4_no_right_is_a_wildcard_or_an_escalation(recorder: Recorder) -> None:
    render(recorder, job())
    for role in [*recorder.objects("Role"), *recorder.objects("ClusterRole")]:
        for rule in role["rules"]:
            assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]
            assert not {"escalate", "bind", "impersonate"} & set(rule["verbs"])


def test_D4_rights_of_the_cluster_are_for_named_objects_only(recorder: Recorder) -> None:
    rules = render(recorder, job()).one("ClusterRole")["rules"]
    assert all(rule["resourceNames"] for rule in rules)
    assert not {"create", "delete"} & {verb for rule in rules for verb in rule["verbs"]}


def test_D4_a_namespace_that_is_not_ours_needs_no_right_of_the_cluster(recorder: Recorder) -> None:
    render(recorder, job(), control_plane=ControlPlaneSettings(create_namespace=False))
    assert recorder.objects("ClusterRole") == recorder.objects("ClusterRoleBinding") == []


def test_D4_the_dockerfile_puts_the_project_where_the_job_looks_for_it(recorder: Recorder) -> None:
    text = (CHECKOUT / "Dockerfile").read_text()
    (container,) = pod(render(recorder, job()))["containers"]
    assert f"WORKDIR {PROJECT}\n" in text
    assert f"USER {pod(recorder)['securityContext']['runAsUser']}:" in text
    assert container["workingDir"] == PROJECT


def test_N1_a_watcher_is_a_deployment_with_one_pod_in_place_of_the_cron_job(
    recorder: Recorder,
) -> None:
    """It is the same pod, but for the command, its port and its probes."""
    render(recorder, job(mode="watch"))
    deployment = recorder.one("Deployment")
    spec = deployment["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert deployment["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"
    (container,) = spec["template"]["spec"]["containers"]
    assert container["command"] == [
        *("coder-stack", "watch", "--stack", "production", "--repair"),
        *("--listen", "0.0.0.0:9187"),
    ]
    probes = [container[name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe")]
    assert probes == ["/readyz", "/healthz"]
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] >= 600
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert "restartPolicy" not in spec["template"]["spec"]
    assert recorder.objects("CronJob") == []


def test_N1_a_suspended_watcher_has_no_pod(recorder: Recorder) -> None:
    render(recorder, job(mode="watch", suspended=True))
    assert recorder.one("Deployment")["spec"]["replicas"] == 0


@pytest.mark.parametrize("field", ["schedule", "waitSeconds", "deadlineSeconds"])
def test_N1_fields_of_the_cron_job_are_mistakes_with_a_watcher(field: str) -> None:
    given = {
        "image": IMAGE,
        "backend": {"name": "pulumi", "key": "backend"},
        "mode": "watch",
        field: "1 2 3 4 5" if field == "schedule" else 600,
    }
    with pytest.raises(ValueError, match=f"{field}: has no effect with mode: watch"):
        ReconcileJobSettings.model_validate(given)
