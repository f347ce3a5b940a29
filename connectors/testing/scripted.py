"""A source in memory that does whatever a real one might: for tests of a pipeline, and of connectors' callers.

```python
source = ScriptedConnector({"a.md": "alpha", "b/c.md": "gamma"})
source.put("a.md", "alpha again")                 # an edit: new token
source.rename("b/c.md", "b/d.md")                 # same bytes and token under another key
source.remove("b/d.md")                           # gone; with tombstone=True later scans vouch for it
source.faults.poison("a.md", DocumentRefused("a.md is too large", "split it"))
source.faults.fail("b/")                          # a part that cannot be listed
source.faults.stop_scan(after=1)                  # the next listing breaks in the middle
```

`scans` and `fetches` record every call. Documents may be changed while a scan or fetches run.
"""

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Unpack

from connectors.contract import (
    Blob,
    Checkpoint,
    Complete,
    Event,
    Failed,
    Gone,
    Json,
    Notes,
    Ref,
    Seen,
    Unchanged,
    within,
)
from connectors.errors import DocumentGone
from connectors.testing.behaviour import Behaviour, Facts, with_facts
from connectors.testing.faults import Faults
from corebrain.layout import BrainSource

MODIFIED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""Modification time of a document that was given none."""


__all__ = ["Behaviour", "ConfirmingConnector", "ScriptedConnector"]


class ScriptedConnector:
    """A source held in memory, with faults on demand.

    Args:
        documents: Key -> text or bytes.
        source: The node its documents belong to.
        name: The source's name.
        behaviour: What kind of source it is; a plain one that lists everything, with tokens, by default.

    Attributes:
        faults: Arms what goes wrong.
        scans: Cursor and scope of every scan begun.
        fetches: Key of every fetch begun.
        confirms: Key of every document asked about, by a `ConfirmingConnector`.
    """

    def __init__(
        self,
        documents: Mapping[str, str | bytes] | None = None,
        *,
        source: BrainSource = BrainSource.FILES,
        name: str = "scripted",
        behaviour: Behaviour | None = None,
    ) -> None:
        self.source = source
        self.name = name
        self.behaviour = behaviour or Behaviour()
        self.faults = Faults()
        self.scans: list[tuple[Json, str]] = []
        self.fetches: list[str] = []
        self.confirms: list[str] = []
        self._lock = threading.RLock()
        self._held: dict[str, tuple[Ref, Blob]] = {}
        self._tombstones: set[str] = set()
        self._log: list[str] = []
        for key, data in (documents or {}).items():
            self.put(key, data)

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key the source holds now, sorted."""
        with self._lock:
            return tuple(sorted(self._held))

    def put(self, key: str, data: str | bytes, **facts: Unpack[Facts]) -> None:
        """Create or replace a document. The token changes, unless *facts* name one, as a lying source would."""
        raw = data.encode() if isinstance(data, str) else data
        with self._lock:
            self._log.append(key)
            self._tombstones.discard(key)
            token = f"t{len(self._log)}"
            content = hashlib.sha256(raw).hexdigest() if self.behaviour.contents else None
            ref = Ref(key, token, content, _top(key), size=len(raw), modified=MODIFIED)
            blob = Blob(raw, filename=key.rpartition("/")[2], token=token, modified=MODIFIED)
            self._held[key] = with_facts(ref, facts), with_facts(blob, facts)

    def rename(self, old: str, new: str) -> None:
        """Move a document to another key, bytes and token as they were."""
        with self._lock:
            ref, blob = self._held.pop(old)
            self._held[new] = (
                replace(ref, key=new, collection=_top(new)),
                replace(blob, filename=new.rpartition("/")[2]),
            )
            self._log += [old, new]

    def remove(self, key: str, *, tombstone: bool = False) -> None:
        """Delete a document; with *tombstone* later scans say `Gone` until the key exists again."""
        with self._lock:
            del self._held[key]
            self._log.append(key)
            if tombstone:
                self._tombstones.add(key)

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        del notes
        with self._lock:
            self.scans.append((cursor, scope))
            since = self._position(cursor)
            mark: Json = {"epoch": self.faults.epoch, "at": len(self._log)}
            keys = [*self._held] if since is None else [*dict.fromkeys(self._log[since:])]
            failures = self.faults.failures(scope)
            tombstones = [Gone(key) for key in sorted(self._tombstones) if since is None and within(scope, key)]
        wanted = [key for key in sorted(keys) if within(scope, key) and not any(within(bad, key) for bad in failures)]
        yield from self._listed(wanted, cursor if since is not None else None)
        yield from tombstones
        yield from (Failed(failed, error) for failed, error in failures.items())
        yield Checkpoint(mark if self.behaviour.deltas else None)
        if since is None:
            yield Complete(scope)

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        with self._lock:
            self.fetches.append(ref.key)
            number = len(self.fetches)
        self.faults.at_fetch(ref.key, number)
        with self._lock:
            held = self._held.get(ref.key)
        if held is None:
            raise DocumentGone(f"{ref.key} is not there any more")
        blob = held[1]
        if self.behaviour.unchanged and known is not None and blob.token == known:
            return Unchanged(known)
        return blob

    def _position(self, cursor: Json) -> int | None:
        """Where in the log a usable cursor stands; `None` lists everything."""
        if not self.behaviour.deltas or not isinstance(cursor, dict) or cursor.get("epoch") != self.faults.epoch:
            return None
        at = cursor.get("at")
        return at if isinstance(at, int) else None

    def _listed(self, keys: Iterable[str], cursor: Json) -> Iterator[Event]:
        stop = self.faults.take_stop()
        for count, key in enumerate(keys):
            if stop and count == stop[0]:
                raise stop[1]
            if count and count % self.behaviour.checkpoint_every == 0:
                yield Checkpoint(cursor)
            with self._lock:
                held = self._held.get(key)
            if held is not None:
                yield from [self._seen(*held)] * self.faults.copies(key)
            elif cursor is not None:
                yield Gone(key)
        if stop:
            raise stop[1]

    def _seen(self, ref: Ref, blob: Blob) -> Seen:
        shown = ref if self.behaviour.tokens else replace(ref, token=None)
        return Seen(shown, blob if self.behaviour.in_listing else None)


class ConfirmingConnector(ScriptedConnector):
    """A scripted source with the power of `Confirms`: it loses a document only by `Gone`."""

    def confirm(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        for ref in refs:
            with self._lock:
                self.confirms.append(ref.key)
                held = self._held.get(ref.key)
            failures = self.faults.failures(ref.key)
            if failures:
                yield Failed(ref.key, failures[ref.key])
            else:
                yield self._seen(*held) if held else Gone(ref.key)


def _top(key: str) -> str | None:
    """The top folder of a key, the collection unless another is named."""
    return key.partition("/")[0] if "/" in key else None
