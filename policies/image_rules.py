"""Rules on images: a fixed version, from an allowed registry."""

from collections.abc import Iterator
from typing import NamedTuple

from pulumi_policy import EnforcementLevel, Severity

from pod_specs import containers, has_pods
from properties import Violation
from rule import Case, resource_rule, string_list


class Image(NamedTuple):
    """The parts of an image reference."""

    repository: str
    tag: str
    digest: str


def parse_reference(reference: str) -> Image:
    """Split a reference; add the registry that container runtimes use if it names none."""
    rest, _, digest = reference.partition("@")
    head, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = f"{head}{slash}{name}"
    registry = repository.partition("/")[0] if slash else ""
    if not (registry == "localhost" or "." in registry or ":" in registry):
        repository = f"docker.io/{repository}" if slash else f"docker.io/library/{repository}"
    return Image(repository, tag, digest)


def _pinned(case: Case) -> Iterator[Violation]:
    moving = case.options["movingTags"]
    for container in containers(case.resource, case.known):
        with case.known:
            image = parse_reference(container["image"].text)
            if not image.digest and (not image.tag or image.tag in moving):
                yield container["image"].violation("use a version tag or a digest.")


def _registry(case: Case) -> Iterator[Violation]:
    allowed = [each.rstrip("/") for each in case.options["registries"]]
    for container in containers(case.resource, case.known) if allowed else ():
        with case.known:
            if not (reference := container["image"].text):
                continue
            repository = parse_reference(reference).repository
            if not any(repository == each or repository.startswith(f"{each}/") for each in allowed):
                yield container["image"].violation(
                    "use an image from a registry in option `registries`."
                )


RULES = (
    resource_rule(
        "image-pinned",
        "Images are pinned by version or digest.",
        on=has_pods,
        check=_pinned,
        steps=(
            "Set `image.tag` to a version, or set `image.digest`. Otherwise pods of one Deployment "
            "may run different versions, and a rollback has no effect."
        ),
        severity=Severity.MEDIUM,
        level=EnforcementLevel.ADVISORY,
        options={
            "movingTags": string_list(
                "Tags that are not versions.",
                ("latest", "main", "master", "edge", "nightly", "stable"),
            )
        },
    ),
    resource_rule(
        "image-registry",
        "Images come from allowed registries.",
        on=has_pods,
        check=_registry,
        steps=(
            "Mirror the image to an allowed registry and set `image.repository`, or add its "
            "registry or path prefix to option `registries`."
        ),
        severity=Severity.HIGH,
        level=EnforcementLevel.MANDATORY,
        options={
            "registries": string_list(
                "Allowed registries or path prefixes, such as `ghcr.io/coder`. If empty, all are "
                "allowed."
            )
        },
    ),
)
