"""What a satellite stack takes from the outputs of the stack that deploys coderd (M4)."""

from typing import Any

import pytest

from coder_stack.satellite import from_outputs
from coder_stack.settings import ConfigError, Settings

STACK = "org/coder-stack/prod"
DIGEST = f"sha256:{'ab' * 32}"
GOOD: dict[str, Any] = {
    "accessUrl": "https://coder.example.com",
    "image": "registry.test:5000/coder/coder:v2.29.0",
    "deploymentId": "d-1",
    "ready": "True",
}
INSIDE = "http://coder.coder.svc.cluster.local:80"


def settings(plane: dict[str, Any] | None = None, **parts: Any) -> Settings:
    whole = {"controlPlane": {"fromStack": STACK, **(plane or {})}, **parts}
    return Settings.model_validate(whole, by_alias=True, by_name=False)


def problem(outputs: dict[str, Any], wanted: Settings | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        from_outputs(wanted or settings(), outputs)
    (only,) = caught.value.problems
    return only


def test_M4_url_image_and_deployment_come_from_the_other_stack() -> None:
    found = from_outputs(settings(), GOOD)
    plane = found.settings.control_plane
    assert plane.access_url == "https://coder.example.com"
    assert (plane.image.repository, plane.image.tag) == (
        "registry.test:5000/coder/coder",
        "v2.29.0",
    )
    assert found.deployment_id == "d-1"
    assert found.settings.direct_url == "https://coder.example.com"
    assert plane.exists_already


def test_M4_a_digest_is_kept() -> None:
    found = from_outputs(settings(), {**GOOD, "image": f"coder:v2.29.0@{DIGEST}"})
    assert found.settings.control_plane.image.reference == f"coder:v2.29.0@{DIGEST}"


def test_M4_an_image_in_the_config_precedes_that_of_the_other_stack() -> None:
    found = from_outputs(settings({"image": {"tag": "v2.28.0"}}), GOOD)
    assert found.settings.control_plane.image.tag == "v2.28.0"


def test_B1_M4_a_stack_that_was_never_deployed_is_named_with_the_command() -> None:
    assert problem({}) == (
        f"controlPlane.fromStack: stack {STACK} has no outputs yet; deploy coderd with it first: "
        f"pulumi up --stack {STACK}"
    )


@pytest.mark.parametrize("name", ["accessUrl", "image", "deploymentId"])
@pytest.mark.parametrize("value", [None, 7, {"a": "mapping"}])
def test_B1_M4_an_output_that_is_missing_or_no_text_is_named(name: str, value: object) -> None:
    """E.g. of a stack of another program, or after a first `up` that failed before coderd ran."""
    without = {key: each for key, each in GOOD.items() if key != name}
    for outputs in (without, {**GOOD, name: value}):
        assert problem(outputs).startswith(
            f"controlPlane.fromStack: stack {STACK} has no output {name}; deploy coderd"
        )


@pytest.mark.parametrize("image", ["", "coder", f"coder@{DIGEST}", "registry.test:5000/coder"])
def test_B1_M4_an_image_without_a_tag_is_not_guessed(image: str) -> None:
    said = problem({**GOOD, "image": image})
    assert said.startswith(f"controlPlane.fromStack: the output image of stack {STACK} is not an ")


def test_B1_M4_a_url_that_leads_nowhere_outside_of_its_cluster_is_named() -> None:
    """Without controlPlane.accessUrl, the other stack has its Service's URL as the output."""
    inside = {**GOOD, "accessUrl": INSIDE}
    said = problem(inside)
    assert said.startswith(
        f"controlPlane.fromStack: the output accessUrl of stack {STACK} can only"
    )
    assert said.endswith(f"set controlPlane.accessUrl there, then: pulumi up --stack {STACK}")

    beside = settings(access={"throughApiServer": True})
    assert from_outputs(beside, inside).settings.control_plane.access_url == INSIDE
    away = settings(
        access={"throughApiServer": True},
        clusters={"sydney": {"context": "sydney"}},
        provisioners=[{"name": "au", "cluster": "sydney"}],
    )
    assert problem(inside, away) == said
