"""Rules on the version of Coder: it was tried with this program (V1).

Advisory, because a newer coderd usually works; raise them to mandatory to decide on each upgrade.
The image is checked before it is deployed, and what coderd answers at the end.
"""

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from coder_stack.coderd.versions import outside_range, tried_range
from coder_stack.descriptors import OPERATOR_ACCESS
from image_rules import parse_reference
from pod_specs import containers, has_pods, program
from properties import Property, Violation
from rule import Case, StackCase, resource_rule, stack_rule

_FROM, _TO = tried_range()


def _image(case: Case) -> Iterator[Violation]:
    for container in containers(case.resource, case.known, init=False):
        with case.known:
            image = parse_reference(container["image"].text)
            # With a digest, Kubernetes ignores the tag.
            if program(container) == "coderd" and not image.digest:
                yield from _violations(container["image"], image.tag)


def _answer(case: StackCase) -> Iterator[Violation]:
    for each in case.of_type(OPERATOR_ACCESS.type):
        with case.known:
            yield from _violations(each.props["version"], each.props["version"].text)


def _violations(where: Property, version: str) -> Iterator[Violation]:
    if outside_range(version):
        yield where.violation(
            f"use a version of Coder from {_FROM} to {_TO}, or a newer version of this program."
        )


RULES = (
    resource_rule(
        "coder-image-version",
        f"The image of coderd is of a version that was tried: {_FROM} to {_TO}.",
        on=has_pods,
        check=_image,
        steps="Set `controlPlane.image.tag` to a version in the range, or update this program.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.ADVISORY,
    ),
    stack_rule(
        "coder-version",
        f"coderd answers with a version that was tried: {_FROM} to {_TO}.",
        check=_answer,
        steps="Deploy a version in the range, or update this program.",
        severity=Severity.MEDIUM,
        level=EnforcementLevel.ADVISORY,
    ),
)
