"""`python -m sandbox.toolchain contract`: install one group of tools, for `make`.

`coder-stack doctor` installs engine and cluster, or everything.
"""

import sys

from sandbox.toolchain.catalogue import CHECKS, CLUSTER, CONTRACT, ENGINE
from sandbox.toolchain.errors import ToolchainError
from sandbox.toolchain.install import Toolchain

GROUPS = {"engine": ENGINE, "cluster": CLUSTER, "contract": CONTRACT, "checks": CHECKS}


def main(groups: list[str]) -> int:
    """Install the tools of these groups that the chosen versions have."""
    try:
        toolchain = Toolchain.from_environment()
        names = [name for group in groups for name in GROUPS[group] if name in toolchain.catalogue]
        toolchain.ensure(names)
    except ToolchainError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; run the same command again to continue\n")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
