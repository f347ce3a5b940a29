"""How many spellings of an inner address reach it: directly, by redirect, by rebinding, among several answers.

A server on loopback counts what arrives. The client may ask one public place (a second server, allowed by name) that
redirects wherever it is told. 0 must be reached; the legitimate ones must all be.
"""

import argparse
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence

from connectors.errors import ConnectorError
from connectors.http import Client, Limits, RetryPolicy
from connectors.http.guard import Guard
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, redirect

INNER = ("127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.0.1", "0.0.0.0", "100.100.100.200")  # noqa: S104 - targets
NAMES = """localhost localhost. LOCALHOST LocalHost. localhost.localdomain ip6-localhost foo.localhost a.b.localhost
wiki printer.local metadata.google.internal metadata kubernetes.default.svc.local host.internal""".split()  # noqa: SIM905
WRAPPED = """[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1]
[2002:7f00:1::] [2001:0:7f00:1::80ff:fffe] [fe80::1] [fe80::1%25lo] [fd00:ec2::254] [fec0::1] [ff02::1]
[::ffff:a9fe:a9fe] [0000:0000:0000:0000:0000:0000:0000:0001] [::1%25] [3fff::1] [5f00::1]""".split()  # noqa: SIM905
LEGITIMATE = """93.184.216.34 8.8.8.8 1.1.1.1 9.9.9.9 192.0.78.9 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1
169.253.0.1 169.255.0.1 11.0.0.1 126.0.0.1 128.0.0.1 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1
223.255.255.1 2606:4700::1111 2a00:1450::1 2400:cb00::1 2001:4860:4860::8888 ::ffff:8.8.8.8""".split()  # noqa: SIM905


def spellings(address: str) -> Iterator[str]:
    """Every way to write an IPv4 address that some parser takes for it."""
    a, b, c, d = (int(part) for part in address.split("."))
    number = int.from_bytes(bytes((a, b, c, d)), "big")
    last3, last2 = number & 0xFFFFFF, number & 0xFFFF
    yield from (
        address,
        f"{address}.",
        f"%{ord(address[0]):x}{address[1:]}",
        f"{a}.{b}.{last2}",
        f"{a}.{last3}",
        f"{number}",
    )
    yield from (
        f"0x{number:x}",
        f"0X{number:X}",
        f"0{number:o}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0x{a:x}.{last3}",
    )
    yield from (
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"0{a:o}.{b}.{c}.{d}",
        f"{a}.0x{b:x}.{c}.0{d:o}",
        f"0x{a:x}.0x{last3:x}",
    )
    yield from (f"{a:03}.{b:03}.{c:03}.{d:03}", f"00{a}.{b}.{c}.{d}", f"0x0000{a:x}.{b}.{c}.{d}", f"0{a:o}.0x{last3:x}")
    full = str.maketrans("0123456789.", "０１２３４５６７８９。")  # noqa: RUF001 - the attack
    circled = {str(digit): chr(0x2460 + digit - 1) if digit else "⓪" for digit in range(10)}
    yield from (
        address.translate(full),
        "".join(circled.get(each, each) for each in address),
        f"{address}%00.evil.test",
    )
    yield from (f"[::ffff:{address}]", f"[::{address}]", f"[64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}]")
    yield from (
        f"foo@{address}",
        f"evil.test@{address}",
        f"{address}.nip.io",
        f"{address}#@evil.test",
        f"evil.test\\@{address}",
    )


class Resolver:
    """Answers as a hostile name server: names of ours by their script, other texts as the system reads numbers."""

    def __init__(self, scripts: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._scripts = scripts
        self._turn: dict[str, int] = {}

    def __call__(self, host: str, port: int) -> Sequence[str]:
        if host in self._scripts:
            turn = self._turn[host] = self._turn.get(host, -1) + 1
            return self._scripts[host][turn % len(self._scripts[host])]
        if host.endswith(".nip.io"):
            return [host.removesuffix(".nip.io")]
        numeric = socket.AI_NUMERICHOST if host[:1].isdigit() else 0
        return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=numeric)]


def tried(client: Client, urls: Sequence[str], arrivals: Callable[[], int]) -> int:
    """How many of *urls* reached the inner server."""
    reached = 0
    for url in urls:
        before = arrivals()
        try:
            client.get(url)
        except ConnectorError:
            continue
        finally:
            if arrivals() > before:
                reached += 1
                print("REACHED", url)
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="requests per hostile name")
    rounds: int = parser.parse_args().rounds
    forms = [*dict.fromkeys(form for address in INNER for form in spellings(address)), *NAMES, *WRAPPED]
    public = "93.184.216.34"
    hostile = {
        "rebind.test": [[public], ["127.0.0.1"]],
        "rebind-back.test": [["127.0.0.1"], [public]],
        "several.test": [[public, "127.0.0.1"], ["127.0.0.1", public], ["::1", "10.0.0.1", public]],
        "inside.test": [["127.0.0.1"], ["10.0.0.1", "::1"], ["169.254.169.254"]],
    }
    limits = Limits(connect_s=0.05, deadline_s=1)
    rows = []
    with WebStandIn({"/s": StandInPage(b"SECRET")}) as inner, WebStandIn() as outer:
        port = inner.place.partition(":")[2]
        urls = [f"http://{form}:{port}/s" if "#" not in form else f"http://{form}" for form in forms]
        urls += [f"http://127.0.0.1:{port}\\@evil.test/s", f"http:127.0.0.1:{port}/s", f"//127.0.0.1:{port}/s"]
        urls += [f"{scheme}://127.0.0.1:{port}/s" for scheme in ("ftp", "file", "gopher", "dict", "ldap", "ws", "HTTP")]
        outer.pages.update(
            {f"/r{number}": redirect(url, (301, 302, 303, 307, 308)[number % 5]) for number, url in enumerate(urls)}
        )
        with Client(
            allow_private=[outer.place], resolve=Resolver(hostile), limits=limits, retry=RetryPolicy(attempts=1)
        ) as client:
            rows.append(("direct", len(urls), tried(client, urls, lambda: len(inner.log))))
            hops = [f"{outer.url}/r{number}" for number in range(len(urls))]
            rows.append(("by redirect", len(hops), tried(client, hops, lambda: len(inner.log))))
            for name, kind in (
                ("rebind", "rebinding"),
                ("rebind-back", "rebinding, inner first"),
                ("several", "several answers"),
                ("inside", "a name inside"),
            ):
                asked = [f"http://{name}.test:{port}/s"] * rounds
                rows.append((kind, rounds, tried(client, asked, lambda: len(inner.log))))
    guard = Guard(resolve=lambda host, _port: [host])
    allowed = sum(bool(guard.addresses(address, 80)) for address in LEGITIMATE)
    print(f"{'attack':26}{'tried':>8}{'reached':>9}")
    for kind, count, reached in rows:
        print(f"{kind:26}{count:8}{reached:9}")
    print(f"legitimate addresses allowed {allowed} of {len(LEGITIMATE)}")
    print(f"spellings {len(forms)} attempts {sum(row[1] for row in rows)} reached {sum(row[2] for row in rows)}")


if __name__ == "__main__":
    main()
