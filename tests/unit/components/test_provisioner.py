"""How a provisioner's settings end up in a key, a Secret and pods (P1, P2, E4, E5, K4, K5, S1).

Wiring only, on Pulumi's mocks; that the objects work is seen in tests/engine.
"""

import base64
import hashlib
from datetime import date
from typing import Any

import pulumi
import pytest

from coder_stack.components.provisioner import Provisioner, ProvisionerArgs, age_in_days
from coder_stack.settings import Image, KeySettings, ProvisionerSettings, SecretRef
from tests.unit.components import rendering
from tests.unit.components.operator import operator
from tests.unit.components.rendering import Recorder

FEATURE = "external_provisioner_daemons"
MATERIAL = "the-plaintext-of-a-key"
ISSUED = {
    "provisioned": True,
    "key_id": "k-1",
    "name": "fleet-0a1b2c3d4e",
    "material": MATERIAL,
    "material_sha256": hashlib.sha256(MATERIAL.encode()).hexdigest(),
    "created_at": "2026-01-01T00:00:00+00:00",
    "deferred": [],
    "reason": "",
}
PLACE_ONLY = {
    "provisioned": False,
    "key_id": "",
    "name": "fleet-0a1b2c3d4e",
    "material": "",
    "material_sha256": "",
    "created_at": "",
    "deferred": [],
    "reason": "NotEntitled",
}
CONNECTED = {"count": 1, "versions": ["v2.30.0"], "skewed": [], "connected": True, "reason": ""}
NOBODY = {"count": 0, "versions": [], "skewed": [], "connected": False, "reason": "NotEntitled"}


@pytest.fixture
def licensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"ProvisionerKey": ISSUED, "DaemonsConnected": CONNECTED}
    return recorder


@pytest.fixture
def unlicensed(recorder: Recorder) -> Recorder:
    recorder.answers = {"ProvisionerKey": PLACE_ONLY, "DaemonsConnected": NOBODY}
    return recorder


def render(
    settings: ProvisionerSettings,
    *,
    features: tuple[str, ...] = (FEATURE,),
    adopted: str | None = None,
    coderd: str = "v2.30.0",
) -> dict[str, Any]:
    def build() -> dict[str, Any]:
        made = Provisioner(
            settings.name,
            ProvisionerArgs(
                settings=settings,
                operator=operator(*features),
                image=Image(tag=coderd),
                url="http://coder.coder.svc.cluster.local:80",
                namespace="coder",
                adopted_material=adopted,
            ),
        )
        return {
            "conditions": made.conditions,
            "secret": pulumi.Output.from_input(made.conditions.is_secret()),
            "summary": made.summary,
        }

    return rendering.render(build)


def fleet(**more: Any) -> ProvisionerSettings:
    return ProvisionerSettings(name="fleet", **more)


def looks(
    recorder: Recorder, before: dict[str, Any], after: dict[str, Any], coderd: str = "v2.30.0"
) -> str:
    """Whether the daemons are looked at again between two runs of the program."""
    render(fleet(**before))
    render(fleet(**after), coderd=coderd)
    first, second = recorder.objects("DaemonsConnected")[-2:]
    return "the same" if first["revision"] == second["revision"] else "another"


def environment(recorder: Recorder) -> dict[str, Any]:
    return {each["name"]: each for each in recorder.container()["env"]}


