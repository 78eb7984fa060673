"""An organization."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts, allowed_again, named
from coder_stack.features import MULTIPLE_ORGANIZATIONS

__all__ = ["ORGANIZATION"]

_TEXTS = {"display_name": "display name", "description": "description", "icon": "icon"}


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    organization = named("organization", drift)
    if drift.gone:
        return f"{organization} was deleted in coderd."
    if drift.not_created:
        return f"{organization} is declared, but was not created yet."
    if "enabled" in drift.paths:
        return allowed_again(organization, drift)
    if drift.origin == "refresh" and "name" in drift.paths:
        return f"{organization} was renamed in coderd to `{drift.actual.get('name')}`."
    other = [_TEXTS[path] for path in drift.paths if path in _TEXTS]
    if drift.origin == "refresh" and other:
        return f"{organization} has another {' and '.join(other)} in coderd."
    return None


ORGANIZATION = Descriptor(
    name="Organization",
    noun="organization",
    feature=MULTIPLE_ORGANIZATIONS,
    config_list="organizations",
    component="organization",
    cause=_cause,
)
