"""The plugin's errors.

    PluginError                 a sentence for the user
    ├── Unreachable             the API server does not answer, or the kubeconfig cannot be used
    ├── NoSuchKind              the cluster does not serve this apiVersion/kind
    ├── ApiError                the API server refused (status, reason, message as it gave them)
    ├── NotReady                the object exists but did not become ready (carries its live state)
    ├── InitFailed              the same, put together for the engine to store
    ├── Cancelled               the engine has cancelled the operation
    └── Unsupported             only the official plugin can do this

No message contains a request body, or of a response body more than its `message`.
"""

from sandbox.errors import SandboxError
from sandbox.kubernetes_plugin.values import Object, as_list, as_object, as_text, dig


class PluginError(SandboxError):
    """Any error of this plugin; the text is shown to the user."""


class Unreachable(PluginError):  # noqa: N818 - reads as a sentence where it is raised
    """The API server does not answer, or the kubeconfig cannot be used."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"configured Kubernetes cluster is unreachable: {reason}")


class NoSuchKind(PluginError):  # noqa: N818
    """The cluster does not have the kind, for example because a CRD is missing."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


class Unsupported(PluginError):  # noqa: N818
    """Only the official plugin can do this."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not supported by the sandbox's stand-in for the kubernetes plugin; "
            "use the official plugin (`pulumi plugin install resource kubernetes`)"
        )


class Cancelled(PluginError):  # noqa: N818
    """The engine has cancelled the operation."""


class ApiError(PluginError):
    """An error response of the API server."""

    def __init__(self, status: int, body: Object, fallback: str) -> None:
        message = as_text(body.get("message")) or fallback
        super().__init__(message)
        self.status = status
        self.reason = as_text(body.get("reason"))
        self.details = as_object(body.get("details"))

    @property
    def not_found(self) -> bool:
        """Return whether the object or its namespace does not exist."""
        return self.status == 404

    @property
    def forbidden(self) -> bool:
        """Return whether the credentials lack permission."""
        return self.status == 403

    @property
    def already_exists(self) -> bool:
        """Return whether an object of that name exists."""
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def field_conflict(self) -> bool:
        """Return whether another field manager owns a field with another value."""
        causes = as_list(self.details.get("causes"))
        return self.status == 409 and any(
            dig(cause, "reason") == "FieldManagerConflict" for cause in causes
        )

    @property
    def missing_namespace(self) -> bool:
        """Return whether the object's namespace does not exist."""
        return self.not_found and self.details.get("kind") == "namespaces"

    @property
    def immutable_field(self) -> bool:
        """Return whether the field cannot be changed."""
        return self.status == 422 and "field is immutable" in str(self)

    @property
    def passing(self) -> bool:
        """Return whether a retry may succeed: overload, restart, or a conflict of versions."""
        lost_race = self.status == 409 and not (self.already_exists or self.field_conflict)
        return lost_race or self.status in {429, 500, 502, 503, 504}


class NotReady(PluginError):  # noqa: N818
    """The object exists but is not ready, for these reasons."""

    def __init__(self, summary: str, reasons: list[str], live: Object) -> None:
        super().__init__(summary)
        self.reasons = reasons
        self.live = live


class InitFailed(PluginError):  # noqa: N818
    """The object exists but is not ready: the engine must store it with the reasons."""

    def __init__(
        self, identity: str, outputs: Object, reasons: list[str], inputs: Object | None = None
    ) -> None:
        super().__init__(reasons[0])
        self.identity = identity
        self.outputs = outputs
        self.reasons = reasons
        self.inputs = inputs
