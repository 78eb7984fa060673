"""Give the pack one version number: that of PulumiPolicy.yaml, which is the program's own.

pulumi-policy writes "can't run policy … of coder-stack@v0.0.1" for any pack, beside the engine's
"coder-stack@v0.1.0". Replaces a private name; does nothing if that is missing.
"""

import sys
from pathlib import Path
from typing import Any

import yaml

VERSION: str = yaml.safe_load(Path(__file__).with_name("PulumiPolicy.yaml").read_text())["version"]


def use_declared_version() -> None:
    """Let pulumi-policy in this process name the declared version."""
    sdk = sys.modules.get("pulumi_policy.policy")
    servicer: Any = getattr(sdk, "_PolicyAnalyzerServicer", None)
    if sdk and callable(servicer):
        original: Any = servicer

        # A subclass, because the library also looks up attributes of the class by its name.
        def with_version(self: Any, name: str, _version: str, *others: Any) -> None:
            original.__init__(self, name, VERSION, *others)

        members = {"__init__": with_version}
        vars(sdk)["_PolicyAnalyzerServicer"] = type("_PolicyAnalyzerServicer", (original,), members)
