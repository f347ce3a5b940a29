"""The wiki of a repository: a git repository of its own, `owner/name.wiki.git`, which no API reads."""

import json
from collections.abc import Iterator
from urllib.parse import quote

from connectors.contract import Blob, Complete, Event, Json, Notes, Ref, Seen
from connectors.errors import DocumentGone
from connectors.github.errors import NotThere
from connectors.github.git import GitTransport
from connectors.github.listing import MARKDOWN, located, locator, suffix
from connectors.github.reading import MAX_BYTES
from connectors.github.transport import Head, Repo
from connectors.github.tree import keys_of

_PAGES = MARKDOWN | {"rst", "adoc", "asciidoc", "org", "textile", "mediawiki", "rdoc", "creole", "txt"}


class Wiki:
    """Lists and reads wiki pages over git.

    Args:
        git: Brings the repositories.
        web: Where people see repositories.
    """

    def __init__(self, git: GitTransport, web: str) -> None:
        self._git = git
        self._web = web

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        """List the pages; nothing when the wiki has not moved, and nothing when there is none and never was.

        Raises:
            NotThere: It was there before.
            ConnectorError: It cannot be listed.
        """
        own, note = _own(repo), f"wiki:{repo.name}"
        held = notes.get(note)
        known = Head(str(held), None, own) if goes_on and held else None
        try:
            head = self._git.head(own, "HEAD", known)
        except NotThere:
            if held:
                raise
            return
        if head.unchanged:
            return
        tree = self._git.tree(own, head.commit, lambda _: True) if head.commit else None
        pages = {entry.path: entry for entry in tree.files() if suffix(entry.path) in _PAGES} if tree else {}
        for path, key in keys_of(pages).items():
            page = path.rpartition("/")[2].rpartition(".")[0]
            yield Seen(
                Ref(
                    f"{repo.name}!wiki/{key}",
                    pages[path].sha,
                    content=pages[path].sha,
                    collection=f"{repo.name}/wiki",
                    locator=locator(pages[path], path),
                    title=page.replace("-", " "),
                    url=f"{self._web}/{repo.now}/wiki/{quote(page)}",
                )
            )
        told: Json = head.commit or None
        notes.put(note, told)
        yield Complete(f"{repo.name}!wiki/")

    def fetch(self, repo: Repo, ref: Ref) -> Blob:
        """Read a page as it was listed.

        Raises:
            DocumentGone: The ref is none of a page.
            ConnectorError: It cannot be read.
        """
        entry = located(ref.locator)
        if entry is None:
            raise DocumentGone(f"{ref.key} is no page of a wiki")
        data = self._git.blob(_own(repo), entry, MAX_BYTES)
        media_type = "text/markdown" if suffix(entry.path) in MARKDOWN else ""
        name = json.loads(ref.locator)["path"].rpartition("/")[2]
        return Blob(data, media_type, filename=name, token=ref.token, title=ref.title, url=ref.url)


def _own(repo: Repo) -> Repo:
    return Repo(f"{repo.name}.wiki", f"{repo.now}.wiki")
