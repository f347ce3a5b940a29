"""Proxies: only a configured one is used, and it is no way around the guard."""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from connectors.errors import ConfigError
from connectors.http import AddressRefused, Client, RetryPolicy, Unreachable

if TYPE_CHECKING:
    from tests.unit.connectors.http.conftest import Server

Whole = Callable[..., bytes]
PUBLIC = ["93.184.216.34"]
ONCE = RetryPolicy(attempts=1)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_proxy_of_the_environment_is_not_used(
    name: str, server: "Server", other_server: "Server", whole: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, other_server.url)
    url = server.tell("/a", whole(b"direct"))
    with Client(allow_private=[f"127.0.0.1:{server.port}"]) as client:
        assert client.get(url).content == b"direct"
    assert other_server.asked == []


def test_configured_proxy_is_asked_for_every_url(server: "Server", whole: Whole) -> None:
    server.tell("http://docs.example/a", whole(b"by proxy"))
    with Client(proxy=server.url, resolve=lambda _host, _port: PUBLIC) as client:
        assert client.get("http://docs.example/a").content == b"by proxy"
    assert server.paths == ["http://docs.example/a"]


def test_name_that_only_the_proxy_knows_is_left_to_it(server: "Server", whole: Whole) -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("no such host")

    server.tell("http://docs.example/a", whole(b"by proxy"))
    with Client(proxy=server.url, resolve=unknown) as client:
        assert client.get("http://docs.example/a").content == b"by proxy"


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://localhost/", "http://inside.example/", "ftp://docs.example/"]
)
def test_proxy_is_no_way_inside(url: str, server: "Server") -> None:
    with (
        Client(proxy=server.url, resolve=lambda _host, _port: ["10.0.0.1"], retry=ONCE) as client,
        pytest.raises(AddressRefused),
    ):
        client.get(url)
    assert server.asked == []


def test_redirect_through_a_proxy_passes_the_guard_too(server: "Server", whole: Whole) -> None:
    server.tell("http://docs.example/a", whole(status=302, headers={"Location": "http://169.254.169.254/latest/"}))
    with (
        Client(proxy=server.url, resolve=lambda _host, _port: PUBLIC, retry=ONCE) as client,
        pytest.raises(AddressRefused),
    ):
        client.get("http://docs.example/a")
    assert server.paths == ["http://docs.example/a"]


def test_credentials_of_a_proxy_go_to_it_and_into_no_error(server: "Server", whole: Whole) -> None:
    proxy = f"http://user:s3cret@127.0.0.1:{server.port}"
    server.tell("http://docs.example/a", whole(b"by proxy"))
    with Client(proxy=proxy, resolve=lambda _host, _port: PUBLIC, retry=ONCE) as client:
        client.get("http://docs.example/a")
        assert "s3cret" not in repr(client)
        with pytest.raises(Unreachable) as caught:
            client.get("https://docs.example/a")  # CONNECT, which the server answers with 404
    (_, _, headers), *_ = server.asked
    assert headers["proxy-authorization"] == "Basic " + base64.b64encode(b"user:s3cret").decode()
    assert "s3cret" not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert "proxy" in str(caught.value)


@pytest.mark.parametrize("proxy", ["proxy.acme.example:3128", "socks5://127.0.0.1:1080", "http://", "http://exa mple"])
def test_proxy_that_is_none_is_a_config_error(proxy: str) -> None:
    with pytest.raises(ConfigError, match="proxy"):
        Client(proxy=proxy)
