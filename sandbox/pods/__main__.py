"""`python -m sandbox.pods …`: start the background process of sandbox/cluster/lifecycle.py."""

import argparse
import asyncio
from pathlib import Path

from sandbox.pods.background import BackgroundConfig, run


def main() -> None:
    """Read the flags and run."""
    parser = argparse.ArgumentParser(prog="sandbox.pods")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--pki", type=Path, required=True)
    parser.add_argument("--network-port", type=int, required=True)
    parser.add_argument("--coderd-port", type=int, required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--state", type=Path, help="coderd's file, if it runs here")
    where.add_argument("--home", type=Path, help="kubeconfig of the cluster that coderd runs in")
    asyncio.run(run(BackgroundConfig(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
