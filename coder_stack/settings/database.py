"""coderd's database: a Secret with the URL of one that exists, or a Cluster of CloudNativePG.

Names and words of a Cluster are those of CloudNativePG's API. The operator itself, backups and
databases elsewhere are not managed; docs/database.md explains all three ways.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from coder_stack.naming import DATABASE_NAME, DATABASE_NAME_RULE, MAX_DATABASE_NAME
from coder_stack.settings.part import (
    Clash,
    Manifest,
    ObjectName,
    Part,
    Quantity,
    Reference,
    SecretKey,
    Shape,
)

_URL_KEY = "url"
# Parts of a Cluster's spec that have a field of their own here.
_OWN_FIELDS: Mapping[tuple[str, ...], str] = {
    ("instances",): "instances",
    ("imageName",): "imageName",
    ("resources",): "resources",
    ("storage", "size"): "storage",
    ("storage", "storageClass"): "storageClass",
    ("postgresql", "parameters"): "parameters",
}


class CloudNativePg(Part):
    """A Cluster of the CloudNativePG operator, which must be installed."""

    name: (
        Annotated[
            str,
            Shape(DATABASE_NAME, DATABASE_NAME_RULE, MAX_DATABASE_NAME, "name"),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "Name of the Cluster. Default: the control plane's name and `-database`. Another name "
            "is another, empty database."
        ),
    )
    instances: int = Field(
        default=1,
        ge=1,
        le=100,
        description="Number of PostgreSQL instances: 1 as for coderd's own pods, 3 to survive the "
        "loss of a node.",
    )
    storage: Quantity = Field(
        default="10Gi", description="Size of each instance's volume. It can only grow."
    )
    storage_class: ObjectName | None = Field(
        default=None, description="StorageClass of the volumes. Default: the cluster's."
    )
    image_name: Annotated[str, Shape(r"\S+", "an image reference without spaces")] | None = Field(
        default=None, description="PostgreSQL image. Default: the operator's."
    )
    resources: Manifest = Field(
        default={}, description="Requests and limits of an instance, as in Kubernetes."
    )
    parameters: dict[str, str] = Field(
        default={}, description="PostgreSQL parameters, e.g. `max_connections`."
    )
    spec: Manifest = Field(
        default={},
        description=(
            "More of the Cluster's spec, in CloudNativePG's own words: backup, plugins, affinity, "
            "monitoring. Merged over the fields above; `bootstrap` replaces ours."
        ),
    )
    wait_seconds: int = Field(
        default=600, ge=1, le=7200, description="How long an update waits until it is ready."
    )
    deletion: Literal["keep", "delete"] = Field(
        default="keep",
        description=(
            "What happens to the Cluster and its data when the stack is destroyed or this entry is "
            "removed. `keep` leaves it, and its namespace, in the cluster; the next `up` takes "
            "both over again. `delete` deletes it with everything in it."
        ),
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Give each value one place, and keep the Secret that coderd reads."""
        for path, field in _OWN_FIELDS.items():
            if _at(self.spec, path) is not None:
                yield Clash(f"spec.{'.'.join(path)}", f"set {field} instead")
        bootstrap = _at(self.spec, ("bootstrap",))
        for method in cast("Mapping[str, Any]", bootstrap if isinstance(bootstrap, dict) else {}):
            if _at(self.spec, ("bootstrap", method, "secret")) is not None:
                why = "remove it: the operator then creates the Secret that coderd reads"
                yield Clash(f"spec.bootstrap.{method}.secret", why)


class Database(Part):
    """Where coderd's data is: one of `secretName` and `cloudNativePg`."""

    secret_name: ObjectName | None = Field(
        default=None,
        description="Existing Secret in coderd's namespace with the URL of a PostgreSQL database.",
    )
    secret_key: SecretKey = Field(default=_URL_KEY, description="Key of the URL in that Secret.")
    cloud_native_pg: CloudNativePg | None = Field(
        default=None, description="A PostgreSQL cluster that CloudNativePG runs. Default: none."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Require one of both ways."""
        if self.cloud_native_pg is None:
            if self.secret_name is None:
                yield Clash("secretName", "set this or cloudNativePg")
            return
        if self.secret_name is not None:
            yield Clash("cloudNativePg", "set this or secretName, not both")
        elif self.secret_key != _URL_KEY:
            yield Clash("secretKey", "is unused with cloudNativePg: remove one of them")

    def references(self) -> Iterator[Reference]:
        """Return the Secret with the URL; the one of CloudNativePG comes with its Cluster."""
        if self.secret_name is not None:
            yield Reference("secretName", self.secret_name, (self.secret_key,))


def _at(tree: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        tree = cast("Mapping[str, Any]", tree).get(step) if isinstance(tree, dict) else None
    return tree
