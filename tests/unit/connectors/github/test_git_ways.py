"""Git goes the ways that are configured: by the proxy, trusting the company's certificates, with nobody's settings."""

import base64
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from connectors.errors import ConfigError
from connectors.github.kind import GitHubConfig, make
from connectors.testing import github_git_http
from connectors.testing.loopback import LoopbackServer, Reply, Request

World = Any


@pytest.fixture
def asked() -> list[Request]:
    return []


@pytest.fixture
def proxy(world: World, asked: list[Request]) -> Iterator[LoopbackServer]:
    """Passes on what it is asked for by full addresses."""

    def pass_on(request: Request) -> Reply:
        asked.append(request)
        found = github_git_http.repository_in(request.path)
        assert found is not None
        return github_git_http.answer(world.server.repositories[found[0]].path, found[1], request)

    with LoopbackServer(pass_on) as server:
        yield server


def test_git_goes_by_the_proxy_and_proves_itself(world: World, proxy: LoopbackServer, asked: list[Request]) -> None:
    world.repository().put({"a.md": "a"})
    connector = world.connector(transport="git", git_url="http://127.0.0.1:9", proxy=proxy.url, token="ghp_canary")
    assert set(world.scan(connector).refs) == {"acme/api/a.md"}
    told = {request.headers["Authorization"] for request in asked}
    assert told == {f"Basic {base64.b64encode(b'x-access-token:ghp_canary').decode()}"}
    assert {request.headers["Host"] for request in asked} == {"127.0.0.1:9"}


def test_git_trusts_the_certificates_that_are_given(world: World, tmp_path: Path) -> None:
    world.repository().put({"a.md": "a"})
    ca, key = certified(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key)

    def answer(request: Request) -> Reply | None:
        found = github_git_http.repository_in(request.path)
        return github_git_http.answer(world.server.repositories[found[0]].path, found[1], request) if found else None

    secure = LoopbackServer(answer)
    secure._http.socket = context.wrap_socket(secure._http.socket, server_side=True)
    with secure:
        git_url = secure.url.replace("http:", "https:")
        assert "git cannot read" in world.scan(world.connector(transport="git", git_url=git_url)).failed["acme/api/"]
        trusting = world.connector(transport="git", git_url=git_url, ca=str(ca))
        assert set(world.scan(trusting).refs) == {"acme/api/a.md"}
    (tmp_path / "none.pem").write_text("no certificate")
    told = {"repo": "acme/api", "transport": "git", "ca": "none.pem", "base_url": world.server.url, "git_url": git_url}
    with pytest.raises(ConfigError, match="holds no certificates"):
        list(make(GitHubConfig.model_validate(told), "github", tmp_path).scan(None, world.notes))


def test_settings_of_a_person_do_not_reach_git(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world.repository().put({"a.md": "a"})
    (tmp_path / ".gitconfig").write_text('[url "http://127.0.0.1:9/"]\n\tinsteadOf = file://\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    connector = world.connector(transport="git", git_url=f"file://{world.root}")
    assert set(world.scan(connector).refs) == {"acme/api/a.md"}


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody knows, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stand-in")])
    day = timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, datetime.now(UTC) - day, datetime.now(UTC) + day)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    ca, own = folder / "ca.pem", folder / "key.pem"
    ca.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    own.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return ca, own
