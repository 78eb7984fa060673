"""A local object store (moto) with one empty bucket, for the tests of the state backend.

A process of its own, with packages of its own: moto's AWS library does not fit to the program's.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from sandbox import toolchain
from sandbox.engine import Engine
from sandbox.paths import SandboxPaths

_SERVER = """
import logging, sys
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
app = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, app, threaded=True)
logging.getLogger("werkzeug").setLevel(logging.ERROR)
print(f"port {server.server_port}", flush=True)
server.serve_forever()
"""
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "made-up",
    "AWS_SECRET_ACCESS_KEY": "made-up-too",
    "AWS_REGION": "us-east-1",
    # Nobody is asked who this machine is.
    "AWS_EC2_METADATA_DISABLED": "true",
}
# Moto wants to see a signature on what is private, and does not look at it closer.
_SIGNED = (
    "AWS4-HMAC-SHA256 Credential=made-up/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


@dataclass(frozen=True)
class Bucket:
    """One bucket on the server."""

    name: str
    port: int

    @property
    def url(self) -> str:
        """As in PULUMI_BACKEND_URL."""
        where = f"endpoint=127.0.0.1:{self.port}&s3ForcePathStyle=true&disableSSL=true"
        return f"s3://{self.name}?region=us-east-1&{where}"

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """Every object below a prefix."""
        with self._http() as http:
            listed = http.get(f"/{self.name}", params={"list-type": "2", "prefix": prefix})
            keys = re.findall(r"<Key>([^<]+)</Key>", listed.raise_for_status().text)
            return {key: http.get(f"/{self.name}/{key}").raise_for_status().content for key in keys}

    def put(self, key: str, content: bytes) -> None:
        with self._http() as http:
            http.put(f"/{self.name}/{key}", content=content).raise_for_status()

    def delete(self, key: str) -> None:
        with self._http() as http:
            http.delete(f"/{self.name}/{key}").raise_for_status()

    def make(self) -> None:
        with self._http() as http:
            http.put(f"/{self.name}").raise_for_status()

    def _http(self) -> httpx.Client:
        base = f"http://127.0.0.1:{self.port}"
        return httpx.Client(base_url=base, trust_env=False, headers={"Authorization": _SIGNED})


@dataclass(frozen=True)
class OnS3(Engine):
    """An engine with its backend in a bucket."""

    bucket: Bucket

    @classmethod
    def of(cls, engine: Engine, bucket: Bucket) -> "OnS3":
        """Return the same engine with another backend."""
        return cls(engine.pulumi, engine.plugin, engine.kubectl, bucket)

    def variables(self, home: SandboxPaths, path_before: str) -> dict[str, str]:
        usual = super().variables(home, path_before)
        return {**usual, **CREDENTIALS, "PULUMI_BACKEND_URL": self.bucket.url}


@contextlib.contextmanager
def bucket(name: str = "state") -> Iterator[Bucket]:
    """Ended with the block."""
    env = {**os.environ, **CREDENTIALS, "PYTHONPATH": str(toolchain.wheels("moto"))}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _SERVER],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("port "), "moto did not start"
        made = Bucket(name, int(said.split()[1]))
        made.make()
        yield made
    finally:
        process.terminate()
        process.communicate(timeout=30)
