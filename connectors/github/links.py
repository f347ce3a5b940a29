"""Where the symbolic links of a repository lead: what their blobs hold, asked for as they are needed."""

from connectors.contract import Notes
from connectors.errors import DocumentError, DocumentRefused
from connectors.github.long_notes import get_list, put_list
from connectors.github.transport import Repo, Transport
from connectors.github.tree import Tree

_MOST_BYTES = 4096
_AT_ONCE = 500


class Links:
    """The links of one tree, each read once and kept in the notes.

    Args:
        transport: Gets the blobs.
        repo: The repository.
        tree: Its listing.
        notes: Of the scan; `None` reads them anew.
    """

    def __init__(self, transport: Transport, repo: Repo, tree: Tree, notes: Notes | None) -> None:
        self._transport = transport
        self._repo = repo
        self._notes = notes
        self._key = f"links:{repo.name}"
        self._entries = {entry.sha: entry for entry in tree.links()}
        kept = get_list(notes, self._key) if notes is not None else ()
        pairs = {str(one[0]): str(one[1]) for one in kept if isinstance(one, list) and len(one) == 2}
        self._held = pairs
        self._known = {sha: target for sha, target in pairs.items() if sha in self._entries}
        self._left = _AT_ONCE

    def target(self, sha: str) -> str:
        """Return what the link with that blob holds; empty when that can be no path.

        Raises:
            ConnectorError: It cannot be read now.
        """
        if sha not in self._known:
            if not self._left:
                raise DocumentError(f"{self._repo.now} has many links; more of them are read at the next sync")
            self._left -= 1
            self._known[sha] = self._read(sha)
        return self._known[sha]

    def _read(self, sha: str) -> str:
        try:
            return self._transport.blob(self._repo, self._entries[sha], _MOST_BYTES).decode("utf-8", "replace")
        except DocumentRefused:
            return ""  # no path is that long

    def keep(self) -> None:
        """Note what is known now."""
        if self._notes is not None and self._known != self._held:
            put_list(self._notes, self._key, ([sha, target] for sha, target in self._known.items()))
