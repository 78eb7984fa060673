"""One descriptor per kind of resource: its type, noun, feature, secrets, and how its drift is said.

The providers, the reports, the policies, the docs and the tests read it here. A new coderd object
begins with a file in this folder; CONTRIBUTING.md has the recipe.
"""

from coder_stack.descriptors.descriptor import TYPE_PREFIX, Descriptor
from coder_stack.descriptors.entitlements import ENTITLEMENTS
from coder_stack.descriptors.license import LICENSE
from coder_stack.descriptors.operator_access import OPERATOR_ACCESS
from coder_stack.descriptors.organization import ORGANIZATION
from coder_stack.descriptors.provisioner_key import PROVISIONER_KEY
from coder_stack.descriptors.readers import DAEMONS_CONNECTED, FEATURE_GATE, PROXY_HEALTH
from coder_stack.descriptors.secret_value import SECRET_VALUE
from coder_stack.descriptors.workspace_proxy import WORKSPACE_PROXY

__all__ = [
    "DAEMONS_CONNECTED",
    "DESCRIPTORS",
    "ENTITLEMENTS",
    "FEATURE_GATE",
    "LICENSE",
    "OPERATOR_ACCESS",
    "ORGANIZATION",
    "PROVISIONER_KEY",
    "PROXY_HEALTH",
    "SECRET_VALUE",
    "TYPE_PREFIX",
    "WORKSPACE_PROXY",
    "Descriptor",
]

DESCRIPTORS = {
    each.type: each
    for each in (
        *(OPERATOR_ACCESS, LICENSE, ENTITLEMENTS, FEATURE_GATE, SECRET_VALUE),
        *(PROVISIONER_KEY, DAEMONS_CONNECTED, WORKSPACE_PROXY, PROXY_HEALTH, ORGANIZATION),
    )
}
"""By Pulumi's type."""
