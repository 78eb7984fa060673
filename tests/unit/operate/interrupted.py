"""Run fake_pulumi.py for each lock at once, as `coder-stack reconcile` runs pulumi for its stacks.

Usage: interrupted.py SECONDS LOCK…
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coder_stack.operate.engine.process import Interrupted, interruptible, run

FAKE = Path(__file__).with_name("fake_pulumi.py")


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def update(lock: str) -> None:
    command = [sys.executable, str(FAKE), lock, sys.argv[1]]
    cancel = f"pulumi cancel --stack {Path(lock).stem}"
    run(command, cwd=Path(), env=os.environ, cancel=cancel, capture=False)


try:
    with interruptible(say), ThreadPoolExecutor(2) as pool:
        list(pool.map(update, sys.argv[2:]))
except Interrupted as error:
    say(str(error))
    sys.exit(error.exit_code)
