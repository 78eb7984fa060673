"""Stand in for a Python interpreter: let the server fork one, and live as long as it.

Runs without site-packages and imports little, because it starts before every program.
"""

import json
import os
import signal
import socket
import sys
from types import FrameType


def main() -> int:
    """Pass everything to the server; return the exit code of the forked process."""
    path, *words = sys.argv[1:]
    folder = os.getcwd()  # noqa: PTH109  # pathlib takes longer than the rest
    request = json.dumps(
        {
            "client": os.getpid(),
            "words": words,
            "folder": folder,
            "environment": dict(os.environ),
        }
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        body = request.encode()
        socket.send_fds(server, [len(body).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(body)

        def forward(number: int, _: FrameType | None) -> None:
            server.sendall(bytes([number]))

        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) != signal.SIG_IGN:
                signal.signal(each, forward)
        answer = server.recv(2)
    if len(answer) < 2:  # the server is gone, and with it the process
        return 1
    ended_by, code = answer
    if ended_by:
        signal.signal(ended_by, signal.SIG_DFL)
        os.kill(os.getpid(), ended_by)
    return code


if __name__ == "__main__":
    sys.exit(main())
