"""Coderd through the Kubernetes API server's service proxy, with nothing but a kubeconfig (CP8).

Makes the transport and the URL that the coderd client then uses; knows nothing of tokens or routes.
Which cluster that is, is in kubeconfig.py.
"""

import threading

from pydantic import SecretStr

from coder_stack.cluster.client import API_SERVER, Kubeconfig, api_settings
from coder_stack.coderd import (
    InvalidConnection,
    Transport,
    api_server_transport,
    service_proxy_url,
)

__all__ = ["ServiceProxy", "service_proxy"]


class ServiceProxy(Kubeconfig):
    """Coderd's Service. `kubeconfig` and `context` override the stack's own (`kubernetes`)."""

    namespace: str
    service: str
    port: str = "80"
    tls: bool = False


def service_proxy(target: ServiceProxy, stack: Kubeconfig) -> tuple[str, Transport]:
    """The URL of coderd behind the API server, and the transport with the kubeconfig's rights."""
    settings = api_settings(target, stack)
    if not str(settings.host).startswith("https://") or not settings.verify_ssl:
        why = "the kubeconfig's cluster has no TLS, or turns its verification off; correct it."
        raise InvalidConnection(API_SERVER, why)
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
        server_name=settings.tls_server_name,
        proxy=settings.proxy,
    )
    return url, transport
