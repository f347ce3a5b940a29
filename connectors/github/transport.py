"""What the connector needs of a way to a repository's files: over the API, or over git."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from connectors.github.spool import BlobSpool
from connectors.github.tree import Entry, Tree


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository.

    Attributes:
        name: `owner/name` as it was first mirrored: its keys and its collection, whatever it is called later.
        current: `owner/name` as it is now.
        number: GitHub's id, once it is known; it outlives every name.
    """

    name: str
    current: str = ""
    number: int | None = None

    @property
    def now(self) -> str:
        """`owner/name` as far as it is known now."""
        return self.current or self.name

    @property
    def api(self) -> str:
        """Where the API has it."""
        return f"/repositories/{self.number}" if self.number else f"/repos/{self.now}"

    @property
    def prefix(self) -> str:
        """What the keys of its files start with."""
        return f"{self.name}/"


@dataclass(frozen=True, slots=True)
class Head:
    """Where a branch or tag is.

    Attributes:
        commit: The full SHA; empty for a repository without commits.
        etag: Validator of the answer, when there is one.
        repo: The repository as it answered: renamed ones have their number and name of now.
        unchanged: Whether it is where the caller knew it to be.
    """

    commit: str
    etag: str | None
    repo: Repo
    unchanged: bool = False


class Transport(Protocol):
    """A way to the files of repositories. Errors are those of `connectors.github.sending.Sender.get`."""

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        ...

    def head(self, repo: Repo, ref: str, known: Head | None) -> Head:
        """Find a ref (`HEAD` is the default branch); with *known*, cheaply when it has not moved.

        Raises:
            RefMissing: There is no such ref.
        """
        ...

    def tree(self, repo: Repo, commit: str, enters: Callable[[str], bool]) -> Tree:
        """List a commit. Where only folder by folder is possible, just those that *enters* wants are listed."""
        ...

    def prepare(self, repo: Repo, commit: str, wanted: Mapping[str, Entry], whole: Tree, spool: BlobSpool) -> None:
        """Get many blobs at once, as far as this way can and it pays.

        Args:
            repo: The repository.
            commit: Where *whole* was listed.
            wanted: By SHA.
            whole: The whole listing.
            spool: Gets them, each proved; what it has not is asked for singly.
        """
        ...

    def blob(self, repo: Repo, entry: Entry, max_bytes: int) -> bytes:
        """Return the bytes of one blob, proved."""
        ...
