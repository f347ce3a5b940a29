"""Every connector of the house keeps the law, and a connector that breaks a rule is caught."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.contract import Blob, Complete, Connector, Event, Json, Notes, Ref, Seen, Unchanged
from connectors.files.connector import FilesConnector
from connectors.files.filesystem import Disk
from connectors.files.keys import readable
from connectors.testing.behaviour import Behaviour
from connectors.testing.conformance import CHECKS, Check, Harness, Violation
from connectors.testing.scripted import ConfirmingConnector, ScriptedConnector


class FilesHarness:
    """A real folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.broken: str | None = None

    def connector(self) -> FilesConnector:
        connector = FilesConnector(self.root)
        connector._disk = Disk(list_names=self.list_names)
        return connector

    def list_names(self, path: str) -> list[str]:
        if self.broken is not None and os.path.normpath(path) == self.broken:
            raise PermissionError(13, "Permission denied")
        return Disk().list_names(path)

    def put(self, name: str, text: str) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_ctime_ns if path.exists() else 0
        path.write_text(text)
        while path.stat().st_ctime_ns == before:  # older kernels' clocks tick in milliseconds
            path.write_text(text)
        return readable(name)

    def rename(self, key: str, name: str) -> str:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).rename(self.root / name)
        return readable(name)

    def remove(self, key: str) -> None:
        (self.root / key).unlink()

    @contextlib.contextmanager
    def unreadable(self, key: str) -> Iterator[None]:
        self.broken = str((self.root / key).parent)
        yield
        self.broken = None


class ScriptedHarness:
    """A source in memory, of any behaviour; one connector is the source."""

    def __init__(self, source: ScriptedConnector) -> None:
        self.source = source

    def connector(self) -> Connector:
        return self.source

    def put(self, name: str, text: str) -> str:
        key = readable(name)
        self.source.put(key, text)
        return key

    def rename(self, key: str, name: str) -> str:
        self.source.rename(key, readable(name))
        return readable(name)

    def remove(self, key: str) -> None:
        self.source.remove(key)

    @contextlib.contextmanager
    def unreadable(self, key: str) -> Iterator[None]:
        self.source.faults.fail(f"{key.partition('/')[0]}/")
        yield
        self.source.faults.heal()


SOURCES: dict[str, Callable[[Path], Harness]] = {
    "files": FilesHarness,
    "scripted": lambda _path: ScriptedHarness(ScriptedConnector()),
    "change feed": lambda _path: ScriptedHarness(ScriptedConnector(behaviour=Behaviour(deltas=True))),
    "no tokens": lambda _path: ScriptedHarness(ScriptedConnector(behaviour=Behaviour(tokens=False))),
    "never unchanged": lambda _path: ScriptedHarness(ScriptedConnector(behaviour=Behaviour(unchanged=False))),
    "confirming": lambda _path: ScriptedHarness(ConfirmingConnector()),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_connector_keeps_the_law(check: Check, source: str, tmp_path: Path) -> None:
    check(SOURCES[source](tmp_path))


class Lying(ScriptedConnector):
    """Breaks one rule at a time."""

    def __init__(self, lie: str) -> None:
        super().__init__()
        self.lie = lie

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        events = list(super().scan(cursor, notes, "" if self.lie == "ignores scopes" else scope))
        if self.lie == "never completes":
            events = [event for event in events if not isinstance(event, Complete)]
        if self.lie == "hides failures":
            events = [event for event in events if isinstance(event, Seen | Complete)]
        if self.lie == "leaves one out":
            events = events[1:]
        if self.lie == "unstable refs":
            events = [
                Seen(replace(event.ref, title=str(len(self.scans)))) if isinstance(event, Seen) else event
                for event in events
            ]
        if self.lie == "bad keys":
            events = [
                Seen(replace(event.ref, key=f"/{event.ref.key}")) if isinstance(event, Seen) else event
                for event in events
            ]
        if self.lie == "keeps the removed":
            seen = {event.ref.key for event in events if isinstance(event, Seen)}
            events = [Seen(Ref(key, "t")) for key in set(self._log) - seen] + events
        if self.lie == "folds case":
            firsts = {key.lower(): key for key in reversed(self._log)}
            events = [
                Seen(replace(event.ref, key=firsts[event.ref.key.lower()])) if isinstance(event, Seen) else event
                for event in events
            ]
        yield from events

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        if self.lie == "always unchanged":
            return Unchanged(known)
        if self.lie == "unchanged at any token" and known is not None:
            return Unchanged(known)
        if self.lie == "vanished is empty" and ref.key not in self.keys:
            return Blob(b"")
        answer = super().fetch(ref, known)
        if self.lie == "token of the listing" and isinstance(answer, Blob):
            return replace(answer, token=ref.token)
        return answer


LIES = {
    "never completes": "empty_source_is_complete",
    "leaves one out": "scan_lists_every_document_and_completes",
    "bad keys": "keys_are_normal_relative_and_text",
    "unstable refs": "scanning_again_gives_equal_refs",
    "always unchanged": "fetching_again_gives_equal_blobs",
    "unchanged at any token": "edit_of_equal_size_is_seen",
    "token of the listing": "token_is_that_of_the_bytes_read",
    "keeps the removed": "removed_document_is_lost_and_no_other",
    "folds case": "rename_of_case_alone_is_seen",
    "vanished is empty": "document_that_vanishes_before_the_fetch_is_gone",
    "hides failures": "unreadable_part_loses_nothing",
    "ignores scopes": "scope_lists_its_part_and_nothing_else",
}


@pytest.mark.parametrize(("lie", "check"), LIES.items())
def test_connector_that_breaks_a_rule_is_caught(lie: str, check: str) -> None:
    broken = next(each for each in CHECKS if each.__name__ == check)
    with pytest.raises(Violation):
        broken(ScriptedHarness(Lying(lie)))
