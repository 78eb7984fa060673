"""From a provider's options to a working provider, and what a change of those options means.

A kubeconfig that cannot be used or does not answer is not an error yet: the engine configures
providers whose objects nobody touches. It is remembered, and the first operation that needs the
cluster says so.
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
from sandbox.kubernetes_plugin.provider import Provider
from sandbox.kubernetes_plugin.settings import KNOWN_OPTIONS, read_settings
from sandbox.kubernetes_plugin.values import Object, Unknown, Value, as_text, has_unknown


def configure(variables: Mapping[str, str], log: EngineLog, cancelled: threading.Event) -> Provider:
    """A provider for these options; an unreachable cluster is remembered, not raised."""
    settings = read_settings(variables)
    try:
        loaded = kubeconfig.load(settings.kubeconfig)
        if not settings.namespace:
            namespace = as_text(loaded.context(settings.context).get("namespace"))
            settings = replace(settings, namespace=namespace or "default")
        configuration = kubeconfig.client_configuration(loaded, settings.context, settings.cluster)
        api = Api(configuration, cancelled)
        api.request("GET", "/version")
    except Unreachable as error:
        return Provider(settings, error, log)
    except PluginError as error:
        # It answers but refuses, say with 401: keep its words.
        return Provider(settings, Unreachable(str(error)), log)
    return Provider(settings, api, log)


def unknown_options(options: Object) -> list[str]:
    """Options that the SDK does not have."""
    return sorted(set(options) - KNOWN_OPTIONS)


def changed_options(old: Object, new: Object) -> tuple[list[str], list[str]]:
    """Which options changed, and which of those mean another cluster and so replace everything."""
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
    """The cluster entry that the options lead to; empty if that cannot be told."""
    option: Value = options.get("kubeconfig")
    if option is None:
        return {}
    text = option if isinstance(option, str) else json.dumps(option)
    try:
        loaded = kubeconfig.load(text)
    except Unreachable:
        return {}
    return loaded.cluster(as_text(options.get("context")), as_text(options.get("cluster")))
