"""Resources that only read: nothing of them is in coderd, and none of them holds a secret."""

from coder_stack.descriptors.descriptor import Descriptor

__all__ = ["DAEMONS_CONNECTED", "FEATURE_GATE", "PROXY_HEALTH"]

DAEMONS_CONNECTED = Descriptor(name="DaemonsConnected", noun="provisioner daemons")
FEATURE_GATE = Descriptor(name="FeatureGate", noun="feature gate")
PROXY_HEALTH = Descriptor(name="ProxyHealth", noun="workspace proxy's health")
