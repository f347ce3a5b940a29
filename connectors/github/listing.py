"""What one commit of a repository holds that is wanted, as refs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from connectors.contract import Notes, Ref
from connectors.errors import ConnectorError, DocumentError, DocumentRefused
from connectors.github.errors import ENDING
from connectors.github.links import Links
from connectors.github.long_notes import get_list, put_list
from connectors.github.selection import Selection
from connectors.github.transport import Repo
from connectors.github.tree import Entry, Tree, keys_of

_SHORT = 12  # hex digits of a SHA that the manifest keeps: it only counts what is new

MARKDOWN = frozenset({"md", "mdx", "markdown", "mdown", "qmd"})


@dataclass(slots=True)
class Listing:
    """The wanted files of one commit.

    Attributes:
        files: What each key stands for; the path is the file's own, also behind a link.
        refs: By key.
        failed: Paths (a folder's ends in `/`, `""` is everything) that could not be listed.
        submodules: Paths of submodules among what is wanted.
    """

    files: dict[str, Entry] = field(default_factory=dict)
    refs: dict[str, Ref] = field(default_factory=dict)
    failed: dict[str, ConnectorError] = field(default_factory=dict)
    submodules: list[str] = field(default_factory=list)


def listing_of(repo: Repo, tree: Tree, selection: Selection, web: str, ref: str, links: Links) -> Listing:
    """Select and name what a tree holds.

    Args:
        repo: The repository.
        tree: Its whole listing.
        selection: What is wanted.
        web: Where people see repositories.
        ref: The branch or tag, `HEAD` for the default branch; part of the refs' addresses.
        links: Tells where links of the tree lead.

    Raises:
        ConnectorError: A link cannot be read for a reason that concerns the whole source.
    """
    found = Listing(submodules=[path for path in tree.submodules() if selection.enters(path)])
    for path, error in tree.missing.items():
        found.failed[f"{path}/" if path else ""] = (
            error if isinstance(error, ConnectorError) else DocumentError(str(error))
        )
    wanted = {entry.path: entry for entry in tree.files() if selection.takes(entry.path)}
    for link in tree.links():
        if not selection.takes(link.path):
            continue
        try:
            target = tree.resolve(link.path, links)
        except ENDING:
            raise
        except ConnectorError as error:  # nobody knows where it leads: what it led to stays
            found.failed[link.path] = error
            continue
        if target is not None:
            wanted[link.path] = target
    links.keep()
    for path, key in keys_of(wanted).items():
        entry = wanted[path]
        full = f"{repo.prefix}{key}"
        found.files[full] = entry
        found.refs[full] = Ref(
            full,
            entry.sha,
            content=entry.sha,
            collection=repo.name,
            locator=locator(entry, path),
            url=f"{web}/{repo.name.partition('~')[0]}/blob/{quote(ref)}/{quote(path)}",
            media_type="text/markdown" if suffix(path) in MARKDOWN else "",
            size=entry.size,
        )
    return found


def locator(entry: Entry, path: str) -> str:
    """Return what a fetch opens: the blob, the file it is and, when that is a link's target, the link."""
    told = {"sha": entry.sha, "path": entry.path, "mode": entry.mode, "size": entry.size}
    return json.dumps(told if entry.path == path else {**told, "link": path}, separators=(",", ":"))


def located(text: str) -> Entry | None:
    """Read what `locator` gave; `None` when it is none."""
    try:
        told = json.loads(text)
        return Entry(str(told["path"]), str(told["mode"]), str(told["sha"]), told.get("size"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def suffix(path: str) -> str:
    """Return the extension in lower case, without the dot; empty when there is none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""


class Manifest:
    """Which blobs a repository had at the last listing, so that a scan can tell how many are new.

    Kept in notes of at most 64 KiB, as the first digits of each SHA; it decides how bytes are got, never what is gone.
    """

    def __init__(self, notes: Notes, repo: Repo) -> None:
        self._notes = notes
        self._key = f"blobs:{repo.name}"

    def new(self, entries: Iterable[Entry]) -> dict[str, Entry]:
        """Return those entries, by SHA, that the last listing had not."""
        held = set(self._held())
        return {entry.sha: entry for entry in entries if entry.sha[:_SHORT] not in held}

    def keep(self, entries: Iterable[Entry]) -> None:
        """Note what the repository has now."""
        put_list(self._notes, self._key, sorted({entry.sha[:_SHORT] for entry in entries}))

    def _held(self) -> Iterator[str]:
        return (str(sha) for sha in get_list(self._notes, self._key))


def too_large(what: str, size: int, most: int) -> DocumentRefused:
    """Return the refusal of a file over the limit."""
    return DocumentRefused(
        f"{what} has {size:,} bytes, more than the {most:,} allowed",
        "raise max_bytes of the source (100 MiB at most), or exclude it",
    )
