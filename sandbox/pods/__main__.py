"""`python -m sandbox.pods …`: how the cluster's lifecycle starts the world behind the pods."""

import argparse
import asyncio
from pathlib import Path

from sandbox.pods.world import World, run


def main() -> None:
    """Read the flags, and live."""
    parser = argparse.ArgumentParser(prog="sandbox.pods")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--pki", type=Path, required=True)
    parser.add_argument("--network-port", type=int, required=True)
    parser.add_argument("--coderd-port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True)
    asyncio.run(run(World(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
