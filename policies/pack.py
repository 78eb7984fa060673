"""All rules of the pack, by family, for the engine and for docs/policies.md."""

from collections.abc import Mapping, Sequence

from pulumi_policy import Policy

import access_rules
import disruption_rules
import image_rules
import key_rules
import licensing_rules
import ownership_rules
import secret_rules
import security_context_rules
import version_rules
import workload_rules

NAME = "coder-stack"

FAMILIES: Mapping[str, Sequence[Policy]] = {
    "Workload": (
        *image_rules.RULES,
        *security_context_rules.RULES,
        *workload_rules.RULES,
        *disruption_rules.RULES,
    ),
    "Secrets": secret_rules.RULES,
    "Access": access_rules.RULES,
    "Licensing": licensing_rules.RULES,
    "Versions": version_rules.RULES,
    "Keys": key_rules.RULES,
    "Ownership": ownership_rules.RULES,
}


def policies() -> list[Policy]:
    """Return every rule, in the order of the docs."""
    return [policy for family in FAMILIES.values() for policy in family]
