"""Which repositories an organisation or a person has, and what is to be said of those that went."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from connectors.contract import Json, Notes
from connectors.github.errors import NotThere
from connectors.github.selection import Wanted
from connectors.github.sending import Sender, understood
from connectors.github.transport import Repo

_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')
_PAGE = 100
_MOST_PAGES = 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """A repository as a listing shows it.

    Attributes:
        number: GitHub's id.
        name: `owner/name` now.
        archived: Whether it is read-only.
        fork: Whether it is a fork.
    """

    number: int
    name: str
    archived: bool
    fork: bool

    def as_note(self) -> Json:
        """Return it as JSON."""
        return [self.number, self.name, self.archived, self.fork]

    @classmethod
    def of_note(cls, note: Json) -> "Listed":
        """Read what `as_note` gave."""
        if not isinstance(note, list) or len(note) != 4:
            raise ValueError("no listed repository")
        number, name, archived, fork = note
        return cls(int(str(number)), str(name), bool(archived), bool(fork))


class Owners:
    """Lists the repositories of owners, page by page, each page asked for conditionally.

    Args:
        sender: Sends the requests.
        wanted: Which are wanted.
        archived: Take archived ones too.
        forks: Take forks too.
    """

    def __init__(self, sender: Sender, wanted: Wanted, *, archived: bool, forks: bool) -> None:
        self._sender = sender
        self._wanted = wanted
        self._archived = archived
        self._forks = forks

    def of(self, owner: str, notes: Notes) -> list[Repo]:
        """Return the wanted repositories of one owner, in the order of their names.

        Raises:
            ConnectorError: They cannot be listed.
        """
        listed = {one.number: one for page in self._pages(owner, notes) for one in page if self._takes(one)}
        known = {number for number in listed if isinstance(notes.get(f"name:{number}"), str)}
        ordered = sorted(listed.values(), key=lambda one: one.number not in known)  # who was first keeps its name
        return sorted((self._named(one, notes) for one in ordered), key=lambda repo: repo.name)

    def _takes(self, one: Listed) -> bool:
        return self._wanted.takes(one.name) and (self._archived or not one.archived) and (self._forks or not one.fork)

    def _named(self, one: Listed, notes: Notes) -> Repo:
        """Give a repository the name it was first mirrored by: its number is what it is known by.

        One that took over a former name of another gets that name, `~` and its number, which no repository is called.
        """
        first = notes.get(f"name:{one.number}")
        if not isinstance(first, str):
            first = one.name if notes.get(f"number:{one.name}") in {None, one.number} else f"{one.name}~{one.number}"
            notes.put(f"name:{one.number}", first)
        if notes.get(f"number:{first}") is None:
            notes.put(f"number:{first}", one.number)
        return Repo(first, one.name, one.number)

    def _pages(self, owner: str, notes: Notes) -> Iterator[list[Listed]]:
        first = notes.get(f"listing:{owner}:0")
        url = f"/orgs/{owner}/repos?per_page={_PAGE}&type=all"
        if isinstance(first, dict):
            url = str(first["url"])
        for number in range(_MOST_PAGES):
            key = f"listing:{owner}:{number}"
            held = notes.get(key)
            etag = str(held["etag"]) if isinstance(held, dict) and held["url"] == url else None
            try:
                answer = self._sender.get(url, f"the repositories of {owner}", etag=etag)
            except NotThere:
                if number or not url.startswith("/orgs/"):
                    raise
                url = f"/users/{owner}/repos?per_page={_PAGE}&type=all"  # a person, no organisation
                answer = self._sender.get(url, f"the repositories of {owner}")
            if answer.unchanged and isinstance(held, dict) and isinstance(held["repos"], list):
                page = [Listed.of_note(one) for one in held["repos"]]
                following = str(held["next"])
            else:
                with understood(f"the repositories of {owner}"):
                    page = [
                        Listed(int(one["id"]), str(one["full_name"]), bool(one.get("archived")), bool(one.get("fork")))
                        for one in answer.json()
                    ]
                link = _NEXT.search(answer.headers.get("link", ""))
                following = link[1] if link else ""
                told: list[Json] = [one.as_note() for one in page]
                notes.put(key, {"url": url, "etag": answer.headers.get("etag") or "", "next": following, "repos": told})
            yield page
            if not following:
                return
            url = following

    def look_up(self, number: int, name: str) -> str:
        """Return the full name a repository has now.

        Raises:
            NotThere: GitHub does not show it.
        """
        answer = self._sender.get(f"/repositories/{number}", name)
        with understood(name):
            return str(answer.json()["full_name"])
