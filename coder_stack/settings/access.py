"""How this program connects and authenticates to coderd, and where the license is.

Tokens, passwords and licenses are secrets of the stack, or are in Kubernetes Secrets that these
settings name. None of them is a value of a model.
"""

from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import Field

from coder_stack.coderd.names import HYPHENATED, HYPHENATED_RULE
from coder_stack.settings.part import (
    Clash,
    CoderName,
    Label,
    ObjectName,
    Part,
    Reference,
    SecretKey,
    Shape,
    Url,
)


class _SecretAnywhere(Part):
    name: ObjectName = Field(description="Name of the Secret.")
    namespace: Label | None = Field(
        default=None, description="Namespace of the Secret. Default: coderd's."
    )
    key: SecretKey

    def references(self) -> Iterator[Reference]:
        """Return the Secret, whose absence is a condition of the stack."""
        yield Reference("", self.name, (self.key,), namespace=self.namespace, has_condition=True)


class TokenSecret(_SecretAnywhere):
    """A Kubernetes Secret with a session token."""

    key: SecretKey = Field(default="token", description="Key in the Secret's data.")


class LicenseSecret(_SecretAnywhere):
    """A Kubernetes Secret with a license."""

    key: SecretKey = Field(default="license", description="Key in the Secret's data.")


class PasswordSecret(_SecretAnywhere):
    """A Kubernetes Secret with the first user's password."""

    key: SecretKey = Field(default="password", description="Key in the Secret's data.")


class AccessSettings(Part):
    """How Pulumi connects to coderd's API, and with which account."""

    url: Url | None = Field(
        default=None,
        description=(
            "URL at which Pulumi reaches coderd. Default: none. Pulumi then reaches coderd's "
            "Service through the Kubernetes API server, which needs only the kubeconfig: no DNS "
            "name and no Ingress."
        ),
    )
    through_api_server: bool | None = Field(
        default=None,
        description=(
            "`false`: Pulumi reaches coderd at `controlPlane.accessUrl`, if that is set. Default: "
            "through the Kubernetes API server, unless `url` is set."
        ),
    )
    ca_bundle: str | None = Field(
        default=None,
        min_length=1,
        description="CA bundle to verify coderd's certificate with: a path, or PEM.",
    )
    allow_insecure: bool = Field(
        default=False, description="Allow tokens over plain http to another machine."
    )
    token_secret: TokenSecret | None = Field(
        default=None,
        description=(
            "Secret with a session token of an owner. Default: the secret config `token`. Without "
            "either, the stack creates the first user if there is none, and a token for it."
        ),
    )
    password_secret: PasswordSecret | None = Field(
        default=None,
        description="Secret with the first user's password. Default: config `initialPassword`.",
    )
    username: CoderName = Field(default="admin", description="Name of the first user.")
    email: Annotated[
        str, Shape(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address, e.g. admin@example.com")
    ] = Field(default="admin@example.com", description="E-mail address of the first user.")
    token_name: (
        Annotated[
            str,
            Shape(HYPHENATED, f"{HYPHENATED_RULE}, at most 64", 64),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "Name of the token that the stack creates. Default: `coder-stack-` and a hash of "
            "project and stack."
        ),
    )
    token_days: int = Field(
        default=365, ge=1, le=3650, description="Lifetime in days of the stack's token."
    )
    wait_seconds: int = Field(
        default=180, ge=1, le=900, description="How long to wait for coderd to start."
    )

    def clashes(self, invalid: Collection[str] = ()) -> Iterator[Clash]:
        """Require one connection and one credential."""
        if self.url and self.through_api_server:
            yield Clash("throughApiServer", "set this or url, not both")
        if self.password_secret and self.token_secret:
            yield Clash("passwordSecret", "is unused with tokenSecret: remove one of them")


class LicenseSettings(Part):
    """The license. Its text is the secret config `licenseJwt` or in a Kubernetes Secret."""

    secret: LicenseSecret | None = Field(
        default=None, description="Secret with the license. Default: config `licenseJwt`."
    )
    warn_days: int = Field(
        default=30, ge=0, le=365, description="Warn this many days before the license expires."
    )
