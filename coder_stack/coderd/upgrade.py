"""Decide what a change of coderd's image means: an upgrade, a downgrade, or nothing (V2). Pure.

The running version is the tag of the image in the cluster and coderd's own answer; the higher of
the two counts, because coderd never takes a database migration back. cluster/upgrade.py collects
both, __main__.py shows the warnings, and stack.py keeps the order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from coder_stack.coderd.versions import Version, of_image, parse

RUNBOOK = "docs/runbooks.md, Upgrade Coder"
_TAG = "controlPlane.image.tag"


@dataclass(frozen=True, kw_only=True)
class Running:
    """What the cluster and coderd say before the update."""

    image: str
    """Of coderd's Deployment."""
    answer: str = ""
    """The version that coderd answers with; empty if it was not asked, or did not answer."""
    others: Sequence[str] = ()
    """Images of the provisioners and proxies that are to run coderd's image."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the config asks for."""

    image: str
    replicas: int = 1
    allow_downgrade: bool = False


@dataclass(frozen=True, kw_only=True)
class UpgradePlan:
    """What to say before the update, and what it has to wait for."""

    warnings: tuple[str, ...] = ()
    mistake: str = ""
    """Why the update is refused, with the path of the field; empty if it is not."""
    under_way: bool = False
    """Whether proxies wait for provisioners, which wait for coderd."""
    expected: str = ""
    """The version that coderd must answer with before they move; empty: any."""


NOTHING = UpgradePlan()


def behind(running: Running, wanted: Wanted) -> bool:
    """Tell whether an upgrade of coderd was not followed by all provisioners and proxies."""
    target = of_image(wanted.image)
    versions = [of_image(each) for each in running.others]
    return target is not None and any(each not in (None, target) for each in versions)


def needs_answer(running: Running, wanted: Wanted) -> bool:
    """Tell whether coderd has to be asked: not if everything has the wanted image."""
    return running.image != wanted.image or behind(running, wanted)


def plan_upgrade(running: Running | None, wanted: Wanted) -> UpgradePlan:
    """Compare; `running` is None if coderd is not deployed, or the cluster does not tell."""
    if running is None or not needs_answer(running, wanted):
        return NOTHING
    target = of_image(wanted.image)
    if running.image == wanted.image:
        return _resumed(running, wanted, target)
    if target is None:
        return UpgradePlan(warnings=(_unknown_target(running, wanted),), under_way=True)
    known = [each for each in (of_image(running.image), parse(running.answer)) if each]
    if not known:
        return UpgradePlan(
            warnings=(_unknown_origin(running, target),),
            under_way=True,
            expected=_expected(running, wanted, target),
        )
    newest = max(known)
    if target == newest:
        return NOTHING  # another registry, or a tag without a version: no other version of Coder
    if target < newest and not wanted.allow_downgrade:
        return UpgradePlan(mistake=_refused(running, target, newest))
    said = _downgrade(newest, target) if target < newest else _upgrade(newest, target, wanted)
    return UpgradePlan(
        warnings=(*said, *_doubted_tag(running)),
        under_way=True,
        expected=_expected(running, wanted, target),
    )


def _resumed(running: Running, wanted: Wanted, target: Version | None) -> UpgradePlan:
    """Plan the rest of an upgrade that has stopped after coderd's Deployment was changed."""
    answer = parse(running.answer)
    named = [target, *map(of_image, running.others)]
    expected = str(target) if wanted.replicas and answer and answer in named else ""
    said = (
        f"{_TAG}: coderd's image is {target} already, but provisioners or proxies have another "
        "version; this update brings them to it, provisioners first."
    )
    return UpgradePlan(warnings=(said,), under_way=True, expected=expected)


def _expected(running: Running, wanted: Wanted, target: Version) -> str:
    """Return the version to wait for; empty if tags of this image do not name Coder's versions."""
    return str(target) if wanted.replicas and not _doubted_tag(running) else ""


def _doubted_tag(running: Running) -> tuple[str, ...]:
    """Say that tag and answer differ, unless another workload's tag confirms the answer."""
    tag, answer = of_image(running.image), parse(running.answer)
    confirmed = answer in [of_image(each) for each in running.others]
    if tag is None or answer is None or tag == answer or confirmed:
        return ()
    said = (
        f"{_TAG}: coderd answers with {answer}, although the tag of its image says {tag}; "
        "so the update waits for the rollout, and not for the version in the tag."
    )
    return (said,)


def _upgrade(newest: Version, target: Version, wanted: Wanted) -> tuple[str, ...]:
    replicas = (
        f" With {wanted.replicas} replicas, Coder advises to scale to one before an upgrade."
        if wanted.replicas > 1
        else ""
    )
    main = (
        f"{_TAG}: coderd is upgraded from {newest} to {target}. Its database migrations cannot be "
        f"taken back: back up the database first.{replicas} Provisioners follow once coderd "
        f"answers with {target}, then proxies; if it does not come up, they stay as they are. "
        f"See {RUNBOOK}."
    )
    return (main, *_skipped(newest, target))


def _skipped(newest: Version, target: Version) -> tuple[str, ...]:
    if target.major == newest.major:
        skips = target.minor - newest.minor > 1
    else:
        skips = target.major - newest.major > 1 or target.minor > 0
    if not skips:
        return ()
    said = (
        f"{_TAG}: from {newest} to {target} at least one minor version is skipped. Its migrations "
        "run all the same, and take longer; read the release notes of each version in between."
    )
    return (said,)


def _downgrade(newest: Version, target: Version) -> tuple[str, ...]:
    said = (
        f"{_TAG}: coderd is downgraded from {newest} to {target}, as controlPlane.allowDowngrade "
        f"says. It does not start with the database of {newest}: restore a backup of {target} "
        "first, and remove allowDowngrade afterwards."
    )
    return (said,)


def _refused(running: Running, target: Version, newest: Version) -> str:
    by_tag = of_image(running.image) == newest
    how = f"its image is {running.image}" if by_tag else "as it answers itself"
    return (
        f"{_TAG}: {target} is lower than {newest}, which coderd runs in the cluster ({how}). "
        "Database migrations cannot be taken back, so a downgrade breaks coderd. Set "
        f"{_TAG} to {newest}, or restore a backup of {target} and set "
        f"controlPlane.allowDowngrade: true; see {RUNBOOK}"
    )


def _unknown_target(running: Running, wanted: Wanted) -> str:
    now = of_image(running.image) or parse(running.answer)
    is_now = f"coderd runs {now} now" if now else "the running version is unknown, too"
    return (
        f"controlPlane.image: {wanted.image} names no version of Coder, so whether this is an "
        f"upgrade is unknown ({is_now}). Migrations cannot be taken back: back up the database "
        "first."
    )


def _unknown_origin(running: Running, target: Version) -> str:
    return (
        f"{_TAG}: coderd becomes {target}; which version runs now is unknown, because "
        f"{running.image} names none and coderd did not answer. Migrations cannot be taken back: "
        "back up the database first."
    )
