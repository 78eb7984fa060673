"""An operator as tests ask for it: with a password in a Secret, and a Secret for its token."""

from dataclasses import dataclass
from typing import Any

from coder_stack.dynamic.license import LicenseProvider
from coder_stack.dynamic.operator_access import OperatorAccessProvider
from coder_stack.dynamic.provisioner_key import ProvisionerKeyProvider
from sandbox.coderd.server import FIRST_USER
from tests.provider.api_server import ApiServer
from tests.provider.driver import Held, ProviderProcess
from tests.simulation import Simulation, license_text

PASSWORD = "A-Rather-Long-Secret-7"
HOME = "coder/coder-operator"
PASSWORDS = "coder/first-user"
ACCESS, KEYS, LICENSES = OperatorAccessProvider(), ProvisionerKeyProvider(), LicenseProvider()


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
        return [key.token_name for key in self.coderd.state.records.api_keys.values()]

    @property
    def lets_in(self) -> bool:
        """Whether coderd accepts the token at home."""
        user = self.coderd.act("GET", "/api/v2/users/me", token=self.token or "none")
        return user["username"] != ""


def licensed(place: Place, process: ProviderProcess) -> tuple[Held, Held, Held]:
    """Operator access, a license and a key, as one update leaves them."""
    access = process.of(ACCESS).create(place.wish())
    license_ = process.of(LICENSES).create({"connection": place.connection, "jwt": license_text()})
    return access, license_, process.of(KEYS).create(key_wish(place))


def key_wish(place: Place, **more: Any) -> dict[str, Any]:
    return {
        "connection": place.connection,
        "organization": "coder",
        "base_name": "fleet",
        "deployment_id": place.coderd.state.records.deployment_id,
        **more,
    }


def keys(coderd: Simulation) -> list[str]:
    return [key.name for key in coderd.state.records.provisioner_keys.values()]


def revoke_all_tokens(place: Place) -> None:
    """As an administrator in the dashboard would; expiry looks the same to us."""
    place.coderd.state.records.api_keys.clear()


def given(place: Place, username: str = "robot") -> dict[str, Any]:
    """A token of the user's own instead of the one that was made."""
    made = place.coderd.act("POST", "/_sim/users", {"username": username, "roles": ["owner"]},
                            token=place.token or "")  # fmt: skip
    connection = {**place.coderd.connection, "credential": "config"}
    return {"connection": connection, "token": made["token"], "wait_seconds": 5}
