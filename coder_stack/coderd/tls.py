"""TLS contexts that always verify: trusted authorities and the expected server name.

A kubeconfig's `tls-server-name` is sent and verified in place of the URL's host (CP11). The context
sets it, because HTTP libraries forget a request's own server name inside a proxy's tunnel.
"""

import socket
import ssl
from pathlib import Path

from coder_stack.coderd.errors import InvalidConnection


def tls_context(bundle: str | None = None, server_name: str | None = None) -> ssl.SSLContext:
    """Make a context; `bundle`, PEM text or a path, is then the only authority trusted."""
    text = bundle if bundle and "-----BEGIN" in bundle else None
    file = str(Path(bundle).expanduser()) if bundle and not text else None
    try:
        if server_name is None:
            return ssl.create_default_context(cafile=file, cadata=text)
        context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = server_name
        if bundle is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cafile=file, cadata=text)
    except (OSError, ValueError):
        why = "the CA bundle cannot be read as PEM; check the setting and the file."
        raise InvalidConnection("connect to coderd", why) from None
    return context


class _NamedContext(ssl.SSLContext):
    """Sends and verifies `server_name`, whatever host the connection was made to."""

    server_name: str

    def wrap_socket(
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLSocket:
        return super().wrap_socket(
            sock,
            server_side,
            do_handshake_on_connect,
            suppress_ragged_eofs,
            self.server_name,
            session,
        )

    # Called for the TLS inside the TLS of an https proxy.
    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name, session)
