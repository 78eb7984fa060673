"""An organization."""

from coder_stack.descriptors.descriptor import Descriptor, named_object_cause
from coder_stack.features import MULTIPLE_ORGANIZATIONS

_TEXTS = {"display_name": "display name", "description": "description", "icon": "icon"}

ORGANIZATION = Descriptor(
    name="Organization",
    noun="organization",
    feature=MULTIPLE_ORGANIZATIONS,
    config_list="organizations",
    component="organization",
    cause=named_object_cause("organization", _TEXTS),
)
