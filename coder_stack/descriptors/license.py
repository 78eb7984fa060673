"""The stack's own license."""

from coder_stack.descriptors.descriptor import Descriptor, Drift, StackFacts


def _cause(drift: Drift, stack: StackFacts) -> str | None:
    if drift.origin == "refresh" and drift.kind in ("missing", "replaced"):
        if stack.licensed:
            return "The license was replaced: another license is active in coderd."
        if stack.licensed is False:
            return "The license was removed: coderd has none now."
        return "The license is no longer in coderd."
    if drift.not_created:
        return "The license was not uploaded yet."
    if "supported" in drift.paths:
        return "Another build of coderd runs, which does not know licenses."
    if "jwt" in drift.paths:
        return "The config has another license than the one that was uploaded."
    if drift.paths == ("needed_features",):
        return "The config needs other licensed features than at the last update."
    return None


LICENSE = Descriptor(
    name="License",
    noun="license",
    secret_fields=("jwt",),
    derived=("needed_features",),
    cause=_cause,
)
