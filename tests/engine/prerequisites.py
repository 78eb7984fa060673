"""Create what a stack's config refers to, as its user does before the first `pulumi up`.

No container runs in the cluster of the tests, so nobody reads the values.
"""

from collections.abc import Iterable

from coder_stack.settings import Settings, load
from coder_stack.settings.references import Needed, needed_objects
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
    needed = list(needed_objects(settings_of(project)))
    _create(project.cluster, [each for each in needed if each.cluster is None])
    if far:
        _create(far, [each for each in needed if each.cluster])


def _create(cluster: Cluster, wanted: Iterable[Needed]) -> None:
    data: dict[str, dict[str, str]] = {}
    for needed in wanted:
        each = needed.object
        path = f"/api/v1/namespaces/{needed.namespace}/{each.kind.lower()}s/{each.name}"
        data.setdefault(path, {}).update(dict.fromkeys(each.keys, "eA=="))
    for path, content in data.items():
        if cluster.get(path) is None:
            folder, _, name = path.rpartition("/")
            cluster.create(folder, {"metadata": {"name": name}, "data": content})
