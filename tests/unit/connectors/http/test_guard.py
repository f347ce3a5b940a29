"""Where a request may go."""

from collections.abc import Callable

import httpx
import pytest

from connectors.errors import ConfigError
from connectors.http.addresses import is_public
from connectors.http.errors import AddressRefused, Unreachable
from connectors.http.guard import Guard

INSIDE = """127.0.0.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200 192.0.0.8
192.0.0.9 198.18.0.1 203.0.113.1 192.0.2.1 198.51.100.7 224.0.0.1 240.0.0.1 255.255.255.255 192.88.99.1 168.63.129.16
::1 :: ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::a9fe:a9fe 2002:7f00:1::
2001:0:7f00:1::80ff:fffe fec0::1 fe80::1 fe80::1%eth0 fd00:ec2::254 ff02::1 5f00::1 3fff::1 2001:db8::1""".split()  # noqa: SIM905 - a list this long reads better as words
OUTSIDE = """8.8.8.8 1.1.1.1 93.184.216.34 192.0.78.9 172.32.0.1 100.128.0.1 198.20.0.1 223.255.255.254 ::ffff:8.8.8.8
2606:4700::1111 2a00:1450::1 2400:cb00::1""".split()  # noqa: SIM905 - a list this long reads better as words


@pytest.mark.parametrize("address", INSIDE)
def test_special_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_ordinary_address_is_public(address: str) -> None:
    assert is_public(address)


def resolving(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(addresses)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://docs.example/a",
        "file:///etc/passwd",
        "gopher://docs.example/",
        "http://user:pass@docs.example/",
        "http:///path",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://wiki/",
        "http://wiki.internal/",
        "http://printer.local/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://[2606:4700::1111]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433/",
    ],
)
def test_text_of_a_url_is_enough_to_refuse_it(url: str) -> None:
    with pytest.raises(AddressRefused):
        Guard().check(httpx.URL(url))


def test_public_names_and_addresses_pass() -> None:
    guard = Guard(resolve=resolving("93.184.216.34"))
    for url in ("https://docs.example/a?b=c", "http://8.8.8.8:8080/", "https://DOCS.Example./"):
        guard.check(httpx.URL(url))
    assert guard.addresses("docs.example", 443) == ["93.184.216.34"]


def test_name_that_leads_inside_is_refused() -> None:
    with pytest.raises(AddressRefused, match="no address of the public"):
        Guard(resolve=resolving("10.1.2.3")).addresses("docs.example", 443)


def test_of_several_addresses_only_public_ones_are_dialled() -> None:
    guard = Guard(resolve=resolving("10.1.2.3", "93.184.216.34", "::1"))
    assert guard.addresses("docs.example", 443) == ["93.184.216.34"]


def test_allowed_place_may_lie_inside_at_its_port_only() -> None:
    guard = Guard(allow_private=["Wiki.Acme.Internal.:8443"], resolve=resolving("10.1.2.3"))
    guard.check(httpx.URL("https://wiki.acme.internal:8443/"))
    assert guard.addresses("wiki.acme.internal", 8443) == ["10.1.2.3"]
    with pytest.raises(AddressRefused):
        guard.check(httpx.URL("https://wiki.acme.internal/"))


def test_allowed_name_never_leads_to_the_metadata_service() -> None:
    guard = Guard(allow_private=["wiki.acme.example:80"], resolve=resolving("169.254.169.254"))
    with pytest.raises(AddressRefused):
        guard.addresses("wiki.acme.example", 80)


def test_loopback_place_may_lie_on_this_machine_and_nowhere_else_inside() -> None:
    place = ["api.example:80"]
    assert Guard(allow_loopback=place, resolve=resolving("127.0.0.1")).addresses("api.example", 80) == ["127.0.0.1"]
    with pytest.raises(AddressRefused):
        Guard(allow_loopback=place, resolve=resolving("10.0.0.1")).addresses("api.example", 80)


@pytest.mark.parametrize(
    "entry", ["wiki", "wiki:", ":80", "wiki:http", "wiki:0", "wiki:70000", "http://wiki:80", "a:²"]
)
def test_malformed_permission_is_a_config_error(entry: str) -> None:
    with pytest.raises(ConfigError, match="host:port"):
        Guard(allow_private=[entry])


def test_ipv6_permission_is_written_in_brackets() -> None:
    guard = Guard(allow_private=["[::1]:8000"])
    guard.check(httpx.URL("http://[::1]:8000/"))
    assert guard.addresses("::1", 8000) == ["::1"]


def test_name_without_address_is_unreachable() -> None:
    def fails(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(Unreachable, match="has no address"):
        Guard(resolve=fails).addresses("nowhere.example", 80)


def test_resolver_that_hangs_is_not_waited_for() -> None:
    import threading  # noqa: PLC0415 - only here

    gate = threading.Event()

    def hangs(_host: str, _port: int) -> list[str]:
        gate.wait(20)
        return ["93.184.216.34"]

    with pytest.raises(Unreachable, match="in time"):
        Guard(resolve=hangs).addresses("slow.example", 80, 0.05)
    gate.set()
