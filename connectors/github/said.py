"""What the kinds of talk share: their keys, refs and blobs, and lists that come in pages."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from connectors.contract import Blob, Ref
from connectors.github.sending import Sender
from connectors.github.transport import Repo

Obj = Mapping[str, Any]

_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')


def at(repo: Repo, kind: str) -> str:
    """Return what the keys of a kind start with, such as `acme/api!issues/`, which the key of no file does."""
    return f"{repo.name}!{kind}/"


def ref_of(repo: Repo, kind: str, name: str, token: str, one: Obj, locator: str) -> Ref:
    """Return the ref of one of them; *one* is GitHub's object."""
    return Ref(
        f"{at(repo, kind)}{name}",
        token,
        collection=f"{repo.name}/{kind}",
        locator=locator,
        title=str(one.get("title") or ""),
        url=str(one["html_url"]),
        media_type="text/markdown",
        modified=moment(one.get("updated_at") or one.get("published_at")),
    )


def blob_of(ref: Ref, text: str, filename: str, one: Obj) -> Blob:
    """Return it as a document, with its labels as tags."""
    return Blob(
        text.encode(),
        "text/markdown",
        filename=filename,
        token=ref.token,
        title=ref.title,
        url=ref.url,
        modified=ref.modified,
        tags=tuple(str(label["name"]) for label in one.get("labels") or () if isinstance(label, Mapping)),
    )


def digest(*texts: str) -> str:
    """Return a token made of texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def moment(text: object) -> datetime | None:
    """Read a time as GitHub writes it."""
    return datetime.fromisoformat(str(text)) if text else None


def pages(sender: Sender, path: str, what: str, params: dict[str, str | int]) -> Iterator[Any]:
    """Yield the things of a list, page by page; errors are those of `Sender.get`."""
    asked: dict[str, str | int] | None = params
    while path:
        answer = sender.get(path, what, params=asked)
        yield from answer.json()
        link = _NEXT.search(answer.headers.get("link", ""))
        path, asked = (link[1] if link else ""), None


def repo_in(where: Obj) -> Repo:
    """Return the repository that a locator was written for."""
    number = where.get("id")
    return Repo(str(where["repo"]), str(where.get("now") or ""), int(number) if number else None)


def written_for(repo: Repo) -> dict[str, Any]:
    """Return what `repo_in` reads."""
    return {"repo": repo.name, "now": repo.current, "id": repo.number}
