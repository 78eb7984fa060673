"""Start the plugin: serve on a free local port, print it, and run until the engine stops it.

The engine passes the address of its log service as the first argument.
"""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Final

from sandbox.kubernetes_plugin import bare_sdk

# One per resource that waits; the engine runs at most that many at once.
_THREADS: Final = 64
# As in the engine: the state of a large object is one message.
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
# Seconds for requests in progress; the engine kills the plugin a second later.
_GRACE: Final = 4


def main(arguments: list[str]) -> int:
    """Serve until the engine sends SIGINT or has ended."""
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
    done = threading.Event()
    # The engine kills a plugin five seconds after SIGINT. Ctrl-C in a terminal does not reach it,
    # because the engine starts plugins in their own process group.
    signal.signal(signal.SIGINT, lambda _number, _frame: done.set())
    parent = os.getppid()
    while os.getppid() == parent and not done.wait(1):
        pass
    server.stop(_GRACE).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