class TestObjects:
    def test_P1_every_object_as_it_is_sent(self, licensed: Recorder) -> None:
        render(fleet())
        rendering.check_snapshot("provisioner", "default", licensed.manifests().values())

    def test_P1_every_option_as_it_is_sent(self, licensed: Recorder) -> None:
        render(
            fleet(
                organization="ml",
                namespace="builders",
                replicas=3,
                key=KeySettings(
                    name="gpu", tags={"gpu": "yes"}, secret_name="gpu-key", secret_key="k"
                ),
                image=Image(repository="registry.test/coder", tag="v9", pull_secrets=("pull",)),
                url="https://coder.test",
                args=("--verbose",),
                env={"CODER_VERBOSE": "true"},
                secret_env={"HTTPS_PROXY": SecretRef(name="net", key="proxy")},
                labels={"team": "ml"},
                annotations={"note": "a"},
                pod_labels={"pod": "b"},
                pod_annotations={"note": "c"},
                service_account_annotations={"cloud/identity": "d"},
                node_selector={"kind": "gpu"},
                tolerations=({"key": "gpu", "operator": "Exists"},),
                ca_bundles=(SecretRef(name="corp-ca", key="ca.pem"),),
                termination_grace_period_seconds=1200,
                workspace_deployments=False,
                workspace_namespaces=("lab",),
            )
        )
        rendering.check_snapshot("provisioner", "every-option", licensed.manifests().values())

    def test_every_snapshot_has_its_case(self) -> None:
        cases = ("default", "every-option", "not-entitled")
        assert rendering.snapshots_without_case("provisioner", cases) == []

    def test_P1_the_daemon_gets_its_key_from_the_secret_and_its_name_from_the_pod(
        self, licensed: Recorder
    ) -> None:
        render(fleet())
        env = environment(licensed)
        assert env["CODER_PROVISIONER_DAEMON_KEY"]["valueFrom"] == {
            "secretKeyRef": {"name": "fleet-provisioner-key", "key": "key"}
        }
        assert env["CODER_PROVISIONER_DAEMON_NAME"]["valueFrom"] == {
            "fieldRef": {"fieldPath": "metadata.name"}
        }
        assert env["CODER_URL"]["value"] == "http://coder.coder.svc.cluster.local:80"

    def test_P1_neither_organization_nor_tags_stand_beside_the_key(
        self, licensed: Recorder
    ) -> None:
        """The real daemon refuses to start with them."""
        render(fleet(organization="ml", key=KeySettings(tags={"gpu": "yes"})))
        assert environment(licensed).keys() == {
            "CODER_URL",
            "CODER_PROVISIONER_DAEMON_KEY",
            "CODER_PROVISIONER_DAEMON_NAME",
        }
        assert licensed.container()["args"] == ["provisionerd", "start"]

    def test_P1_a_new_key_rolls_the_pods(self, licensed: Recorder) -> None:
        render(fleet())
        template = licensed.one("Deployment")["spec"]["template"]
        assert template["metadata"]["annotations"]["checksum/secret"] == ISSUED["material_sha256"]
        assert template["spec"]["terminationGracePeriodSeconds"] == 600

    def test_K1_the_material_is_in_the_secret_and_nowhere_else(self, licensed: Recorder) -> None:
        render(fleet())
        encoded = base64.b64encode(MATERIAL.encode()).decode()
        assert licensed.one("Secret")["data"] == {"key": encoded}
        others = [r for r in licensed.resources if not r.typ.endswith(":Secret")]
        assert not any(text in str(r.inputs) for r in others for text in (MATERIAL, encoded))

    def test_P2_names_at_the_limit_fit_and_differ(self, licensed: Recorder) -> None:
        long = "n" * 63
        render(ProvisionerSettings(name=long))
        render(ProvisionerSettings(name=f"{'n' * 62}m"))
        named = [
            (r.typ, r.inputs["metadata"]["name"])
            for r in licensed.resources
            if r.typ.startswith("kubernetes:")
        ]
        assert all(len(name) <= 63 for _, name in named)
        assert len(set(named)) == len(named)
        labels = licensed.objects("Deployment")[0]["spec"]["selector"]["matchLabels"]
        assert labels["app.kubernetes.io/instance"] == long

    def test_a_namespace_that_is_named_twice_gets_its_rights_once(self, licensed: Recorder) -> None:
        render(fleet(namespace="lab", workspace_namespaces=("lab", "dev")))
        places = [role["metadata"]["namespace"] for role in licensed.objects("Role")]
        assert sorted(places) == ["dev", "lab"]


