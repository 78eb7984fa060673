"""The stack's config as typed settings: fields, defaults and checks.

__main__.py loads it before any resource exists. docs/configuration.md and its JSON schema are
generated from the fields' descriptions. Secrets of the config are not part of it.
"""

from coder_stack.settings.access import (
    AccessSettings,
    LicenseSecret,
    LicenseSettings,
    PasswordSecret,
    TokenSecret,
)
from coder_stack.settings.control_plane import ControlPlaneSettings
from coder_stack.settings.database import CloudNativePg, Database
from coder_stack.settings.drift import DriftSettings, IgnoreRule
from coder_stack.settings.exposure import (
    ExposedSettings,
    HttpRoute,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
    Service,
    ServiceMonitor,
    Tls,
)
from coder_stack.settings.hints import hints
from coder_stack.settings.kubernetes import KubernetesSettings
from coder_stack.settings.loading import SECRETS, ConfigError, load, namespace_of
from coder_stack.settings.notify import NotifySettings, WatchSettings
from coder_stack.settings.organizations import OrganizationSettings
from coder_stack.settings.part import Part, SecretRef
from coder_stack.settings.provisioner import KeySettings, ProvisionerSettings
from coder_stack.settings.reconcile_job import ReconcileJobSettings
from coder_stack.settings.tree import Settings
from coder_stack.settings.workload import Image, Probe, Resources, WorkloadSettings
from coder_stack.settings.workspace_proxy import ProxySettings

__all__ = [
    "SECRETS",
    "AccessSettings",
    "CloudNativePg",
    "ConfigError",
    "ControlPlaneSettings",
    "Database",
    "DriftSettings",
    "ExposedSettings",
    "HttpRoute",
    "IgnoreRule",
    "Image",
    "Ingress",
    "KeySettings",
    "KubernetesSettings",
    "LicenseSecret",
    "LicenseSettings",
    "NetworkPolicy",
    "NotifySettings",
    "OrganizationSettings",
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
    "WatchSettings",
    "WorkloadSettings",
    "hints",
    "load",
    "namespace_of",
]
