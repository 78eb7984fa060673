"""Why the sources of one tool failed: the reason in its manifest, or an error for the user."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sandbox.toolchain.errors import SourceUnavailable, ToolchainError
from sandbox.toolchain.recipes import Tool


@dataclass
class SourceAttempts:
    """The failed sources of one tool."""

    tool: Tool
    failures: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add_failure(self, source: str, why: SourceUnavailable) -> None:
        """Add the reason why a source failed."""
        self.failures.append((source, str(why)))

    def summary(self) -> str:
        """Return all reasons on one line."""
        return "; ".join(f"{source}: {why}" for source, why in self.failures)

    def error(self, also: Iterable[str] = ()) -> ToolchainError:
        """Return an error after all sources failed; `also` names other tools that it affects."""
        others = ", ".join(also)
        or_path = f", or put {self.tool.name} on PATH" if self.tool.probe else ""
        lines = [
            f"{self.tool.name} {self.tool.version} cannot be installed"
            + (f" (nor can {others})" if others else "")
            + ":",
            *(f"  {source}: {why}" for source, why in self.failures),
            f"  Next step: connect this machine to the network{or_path}, then run it again.",
        ]
        return ToolchainError("\n".join(lines))
