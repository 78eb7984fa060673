"""Every output of the stack is documented, and nothing else is."""

import re
from typing import Any
from unittest.mock import MagicMock

import pulumi
import pytest

from coder_stack.outputs import exports, unmet
from coder_stack.settings import Settings
from coder_stack.stack import StackSecrets
from sandbox.paths import CHECKOUT


def documented_outputs(head: str) -> list[str]:
    """Return the names in the first column of the table in docs/outputs.md that begins so."""
    table = (CHECKOUT / "docs" / "outputs.md").read_text().split(head)[1].split("\n\n")[0]
    cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_docs_and_exports_name_the_same_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    documented = documented_outputs("| output |")
    monkeypatch.setattr(pulumi.Output, "all", MagicMock())
    monkeypatch.setattr(pulumi.Output, "secret", MagicMock())
    assert documented == list(exports(MagicMock()))


def condition(component: str, kind: str, status: str, reason: str = "NotEntitled") -> Any:
    return {"component": component, "type": kind, "status": status, "reason": reason, "message": ""}


def test_S1_conditions_that_do_not_hold_are_as_few_in_a_stack_of_many_parts() -> None:
    kinds = ("ExternalProvisionersEntitled", "DeploymentReady")
    fleet = [condition(f"provisioner/p{n}", kind, "False") for n in range(50) for kind in kinds]
    pending = condition("provisioner/p7", "DeploymentReady", "False", "Pending")
    holds = condition("operator", "OperatorAccessReady", "True")
    ready = condition("stack", "Ready", "False", "SeveralReasons")
    assert unmet([holds, *fleet, pending, ready]) == [
        {**fleet[0], "component": "provisioner/p0 and 49 others"},
        {**fleet[1], "component": "provisioner/p0 and 49 others"},
        pending,
        ready,
    ]
    assert unmet([holds, {**ready, "status": "True"}]) == []


def stack(token: Any = None, password: Any = None, **settings: dict[str, Any]) -> MagicMock:
    made = MagicMock()
    made.settings = Settings.model_validate(settings)
    made.secrets = StackSecrets(token=token, initial_password=password)
    made.control_plane.url = "http://coder.coder.svc.cluster.local:80"
    return made


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.Output, "all", MagicMock())
    monkeypatch.setattr(pulumi.Output, "secret", lambda value: ("secret", value))


@pytest.mark.usefixtures("no_engine")
def test_F1_the_url_is_the_one_that_people_open_and_the_password_is_a_secret() -> None:
    plane = {"accessUrl": "https://coder.example.com"}
    access = {"username": "ann", "email": "ann@example.com"}
    outputs = exports(stack(password="p", controlPlane=plane, access=access))
    assert outputs["accessUrl"] == "https://coder.example.com"
    assert outputs["admin"] == {"url": "https://coder.example.com", **access}
    assert outputs["adminPassword"] == ("secret", "p")
    assert exports(stack(password="p"))["accessUrl"] == "http://coder.coder.svc.cluster.local:80"


@pytest.mark.usefixtures("no_engine")
def test_F1_a_stack_with_its_own_token_claims_no_first_user_and_no_password() -> None:
    url = {"url": "http://coder.coder.svc.cluster.local:80"}
    for given in (stack(token="t"), stack(access={"tokenSecret": {"name": "owner"}})):
        outputs = exports(given)
        assert outputs["admin"] == url
        assert "adminPassword" not in outputs
