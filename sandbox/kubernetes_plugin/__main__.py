"""Start the plugin: serve on a free local port, print it, and run until the engine lets go.

The engine reads the port from the first line of standard output, and passes the address of its own
log service as the first argument. The process ends when the engine interrupts it or is gone.
"""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Final

from sandbox.kubernetes_plugin import bare_sdk

# Each waiting resource holds a thread; the engine runs that many at once at most.
_THREADS: Final = 64
# State of large objects travels in one message; the engine allows 400 MB.
_LARGEST_MESSAGE: Final = 400 * 1024 * 1024
# For what is under way when the engine lets go; it kills us a second later.
_GRACE: Final = 4


def main(arguments: list[str]) -> int:
    """Serve until the engine says that it is done, or is gone."""
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
    # The engine ends a plugin with SIGINT and kills it after five seconds. A terminal's Ctrl-C does
    # not come here: the engine starts every plugin in a process group of its own.
    signal.signal(signal.SIGINT, lambda _number, _frame: done.set())
    parent = os.getppid()
    while os.getppid() == parent and not done.wait(1):
        pass
    server.stop(_GRACE).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
