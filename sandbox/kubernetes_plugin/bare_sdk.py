"""Make the SDK's gRPC stubs importable without loading the SDK, which is slow.

The engine starts this process several times in each operation. Empty packages replace `pulumi` and
`pulumi.runtime`; their submodules load as usual.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def install() -> None:
    """Install the empty packages, unless the SDK is loaded already."""
    spec = find_spec("pulumi")
    if "pulumi" in sys.modules or spec is None or spec.origin is None:
        return
    folder = Path(spec.origin).parent
    for name, path in (("pulumi", folder), ("pulumi.runtime", folder / "runtime")):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
