"""Create a provider from its options, and find out what a change of options replaces.

An unusable kubeconfig is not an error yet, because the engine also configures providers that it
does not use. The first operation that needs the cluster reports it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace

from sandbox.kubernetes_plugin import kubeconfig
from sandbox.kubernetes_plugin.api import Api
from sandbox.kubernetes_plugin.engine_log import EngineLog
from sandbox.kubernetes_plugin.errors import PluginError, Unreachable
from sandbox.kubernetes_plugin.options import KNOWN_OPTIONS, read_options
from sandbox.kubernetes_plugin.provider import KubernetesProvider
from sandbox.kubernetes_plugin.values import Object, Unknown, Value, as_text, has_unknown


def configure(
    variables: Mapping[str, str], log: EngineLog, cancelled: threading.Event
) -> KubernetesProvider:
    """Return a provider; it stores the error if the cluster is unreachable."""
    options = read_options(variables)
    try:
        loaded = kubeconfig.load(options.kubeconfig)
        if not options.namespace:
            namespace = as_text(loaded.context(options.context).get("namespace"))
            options = replace(options, namespace=namespace or "default")
        configuration = kubeconfig.client_configuration(loaded, options.context, options.cluster)
        api = Api(configuration, cancelled)
        api.request("GET", "/version")
    except Unreachable as error:
        return KubernetesProvider(options, error, log)
    except PluginError as error:
        # The cluster has refused the request, for example with 401: keep its message.
        return KubernetesProvider(options, Unreachable(str(error)), log)
    return KubernetesProvider(options, api, log)


def unknown_options(options: Object) -> list[str]:
    """Return options that the SDK does not have."""
    return sorted(set(options) - KNOWN_OPTIONS)


def changed_options(old: Object, new: Object) -> tuple[list[str], list[str]]:
    """Return the changed options, and those that select another cluster, which replaces all."""
    changed = sorted(
        key
        for key in old.keys() | new.keys()
        if old.get(key) != new.get(key) or has_unknown(new.get(key))
    )
    before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
    if after is not None and before == after:
        return changed, []
    replacing = ["clusterIdentifier"] if None not in (before, after) and before != after else []
    where = ("kubeconfig", "context", "cluster")
    unsure = [key for key in where if isinstance(new.get(key), Unknown)]
    if unsure:
        return changed, replacing + unsure
    old_cluster, new_cluster = _active_cluster(old), _active_cluster(new)
    if old_cluster and new_cluster and old_cluster != new_cluster:
        replacing += [key for key in where if key in changed]
    return changed, replacing


def _active_cluster(options: Object) -> Object:
    """Return the kubeconfig's cluster entry that the options select; empty if there is none."""
    option: Value = options.get("kubeconfig")
    if option is None:
        return {}
    text = option if isinstance(option, str) else json.dumps(option)
    try:
        loaded = kubeconfig.load(text)
    except Unreachable:
        return {}
    return loaded.cluster(as_text(options.get("context")), as_text(options.get("cluster")))
