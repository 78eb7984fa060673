"""Read the Deployments that run before an update: whether coderd is there, and all their images.

One request: a list if provisioners or proxies are to follow coderd's version (V2), else coderd's
Deployment alone; and a list for each further namespace of theirs. Without an answer or the right
to ask, nothing is known, and that is no error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import AliasPath, Field, ValidationError

from coder_stack.cluster.absence import is_absent
from coder_stack.cluster.client import send
from coder_stack.frozen_model import FrozenModel
from coder_stack.naming import provisioner_name, proxy_name
from coder_stack.settings import Settings

Place = tuple[str | None, str, str]
"""Cluster, namespace and name of a Deployment."""
Images = Mapping[Place, str]
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


class _Coderd(NamedTuple):
    image: str | None
    """None if it is absent or unknown."""
    absent: bool = False


@dataclass
class Deployments:
    """Coderd's and those that follow it, read when first needed and only once."""

    http: Any
    settings: Settings
    cluster: str | None = None
    """Name of the cluster that `http` leads to; None: that of `kubernetes`, which has coderd."""

    @property
    def coderd_is_absent(self) -> bool:
        """Tell whether the API server says that coderd's Deployment does not exist."""
        return self._coderd.absent

    @property
    def images(self) -> Images | None:
        """Return all images in this cluster; None if coderd is to be in it and is not seen."""
        if self.cluster is not None:
            return {place: image for name in self._others for place, image in self._of(name)}
        if self._coderd.image is None:
            return None
        others = (each for name in self._others for each in self._of(name))
        return {**self._at_home, **dict(others), self._place: self._coderd.image}

    @property
    def _place(self) -> Place:
        plane = self.settings.control_plane
        return None, plane.namespace, plane.name

    @cached_property
    def _coderd(self) -> _Coderd:
        if found := self._at_home.get(self._place):
            return _Coderd(found)
        status, body = self._get(*self._place[1:])
        if status != 200:
            return _Coderd(None, absent=is_absent(status, body, "deployments"))
        try:
            return _Coderd(_Deployment.model_validate_json(body).image)
        except ValidationError:
            return _Coderd(None)

    @property
    def _others(self) -> list[str]:
        """Return the namespaces to list besides coderd's."""
        here = (name for cluster, name, _ in followers(self.settings) if cluster == self.cluster)
        home = self._place[1] if self.cluster is None else None
        return [name for name in dict.fromkeys(here) if name != home]

    @cached_property
    def _at_home(self) -> Images:
        """Return the images beside coderd, if anything is to follow it."""
        return dict(self._of(self._place[1])) if followers(self.settings) else {}

    def _of(self, namespace: str) -> Iterable[tuple[Place, str]]:
        status, body = self._get(namespace, query=_OURS)
        try:
            found = _Deployments.model_validate_json(body) if status == 200 else _Deployments()
        except ValidationError:
            return ()
        return [((self.cluster, namespace, each.name), each.image) for each in found.items]

    def _get(
        self, namespace: str, *name: str, query: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        path = ("apis", "apps", "v1", "namespaces", namespace, "deployments", *name)
        return send(self.http, _OPERATION, path, query=query)


def followers(settings: Settings) -> list[Place]:
    """Return the Deployments that are to run coderd's image."""
    home = settings.control_plane.namespace
    named = [
        *((provisioner_name(each.name), each) for each in settings.provisioners),
        *((proxy_name(each.name), each) for each in settings.proxies),
    ]
    return [
        (each.cluster, each.namespace or home, name) for name, each in named if each.image is None
    ]
