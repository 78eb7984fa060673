"""Open a session with coderd as the providers of a project do, for the watcher's polls (N1).

Only a token in the stack's config is decrypted, and only to be sent to coderd. Files are found from
the project's folder, where Pulumi runs.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from coder_stack.cluster.kubeconfig import Kubeconfig
from coder_stack.cluster.secret import SecretKeyRef
from coder_stack.config_keys import namespace_in
from coder_stack.dynamic.runtime.config import StackConfig
from coder_stack.dynamic.runtime.session import ConnectionProps, Session, Sessions
from coder_stack.operate.engine.pulumi import Project
from coder_stack.operate.watch.facts import Facts

K = TypeVar("K", bound=Kubeconfig)


def session_opener(project: Project, stack: str) -> Callable[[Facts], Session | None]:
    """Return a function that opens a session; it returns None without a connection."""

    def open_session(facts: Facts) -> Session | None:
        if facts.connection is None:
            return None
        given = ConnectionProps.model_validate(facts.connection)
        connection = _of_project(given, project.folder)
        texts: Mapping[str, Mapping[str, Any]] = json.loads(
            project.run("config", "--json", "--stack", stack)
        )
        namespace = namespace_in(project.name, texts.__contains__)
        token = f"{namespace}:token"
        in_config = not isinstance(connection.token_location, SecretKeyRef)

        def get(key: str) -> str | None:
            if key not in texts:
                return None
            if key == token and in_config:
                shown = project.run("config", "get", key, "--json", "--stack", stack)
                return str(json.loads(shown)["value"])
            return texts[key].get("value")

        config = StackConfig.read(get, project.name)
        own = {"kubernetes": _absolute(config.kubernetes, project.folder)}
        return Sessions().open(connection, config.model_copy(update=own), {})

    return open_session


def _of_project(connection: ConnectionProps, folder: Path) -> ConnectionProps:
    """Return it with absolute paths: Pulumi runs in the project's folder, the watcher may not."""
    absolute: dict[str, object] = {}
    if connection.service_proxy is not None:
        absolute["service_proxy"] = _absolute(connection.service_proxy, folder)
    if isinstance(connection.credential, SecretKeyRef):
        absolute["credential"] = _absolute(connection.credential, folder)
    bundle = connection.ca_bundle
    if bundle and "-----BEGIN" not in bundle:
        absolute["ca_bundle"] = str(folder / Path(bundle).expanduser())
    return connection.model_copy(update=absolute)


def _absolute(cluster: K, folder: Path) -> K:
    if cluster.kubeconfig is None:
        return cluster
    file = str(folder / Path(cluster.kubeconfig).expanduser())
    return cluster.model_copy(update={"kubeconfig": file})
