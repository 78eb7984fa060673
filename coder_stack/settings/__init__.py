"""The whole stack config as one typed tree: what may be set, with which default, and what is wrong.

Read once, by __main__.py, before any resource exists. Each field is described once, where it is
declared; docs/configuration.md and its JSON schema are generated from there. Secrets do not pass
through here: they stay Pulumi secrets all the way.
"""

from coder_stack.settings.access import (
    Access,
    License,
    LicenseSecret,
    PasswordSecret,
    TokenSecret,
)
from coder_stack.settings.control_plane import (
    ControlPlane,
    Database,
    HttpRoute,
    Ingress,
    NetworkPolicy,
    PodDisruptionBudget,
    Service,
    ServiceMonitor,
    Tls,
)
from coder_stack.settings.drift import Drift, IgnoreRule
from coder_stack.settings.fleet import Key, Provisioner, WorkspaceProxy
from coder_stack.settings.hints import hints
from coder_stack.settings.loading import SECRETS, ConfigError, load
from coder_stack.settings.part import Part, SecretRef
from coder_stack.settings.reconcile_job import ReconcileJob
from coder_stack.settings.tree import Kubernetes, Settings
from coder_stack.settings.workload import Image, Probe, Resources, Workload

__all__ = [
    "SECRETS",
    "Access",
    "ConfigError",
    "ControlPlane",
    "Database",
    "Drift",
    "HttpRoute",
    "IgnoreRule",
    "Image",
    "Ingress",
    "Key",
    "Kubernetes",
    "License",
    "LicenseSecret",
    "NetworkPolicy",
    "Part",
    "PasswordSecret",
    "PodDisruptionBudget",
    "Probe",
    "Provisioner",
    "ReconcileJob",
    "Resources",
    "SecretRef",
    "Service",
    "ServiceMonitor",
    "Settings",
    "Tls",
    "TokenSecret",
    "Workload",
    "WorkspaceProxy",
    "hints",
    "load",
]
