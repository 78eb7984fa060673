"""Start the policy pack for `pulumi preview --policy-pack policies`.

Only this module constructs a PolicyPack: that call serves the engine and never returns.
"""

from pulumi_policy import PolicyPack

from decoding import decode_once
from pack import NAME, policies

decode_once()
PolicyPack(name=NAME, policies=policies())
