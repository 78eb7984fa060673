"""An operator as tests ask for it: with a password in a Secret, and a Secret for its token."""

from dataclasses import dataclass
from typing import Any

from sandbox.coderd.server import FIRST_USER
from tests.provider.api_server import ApiServer
from tests.simulation import Simulation

PASSWORD = "A-Rather-Long-Secret-7"
HOME = "coder/coder-operator"
PASSWORDS = "coder/first-user"


@dataclass(frozen=True)
class Place:
    """One coderd and the cluster in which the operator's Secrets are."""

    coderd: Simulation
    cluster: ApiServer
    home: str = HOME

    @property
    def connection(self) -> dict[str, Any]:
        """The input of that name."""
        return {**self.coderd.connection, "credential": self.secret(self.home, "token")}

    def secret(self, where: str, key: str) -> dict[str, str]:
        namespace, _, name = where.partition("/")
        return {
            "kubeconfig": self.cluster.kubeconfig,
            "namespace": namespace,
            "name": name,
            "key": key,
        }

    def wish(self, **more: Any) -> dict[str, Any]:
        """The operator whose token is made."""
        return {
            "connection": self.connection,
            "make_token": True,
            "password_secret": self.secret(PASSWORDS, "password"),
            "wait_seconds": 5,
            **more,
        }

    def first_user(self, **more: Any) -> dict[str, Any]:
        """The operator who is the simulation's own first user."""
        self.cluster.put(PASSWORDS, password=FIRST_USER.password)
        account = {"email": FIRST_USER.email, "username": FIRST_USER.username}
        return self.wish(**{**account, **more})

    @property
    def token(self) -> str | None:
        """The token at home."""
        return self.cluster.text(self.home, "token")

    @property
    def token_names(self) -> list[str]:
        return [key.token_name for key in self.coderd.world.records.api_keys.values()]

    @property
    def lets_in(self) -> bool:
        """Whether coderd accepts the token at home."""
        user = self.coderd.act("GET", "/api/v2/users/me", token=self.token or "none")
        return user["username"] != ""
