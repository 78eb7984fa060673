"""Reach coderd through the Kubernetes API server's service proxy, with only a kubeconfig (CP8).

Makes the URL and the transport for the coderd client; knows nothing of coderd's tokens or routes.
"""

import threading

from pydantic import SecretStr

from coder_stack.cluster.client import API_SERVER, NOT_VERIFIED, api_settings
from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.coderd.connection import service_proxy_url
from coder_stack.coderd.errors import InvalidConnection
from coder_stack.coderd.transport import Transport, api_server_transport


class ServiceProxy(Kubeconfig):
    """Coderd's Service, in the stack's cluster unless another one is given."""

    namespace: str
    service: str
    port: str = "80"
    tls: bool = False


def service_proxy(target: ServiceProxy, stack: Kubeconfig) -> tuple[str, Transport]:
    """Return coderd's URL behind the API server, and a transport with the kubeconfig's rights."""
    settings = api_settings(target, stack)
    if not str(settings.host).startswith("https://") or not settings.verify_ssl:
        raise InvalidConnection(API_SERVER, NOT_VERIFIED)
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
