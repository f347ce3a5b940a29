"""Where a request may go: decided by the URL's text before anything else, then by the resolved address.

The text rules are only the first fence: `0x7f.1`, `2130706433`, a name that points inside or one that points elsewhere
at every look-up all end at the second. `Guard.addresses` resolves once, and what it returns is what is dialled.
"""

import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import httpx

from connectors.errors import ConfigError
from connectors.http.addresses import is_loopback, is_never_meant, is_public, literal
from connectors.http.deadline import joined
from connectors.http.errors import AddressRefused, Unreachable

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
"""Addresses of a host name and port, best first; raises `OSError` when there are none."""

_INNER_NAMES = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")
_PORTS = {"http": 80, "https": 443}
_ADVICE = "if it is a server of yours, put {place!r} into allow_private of the source"


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the system."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def port_of(url: httpx.URL) -> int:
    """Return the port a URL means."""
    return url.port or _PORTS.get(url.scheme, 0)


def origin_of(url: httpx.URL) -> str:
    """Return scheme, host and port: what credentials belong to."""
    return f"{url.scheme}://{plain_host(url.host)}:{port_of(url)}"


def plain_host(host: str) -> str:
    """Return a host in one spelling: lower case, without the root's dot."""
    return host.strip().rstrip(".").lower()


def private_place(url: str) -> str | None:
    """Return the `host:port` that `allow_private` must hold for a URL by its text; `None` for public ones."""
    parsed = httpx.URL(url)
    try:
        Guard().check(parsed)
    except AddressRefused:
        host = plain_host(parsed.host)
        return f"[{host}]:{port_of(parsed)}" if ":" in host else f"{host}:{port_of(parsed)}"
    return None


class Guard:
    """Says of every URL whether it may be asked for, and of every host which addresses may be dialled.

    Args:
        allow_private: `host:port` pairs that may lie anywhere (an IPv6 address in brackets): intranets, stand-ins. The
            host is compared as the URL spells it. A *name* still never leads to a link-local or multicast address.
        allow_loopback: `host:port` pairs that may lie on this machine, and otherwise only on the public internet.
        resolve: How names become addresses.

    Raises:
        ConfigError: An entry is no `host:port`.
    """

    def __init__(
        self,
        *,
        allow_private: Iterable[str] = (),
        allow_loopback: Iterable[str] = (),
        resolve: Resolver = system_resolver,
    ) -> None:
        self._private = frozenset(_place(entry) for entry in allow_private)
        self._loopback = frozenset(_place(entry) for entry in allow_loopback)
        self._resolve = resolve

    def check(self, url: httpx.URL) -> None:
        """Refuse what the text of a URL already forbids.

        Raises:
            AddressRefused: Not http or https, credentials inside, no host, or one that can only lie inside.
        """
        host, port = plain_host(url.host), port_of(url)
        if url.scheme not in _PORTS:
            raise AddressRefused(f"the address {url.scheme}:… is not http or https", "only web addresses are followed")
        if url.userinfo:
            raise AddressRefused(f"the address at {host} holds a user name", "give credentials as headers instead")
        if not host or "%" in host:
            raise AddressRefused("the address names no host", "correct the link")
        if self._is_known((host, port)):
            return
        address = literal(host)
        if address is not None:
            if ":" in host or not is_public(address):
                raise _refused(host, port, "is not an address of the public internet")
        elif "." not in host or f".{host}".endswith(_INNER_NAMES):
            raise _refused(host, port, "is a name of a private network")

    def addresses(self, host: str, port: int, timeout_s: float | None = None) -> list[str]:
        """Resolve a host, once, to the addresses that may be dialled, in the resolver's order.

        Raises:
            AddressRefused: It has addresses, and none of them may be.
            Unreachable: It has none, or the answer did not come in time.
        """
        place = plain_host(host), port
        address = literal(place[0])
        found = [address] if address is not None else self._looked_up(place, timeout_s)
        meant = [each for each in found if self._is_meant(place, each)]
        if found and not meant:
            raise _refused(*place, "leads to no address of the public internet")
        return meant

    def knows(self, url: httpx.URL) -> bool:
        """Whether a person named this host and port: it may lie inside, and credentials may go there over http."""
        return self._is_known((literal(plain_host(url.host)) or plain_host(url.host), port_of(url)))

    def _is_known(self, place: tuple[str, int]) -> bool:
        return place in self._private or place in self._loopback

    def _is_meant(self, place: tuple[str, int], address: str) -> bool:
        if is_public(address):
            return True
        if place in self._private:
            return literal(place[0]) is not None or not is_never_meant(address)
        return place in self._loopback and is_loopback(address)

    def _looked_up(self, place: tuple[str, int], timeout_s: float | None) -> list[str]:
        """Ask the resolver in a thread of its own: the system's cannot be told how long it may take."""
        host, port = place
        answers: list[str] = []
        failures: list[OSError | UnicodeError] = []

        def ask() -> None:
            try:
                answers.extend(self._resolve(host, port))
            except (OSError, UnicodeError) as failure:  # UnicodeError: a label that no name server could hold
                failures.append(failure)

        thread = threading.Thread(target=ask, name=f"resolve {host}", daemon=True)
        thread.start()
        if not joined(thread, timeout_s):
            raise Unreachable(f"the name {host} could not be looked up in time; check the network")
        if not answers:
            cause = failures[0] if failures else None
            raise Unreachable(f"the name {host} has no address; check the spelling and the network") from cause
        return list(dict.fromkeys(answers))


def _place(entry: str) -> tuple[str, int]:
    host, colon, port = entry.strip().rpartition(":")
    host = plain_host(host).removeprefix("[").removesuffix("]")
    known = literal(host) or host
    if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536 or "/" in host:
        raise ConfigError(f"allow_private holds {entry!r}, which is no host:port; write such as wiki.acme.example:443")
    return known, int(port)


def _refused(host: str, port: int, why: str) -> AddressRefused:
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return AddressRefused(f"{place} {why}", _ADVICE.format(place=place))
