"""The policy pack, as `pulumi preview --policy-pack policies` starts it.

The only place that constructs a PolicyPack: that call serves the engine and never returns.
"""

from pulumi_policy import PolicyPack

from decoding import decode_once
from pack import NAME, policies

decode_once()
PolicyPack(name=NAME, policies=policies())
