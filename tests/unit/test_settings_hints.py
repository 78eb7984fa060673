"""What a preview warns of, because only the world outside of the config can tell."""

from typing import Any

import pytest

from coder_stack.settings import (
    AccessSettings,
    ControlPlaneSettings,
    Image,
    ProvisionerSettings,
    ProxySettings,
    SecretRef,
    Settings,
    Tls,
    hints,
)

TLS = Tls(secret_names=("coder-tls",))
CA = (SecretRef(name="ca", key="ca.crt"),)


def provisioner(**fields: Any) -> ProvisionerSettings:
    return ProvisionerSettings(name="eu", **fields)


def proxy(**fields: Any) -> ProxySettings:
    return ProxySettings(name="paris", access_url="https://paris.test", **fields)


def told(plane: ControlPlaneSettings, *fleet: ProvisionerSettings | ProxySettings) -> list[str]:
    return list(
        hints(
            Settings(
                control_plane=plane,
                provisioners=tuple(each for each in fleet if isinstance(each, ProvisionerSettings)),
                proxies=tuple(each for each in fleet if isinstance(each, ProxySettings)),
            )
        )
    )


def test_CP8_a_certificate_that_may_not_cover_the_service_is_hinted_at_with_the_field() -> None:
    (daemons, proxies) = told(ControlPlaneSettings(tls=TLS), provisioner(), proxy())
    assert daemons == (
        "provisioners[0].url: the pods of provisioner eu reach coderd at "
        "https://coder.coder.svc.cluster.local:443, a name that no public certificate covers; set "
        "it to a URL that controlPlane.tls covers, or set provisioners[0].caBundles if the "
        "certificate is for the Service."
    )
    assert proxies.startswith("proxies[0].primaryUrl: the pods of workspace proxy paris ")


@pytest.mark.parametrize(
    ("plane", "each"),
    [
        pytest.param(ControlPlaneSettings(), provisioner(), id="no TLS"),
        pytest.param(ControlPlaneSettings(), proxy(), id="no TLS, proxy"),
        pytest.param(
            ControlPlaneSettings(tls=TLS), provisioner(url="https://coder.test"), id="own URL"
        ),
        pytest.param(
            ControlPlaneSettings(tls=TLS), proxy(primary_url="https://a.test"), id="own primary"
        ),
        pytest.param(
            ControlPlaneSettings(tls=TLS, access_url="https://coder.test"), proxy(), id="access URL"
        ),
        pytest.param(ControlPlaneSettings(tls=TLS), provisioner(ca_bundles=CA), id="authority"),
        pytest.param(ControlPlaneSettings(tls=TLS), proxy(ca_bundles=CA), id="authority, proxy"),
    ],
)
def test_CP8_nothing_is_hinted_at_where_the_certificate_is_known_to_fit(
    plane: ControlPlaneSettings, each: ProvisionerSettings | ProxySettings
) -> None:
    assert told(plane, each) == []


def test_CP8_the_access_url_is_not_where_daemons_connect() -> None:
    plane = ControlPlaneSettings(tls=TLS, access_url="https://coder.test")
    assert len(told(plane, provisioner())) == 1


@pytest.mark.parametrize(
    ("access", "warned"),
    [
        ({"ca_bundle": "ca.pem"}, ["access.caBundle"]),
        ({"allow_insecure": True}, ["access.allowInsecure"]),
        ({"ca_bundle": "ca.pem", "through_api_server": False}, []),
        ({"ca_bundle": "ca.pem", "url": "https://coder.test"}, []),
        ({}, []),
    ],
)
def test_F2_options_for_a_url_are_unused_through_the_api_server(
    access: dict[str, Any], warned: list[str]
) -> None:
    """E.g. in a config of a version that used the access URL by default."""
    plane = ControlPlaneSettings(access_url="https://coder.test")
    found = hints(Settings(control_plane=plane, access=AccessSettings(**access)))
    assert [each.partition(":")[0] for each in found] == warned


def test_V2_a_provisioner_and_a_proxy_of_another_version_than_coderd_are_named() -> None:
    plane = ControlPlaneSettings(image=Image(tag="v2.31.0"))
    old = Image(tag="v2.30.0")
    (daemons, proxies) = told(plane, provisioner(image=old), proxy(image=old))
    assert daemons == (
        "provisioners[0].image.tag: provisioner eu is pinned to v2.30.0, and coderd is v2.31.0; an "
        "upgrade of coderd does not change it. Leave the image out to run coderd's version."
    )
    assert proxies.startswith("proxies[0].image.tag: workspace proxy paris is pinned to v2.30.0, ")


@pytest.mark.parametrize(
    "image",
    [
        None,
        Image(tag="v2.31.0"),
        Image(repository="mirror.test/coder", tag="v2.31.0"),
        Image(tag="latest"),
        Image(tag="v2.30.0", digest="sha256:" + "0f" * 32),
    ],
)
def test_V2_the_same_or_an_unknown_version_is_no_hint(image: Image | None) -> None:
    plane = ControlPlaneSettings(image=Image(tag="v2.31.0"))
    assert told(plane, provisioner(image=image), proxy(image=image)) == []
