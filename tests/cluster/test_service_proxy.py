"""A coderd that only the real API server's service proxy leads to (CP8)."""

import json
import secrets
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import httpx
import pytest

from sandbox.home import CHECKOUT
from tests.harness import Cluster
from tests.pod_network import PORT, Pod, expose, pod

pytestmark = pytest.mark.cluster


@contextmanager
def coderd_in(where: Pod) -> Generator[None]:
    """A coderd that nobody has set up yet, inside the pod's network."""
    listen = ["--host", where.address, "--port", str(PORT)]
    command = [sys.executable, "-m", "coder_stack.cli", "sandbox", "coderd", *listen, "--fresh"]
    with subprocess.Popen(
        where.command(*command), cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["token"] is None
        try:
            yield
        finally:
            server.terminate()


def test_CP8_requests_arrive_with_their_token_and_answers_come_back_unchanged(
    cluster: Cluster,
) -> None:
    namespace = f"proxy-{secrets.token_hex(4)}"
    with pod() as where, coderd_in(where), cluster.http() as http:
        expose(cluster, where, namespace, "coder")
        base = f"/api/v1/namespaces/{namespace}/services/http:coder:http/proxy"
        assert http.get(f"{base}/healthz").text == "OK"
        missing = http.get(f"{base}/api/v2/users/first")
        assert missing.status_code == httpx.codes.NOT_FOUND.value
        assert missing.json()["message"] == "The initial user has not been created!"
        person = {"email": "a@example.com", "username": "a", "password": "Correct-Horse-9!"}
        assert http.post(f"{base}/api/v2/users/first", json=person).status_code == 201
        login = http.post(f"{base}/api/v2/users/login", json=person)
        http.cookies.clear()
        token = login.json()["session_token"]
        me = http.get(f"{base}/api/v2/users/me", headers={"Coder-Session-Token": token})
        assert me.json()["username"] == "a"
        cluster.delete(f"/api/v1/namespaces/{namespace}")
