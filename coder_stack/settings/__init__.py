"""The whole stack config as one typed tree: what may be set, with which default, and what is wrong.

Read once, by __main__.py, before any resource exists. Each field is described once, where it is
declared; docs/configuration.md and its JSON schema are generated from there. Secrets do not pass
through here: they stay Pulumi secrets all the way.
"""

from coder_stack.settings.access import (
    AccessSettings,
    LicenseSecret,
    LicenseSettings,
    PasswordSecret,
    TokenSecret,
)
from coder_stack.settings.control_plane import (
    ControlPlaneSettings,
    Database,
    HttpRoute,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
    Service,
    ServiceMonitor,
    Tls,
)
from coder_stack.settings.drift import DriftSettings, IgnoreRule
from coder_stack.settings.fleet import KeySettings, ProvisionerSettings, ProxySettings
from coder_stack.settings.hints import hints
from coder_stack.settings.loading import SECRETS, ConfigError, load
from coder_stack.settings.part import Part, SecretRef
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.tree import KubernetesSettings, Settings
from coder_stack.settings.workload import Image, Probe, Resources, WorkloadSettings

__all__ = [
    "SECRETS",
    "AccessSettings",
    "ConfigError",
    "ControlPlaneSettings",
    "Database",
    "DriftSettings",
    "HttpRoute",
    "IgnoreRule",
    "Image",
    "Ingress",
    "KeySettings",
    "KubernetesSettings",
    "LicenseSecret",
    "LicenseSettings",
    "NetworkPolicy",
    "Part",
    "PasswordSecret",
    "PodDisruptionBudget",
    "Probe",
    "ProvisionerSettings",
    "ProxySettings",
    "ReconcileJobSettings",
    "Resources",
    "SecretRef",
    "Service",
    "ServiceMonitor",
    "Settings",
    "Tls",
    "TokenSecret",
    "WorkloadSettings",
    "hints",
    "load",
]
