"""The provider's options, which the engine passes as strings.

Options that this stand-in does not support are refused.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sandbox.kubernetes_plugin.errors import Unsupported

PREFIX: Final = "kubernetes:config:"
# The options of pulumi-kubernetes 4.x, and those that the engine adds.
KNOWN_OPTIONS: Final = frozenset(
    {
        "alwaysRender", "cluster", "clusterIdentifier", "context", "deleteUnreachable",
        "enableConfigMapMutable", "enablePatchForce", "enableSecretMutable",
        "enableServerSideApply", "helmReleaseSettings", "kubeClientSettings", "kubeconfig",
        "namespace", "renderYamlToDirectory", "skipUpdateUnreachable", "strictMode",
        "suppressDeprecationWarnings", "suppressHelmHookWarnings", "upsertExistingObjects",
        "__internal", "pluginDownloadURL", "version",
    }
)  # fmt: skip


@dataclass(frozen=True)
class ProviderOptions:
    """One provider's options."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    secrets_mutable: bool = False
    config_maps_mutable: bool = False
    patch_force: bool = False
    upsert: bool = False
    delete_unreachable: bool = False
    skip_update_unreachable: bool = False


def read_options(
    variables: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> ProviderOptions:
    """Read the options of a configure request; they override environment variables."""

    def text(option: str) -> str:
        return variables.get(PREFIX + option, "")

    def flag(option: str, variable: str, *, default: bool = False) -> bool:
        value = variables.get(PREFIX + option) or environment.get(variable)
        return default if value is None else value == "true"

    if not flag("enableServerSideApply", "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY", default=True):
        raise Unsupported("the provider option `enableServerSideApply: false` (client-side apply)")
    if text("renderYamlToDirectory"):
        raise Unsupported("the provider option `renderYamlToDirectory`")
    return ProviderOptions(
        kubeconfig=text("kubeconfig"),
        context=text("context"),
        cluster=text("cluster"),
        namespace=text("namespace"),
        secrets_mutable=flag("enableSecretMutable", "PULUMI_K8S_ENABLE_SECRET_MUTABLE"),
        config_maps_mutable=flag("enableConfigMapMutable", "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE"),
        patch_force=flag("enablePatchForce", "PULUMI_K8S_ENABLE_PATCH_FORCE"),
        upsert=flag("upsertExistingObjects", "PULUMI_K8S_UPSERT_EXISTING_OBJECTS"),
        delete_unreachable=flag("deleteUnreachable", "PULUMI_K8S_DELETE_UNREACHABLE"),
        skip_update_unreachable=flag("skipUpdateUnreachable", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"),
    )
