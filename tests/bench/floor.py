"""The floor: a program with as many resources of the same kinds, that do and hold nothing.

What Pulumi itself costs, nobody's program can be below it.
"""

from pathlib import Path

from pulumi import automation as auto

from sandbox.engine import Engine
from tests.cluster_access import Cluster
from tests.engine_project import Project

PROGRAM = """
import pulumi
import pulumi_kubernetes as kubernetes
from pulumi import dynamic


class Nothing(dynamic.ResourceProvider):
    serialize_as_secret_always = False

    def create(self, props):
        return dynamic.CreateResult("nothing", props)

    def read(self, id_, props):
        return dynamic.ReadResult(id_, props)


class Trivial(dynamic.Resource):
    def __init__(self, name, tag, opts):
        super().__init__(Nothing(), name, {"tag": tag}, opts)


class Provisioner(pulumi.ComponentResource):
    def __init__(self, name, tag, opts):
        super().__init__("floor:index:Provisioner", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        for number in range(5):
            kubernetes.core.v1.ConfigMap(
                f"{name}-{number}",
                metadata={"namespace": "default", "name": f"{name}-{number}"},
                data={"tag": tag},
                opts=child,
            )
        for number in range(2):
            Trivial(f"{name}-trivial-{number}", tag, child)


config = pulumi.Config()
cluster = kubernetes.Provider("cluster", kubeconfig=config.require("kubeconfig"))
options = pulumi.ResourceOptions(providers=[cluster])
changed = config.get("tag") or "0"
for number in range(config.require_int("provisioners")):
    Provisioner(f"{config.require('prefix')}-{number}", changed if number == 0 else "0", options)
"""


class Floor:
    """The stack of that program."""

    def __init__(self, engine: Engine, cluster: Cluster, folder: Path) -> None:
        folder.mkdir()
        self.project = Project.create(engine, cluster, folder, PROGRAM)
        self._set("kubeconfig", str(cluster.kubeconfig))
        self._set("prefix", self.project.namespace)

    def resize(self, provisioners: int) -> None:
        """Declare that many."""
        self._set("provisioners", str(provisioners))

    def change(self, tag: str) -> None:
        """Change something small about the first one."""
        self._set("tag", tag)

    def _set(self, key: str, value: str) -> None:
        self.project.stack.set_config(key, auto.ConfigValue(value))
