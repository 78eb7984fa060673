"""What happened to one tool, source by source: the reason in its manifest, or the error that is shown."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sandbox.toolchain.errors import ToolchainError, Unavailable
from sandbox.toolchain.recipes import Tool


@dataclass
class Story:
    """Grows by a chapter with each source that did not give the tool."""

    tool: Tool
    chapters: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def tell(self, source: str, why: Unavailable) -> None:
        """Note why a source did not give the tool."""
        self.chapters.append((source, str(why)))

    def so_far(self) -> str:
        """Why the sources before were passed over, on one line."""
        return "; ".join(f"{source}: {why}" for source, why in self.chapters)

    def error(self, also: Iterable[str] = ()) -> ToolchainError:
        """The end of a story in which no source was left; `also` names tools that share it."""
        others = ", ".join(also)
        lines = [
            f"{self.tool.name} {self.tool.version} cannot be had"
            + (f" (nor can {others})" if others else "")
            + ":",
            *(f"  {source}: {why}" for source, why in self.chapters),
            f"  Next step: connect this machine to the network, or put {self.tool.name} on PATH.",
        ]
        return ToolchainError("\n".join(lines))
