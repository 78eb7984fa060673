"""What the policy pack adds to a preview of fifty provisioners: a ratio, in one run."""

import statistics
import time
from pathlib import Path

import pytest

from sandbox.engine import Engine
from tests.engine.guarded import PACK
from tests.harness import Cluster, Project

_ROUNDS = 3
_PROVISIONERS = 50
_AT_MOST = 1.25
_PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s
from coder_stack.components.operator_handle import OperatorHandle
from coder_stack.components.provisioner import Provisioner, ProvisionerArgs
from coder_stack.settings import Image, Key
from coder_stack.settings import Provisioner as Settings

cluster = k8s.Provider("cluster", kubeconfig={kubeconfig!r}, enable_server_side_apply=True)
operator = OperatorHandle(
    connection={{"url": "http://127.0.0.1:9"}},
    token=pulumi.Output.secret("none"),
    deployment_id="11111111-2222-3333-4444-555555555555",
    version="v2.30.0",
    facts=pulumi.Output.from_input(
        {{"features": {{}}, "tier": "none", "stale": False, "reason": ""}}
    ),
)
for number in range({count}):
    name = f"pool-{{number}}"
    Provisioner(
        name,
        ProvisionerArgs(
            settings=Settings(name=name, key=Key(tags={{"pool": name}})),
            operator=operator,
            image=Image(),
            url="http://coder.coder.svc.cluster.local",
            namespace="default",
        ),
        pulumi.ResourceOptions(providers=[cluster]),
    )
"""


def seconds(project: Project, packs: list[str]) -> float:
    start = time.perf_counter()
    project.stack.preview(policy_packs=packs or None)
    return time.perf_counter() - start


@pytest.mark.timeout(1800)
def bench_the_pack_on_fifty_provisioners(engine: Engine, cluster: Cluster, tmp_path: Path) -> None:
    program = _PROGRAM.format(kubeconfig=str(cluster.kubeconfig), count=_PROVISIONERS)
    project = Project.create(engine, cluster, tmp_path, program)
    seconds(project, [PACK])
    # Turn about, so that a change of the machine's mood counts for both.
    pairs = [(seconds(project, []), seconds(project, [PACK])) for _ in range(_ROUNDS)]
    ratio = statistics.median(guarded / plain for plain, guarded in pairs)
    for plain, guarded in pairs:
        print(f"\npreview {plain:.1f} s, with the pack {guarded:.1f} s")
    print(f"preview with the policy pack / without: {ratio:.2f} (at most {_AT_MOST})")
    assert ratio < _AT_MOST
