"""A workspace proxy's registration."""

from coder_stack.descriptors.descriptor import Descriptor, named_object_cause
from coder_stack.features import WORKSPACE_PROXIES

_TEXTS = {"display_name": "display name", "icon": "icon"}

WORKSPACE_PROXY = Descriptor(
    name="WorkspaceProxyRegistration",
    noun="workspace proxy",
    secret_fields=("proxy_token",),
    feature=WORKSPACE_PROXIES,
    config_list="proxies",
    component="proxy",
    cause=named_object_cause("proxy", _TEXTS, "registered"),
)
