"""Which addresses lie on the public internet.

`ipaddress.is_global` alone is not enough: on Python 3.11 it passes 13 of 29 special addresses (multicast, 6to4, NAT64,
IPv4-compatible ones and more).
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_NOT_PUBLIC_4 = tuple(
    map(
        ip_network,
        (
            "100.64.0.0/10",  # carriers' NAT (RFC 6598)
            "168.63.129.16/32",  # Azure's host of every guest
            "192.0.0.0/24",  # protocol assignments (RFC 6890)
            "192.88.99.0/24",  # 6to4 relays (RFC 7526)
            "198.18.0.0/15",  # benchmarking (RFC 2544)
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_PUBLIC_6 = ip_network("2000::/3")  # all that is handed out
_NOT_PUBLIC_6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))


@lru_cache(maxsize=4096)
def is_public(address: str) -> bool:
    """Whether an IP address, as a resolver writes it, is one of the public internet.

    >>> is_public("93.184.216.34"), is_public("169.254.169.254"), is_public("::ffff:10.0.0.1"), is_public("fe80::1%1")
    (True, False, False, False)

    Raises:
        ValueError: It is no IP address.
    """
    ip = parsed(address)
    if isinstance(ip, IPv6Address):
        return ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)
    return ip.is_global and not ip.is_multicast and not any(ip in network for network in _NOT_PUBLIC_4)


def is_never_meant(address: str) -> bool:
    """Whether nobody who allows a private *name* can have meant this address.

    Link-local ones (the metadata services of clouds), multicast, unspecified and broadcast.
    """
    ip = parsed(address)
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or str(ip) in {"255.255.255.255", "168.63.129.16"}


def is_loopback(address: str) -> bool:
    """Whether the address is this machine's own."""
    return parsed(address).is_loopback


def literal(host: str) -> str | None:
    """Return the address a host spells in the standard way (brackets allowed), `None` when it is a name."""
    try:
        return str(parsed(host.removeprefix("[").removesuffix("]")))
    except ValueError:
        return None


def parsed(address: str) -> IPv4Address | IPv6Address:
    """Return the address itself: without a zone, and an IPv4 one where IPv6 only wraps it."""
    ip = ip_address(address.partition("%")[0])
    return (ip.ipv4_mapped or ip) if isinstance(ip, IPv6Address) else ip
