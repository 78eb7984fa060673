"""Where the operator's token is, as the component tells operator access and everything after it."""

from typing import Any

import pytest
from pulumi.runtime.mocks import set_mocks

from coder_stack.components.operator import Operator, OperatorArgs
from coder_stack.settings import AccessSettings, LicenseSettings, TokenSecret
from tests.unit.components.rendering import Recorder, render

ANSWERS = {
    "OperatorAccess": {"deployment_id": "d-1", "version": "v2.30.0", "user": "admin"},
    "Entitlements": {"features": {}, "tier": "none", "stale": False, "reason": ""},
}
THEIRS = {"namespace": "coder", "name": "theirs", "key": "token"}


def sent(name: str = "operator", stack: str = "dev", **args: Any) -> dict[str, dict[str, Any]]:
    """Return the inputs of its resources by their kind."""
    recorder = Recorder(answers=ANSWERS)
    set_mocks(recorder, project="app", stack=stack, preview=False)
    given: dict[str, Any] = {"settings": AccessSettings(), **args}

    def build() -> dict[str, Any]:
        connection = {"url": "https://coder.test"}
        made = Operator(
            name,
            OperatorArgs(
                connection=connection, license=LicenseSettings(), namespace="coder", **given
            ),
        )
        return {"conditions": made.conditions}

    render(build)
    return {kind: recorder.one(kind) for kind in ANSWERS}


@pytest.mark.usefixtures("loop")
class TestHome:
    def test_CP10_each_operator_of_each_stack_has_a_secret_of_its_own(self) -> None:
        """Two that share a namespace would revoke each other's token in every update."""
        homes = [sent(), sent(stack="prod"), sent("another"), sent()]
        names = [each["OperatorAccess"]["connection"]["credential"]["name"] for each in homes]
        assert len(set(names)) == 3
        assert names[0] == names[3]
        assert all(name.startswith("coder-operator-") for name in names)

    def test_CP10_everything_is_told_the_same_home_and_no_token(self) -> None:
        seen = sent()
        assert seen["OperatorAccess"]["make_token"] is True
        assert seen["OperatorAccess"]["connection"] == seen["Entitlements"]["connection"]
        assert seen["OperatorAccess"].get("token") is None

    def test_CP6_a_given_token_is_for_the_config_to_keep(self) -> None:
        access = sent(token="given")["OperatorAccess"]
        assert (access["token"], access["make_token"]) == ("given", False)
        assert access["connection"]["credential"] == "config"

    def test_CP6_a_secret_of_the_users_own_comes_before_the_configs_token(self) -> None:
        """As the config's description says; a token left in the config is not used any more."""
        settings = AccessSettings(token_secret=TokenSecret(name="theirs"))
        access = sent(token="left behind", settings=settings)["OperatorAccess"]
        assert (access.get("token"), access["make_token"]) == (None, False)
        assert access["connection"]["credential"] == THEIRS
