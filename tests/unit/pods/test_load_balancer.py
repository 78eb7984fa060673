"""Which objects get an address in the sandbox."""

import pytest

from sandbox.pods.load_balancer import needs_address

_GIVEN = {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}


@pytest.mark.parametrize(
    ("thing", "wants"),
    [
        ({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {}}}, True),
        ({"spec": {"type": "LoadBalancer"}, "status": _GIVEN}, False),
        ({"spec": {"type": "ClusterIP"}, "status": {"loadBalancer": {}}}, False),
        ({"spec": {"rules": []}}, True),
        ({"spec": {"rules": []}, "status": _GIVEN}, False),
    ],
    ids=["balancer", "balancer-that-has-one", "cluster-ip", "ingress", "ingress-that-has-one"],
)
def test_a_balancer_or_ingress_without_an_address_gets_one(
    thing: dict[str, object], wants: bool
) -> None:
    assert needs_address(thing) is wants
