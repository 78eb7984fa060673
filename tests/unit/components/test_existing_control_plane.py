"""A stack beside a coderd that is there already: what it registers, and what it knows of coderd."""

from typing import Any

import pulumi
import pytest

from coder_stack.components.existing_control_plane import ready_by_answer
from coder_stack.settings import Settings
from coder_stack.stack import CoderStack
from tests.unit.components.rendering import Recorder, render
from tests.unit.components.test_examples import ANSWERS

URL = "https://coder.example.com"
BESIDE: dict[str, Any] = {"deploy": False, "accessUrl": URL}
FEATURES = {"external_provisioner_daemons": {"entitlement": "entitled", "enabled": True}}
ACCESS = {
    "version": "v2.30.0",
    "deployment_id": "d-1",
    "user": "ann",
    "accepted": True,
    "reason": "",
}
ENTITLEMENTS = {"features": FEATURES, "tier": "premium", "stale": False, "reason": ""}


def settings(plane: dict[str, Any], **parts: Any) -> Settings:
    whole = {"controlPlane": plane, "provisioners": [{"name": "eu"}], **parts}
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def built(recorder: Recorder, wanted: Settings, **options: Any) -> dict[str, Any]:
    """Build the whole stack, and return what it tells of coderd."""
    recorder.answers = {**ANSWERS, "OperatorAccess": ACCESS, "Entitlements": ENTITLEMENTS}

    def build() -> dict[str, pulumi.Input[Any]]:
        stack = CoderStack("coder", wanted, **options)
        plane = stack.control_plane
        return {
            "url": plane.url,
            "image": plane.image,
            "phase": plane.phase,
            "conditions": stack.conditions,
            "provisioners": stack.details["provisioners"],
        }

    return render(build)


def daemons_url(recorder: Recorder) -> str:
    recorder.resources = [each for each in recorder.resources if "provisioner" in each.name]
    env = recorder.container()["env"]
    return next(each["value"] for each in env if each["name"] == "CODER_URL")


def test_M3_no_object_of_coderd_is_registered(recorder: Recorder) -> None:
    built(recorder, settings(BESIDE))
    objects = recorder.manifests()
    assert objects
    assert all(name.startswith("coder-provisioner-eu-") for name in objects)
    assert recorder.objects("ControlPlane") == []
    recorder.resources.clear()
    built(recorder, settings({"accessUrl": URL}))
    assert "coder-control-plane-deployment Deployment" in recorder.manifests()


def test_M3_coderd_is_known_by_its_answer(recorder: Recorder) -> None:
    known = built(recorder, settings({**BESIDE, "image": {"tag": "v2.29.0"}}))
    assert (known["url"], known["phase"]) == (URL, "Ready")
    assert known["image"] == "ghcr.io/coder/coder:v2.29.0"
    ready = known["conditions"][0]
    assert (ready["component"], ready["type"]) == ("controlPlane", "ControlPlaneReady")
    assert (ready["status"], ready["reason"]) == ("True", "Healthy")
    assert ready["message"] == f"coderd at {URL} answers with version v2.30.0."


@pytest.mark.parametrize(
    ("plane", "url"),
    [
        (BESIDE, URL),
        ({"deploy": False, "name": "c"}, "http://c.coder.svc.cluster.local:80"),
        # Of a coderd that the stack deploys, daemons beside it use the Service.
        ({"accessUrl": URL, "replicas": 1}, "http://coder.coder.svc.cluster.local:80"),
    ],
)
def test_M3_daemons_connect_to_the_access_url_or_else_to_the_service(
    recorder: Recorder, plane: dict[str, Any], url: str
) -> None:
    access = {} if "accessUrl" in plane else {"throughApiServer": True}
    built(recorder, settings(plane, access=access))
    assert daemons_url(recorder) == url


def test_M3_M4_stacks_that_share_a_coderd_keep_their_tokens_apart(recorder: Recorder) -> None:
    """The one that deploys coderd has the plain name."""
    built(recorder, settings(BESIDE))
    (beside,) = recorder.objects("OperatorAccess")
    recorder.resources.clear()
    built(recorder, settings({"accessUrl": URL}))
    (deploying,) = recorder.objects("OperatorAccess")
    names = [each["connection"]["credential"]["name"] for each in (beside, deploying)]
    assert names[1] == "coder-operator"
    assert names[0].startswith("coder-operator-")
    assert len(names[0]) > len("coder-operator-")


def test_M4_the_deployment_that_the_other_stack_names_is_expected(recorder: Recorder) -> None:
    built(recorder, settings(BESIDE), deployment_id="d-1")
    assert recorder.one("OperatorAccess")["expected_deployment"] == "d-1"


def test_U1_M3_a_coderd_that_was_not_asked_yet_is_not_called_ready() -> None:
    found = ready_by_answer("controlPlane", URL, "")
    assert (found.status, found.reason) == ("Unknown", "NotSeen")


# Other clusters -----------------------------------------------------------------------------------

SYDNEY: dict[str, Any] = {
    "clusters": {"sydney": {"kubeconfig": "far.yaml", "context": "au"}},
    "provisioners": [{"name": "eu", "cluster": "sydney"}],
}


def test_M1_each_cluster_in_use_has_a_provider_of_its_own(recorder: Recorder) -> None:
    built(recorder, settings({"accessUrl": URL}, **SYDNEY))
    providers = {
        each.name: (each.inputs.get("kubeconfig"), each.inputs.get("context"))
        for each in recorder.resources
        if each.typ == "pulumi:providers:kubernetes"
    }
    assert providers == {"coder-cluster": (None, None), "coder-cluster@sydney": ("far.yaml", "au")}
    for each in recorder.resources:
        if each.typ.startswith("kubernetes:"):
            far = each.name.startswith("coder-provisioner-")
            assert ("coder-cluster@sydney::" in each.provider) == far, each.name


def test_M1_daemons_in_another_cluster_connect_to_the_access_url(recorder: Recorder) -> None:
    built(recorder, settings({"accessUrl": URL}, **SYDNEY))
    assert daemons_url(recorder) == URL


def test_M2_nothing_is_taken_for_true_of_a_cluster_that_is_left_out(recorder: Recorder) -> None:
    wanted = settings({"accessUrl": URL}, **SYDNEY)
    known = built(recorder, wanted, left_out=["sydney"])
    assert known["provisioners"][0]["leftOut"] == "sydney"
    assert known["provisioners"][0]["daemons"] is None
    far = [each for each in known["conditions"] if each["component"] == "provisioner/eu"]
    assert far
    assert {(each["status"], each["reason"]) for each in far} == {("Unknown", "ClusterLeftOut")}
    assert known["conditions"][-1]["status"] == "Unknown"

    recorder.resources.clear()
    known = built(recorder, wanted)
    assert "leftOut" not in known["provisioners"][0]
    assert "ClusterLeftOut" not in {each["reason"] for each in known["conditions"]}
