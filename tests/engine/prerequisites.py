"""Create what a stack's config refers to, as its user does before the first `pulumi up`.

No container runs in the cluster of the tests, so nobody reads the values.
"""

from coder_stack.settings import Settings, load
from coder_stack.settings.references import needed_objects
from coder_stack.settings.stack_file import read_stack_file
from tests.cluster_access import Cluster
from tests.engine_project import PROJECT, Project


def settings_of(project: Project) -> Settings:
    """Load the config that the stack has now."""
    given = read_stack_file(project.config_file, PROJECT)
    return load(given.texts, PROJECT, given.secret_keys)


def provide(project: Project, far: Cluster | None = None) -> None:
    """Create the Secrets and ConfigMaps that do not exist yet; their namespaces must.

    `far` is the cluster of the parts that are in another one than the control plane.
    """
    data: dict[tuple[Cluster, str], dict[str, str]] = {}
    for needed in needed_objects(settings_of(project)):
        each = needed.object
        path = f"/api/v1/namespaces/{needed.namespace}/{each.kind.lower()}s/{each.name}"
        cluster = far if far and needed.cluster else project.cluster
        data.setdefault((cluster, path), {}).update(dict.fromkeys(each.keys, "eA=="))
    for (cluster, path), content in data.items():
        if cluster.get(path) is None:
            folder, _, name = path.rpartition("/")
            cluster.create(folder, {"metadata": {"name": name}, "data": content})
