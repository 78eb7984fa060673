"""Operator access in tests: a coderd, a cluster with its Secrets, and one update or destroy."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from sandbox.coderd.server import FIRST_USER
from tests.provider.api_server import ApiServer
from tests.provider.driver import Failure, Held, ProviderProcess, provider_process
from tests.simulation import Simulation, license_text

PASSWORD = "A-Rather-Long-Secret-7"
TOKEN_SECRET = "coder/coder-operator"
PASSWORD_SECRET = "coder/first-user"
ACCESS, KEYS, LICENSES = OperatorAccessProvider(), ProvisionerKeyProvider(), LicenseProvider()

Stack = tuple[Held, Held, Held]
"""Operator access, a license and a key."""


@dataclass(frozen=True)
class Deployment:
    """One coderd and the cluster with the operator's Secrets."""

    coderd: Simulation
    cluster: ApiServer
    token_secret: str = TOKEN_SECRET

    def with_secret(self, name: str) -> "Deployment":
        """Store the token in another Secret."""
        return replace(self, token_secret=name)

    def secret_ref(self, secret: str, key: str) -> dict[str, str]:
        namespace, _, name = secret.partition("/")
        ref = {"namespace": namespace, "name": name, "key": key}
        return {"kubeconfig": self.cluster.kubeconfig, **ref}

    @property
    def connection(self) -> dict[str, Any]:
        """The input of that name."""
        return {**self.coderd.connection, "credential": self.secret_ref(self.token_secret, "token")}

    def inputs(self, **more: Any) -> dict[str, Any]:
        """Operator access that creates its token."""
        return {
            "connection": self.connection,
            "make_token": True,
            "password_secret": self.secret_ref(PASSWORD_SECRET, "password"),
            "wait_seconds": 5,
            **more,
        }

    def first_user_inputs(self, **more: Any) -> dict[str, Any]:
        """The same for the first user of the simulation."""
        self.cluster.put(PASSWORD_SECRET, password=FIRST_USER.password)
        return self.inputs(email=FIRST_USER.email, username=FIRST_USER.username, **more)

    def given_inputs(self) -> dict[str, Any]:
        """Operator access with a given token."""
        connection = {**self.coderd.connection, "credential": "config"}
        return {"connection": connection, "token": self.add_user(), "wait_seconds": 5}

    def key_inputs(self) -> dict[str, Any]:
        return {
            "connection": self.connection,
            "organization": "coder",
            "base_name": "fleet",
            "deployment_id": self.coderd.state.records.deployment_id,
        }

    @property
    def token(self) -> str | None:
        """The stored token."""
        return self.cluster.text(self.token_secret, "token")

    @property
    def accepts_token(self) -> bool:
        """Whether coderd accepts the stored token; it raises an error if not."""
        user = self.coderd.act("GET", "/api/v2/users/me", token=self.token or "none")
        return bool(user["username"])

    @property
    def token_names(self) -> list[str]:
        """The names of all tokens in coderd; those of login sessions are empty."""
        return [key.token_name for key in self.coderd.state.records.api_keys.values()]

    @property
    def named_tokens(self) -> list[str]:
        """The same without login sessions."""
        return [name for name in self.token_names if name]

    @property
    def keys_and_licenses(self) -> tuple[list[str], list[int]]:
        return keys(self.coderd), self.coderd.license_ids()

    def add_user(self, username: str = "robot", roles: tuple[str, ...] = ("owner",)) -> str:
        """Create a user, and return a token of theirs."""
        body = {"username": username, "roles": roles}
        user = self.coderd.act("POST", "/_sim/users", body, token=self.token or "")
        return str(user["token"])

    def revoke(self, token: str) -> None:
        self.coderd.act("DELETE", f"/api/v2/users/me/keys/{token.partition('-')[0]}", token=token)

    def revoke_all_tokens(self) -> None:
        """As an administrator in the dashboard would; an expired token is refused the same way."""
        self.coderd.state.records.api_keys.clear()


def keys(coderd: Simulation) -> list[str]:
    return [key.name for key in coderd.state.records.provisioner_keys.values()]


def create(deployment: Deployment, process: ProviderProcess) -> Stack:
    """Create operator access, a license and a key."""
    return (
        process.of(ACCESS).create(deployment.inputs()),
        process.of(LICENSES).create({"connection": deployment.connection, "jwt": license_text()}),
        process.of(KEYS).create(deployment.key_inputs()),
    )


def up(deployment: Deployment) -> Stack:
    """Do the same as one command."""
    with provider_process() as process:
        return create(deployment, process)


def update(held: Held, inputs: dict[str, Any]) -> Held:
    """Update operator access in one command."""
    with provider_process() as process:
        return process.of(ACCESS).update(held, inputs)


def destroy(*stack: Held, config: dict[str, str] | None = None) -> str:
    """Delete a stack, or its operator access, in one command; return what it told the user."""
    with provider_process(config) as process:
        for provider, held in list(zip((ACCESS, LICENSES, KEYS), stack, strict=False))[::-1]:
            process.of(provider).delete(held)
        return process.stderr


def failure_of(call: Callable[..., object], *arguments: object) -> str:
    """Return the line with which the call fails."""
    with pytest.raises(Failure) as failed:
        call(*arguments)
    return failed.value.last


def problem_of(
    process: ProviderProcess, inputs: dict[str, Any], old: dict[str, Any] | None = None
) -> str:
    """Return the only problem in a preview of operator access; it names no property."""
    ((path, why),) = process.of(ACCESS).check(inputs, old).failures
    assert path == ""
    return why
