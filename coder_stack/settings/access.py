"""How this program reaches and enters coderd, and which license it brings.

Tokens, passwords and licenses themselves are secrets of the stack, or stand in Kubernetes Secrets
that are named here; none passes through a model.
"""

from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import Field

from coder_stack.settings.part import (
    Clash,
    CoderName,
    Label,
    ObjectName,
    Part,
    SecretKey,
    Shape,
    Url,
)

__all__ = ["Access", "License", "LicenseSecret", "PasswordSecret", "TokenSecret"]


class TokenSecret(Part):
    """A Kubernetes Secret with a session token."""

    name: ObjectName = Field(description="Name of the Secret.")
    key: SecretKey = Field(default="token", description="Key in the Secret's data.")
    namespace: Label | None = Field(
        default=None, description="Namespace of the Secret. Default: coderd's."
    )


class LicenseSecret(Part):
    """A Kubernetes Secret with a license."""

    name: ObjectName = Field(description="Name of the Secret.")
    key: SecretKey = Field(default="license", description="Key in the Secret's data.")
    namespace: Label | None = Field(
        default=None, description="Namespace of the Secret. Default: coderd's."
    )


class PasswordSecret(Part):
    """A Kubernetes Secret with the first user's password."""

    name: ObjectName = Field(description="Name of the Secret.")
    key: SecretKey = Field(default="password", description="Key in the Secret's data.")
    namespace: Label | None = Field(
        default=None, description="Namespace of the Secret. Default: coderd's."
    )


class Access(Part):
    """The way to coderd's API from where Pulumi runs, and the operator's account."""

    url: Url | None = Field(
        default=None,
        description=(
            "Where Pulumi reaches coderd. Default: `controlPlane.accessUrl`, if that is set, else "
            "through the API server."
        ),
    )
    through_api_server: bool = Field(
        default=False,
        description=(
            "Reach coderd's Service through the Kubernetes API server, with the kubeconfig's rights"
            " alone: needs no DNS name and no ingress."
        ),
    )
    ca_bundle: str | None = Field(
        default=None,
        min_length=1,
        description="Certificate authorities that signed coderd's certificate: a path, or PEM.",
    )
    allow_insecure: bool = Field(
        default=False, description="Send tokens over plain http to another machine."
    )
    token_secret: TokenSecret | None = Field(
        default=None,
        description=(
            "Use this session token of an owner. Default: the secret config `token`; without one, "
            "the first user is created if there is none, and a token is made for it."
        ),
    )
    password_secret: PasswordSecret | None = Field(
        default=None,
        description=(
            "Where the first user's password is. Default: the secret config `initialPassword`."
        ),
    )
    username: CoderName = Field(default="admin", description="Name of the first user.")
    email: Annotated[
        str, Shape(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address, e.g. admin@example.com")
    ] = Field(default="admin@example.com", description="E-mail address of the first user.")
    token_name: (
        Annotated[
            str,
            Shape(
                r"[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*",
                "letters and digits with single '-' between them, at most 64",
                64,
            ),
        ]
        | None
    ) = Field(
        default=None,
        description=(
            "Name of the token that is made. Default: `coder-stack-` and a hash of project and "
            "stack."
        ),
    )
    token_days: int = Field(
        default=365, ge=1, le=3650, description="Days until the token that is made expires."
    )
    wait_seconds: int = Field(
        default=180, ge=1, le=900, description="How long to wait for a coderd that is starting."
    )

    def clashes(self, unsure: Collection[str] = ()) -> Iterator[Clash]:
        """One way to coderd, not two, and one credential."""
        del unsure
        if self.url and self.through_api_server:
            yield Clash("throughApiServer", "give it or url, not both")
        if self.password_secret and self.token_secret:
            yield Clash("passwordSecret", "has no use beside tokenSecret: nobody logs in with it")


class License(Part):
    """The license; its text is the secret config `licenseJwt`, or in a Kubernetes Secret."""

    secret: LicenseSecret | None = Field(
        default=None, description="Where the license is. Default: the secret config `licenseJwt`."
    )
    warn_days: int = Field(
        default=30, ge=0, le=365, description="Warn so many days before the license expires."
    )
