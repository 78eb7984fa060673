"""A provisioner key."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts, allowed_again, named
from coder_stack.features import EXTERNAL_PROVISIONERS


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    key = named("key", drift)
    paths = {path.partition(".")[0] for path in drift.paths}
    if drift.origin == "refresh":
        return _changed_in_coderd(drift, key, paths)
    if drift.kind == "missing":
        organization = drift.declared.get("organization", "")
        return f"{key} is declared in organization `{organization}`, but was not created yet."
    if "enabled" in paths:
        return allowed_again(key, drift)
    if "deployment_id" in paths or stack.deployment_changed:
        return f"Another deployment of coderd answers, and {key} is not known there."
    if paths <= {"name", "issued_on"}:
        return f"{key} is old enough to be rotated."
    if "trigger" in paths:
        return f"A rotation of {key} was asked for and has not happened yet."
    return None


def _changed_in_coderd(drift: Drift, key: str, paths: set[str]) -> str | None:
    if drift.kind == "missing":
        return f"{key} was deleted in coderd."
    if "material_valid" in paths:
        return f"Coderd no longer accepts what the state holds as {key}."
    if "organization" in paths:
        name = drift.actual.get("organization")
        return f"The organization of {key} was renamed in coderd to `{name}`."
    if "tags" in paths:
        return f"{key} has other tags in coderd."
    if paths & {"name", "base_name"}:
        return f"{key} was renamed in coderd."
    return None


PROVISIONER_KEY = Descriptor(
    name="ProvisionerKey",
    noun="provisioner key",
    secret_fields=("material",),
    secret_inputs=("adopt_material",),
    feature=EXTERNAL_PROVISIONERS,
    config_list="provisioners",
    component="provisioner",
    cause=_cause,
)
