"""What runs inside the pods: KWOK says that they run, this package does what their programs do.

`container` reads a pod (pure), `kubelet` gives its program an environment, `addresses` says where
its URLs lead, `daemon` and `proxy` are the programs, `watching` follows the cluster, `front_door`
gives addresses to what stands before the pods, `playing` brings them together, `network` leads the
API server to coderd, and `world` is the sandbox's background process with all of it. A test that
wants live daemons and proxies in its own namespace says:
`with playing(kubeconfig, namespace, coderd_url) as players: …`.
"""

from sandbox.pods.playing import Players, playing

__all__ = ["Players", "playing"]
