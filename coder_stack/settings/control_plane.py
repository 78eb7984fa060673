"""coderd itself: its Deployment, its database, and the namespaces of workspaces."""

from collections.abc import Collection, Iterator

from pydantic import Field

from coder_stack.naming import (
    CODERD_NAME,
    CODERD_NAMESPACE,
    database_name,
    database_secret_name,
)
from coder_stack.settings.database import CloudNativePg, Database
from coder_stack.settings.exposure import ExposedSettings
from coder_stack.settings.part import Clash, Label, StackName, Url
from coder_stack.settings.workload import Image, Resources

# What somebody else's coderd may be known by: the rest describes one that the stack deploys.
_OF_EXISTING = {"name", "namespace", "access_url", "image", "service", "tls"}


class ControlPlaneSettings(ExposedSettings):
    """coderd itself."""

    deploy: bool = Field(
        default=True,
        description=(
            "Deploy coderd. If false, it is there already, e.g. from its Helm chart, and none of "
            "its objects is touched; needs `accessUrl`, or `access.throughApiServer` and `name`."
        ),
    )
    from_stack: StackName | None = Field(
        default=None,
        description=(
            "Another stack that deploys coderd: its URL, deployment id and image are taken from "
            "that stack's outputs, and none of its objects is touched."
        ),
    )
    name: Label = Field(
        default=CODERD_NAME, description="Name of the Deployment, Service and ServiceAccount."
    )
    namespace: Label = Field(default=CODERD_NAMESPACE, description="Namespace of coderd.")
    create_namespace: bool = Field(
        default=True,
        description="Create the namespace. If false, it must exist and is never deleted.",
    )
    image: Image = Field(default=Image(), description="Which image to run.")
    allow_downgrade: bool = Field(
        default=False,
        description=(
            "Allow a lower version than the running one. coderd does not start with a newer "
            "database: restore a backup first."
        ),
    )
    resources: Resources = Field(
        default=Resources(requests={"cpu": "500m", "memory": "1Gi"}, limits={"memory": "4Gi"}),
        description="Requests and limits of a pod.",
    )
    access_url: Url | None = Field(
        default=None, description="URL at which users reach Coder. Default: the Service's URL."
    )
    database: Database | None = Field(
        default=None, description="The database. Default: coderd's built-in one, for trials only."
    )
    workspace_deployments: bool = Field(
        default=True, description="Let templates create Deployments, not only pods and volumes."
    )
    workspace_namespaces: tuple[Label, ...] = Field(
        default=(), strict=False, description="Additional existing namespaces for workspaces."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Check the database's name, and what is true of anything that users reach."""
        yield from super().clashes(invalid)
        yield from self._unused()
        given_name = self.cloud_native_pg.name if self.cloud_native_pg else None
        if given_name == self.name and "name" not in invalid:
            why = "must differ from controlPlane.name: both need a ServiceAccount of their own"
            yield Clash("database.cloudNativePg.name", why)

    def _unused(self) -> Iterator[Clash]:
        """Refuse fields that would change nothing, because the stack does not deploy coderd."""
        if self.from_stack and "deploy" in self.model_fields_set:
            yield Clash("deploy", "is unused with fromStack: remove one of them")
        if not self.exists_already:
            return
        by = "fromStack" if self.from_stack else "deploy: false"
        allowed = _OF_EXISTING - ({"access_url"} if self.from_stack else set())
        for name in self.model_fields_set - allowed - {"deploy", "from_stack"}:
            alias = type(self).model_fields[name].alias or name
            yield Clash(alias, f"is unused with {by}: remove one of them")

    @property
    def exists_already(self) -> bool:
        """Whether somebody else deploys coderd."""
        return not self.deploy or self.from_stack is not None

    @property
    def cloud_native_pg(self) -> CloudNativePg | None:
        """The Cluster that the config declares, if it does."""
        return self.database.cloud_native_pg if self.database else None

    @property
    def database_name(self) -> str:
        """Name of that Cluster."""
        return (self.cloud_native_pg and self.cloud_native_pg.name) or database_name(self.name)

    @property
    def database_secret(self) -> tuple[str, str] | None:
        """Name and key of the Secret with the database's URL; None for the built-in database."""
        if self.cloud_native_pg:
            return database_secret_name(self.database_name), "uri"
        if self.database and self.database.secret_name:
            return self.database.secret_name, self.database.secret_key
        return None

    @property
    def in_cluster_url(self) -> str:
        """The Service's URL inside the cluster (CP4)."""
        return f"{self.scheme}://{self.name}.{self.namespace}.svc.cluster.local:{self.service_port}"
