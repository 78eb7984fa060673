"""Coderd through the Kubernetes API server's service proxy, with nothing but a kubeconfig (CP8).

Makes the transport and the URL that the coderd client then uses; knows nothing of tokens or routes.
The kubernetes library is imported when first needed: most providers never are.
"""

import threading
from typing import Any

from pydantic import SecretStr

from coder_stack.coderd import (
    InvalidConnection,
    Transport,
    api_server_transport,
    service_proxy_url,
)
from coder_stack.dynamic.wire import WireModel

__all__ = ["Kubeconfig", "ServiceProxy", "load_kubeconfig", "service_proxy"]

_OPERATION = "connect to the Kubernetes API server"


class Kubeconfig(WireModel):
    """Which kubeconfig and which context of it; without a path, as kubectl finds it."""

    kubeconfig: str | None = None
    context: str | None = None


class ServiceProxy(Kubeconfig):
    """Coderd's Service. `kubeconfig` and `context` override the stack's own (`kubernetes`)."""

    namespace: str
    service: str
    port: str = "80"
    tls: bool = False


def service_proxy(target: ServiceProxy, stack: Kubeconfig) -> tuple[str, Transport]:
    """The URL of coderd behind the API server, and the transport with the kubeconfig's rights."""
    own = target.kubeconfig is not None or target.context is not None
    settings = load_kubeconfig(target if own else stack)
    if not str(settings.host).startswith("https://") or not settings.verify_ssl:
        why = "the kubeconfig's cluster has no TLS, or turns its verification off; correct it."
        raise InvalidConnection(_OPERATION, why)
    lock = threading.Lock()

    def bearer() -> SecretStr:
        with lock:  # runs the kubeconfig's exec plugin when the last token has expired
            # Two names for one thing: releases of the library differ.
            text = str(settings.get_api_key_with_prefix("BearerToken", "authorization") or "")
        return SecretStr(text.removeprefix("Bearer ").strip())

    url = service_proxy_url(
        settings.host, target.namespace, target.service, target.port, tls=target.tls
    )
    transport = api_server_transport(
        ca_file=settings.ssl_ca_cert,
        cert_file=settings.cert_file,
        key_file=settings.key_file,
        bearer=bearer if bearer().get_secret_value() else None,
    )
    return url, transport


def load_kubeconfig(which: Kubeconfig) -> Any:
    """The kubernetes library's Configuration; raises InvalidConnection, which quotes nothing."""
    from kubernetes import client, config  # noqa: PLC0415  # slow, and rarely needed

    library: Any = config
    settings: Any = client.Configuration()
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
        raise InvalidConnection(_OPERATION, why) from None
    return settings
