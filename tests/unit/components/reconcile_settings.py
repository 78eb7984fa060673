"""Settings of a reconcile job, and of what it has to reach."""

from typing import Any

from coder_stack.settings import (
    ControlPlaneSettings,
    Ingress,
    LicenseSecret,
    ReconcileJobSettings,
    SecretRef,
    TokenSecret,
)

TOKEN = TokenSecret(name="coder-token", namespace="vault")
LICENSE = LicenseSecret(name="coder-license", namespace="vault")
IMAGE = "registry.example.com/coder-stack:1.2.0"


def job(**fields: Any) -> ReconcileJobSettings:
    given = {
        "image": IMAGE,
        "backend": SecretRef(name="pulumi", key="backend"),
        "passphrase": SecretRef(name="pulumi", key="passphrase"),
    }
    return ReconcileJobSettings(**(given | fields))


def exposed(**fields: Any) -> ControlPlaneSettings:
    return ControlPlaneSettings(access_url="https://coder.test", ingress=Ingress(), **fields)
