"""The stack files in examples/ that tests load and bring up."""

from sandbox.paths import CHECKOUT

EXAMPLES = sorted(CHECKOUT.glob("examples/*.yaml"))
