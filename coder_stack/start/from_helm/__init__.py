"""A stack's config from values of Coder's Helm charts, for `coder-stack config from-helm`.

values.py reads files, control_plane.py and provisioner.py are tables of rules, translation.py
applies them, render.py writes the file and the list. Only values.py reads anything.
"""

from coder_stack.start.from_helm.fitting import RefusedError
from coder_stack.start.from_helm.outcomes import Kind, Outcome
from coder_stack.start.from_helm.render import report, stack_file
from coder_stack.start.from_helm.translation import Target, Translation, translate
from coder_stack.start.from_helm.values import NotValuesError, Values, read_values

__all__ = [
    "Kind",
    "NotValuesError",
    "Outcome",
    "RefusedError",
    "Target",
    "Translation",
    "Values",
    "read_values",
    "report",
    "stack_file",
    "translate",
]
