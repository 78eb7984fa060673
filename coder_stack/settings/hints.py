"""Warnings about a valid config that may not work. Pure.

Every preview and `coder-stack config check` show them. Whether they apply depends on facts outside
of the config, such as the names that a certificate covers.
"""

from collections.abc import Iterator

from coder_stack.coderd.versions import of_image
from coder_stack.settings.tree import Settings


def hints(settings: Settings) -> Iterator[str]:
    """Return one sentence for each warning, with the path of the field to set."""
    yield from _service_certificate(settings)
    yield from _single_database(settings)
    yield from _unused_by_api_server(settings)
    yield from _pinned_versions(settings)


def _service_certificate(settings: Settings) -> Iterator[str]:
    """Warn if pods use a `.svc` name, which no public certificate covers."""
    plane = settings.control_plane
    if plane.tls is None:
        return
    doubtful = [
        *(
            (f"provisioners[{index}].url", f"provisioner {each.name}")
            for index, each in enumerate(settings.provisioners)
            if each.url is None and not each.ca_bundles
        ),
        *(
            (f"proxies[{index}].primaryUrl", f"workspace proxy {each.name}")
            for index, each in enumerate(settings.proxies)
            if each.primary_url is None and plane.access_url is None and not each.ca_bundles
        ),
    ]
    for field, pods in doubtful:
        yield (
            f"{field}: the pods of {pods} reach coderd at {plane.in_cluster_url}, a name that no "
            "public certificate covers; set it to a URL that controlPlane.tls covers, or set "
            f"{field.partition('.')[0]}.caBundles if the certificate is for the Service."
        )


def _single_database(settings: Settings) -> Iterator[str]:
    """Warn if coderd is highly available and its database is not."""
    plane, database = settings.control_plane, settings.control_plane.cloud_native_pg
    if database and database.instances == 1 and plane.replicas > 1:
        yield (
            f"controlPlane.database.cloudNativePg.instances: coderd has {plane.replicas} replicas, "
            "but its database one instance, without which all of them stop; set it to 3."
        )


def _unused_by_api_server(settings: Settings) -> Iterator[str]:
    """Warn of options for a URL while Pulumi reaches coderd through the API server."""
    access = settings.access
    # Only that stack's outputs tell the URL.
    if settings.direct_url or settings.control_plane.from_stack:
        return
    for field, given in (("caBundle", access.ca_bundle), ("allowInsecure", access.allow_insecure)):
        if given:
            yield (
                f"access.{field}: is unused, as Pulumi reaches coderd through the API server; "
                "remove it, or set access.url."
            )


def _pinned_versions(settings: Settings) -> Iterator[str]:
    """Warn if provisioners or proxies have an image of another version than coderd (V2)."""
    wanted = of_image(settings.control_plane.image.reference)
    pinned = [
        *(
            (f"provisioners[{index}]", f"provisioner {each.name}", each.image)
            for index, each in enumerate(settings.provisioners)
        ),
        *(
            (f"proxies[{index}]", f"workspace proxy {each.name}", each.image)
            for index, each in enumerate(settings.proxies)
        ),
    ]
    for field, pods, image in pinned:
        own = of_image(image.reference) if image else None
        if wanted and own and own != wanted:
            yield (
                f"{field}.image.tag: {pods} is pinned to {own}, and coderd is {wanted}; an upgrade "
                "of coderd does not change it. Leave the image out to run coderd's version."
            )
