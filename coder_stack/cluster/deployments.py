"""Read the Deployments that run before an update: whether coderd is there, and all their images.

One request: a list if provisioners or proxies are to follow coderd's version (V2), else coderd's
Deployment alone. Without an answer or the right to ask, nothing is known, and that is no error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import AliasPath, Field, ValidationError

from coder_stack.cluster.client import send
from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import provisioner_name, proxy_name
from coder_stack.settings import Settings

_OPERATION = "look for coderd"
_OURS = {"labelSelector": "app.kubernetes.io/part-of=coder"}


class _Container(FrozenModel):
    image: str = ""


class _Deployment(FrozenModel):
    name: str = Field(default="", validation_alias=AliasPath("metadata", "name"))
    containers: tuple[_Container, ...] = Field(
        default=(), validation_alias=AliasPath("spec", "template", "spec", "containers")
    )

    @property
    def image(self) -> str:
        """Return the image of the first container, which is Coder's."""
        return self.containers[0].image if self.containers else ""


class _Deployments(FrozenModel):
    items: tuple[_Deployment, ...] = ()


class _Refusal(FrozenModel):
    reason: str = ""
    plural: str = Field(default="", validation_alias=AliasPath("details", "kind"))


class _Coderd(NamedTuple):
    image: str | None
    """None if it is absent or unknown."""
    absent: bool = False


@dataclass
class Deployments:
    """Those in coderd's namespace, read when first needed and only once."""

    http: Any
    settings: Settings

    @property
    def coderd_is_absent(self) -> bool:
        """Tell whether the API server says that coderd's Deployment does not exist."""
        return self._coderd.absent

    @property
    def images(self) -> Mapping[str, str] | None:
        """Return images by name; None if coderd's Deployment is absent or unknown."""
        if self._coderd.image is None:
            return None
        return {**self._listed, self._name: self._coderd.image}

    @property
    def _name(self) -> str:
        return self.settings.control_plane.name

    @cached_property
    def _coderd(self) -> _Coderd:
        if found := self._listed.get(self._name):
            return _Coderd(found)
        status, body = self._get(self._name)
        try:
            if status == 200:
                return _Coderd(_Deployment.model_validate_json(body).image)
            refusal = _Refusal.model_validate_json(body)
        except ValidationError:
            return _Coderd(None)
        named = (refusal.reason, refusal.plural) == ("NotFound", "deployments")
        return _Coderd(None, absent=status == 404 and named)

    @cached_property
    def _listed(self) -> Mapping[str, str]:
        if not followers(self.settings):
            return {}
        status, body = self._get(query=_OURS)
        try:
            found = _Deployments.model_validate_json(body) if status == 200 else _Deployments()
        except ValidationError:
            return {}
        return {each.name: each.image for each in found.items}

    def _get(self, *name: str, query: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        namespace = self.settings.control_plane.namespace
        path = ("apis", "apps", "v1", "namespaces", namespace, "deployments", *name)
        return send(self.http, _OPERATION, path, query=query)


def followers(settings: Settings) -> list[str]:
    """Return the Deployments in coderd's namespace that are to run coderd's image."""
    home = settings.control_plane.namespace
    named = [
        *((provisioner_name(each.name), each) for each in settings.provisioners),
        *((proxy_name(each.name), each) for each in settings.proxies),
    ]
    return [name for name, each in named if each.image is None and each.namespace in (None, home)]
