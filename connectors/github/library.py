"""PyGithub over `connectors.http`: its requester, with connections that are guarded, paced and bounded as all of ours.

PyGithub's own connections bring no deadline, read the environment and sleep by themselves, its retry waits without
limit, and its redirects lose the query (measured with PyGithub 2.10); none of that is left here. Redirects are followed
below it, within the rules of the client.
"""

import threading
from collections.abc import ItemsView
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from connectors.http.client import USER_AGENT, Client

if TYPE_CHECKING:
    from github.Requester import Requester

ANSWERED_BY = "corebrain-answered-by"
"""Header added to each reply: the address that answered, after redirects."""


class Reply:
    """A reply as PyGithub takes it."""

    def __init__(self, status: int, headers: dict[str, str], text: str) -> None:
        self.status = status
        self.headers = headers
        self._text = text

    def getheaders(self) -> ItemsView[str, str]:
        """Return the headers."""
        return self.headers.items()

    def read(self) -> str:
        """Return the body."""
        return self._text


def requester_over(client: Client, base_url: str) -> "Requester":
    """Return a PyGithub requester whose every request goes through *client*; it waits for nothing itself."""
    from github.Consts import DEFAULT_PER_PAGE  # noqa: PLC0415 - heavy: requests
    from github.Requester import Requester as Theirs  # noqa: PLC0415 - heavy: requests

    scheme = urlsplit(base_url).scheme

    class Connection:
        """One request; PyGithub makes a connection for each."""

        def __init__(self, host: str, port: int | None = None, **_: Any) -> None:
            shown = f"[{host}]" if ":" in host else host
            self.host = host
            self._mine = threading.local()  # PyGithub may hand one connection to two threads that ask at once
            self._origin = f"{scheme}://{shown}{f':{port}' if port else ''}"

        def request(self, verb: str, url: str, input: Any, headers: dict[str, str], stream: bool = False) -> None:  # noqa: A002 - their name
            del stream
            self._mine.asked = (verb, url, input, headers)

        def getresponse(self) -> Reply:
            verb, url, body, headers = self._mine.asked
            content = body.encode() if isinstance(body, str) else body
            response = client.request(verb, f"{self._origin}{url}", headers=headers, content=content)
            told = {**dict(response.headers.items()), ANSWERED_BY: response.url}
            if response.asked_s is not None:
                told["corebrain-wait"] = str(response.asked_s)
            status = 503 if response.status == 202 else response.status  # it would sleep and ask again without end
            return Reply(status, told, response.content.decode("utf-8", "replace"))

        def close(self) -> None:
            """Nothing is kept open here."""

    class Ours(Theirs):
        """The injected connections are this class's own: PyGithub keeps them for all requesters otherwise."""

    Ours.injectConnectionClasses(Connection, Connection)  # type: ignore[arg-type]  # quacks as theirs do
    return Ours(
        auth=None,
        base_url=base_url.rstrip("/"),
        timeout=60,
        user_agent=USER_AGENT,
        per_page=DEFAULT_PER_PAGE,
        verify=True,
        retry=None,
        pool_size=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
    )
