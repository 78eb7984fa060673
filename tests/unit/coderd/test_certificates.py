"""CP8: which certificates the client trusts, and CA bundles that are none."""

import ssl
from pathlib import Path

import httpx
import pytest

from coder_stack.coderd.client import Coderd
from coder_stack.coderd.connection import Connection
from coder_stack.coderd.errors import (
    CertificateNotTrusted,
    InvalidConnection,
)
from tests.unit.coderd.fakes import (
    answer,
    coderd,
    error_of,
)
from tests.unit.coderd.good_answers import BUILD


@pytest.mark.parametrize("content", ["", "not PEM", "-----BEGIN CERTIFICATE-----\nx\n"])
def test_a_ca_bundle_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text(content)
    by_path = Connection(base_url="https://c.test", ca_bundle=str(file))
    by_text = Connection(base_url="https://c.test", ca_bundle="-----BEGIN X-----" + content)

    assert isinstance(error_of(lambda: Coderd(by_path)), InvalidConnection)
    assert isinstance(error_of(lambda: Coderd(by_text)), InvalidConnection)


def test_a_missing_ca_bundle_is_refused(tmp_path: Path) -> None:
    connection = Connection(base_url="https://c.test", ca_bundle=str(tmp_path / "none.pem"))

    assert isinstance(error_of(lambda: Coderd(connection)), InvalidConnection)


def test_a_ca_bundle_beside_a_transport_is_refused_rather_than_ignored() -> None:
    connection = Connection(base_url="https://c.test", ca_bundle="/etc/ca.pem")
    transport = httpx.MockTransport(lambda _: answer(200, BUILD))

    error = error_of(lambda: Coderd(connection, transport=transport))

    assert isinstance(error, InvalidConnection)


def test_an_untrusted_certificate_is_not_retried() -> None:
    asked: list[httpx.Request] = []

    def handshake(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        cause = ssl.SSLCertVerificationError(1, "SECRET subject")
        raise httpx.ConnectError("SECRET") from cause

    error = error_of(coderd(handshake).build_info)

    assert isinstance(error, CertificateNotTrusted)
    assert len(asked) == 1
    assert "SECRET" not in str(error)
