"""A stack beside another one that deploys coderd: take what it needs from that stack's outputs.

Everything after it works as with `controlPlane.deploy: false`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pulumi
from pydantic import ValidationError

from coder_stack.settings import ConfigError, Image, Settings

_FIELD = "controlPlane.fromStack"


class Coderd(NamedTuple):
    """The settings with the facts about coderd filled in."""

    settings: Settings
    deployment_id: str = ""
    """The deployment that coderd must be; empty: any."""


async def with_other_stack(settings: Settings) -> Coderd:
    """Read the other stack's outputs, if the config names one; raise ConfigError without them."""
    stack = settings.control_plane.from_stack
    if stack is None:
        return Coderd(settings)
    outputs = pulumi.StackReference(stack).outputs
    return from_outputs(settings, await outputs.future() or {})


def from_outputs(settings: Settings, outputs: Mapping[str, Any]) -> Coderd:
    """Fill in URL and image; raise ConfigError if the outputs are not those of this program."""
    plane = settings.control_plane
    stack = plane.from_stack
    wanted = ("accessUrl", "image", "deploymentId")
    if missing := [name for name in wanted if not isinstance(outputs.get(name), str)]:
        what = f"has no output {missing[0]}" if outputs else "has no outputs yet"
        problem = f"{_FIELD}: stack {stack} {what}; deploy coderd with it first: pulumi up"
        raise ConfigError([f"{problem} --stack {stack}"])
    if _needs_public_url(settings) and _is_internal(outputs["accessUrl"]):
        why = "can only be reached inside its cluster; set controlPlane.accessUrl there, then: "
        problem = f"{_FIELD}: the output accessUrl of stack {stack} {why}pulumi up"
        raise ConfigError([f"{problem} --stack {stack}"])
    found: dict[str, Any] = {"access_url": outputs["accessUrl"]}
    if "image" not in plane.model_fields_set:
        found["image"] = _image(str(outputs["image"]), str(stack))
    filled = settings.model_copy(update={"control_plane": plane.model_copy(update=found)})
    return Coderd(filled, str(outputs["deploymentId"]))


def _needs_public_url(settings: Settings) -> bool:
    """Tell whether Pulumi, or a part in another cluster, connects to the other stack's URL."""
    access = settings.access
    away = any(each.cluster and not each.url for each in settings.provisioners)
    away |= any(each.cluster and not each.primary_url for each in settings.proxies)
    return away or not (access.url or access.through_api_server)


def _is_internal(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(".svc.cluster.local")


def _image(reference: str, stack: str) -> Image:
    """Parse `repository:tag@digest`; the repository may have a port."""
    tagged, _, digest = reference.partition("@")
    repository, _, tag = tagged.rpartition(":")
    try:
        return Image(repository=repository, tag=tag, digest=digest or None)
    except ValidationError:
        problem = f"the output image of stack {stack} is not an image with a tag; set image"
        raise ConfigError([f"{_FIELD}: {problem}"]) from None