class TestKey:
    def test_the_key_is_what_the_settings_say(self, licensed: Recorder) -> None:
        key = KeySettings(
            name="gpu",
            exact_name=True,
            tags={"gpu": "yes"},
            rotate_after_days=30,
            rotation="leaked",
        )
        render(fleet(organization="ml", key=key), adopted="old")
        asked = licensed.one("ProvisionerKey")
        wanted = {
            "connection": {"url": "https://coder.test"},
            "organization": "ml",
            "base_name": "gpu",
            "exact_name": True,
            "tags": {"gpu": "yes"},
            "deployment_id": "d-1",
            "trigger": "leaked",
            "rotate_after_days": 30,
            "enabled": True,
            "adopt_material": "old",
        }
        assert wanted.items() <= asked.items()

    def test_P2_the_keys_name_begins_with_the_provisioners_unless_it_has_its_own(
        self, licensed: Recorder
    ) -> None:
        render(fleet())
        assert licensed.one("ProvisionerKey")["base_name"] == "fleet"

    def test_P3_the_daemons_are_waited_for_with_this_key_and_after_these_pods(
        self, licensed: Recorder
    ) -> None:
        render(fleet(replicas=2, connect_timeout_seconds=20))
        asked = licensed.one("DaemonsConnected")
        wanted = {
            "key_id": "k-1",
            "minimum": 2,
            "timeout_seconds": 20,
            "enabled": True,
            "rollout": {
                "namespace": "coder",
                "name": "fleet-provisioner",
                "selector": "app.kubernetes.io/name=coder-provisioner,"
                "app.kubernetes.io/instance=fleet",
            },
        }
        assert wanted.items() <= asked.items()
        assert "expected_version" not in asked, "coderd is asked for its own at every look"

    @pytest.mark.parametrize(
        "change",
        [
            {"url": "https://elsewhere.test"},
            {"args": ("--verbose",)},
            {"env": {"CODER_VERBOSE": "true"}},
            {"secret_env": {"HTTPS_PROXY": SecretRef(name="net", key="proxy")}},
            {"image": Image(tag="v2.31.0")},
            {"ca_bundles": (SecretRef(name="corp-ca", key="ca.pem"),)},
            {"pod_annotations": {"note": "c"}},
            {"replicas": 2},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_P4_whatever_makes_other_pods_asks_for_another_look(
        self, licensed: Recorder, change: dict[str, Any]
    ) -> None:
        assert looks(licensed, {}, change) == "another"

    def test_P4_another_key_asks_for_another_look(self, licensed: Recorder) -> None:
        render(fleet())
        rotated = {**ISSUED, "material_sha256": "cd" * 32}
        licensed.answers = {**licensed.answers, "ProvisionerKey": rotated}
        render(fleet())
        first, second = licensed.objects("DaemonsConnected")
        assert first["revision"] != second["revision"]

    def test_P4_P3_another_coderd_asks_for_another_look_at_the_same_pods(
        self, licensed: Recorder
    ) -> None:
        """Their version may be another than coderd's from now on."""
        pinned = {"image": Image(tag="v2.30.0")}
        assert looks(licensed, pinned, pinned, coderd="v2.31.0") == "another"

    def test_P4_what_makes_no_other_pods_asks_for_no_look(self, licensed: Recorder) -> None:
        assert looks(licensed, {}, {}) == "the same"
        assert looks(licensed, {}, {"annotations": {"note": "a"}}) == "the same"
        assert looks(licensed, {}, {"key": KeySettings(rotate_after_days=90)}) == "the same"

    @pytest.mark.parametrize(
        "named",
        [
            {"env": {"CODER_PROVISIONER_DAEMON_NAME": "builder"}},
            {"secret_env": {"CODER_PROVISIONER_DAEMON_NAME": SecretRef(name="s", key="k")}},
            {"args": ("--name=builder",)},
            {"args": ("--name", "builder")},
        ],
        ids=str,
    )
    def test_P4_daemons_that_the_config_names_are_not_told_apart_by_their_pods(
        self, licensed: Recorder, named: dict[str, Any]
    ) -> None:
        render(fleet(**named))
        assert "rollout" not in licensed.one("DaemonsConnected")


class TestGate:
    def test_E4_without_entitlement_no_key_is_asked_for_and_no_pod_runs(
        self, unlicensed: Recorder
    ) -> None:
        render(fleet(replicas=2), features=())
        assert unlicensed.one("ProvisionerKey")["enabled"] is False
        assert unlicensed.one("Deployment")["spec"]["replicas"] == 0
        assert unlicensed.one("DaemonsConnected")["minimum"] == 0
        rendering.check_snapshot("provisioner", "not-entitled", unlicensed.manifests().values())

    def test_E4_the_secret_is_there_and_empty(self, unlicensed: Recorder) -> None:
        render(fleet(), features=())
        assert unlicensed.one("Secret")["data"] == {"key": ""}

    def test_E5_a_license_that_is_lost_later_stops_no_pod(self, licensed: Recorder) -> None:
        render(fleet(replicas=2), features=())
        assert licensed.one("ProvisionerKey")["enabled"] is False
        assert licensed.one("Deployment")["spec"]["replicas"] == 2
        assert licensed.one("Secret")["data"]["key"]


class TestStatus:
    def test_S1_all_is_well(self, licensed: Recorder) -> None:
        seen = render(fleet())["conditions"]
        assert licensed.resources
        assert [(each["type"], each["status"]) for each in seen] == [
            ("ExternalProvisionersEntitled", "True"),
            ("ProvisionerKeyReady", "True"),
            ("ProvisionerKeySecretReady", "True"),
            ("DeploymentReady", "True"),
            ("DaemonsConnected", "True"),
        ]
        assert {each["component"] for each in seen} == {"provisioner/fleet"}

    def test_S1_E4_not_entitled(self, unlicensed: Recorder) -> None:
        seen = render(fleet(), features=())["conditions"]
        assert unlicensed.resources
        assert {(each["status"], each["reason"]) for each in seen} == {("False", "NotEntitled")}

    def test_S1_pods_that_are_not_ready_yet(self, licensed: Recorder) -> None:
        licensed.ready = 1
        by_type = {each["type"]: each for each in render(fleet(replicas=3))["conditions"]}
        pods = by_type["DeploymentReady"]
        assert (pods["status"], pods["reason"]) == ("False", "Pending")
        assert pods["message"] == "1 of 3 pods are ready."

    @pytest.mark.parametrize(
        ("data", "reason"),
        [({"key": "b3RoZXI="}, "SecretChanged"), ({"other": "b3RoZXI="}, "SecretMissing")],
    )
    def test_K4_S2_a_secret_with_something_else_is_not_called_written(
        self, licensed: Recorder, data: dict[str, str], reason: str
    ) -> None:
        licensed.answers = {**licensed.answers, "Secret": {"data": data}}
        by_type = {each["type"]: each for each in render(fleet())["conditions"]}
        secret = by_type["ProvisionerKeySecretReady"]
        assert (secret["status"], secret["reason"]) == ("False", reason)

    def test_S2_the_verdict_on_a_secret_is_itself_no_secret(self, licensed: Recorder) -> None:
        """Else nobody could read the stack's conditions."""
        assert render(fleet())["secret"] is False
        assert licensed.resources

    def test_S1_no_secret_is_in_what_is_exported(self, licensed: Recorder) -> None:
        seen = render(fleet())
        assert licensed.resources
        assert MATERIAL not in str(seen)

    def test_the_summary_names_the_key_and_its_daemons(self, licensed: Recorder) -> None:
        summary = render(fleet(organization="ml", key=KeySettings(tags={"gpu": "yes"})))["summary"]
        assert licensed.resources
        age = summary.pop("keyAgeDays")
        assert age >= 0
        assert summary == {
            "name": "fleet",
            "organization": "ml",
            "keyId": "k-1",
            "keyName": "fleet-0a1b2c3d4e",
            "keyCreatedAt": "2026-01-01T00:00:00+00:00",
            "tags": {"gpu": "yes"},
            "daemons": 1,
            "versions": ["v2.30.0"],
        }

    def test_the_summary_of_a_key_that_is_not_there_yet(self, unlicensed: Recorder) -> None:
        summary = render(fleet(), features=())["summary"]
        assert unlicensed.resources
        assert (summary["keyId"], summary["keyName"], summary["daemons"]) == ("", "", 0)
        assert summary["keyAgeDays"] is None


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2026-03-01T00:00:00+00:00", 9),
        ("2026-03-10T23:59:59+00:00", 0),
        ("2026-03-09T23:30:00-01:00", 0),
        ("", None),
    ],
)
def test_a_keys_age_is_in_whole_days_of_universal_time(created: str, age: int | None) -> None:
    assert age_in_days(created, date(2026, 3, 10)) == age
