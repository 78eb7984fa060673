"""Organizations in coderd."""

from typing import Annotated, Literal

from pydantic import Field

from coder_stack.settings.part import CoderName, Part, Shape


class OrganizationSettings(Part):
    """An organization in coderd. Needs a Premium license."""

    name: Annotated[CoderName, Shape(r"(?!default$).*", "a name other than default")] = Field(
        description="Name in coderd, to which `provisioners[].organization` may refer."
    )
    display_name: Annotated[
        str, Shape(r"(?:\S(?:.*\S)?)?", "at most 64 characters without spaces at its ends", 64)
    ] = Field(default="", description="Name that people see. Default: the name.")
    description: str = Field(default="", description="Text that people see.")
    icon: str = Field(default="", description="URL or path of an icon, e.g. `/emojis/1f30e.png`.")
    adopt: bool = Field(
        default=False, description="Take over an existing organization of that name."
    )
    former_name: CoderName | None = Field(
        default=None,
        description="Name that this entry had before, to rename the organization in place.",
    )
    deletion: Literal["whenEmpty", "withKeys", "keep"] = Field(
        default="whenEmpty",
        description=(
            "What happens when this entry is removed. `whenEmpty` refuses to delete the "
            "organization while it has workspaces or provisioner keys of others. `withKeys` "
            "deletes such keys too. `keep` leaves it in coderd."
        ),
    )
