"""The bytes of blobs: many at once where a scan saw that many are needed, one by one otherwise."""

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.github.spool import BlobSpool
from connectors.github.transport import Repo, Transport
from connectors.github.tree import Entry, Tree


@dataclass(slots=True)
class _Lot:
    """Blobs of one commit that will be asked for."""

    repo: Repo
    commit: str
    wanted: Mapping[str, Entry]
    whole: Tree | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    spool: BlobSpool = field(default_factory=BlobSpool)


class Supply:
    """Gives blobs; safe for many threads.

    Args:
        transport: Where they come from.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lots: dict[str, _Lot] = {}
        self._unexpected: Counter[str] = Counter()
        self._lock = threading.Lock()

    def expect(self, repo: Repo, commit: str, wanted: Mapping[str, Entry], whole: Tree) -> None:
        """Say which blobs, by SHA, are going to be asked for. Nothing is got before the first of them is."""
        with self._lock:
            self._unexpected[repo.name] = 0
            former = self._lots.pop(repo.name, None)
            if wanted:
                self._lots[repo.name] = _Lot(repo, commit, wanted, whole)
        if former is not None:
            with former.lock:
                former.spool.close()

    def unexpected(self, repo: Repo) -> int:
        """Return how many blobs of a repository were asked for that nobody had said would be."""
        with self._lock:
            return self._unexpected[repo.name]

    def take(self, repo: Repo, entry: Entry, max_bytes: int) -> bytes:
        """Return a blob's bytes. One that was got ahead is given once; asked for again it is got singly."""
        lot = self._lots.get(repo.name)
        if lot is not None and entry.sha in lot.wanted:
            with lot.lock:
                if lot.whole is not None:
                    whole, lot.whole = lot.whole, None  # a listing may be large, and a failure is not repeated
                    self._transport.prepare(repo, lot.commit, lot.wanted, whole, lot.spool)
                data = lot.spool.take(entry.sha)
            if data is not None:
                return data
        else:
            with self._lock:
                self._unexpected[repo.name] += 1
        return self._transport.blob(repo, entry, max_bytes)
