"""Simulate the programs in the pods. KWOK only marks pods as running.

`simulator` runs `daemon` and `proxy` for each running pod, `network` connects the API server to
coderd's pods, and `background` is the sandbox's process with all of it. A test with daemons and
proxies in its namespace uses `with simulate_pods(kubeconfig, namespace, coderd_url) as simulator`.
"""

from sandbox.pods.simulator import PodSimulator, simulate_pods

__all__ = ["PodSimulator", "simulate_pods"]
