"""robots.txt (RFC 9309), read by Protego, and what pages say of robots themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from connectors.errors import ConnectorError, Unavailable
from connectors.http import Client, Pace, Response

MAX_BYTES = 500 * 2**10
"""Bytes of a robots.txt that count (RFC 9309 §2.5 asks for at least these)."""
MOST_DELAY_S = 60.0
"""Longest Crawl-delay that is kept; a longer one is kept to this."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What an origin allows.

    Attributes:
        allows: Whether a URL may be asked for.
        delay_s: Seconds between two requests.
        sitemaps: Addresses of its sitemaps.
        error: Why nothing is allowed, when its robots.txt could not be read.
    """

    allows: Callable[[str], bool]
    delay_s: float = 0.0
    sitemaps: tuple[str, ...] = ()
    error: ConnectorError | None = None


def _everything(_url: str) -> bool:
    return True


def _nothing(_url: str) -> bool:
    return False


class Robots:
    """The rules of every origin asked about, each read once.

    A robots.txt that is not there (any 4xx) allows everything; one that cannot be read (5xx, no answer, an endless
    redirect) allows nothing until it can (RFC 9309 §2.3.1).

    Args:
        client: To ask with.
        agent: The name rules are looked up by.
        pace: Of the request for robots.txt itself.
        heed: False allows everything, for a site of one's own; sitemaps and delays are read all the same.
    """

    def __init__(self, client: Client, agent: str, pace: Pace, *, heed: bool = True) -> None:
        self._client = client
        self._agent = agent
        self._pace = pace
        self._heed = heed
        self._rules: dict[str, Rules] = {}

    def rules(self, origin: str) -> Rules:
        """Return what an origin (scheme, host, port) allows."""
        if origin not in self._rules:
            self._rules[origin] = self._read(origin)
        return self._rules[origin]

    def allows(self, origin: str, url: str) -> bool:
        """Whether a URL of an origin may be asked for."""
        return self.rules(origin).allows(url)

    def _read(self, origin: str) -> Rules:
        url = f"{origin}/robots.txt"
        try:
            answer = self._client.get(url, pace=self._pace, max_bytes=16 * MAX_BYTES)
        except ConnectorError as error:
            return Rules(_everything) if not self._heed else Rules(_nothing, error=error)
        if answer.ok:
            return self._parsed(answer)
        if 400 <= answer.status < 500 and answer.status != 429:
            return Rules(_everything)
        if not self._heed:
            return Rules(_everything)
        waits = Unavailable(
            f"{url} cannot be read (status {answer.status}), so nothing may be asked for; it is tried again later",
            retry_after_s=answer.asked_s,
        )
        return Rules(_nothing, error=waits)

    def _parsed(self, answer: Response) -> Rules:
        text = answer.content[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
        found = Protego.parse(text)
        agent = self._agent
        allows = (lambda url: bool(found.can_fetch(url, agent))) if self._heed else _everything
        delay = float(found.crawl_delay(agent) or 0.0)
        rate = found.request_rate(agent)
        if rate is not None and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        return Rules(allows, min(delay, MOST_DELAY_S), tuple(found.sitemaps))


@dataclass(frozen=True, slots=True)
class Directives:
    """What a page asks of robots.

    Attributes:
        index: Whether it may be kept.
        follow: Whether its links may be followed.
    """

    index: bool = True
    follow: bool = True


def directives(agent: str, header: str, metas: tuple[tuple[str, str], ...]) -> Directives:
    """Read the `X-Robots-Tag` header (several joined by commas) and `<meta name=robots>` of a page.

    What is meant for another robot does not count: `otherbot: noindex` of the header, `<meta name=otherbot>`.
    """
    said: set[str] = set()
    name = agent.lower()
    meant = True
    for part in header.lower().split(","):
        robot, colon, rest = part.strip().partition(":")
        if colon and robot.strip() != "unavailable_after":  # that one is a directive with a date
            meant = robot.strip() in {name, "*", "robots"}
            part = rest  # noqa: PLW2901 - the directive without the robot it is for
        if meant:
            said.add(part.strip())
    for robot, content in metas:
        if robot in {"robots", name}:
            said |= {part.strip() for part in content.split(",")}
    return Directives(index=not said & {"noindex", "none"}, follow=not said & {"nofollow", "none"})
