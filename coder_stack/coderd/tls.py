"""TLS contexts that always verify: which authorities are trusted, and which name is expected.

A kubeconfig's `tls-server-name` is asked for and verified in place of the host in the URL (CP11).
The context itself puts it in: HTTP libraries let a request choose the name on a direct connection
only, and forget it inside a proxy's tunnel.
"""

import socket
import ssl
from pathlib import Path

from coder_stack.coderd.errors import InvalidConnection

__all__ = ["tls_context"]


def tls_context(bundle: str | None = None, server_name: str | None = None) -> ssl.SSLContext:
    """`bundle` is PEM text or a path, and is then the only authority trusted."""
    text = bundle if bundle and "-----BEGIN" in bundle else None
    file = str(Path(bundle).expanduser()) if bundle and not text else None
    try:
        if server_name is None:
            return ssl.create_default_context(cafile=file, cadata=text)
        context = _UnderName(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = server_name
        if bundle is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cafile=file, cadata=text)
    except (OSError, ValueError):
        why = "the CA bundle cannot be read as PEM; check the setting and the file."
        raise InvalidConnection("connect to coderd", why) from None
    return context


class _UnderName(ssl.SSLContext):
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

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """The same inside the TLS of an https proxy."""
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name, session)
