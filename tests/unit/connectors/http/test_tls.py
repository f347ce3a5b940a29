"""Certificates are always verified; a person may add the authority of their own."""

import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from connectors.errors import ConfigError
from connectors.http import Client, RetryPolicy, Unreachable

ONCE = RetryPolicy(attempts=1)


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


class Quiet(HTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us is no error."""


@dataclass
class Secure:
    port: int
    ca: Path


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Secure]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stand-in")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    ca, own = tmp_path / "ca.pem", tmp_path / "key.pem"
    ca.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    own.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, own)
    server = Quiet(("127.0.0.1", 0), Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Secure(server.server_port, ca)
    server.shutdown()
    server.server_close()


def test_certificate_nobody_vouches_for_is_refused_with_advice(secure: Secure) -> None:
    with Client(allow_private=[f"127.0.0.1:{secure.port}"], retry=ONCE) as client, pytest.raises(Unreachable) as caught:
        client.get(f"https://127.0.0.1:{secure.port}/")
    assert "certificate is not trusted" in str(caught.value)
    assert "ca file" in str(caught.value)


def test_authority_of_ones_own_is_trusted_when_given(secure: Secure) -> None:
    with Client(allow_private=[f"127.0.0.1:{secure.port}"], ca=secure.ca) as client:
        assert client.get(f"https://127.0.0.1:{secure.port}/").content == b"hello"


def test_ca_file_that_is_none_is_a_config_error(secure: Secure, tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for ca in (tmp_path / "bad.pem", tmp_path / "missing.pem"):
        with (
            Client(allow_private=[f"127.0.0.1:{secure.port}"], ca=ca) as client,
            pytest.raises(ConfigError, match="ca file"),
        ):
            client.get(f"https://127.0.0.1:{secure.port}/")
