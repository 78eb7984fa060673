"""What happened to one tool, source by source: the reason in its manifest, or an error to show."""

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
        or_path = f", or put {self.tool.name} on PATH" if self.tool.probe else ""
        lines = [
            f"{self.tool.name} {self.tool.version} cannot be had"
            + (f" (nor can {others})" if others else "")
            + ":",
            *(f"  {source}: {why}" for source, why in self.chapters),
            f"  Next step: connect this machine to the network{or_path}, then run it again.",
        ]
        return ToolchainError("\n".join(lines))
