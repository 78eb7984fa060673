"""What a change of coderd's image means, before anything is registered (V2)."""

from typing import Any

import pytest

from coder_stack.coderd.upgrade import (
    NOTHING,
    Running,
    UpgradePlan,
    Wanted,
    needs_answer,
    plan_upgrade,
)
from coder_stack.coderd.versions import Version, is_version, of_image

REPOSITORY = "ghcr.io/coder/coder"
DIGEST = "@sha256:" + "0f" * 32


def image(tag: str) -> str:
    return f"{REPOSITORY}:{tag}"


def plan(
    tag: str, wanted: str, answer: str = "", *, others: tuple[str, ...] = (), **more: Any
) -> UpgradePlan:
    running = Running(image=image(tag), answer=answer, others=[image(each) for each in others])
    return plan_upgrade(running, Wanted(image=image(wanted), **more))


def test_V2_an_image_names_its_version_unless_a_digest_outweighs_the_tag() -> None:
    assert of_image("registry.test:5000/coder:v2.30.1") == Version(2, 30, 1)
    for unknown in ("registry.test:5000/coder", image("latest"), image("v2.30.1") + DIGEST, ""):
        assert of_image(unknown) is None


def test_V2_an_answer_is_of_the_expected_version_whatever_its_build() -> None:
    assert is_version("v2.31.0+abc1234", "v2.31.0")
    assert not is_version("v2.30.0+abc1234", "v2.31.0")
    assert not is_version("v0.0.0-devel", "v2.31.0")
    assert is_version("v2.30.0", ""), "nothing is expected"


def test_V2_before_the_first_deployment_and_with_the_wanted_image_nothing_is_said() -> None:
    assert plan_upgrade(None, Wanted(image=image("v2.30.0"))) == NOTHING
    assert plan("v2.30.0", "v2.30.0", "v2.99.0") == NOTHING
    same = Running(image=image("v2.30.0"), others=[image("v2.30.0"), "evil:1"])
    assert not needs_answer(same, Wanted(image=image("v2.30.0"))), "coderd is not even asked"


def test_V2_an_upgrade_says_from_where_to_where_and_that_it_cannot_be_taken_back() -> None:
    found = plan("v2.30.0", "v2.31.1", "v2.30.0+abc1234")
    (said,) = found.warnings
    assert said.startswith("controlPlane.image.tag: coderd is upgraded from v2.30.0 to v2.31.1. ")
    assert "cannot be taken back: back up the database first." in said
    assert "replicas" not in said
    assert (found.mistake, found.under_way, found.expected) == ("", True, "v2.31.1")


def test_V2_with_several_replicas_the_advice_of_coder_is_said() -> None:
    (said,) = plan("v2.30.0", "v2.31.0", replicas=3).warnings
    assert "With 3 replicas, Coder advises to scale to one before an upgrade." in said


def test_V2_without_a_pod_no_version_is_waited_for() -> None:
    assert plan("v2.30.0", "v2.31.0", replicas=0).expected == ""


@pytest.mark.parametrize(
    ("now", "wanted", "skips"),
    [
        ("v2.29.5", "v2.30.0", False),
        ("v2.29.5", "v2.31.0", True),
        ("v2.30.0", "v2.30.9", False),
        ("v2.40.0", "v3.0.0", False),
        ("v2.40.0", "v3.1.0", True),
        ("v2.40.0", "v4.0.0", True),
    ],
)
def test_V2_a_skipped_minor_version_is_one_more_warning(now: str, wanted: str, skips: bool) -> None:
    warnings = plan(now, wanted).warnings
    assert len(warnings) == 1 + skips
    assert ("skipped" in warnings[-1]) == skips


@pytest.mark.parametrize(
    ("tag", "answer", "how"),
    [
        ("v2.31.0", "", f"its image is {image('v2.31.0')}"),
        ("v2.31.0", "v2.30.0", f"its image is {image('v2.31.0')}"),
        ("latest", "v2.31.0+abc1234", "as it answers itself"),
        ("v2.29.0", "v2.31.0", "as it answers itself"),
    ],
)
def test_V2_a_downgrade_by_tag_or_by_coderds_answer_is_refused(
    tag: str, answer: str, how: str
) -> None:
    found = plan(tag, "v2.30.0", answer)
    assert found.mistake.startswith(
        f"controlPlane.image.tag: v2.30.0 is lower than v2.31.0, which coderd runs in the cluster "
        f"({how}). "
    )
    assert "Set controlPlane.image.tag to v2.31.0, or restore a backup" in found.mistake
    assert found.warnings == ()


def test_V2_a_downgrade_that_is_allowed_is_a_warning() -> None:
    found = plan("v2.31.0", "v2.30.0", "v2.31.0", allow_downgrade=True)
    (said,) = found.warnings
    assert "downgraded from v2.31.0 to v2.30.0" in said
    assert "restore a backup of v2.30.0 first" in said
    assert (found.mistake, found.expected) == ("", "v2.30.0")


def test_V2_the_same_version_is_silent_also_from_another_tag() -> None:
    assert plan("evil", "v2.30.0", "v2.30.0+simulated") == NOTHING
    mirrored = Running(image="mirror.test/coder:v2.30.0")
    assert plan_upgrade(mirrored, Wanted(image=image("v2.30.0"))) == NOTHING


@pytest.mark.parametrize("wanted", ["latest", f"v2.29.0{DIGEST}"])
def test_V2_a_wanted_image_without_a_version_is_one_sentence_and_no_refusal(wanted: str) -> None:
    found = plan("v2.30.0", wanted, "v2.30.0")
    (said,) = found.warnings
    assert f"{image(wanted)} names no version of Coder" in said
    assert "(coderd runs v2.30.0 now)" in said
    assert (found.mistake, found.expected) == ("", "")


def test_V2_a_running_image_without_a_version_and_no_answer_is_one_sentence() -> None:
    found = plan("latest", "v2.30.0")
    (said,) = found.warnings
    assert "which version runs now is unknown" in said
    assert found.mistake == ""


def test_V2_tags_that_do_not_name_coders_versions_are_not_waited_for() -> None:
    """A registry may have a numbering of its own; then coderd never answers with the tag's."""
    found = plan("v3.1.0", "v3.2.0", "v2.30.0")
    assert found.expected == ""
    assert "coderd answers with v2.30.0, although the tag of its image says v3.1.0" in str(
        found.warnings
    )


class TestUnfinished:
    """An upgrade that stopped after coderd's Deployment was changed."""

    def test_V2_it_goes_on_in_the_same_order(self) -> None:
        found = plan("v2.31.0", "v2.31.0", "v2.31.0", others=("v2.31.0", "v2.30.0"))
        (said,) = found.warnings
        assert "provisioners or proxies have another version" in said
        assert (found.under_way, found.expected) == (True, "v2.31.0")

    def test_V2_a_coderd_that_still_answers_with_the_old_version_is_waited_for(self) -> None:
        found = plan("v2.31.0", "v2.31.0", "v2.30.0", others=("v2.30.0",))
        assert (found.under_way, found.expected) == (True, "v2.31.0")
        corrected = plan("v2.31.0", "v2.31.1", "v2.30.0", others=("v2.30.0",))
        assert corrected.expected == "v2.31.1"

    def test_V2_other_numbers_than_coders_are_not_waited_for(self) -> None:
        found = plan("v9.1.0", "v9.1.0", "v2.30.0", others=("v9.0.0",))
        assert (found.under_way, found.expected) == (True, "")
