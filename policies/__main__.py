"""Start the policy pack for `pulumi preview --policy-pack policies`.

Only this module constructs a PolicyPack: that call serves the engine and never returns.
"""

from pulumi_policy import PolicyPack

from decoding import decode_once
from pack import NAME, policies
from pack_version import use_declared_version

decode_once()
use_declared_version()
PolicyPack(name=NAME, policies=policies())
