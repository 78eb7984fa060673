"""Settings of a workspace proxy."""

from typing import Annotated

from pydantic import Field

from coder_stack.coderd.names import proxy_name_fault
from coder_stack.settings.exposure import ExposedSettings
from coder_stack.settings.part import Label, SecretKey, Shape, Url, faultless
from coder_stack.settings.workload import Image


class ProxySettings(ExposedSettings):
    """A workspace proxy, registered in coderd and deployed in this cluster."""

    name: Annotated[Label, faultless(proxy_name_fault)] = Field(
        description="Name of the proxy in coderd and prefix of its Kubernetes objects."
    )
    display_name: Annotated[
        str,
        Shape(r"(?:\S(?:.*\S)?)?", "at most 64 characters, no spaces at either end", 64),
    ] = Field(default="", description="Name that users see. Default: the name.")
    icon: str = Field(default="", description="Path or URL of an icon. Default: a globe.")
    # Settings are frozen, so a narrower type is safe.
    access_url: Url = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        description="URL at which users, and coderd's health check, reach the proxy."
    )
    derp_only: bool = Field(default=False, description="Only relay connections; serve no apps.")
    cluster: Label | None = Field(
        default=None, description="Name of a cluster in `clusters`. Default: that of `kubernetes`."
    )
    namespace: Label | None = Field(
        default=None, description="Existing namespace. Default: `controlPlane.namespace`."
    )
    image: Image | None = Field(default=None, description="Image. Default: the control plane's.")
    primary_url: Url | None = Field(
        default=None,
        description="URL at which the proxy reaches coderd. Default: access URL, else the Service.",
    )
    health_timeout_seconds: int = Field(
        default=75,
        ge=0,
        le=170,
        description="How long an update waits for a healthy proxy before it continues.",
    )
    rotation: str = Field(
        default="", description="Any text. Changing it rotates the token on the next run."
    )
    secret_name: Label | None = Field(
        default=None,
        description="Name of the Secret with the token. Default: `<name>-proxy-token`.",
    )
    secret_key: SecretKey = Field(default="token", description="Key in that Secret's data.")
