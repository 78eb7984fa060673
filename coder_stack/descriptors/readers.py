"""Resources that only read: nothing of them is in coderd, and none of them holds a secret."""

from coder_stack.descriptors.descriptor import Descriptor

DAEMONS_CONNECTED = Descriptor(name="DaemonsConnected", noun="provisioner daemons")
FEATURE_GATE = Descriptor(name="FeatureGate", noun="feature gate")
PROXY_HEALTH = Descriptor(name="ProxyHealth", noun="workspace proxy's health")
