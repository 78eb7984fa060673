"""Start the plugin: serve on a free local port, print it, and run until the engine lets go.

The engine reads the port from the first line of standard output, and passes the address of its own
log service as the first argument. The process ends when it is killed or its parent is gone.
"""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Final

from sandbox.kubernetes_plugin import bare_sdk

# Each waiting resource holds a thread; the engine runs that many at once at most.
_THREADS: Final = 64
# State of large objects travels in one message; the engine allows 400 MB.
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024


def main(arguments: list[str]) -> int:
    """Serve until the parent process is gone."""
    bare_sdk.install()
    grpc: Any = import_module("grpc")
    services: Any = import_module("pulumi.runtime.proto.provider_pb2_grpc")
    engine = next((argument for argument in arguments if not argument.startswith("-")), "")
    server: Any = grpc.server(
        ThreadPoolExecutor(max_workers=_THREADS),
        options=[
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
        ],
    )
    servicer: Any = import_module("sandbox.kubernetes_plugin.servicer")
    services.add_ResourceProviderServicer_to_server(servicer.Servicer(engine), server)
    port: int = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    if engine:
        # Ctrl-C may reach the whole process group; it is the engine's to cancel us, and it waits.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
