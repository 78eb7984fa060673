"""The stack files in examples/ that tests load and bring up."""

from sandbox.paths import CHECKOUT

# Needs controlPlane.deploy; until the config has that field, tests/unit/from_helm checks the rest.
_LATER = "beside-helm.yaml"
EXAMPLES = sorted(each for each in CHECKOUT.glob("examples/*.yaml") if each.name != _LATER)
