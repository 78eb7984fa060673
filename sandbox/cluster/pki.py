"""Keys and certificates of one cluster: a CA, a certificate for both servers, a key for tokens.

They are created once per sandbox, so that clients still trust a restarted cluster. They are valid
for 127.0.0.1 only.
"""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from sandbox.cluster import private_file

_LIFETIME = dt.timedelta(days=3650)


class Pki:
    """The files, by purpose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca = folder / "ca.crt"
        self.server_cert = folder / "server.crt"
        self.server_key = folder / "server.key"
        self.token_key = folder / "token-signing.key"

    def ensure(self) -> None:
        """Create all files, unless they exist. The CA's certificate is written last."""
        if self.ca.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        ca_key = ec.generate_private_key(ec.SECP256R1())
        ca = _certificate("coder-stack sandbox CA", ca_key.public_key(), ca_key, issuer=None)
        server_key = ec.generate_private_key(ec.SECP256R1())
        server = _certificate("127.0.0.1", server_key.public_key(), ca_key, issuer=ca)
        # RSA, which every client of service account tokens supports.
        token_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private_file.write(self.server_key, _pem(server_key))
        private_file.write(self.token_key, _pem(token_key))
        private_file.write(self.server_cert, server.public_bytes(serialization.Encoding.PEM))
        private_file.write(self.ca, ca.public_bytes(serialization.Encoding.PEM))


def _certificate(
    name: str,
    public_key: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate | None,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    # An hour ago, in case the clock is corrected while the sandbox starts.
    start = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _LIFETIME)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
        .add_extension(
            x509.KeyUsage(
                digital_signature=True,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                key_cert_sign=issuer is None,
                crl_sign=issuer is None,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
    )
    if issuer is not None:
        # The API server also uses it as client certificate for etcd.
        builder = builder.add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
            ),
            critical=False,
        ).add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
    return builder.sign(signer, hashes.SHA256())


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
