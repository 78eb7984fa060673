"""The SDK's gRPC stubs without the SDK, which a plugin never uses and which loads slowly.

The engine starts this process several times in each operation, so its start-up counts. Packages
with a path and no code stand in for `pulumi` and `pulumi.runtime`; everything below them loads as
always. Only for the plugin's own process, before anything imports `pulumi`.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def install() -> None:
    """Put the empty packages in place, unless the SDK is loaded already."""
    spec = find_spec("pulumi")
    if "pulumi" in sys.modules or spec is None or spec.origin is None:
        return
    folder = Path(spec.origin).parent
    for name, path in (("pulumi", folder), ("pulumi.runtime", folder / "runtime")):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
