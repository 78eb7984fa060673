"""How people log in to the Coder of a stack: its URL, the first user and the password (F1).

The password is read when it is asked for, from where it is declared. Nothing is stored or changed.
"""

import os
import shlex
from dataclasses import dataclass

from pydantic import SecretStr

from coder_stack.cluster.kubeconfig import kubeconfig_of
from coder_stack.cluster.secret import SecretAbsent, SecretKeyRef, read_value
from coder_stack.coderd.errors import CoderdError
from coder_stack.coderd.forward_proxy import forward_proxy
from coder_stack.coderd.transport import api_server_transport, why_unreachable
from coder_stack.naming import operator_secret_name
from coder_stack.operate.engine.errors import OperationError
from coder_stack.operate.stack_config import StackConfig
from coder_stack.settings import Settings

_LOCAL_PORT = 8080


@dataclass(frozen=True)
class Admin:
    """The first user of one stack's Coder."""

    config: StackConfig
    settings: Settings

    @classmethod
    def of(cls, config: StackConfig) -> "Admin":
        """Read the config; raise ConfigError if it has mistakes."""
        return cls(config, config.settings())

    @property
    def url(self) -> str:
        """Return the URL that people open: the output `accessUrl`."""
        plane = self.settings.control_plane
        return plane.access_url or plane.in_cluster_url

    @property
    def token_is_given(self) -> bool:
        """Tell whether the stack uses its own token, and so knows no first user."""
        return "token" in self.config.secrets or self.settings.access.token_secret is not None

    @property
    def why_no_password(self) -> str:
        """Say why a stack with its own token has no password to show."""
        return f"Stack {self.config.stack} uses its own token and does not know a password."

    def password(self) -> SecretStr:
        """Return the first user's password; raise OperationError if the stack knows none."""
        if self.token_is_given:
            raise OperationError(self.why_no_password)
        access, plane = self.settings.access, self.settings.control_plane
        if "initialPassword" in self.config.secrets:
            return self.config.secret("initialPassword")
        if ref := access.password_secret:
            place = (ref.namespace or plane.namespace, ref.name, ref.key)
            return self._read(*place)
        try:
            # The first version generated a password and kept it here.
            return self._read(plane.namespace, operator_secret_name(plane.name), "password")
        except OperationError:
            set_it = self.config.command_to_set("initialPassword")
            why = f"Stack {self.config.stack} has no password; set it with: {set_it}"
            raise OperationError(why) from None

    def why_not_open(self) -> str:
        """Return why the URL cannot be opened from here; empty if anything answers there."""
        if self.settings.control_plane.access_url is None:
            return "it is the Service's, inside the cluster"
        try:
            transport = api_server_transport(proxy=forward_proxy(self.url, None, os.environ))
        except (CoderdError, ValueError) as error:
            return str(error)
        return why_unreachable(self.url, transport, verify=False)

    def port_forward(self) -> tuple[str, str]:
        """Return the command that opens Coder on this machine, and the URL there."""
        cluster, plane = self.settings.kubernetes, self.settings.control_plane
        options = {"--kubeconfig": cluster.kubeconfig, "--context": cluster.context}
        given = [word for name, value in options.items() if value for word in (name, value)]
        ports = f"{_LOCAL_PORT}:{plane.service_port}"
        target = ("--namespace", plane.namespace, "port-forward", f"service/{plane.name}", ports)
        return shlex.join(["kubectl", *given, *target]), f"{plane.scheme}://127.0.0.1:{_LOCAL_PORT}"

    def _read(self, namespace: str, name: str, key: str) -> SecretStr:
        stack = kubeconfig_of(self.settings.kubernetes)
        place = SecretKeyRef(namespace=namespace, name=name, key=key)
        try:
            return read_value(place, stack)
        except SecretAbsent as absent:
            raise OperationError(f"{place.label}: {absent}") from None
        except CoderdError as error:
            raise OperationError(str(error)) from None
