"""Which cluster the providers of one stack ask, and what its kubeconfig says about reaching it.

The program gives a path and a context, or leaves both to the stack's config (`kubernetes`). The
way there is the kubeconfig's `tls-server-name` and `proxy-url`, or the environment's proxy (CP11).
The kubernetes library is imported when first needed: most providers never are. Sends nothing.
"""

import os
from typing import Any

from coder_stack.coderd import InvalidConnection, forward_proxy, proxy_login, tls_context
from coder_stack.frozen_model import FrozenModel

__all__ = ["API_SERVER", "Kubeconfig", "api_settings"]

API_SERVER = "connect to the Kubernetes API server"


class Kubeconfig(FrozenModel):
    """Which kubeconfig and which context of it; without a path, as kubectl finds it."""

    kubeconfig: str | None = None
    context: str | None = None


def api_settings(own: Kubeconfig, stack: Kubeconfig) -> Any:
    """The library's settings for the resource's own cluster, or else for the stack's."""
    from kubernetes import client, config  # noqa: PLC0415  # slow, and rarely needed

    given = own.kubeconfig is not None or own.context is not None
    which = own if given else stack
    library: Any = config
    settings: Any = client.Configuration()
    settings.proxy = None  # the library's own reading of the environment has other exceptions
    try:
        if which.kubeconfig is None and which.context is None:
            library.load_config(client_configuration=settings)
        else:
            library.load_kube_config(
                config_file=which.kubeconfig,
                context=which.context,
                client_configuration=settings,
                persist_config=False,
            )
    except Exception:  # noqa: BLE001  # many kinds, and their texts quote the file
        why = "the kubeconfig cannot be read, or lacks the context; check kubernetes.kubeconfig."
        raise InvalidConnection(API_SERVER, why) from None
    _set_proxy(settings)
    return settings


def _set_proxy(settings: Any) -> None:
    """Settle the way there once, for the library and for the transport to coderd alike."""
    from urllib3 import make_headers  # noqa: PLC0415  # comes with it

    settings.proxy = forward_proxy(str(settings.host), settings.proxy, os.environ)
    settings.no_proxy = None  # decided above
    if settings.proxy and not str(settings.host).startswith("https://"):
        why = "the kubeconfig's cluster has no TLS, and a proxy would see everything; correct it."
        raise InvalidConnection(API_SERVER, why)
    settings.proxy_ssl_context = tls_context()  # not the cluster's authorities
    if settings.proxy and (login := proxy_login(settings.proxy)):
        settings.proxy_headers = make_headers(proxy_basic_auth=login)
