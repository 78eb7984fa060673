"""Find out which version of coderd runs before an update, and plan the upgrade (V2).

Coderd is asked only if an image differs from the config's, at its configured address and without a
token; it has a few seconds. The rules are in coderd/upgrade.py.
"""

from coder_stack.cluster.deployments import Images, followers
from coder_stack.cluster.kubeconfig import kubeconfig_of
from coder_stack.cluster.service_proxy import ServiceProxy, service_proxy
from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.upgrade import (
    NOTHING,
    Running,
    UpgradePlan,
    Wanted,
    needs_answer,
    plan_upgrade,
)
from coder_stack.settings import Settings

_SECONDS = 3.0


def upgrade_plan(settings: Settings, images: Images | None) -> UpgradePlan:
    """Plan by the images that run; None: coderd's is absent or unknown."""
    plane = settings.control_plane
    image = (images or {}).get((None, plane.namespace, plane.name))
    if images is None or image is None or plane.exists_already:
        return NOTHING
    wanted = Wanted(
        image=plane.image.reference,
        replicas=plane.replicas,
        allow_downgrade=plane.allow_downgrade,
    )
    others = [images[place] for place in followers(settings) if place in images]
    running = Running(image=image, others=others)
    if needs_answer(running, wanted):
        running = Running(image=image, others=others, answer=_answer(settings))
    return plan_upgrade(running, wanted)


def _answer(settings: Settings) -> str:
    """Return the version that coderd answers with; empty if it does not answer soon."""
    try:
        with _coderd(settings) as coderd:
            return coderd.with_deadline(_SECONDS).build_info().version
    except CoderdError:
        return ""


def _coderd(settings: Settings) -> Coderd:
    access, plane, url = settings.access, settings.control_plane, settings.direct_url
    if url is not None:
        return Coderd(Connection(base_url=url, ca_bundle=access.ca_bundle))
    target = ServiceProxy(
        namespace=plane.namespace,
        service=plane.name,
        port=str(plane.service_port),
        tls=plane.tls is not None,
    )
    base_url, transport = service_proxy(target, kubeconfig_of(settings.kubernetes))
    return Coderd(Connection(base_url=base_url), transport=transport)
